package goroutine

import (
	"bytes"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// nest blocks at the end of a stack of the depth.
func nest(depth int, block chan struct{}) int {
	if depth == 0 {
		<-block
		return 0
	}
	return nest(depth-1, block) + 1
}

// TestCapturerGrows gives a Capturer deeper stacks than it expects: it takes
// twice, and once when it knows the process.
func TestCapturerGrows(t *testing.T) {
	block := make(chan struct{})
	var done []<-chan struct{}
	for range 200 {
		done = append(done, withLabels(func() { nest(90, block) }))
	}
	poll(t, "deep stacks", func(d *Dump) bool {
		return len(find(d, func(g *Goroutine) bool { return g.HasFunc("goroutine.nest") && g.State == "chan receive" })) == 200
	})
	var c Capturer
	for call, takes := range []int{2, 3, 4} {
		text, truncated := c.Text()
		d := parseString(t, string(text))
		if truncated || d.Truncated || c.Takes() != takes {
			t.Errorf("call %d: truncated %t, %t, %d takes, want %d", call, truncated, d.Truncated, c.Takes(), takes)
		}
		if n := len(find(d, func(g *Goroutine) bool { return g.HasFunc("goroutine.nest") })); n != 200 {
			t.Errorf("call %d: %d deep stacks", call, n)
		}
	}
	close(block)
	for _, ch := range done {
		<-ch
	}
}

func TestCapturerKeepsBuffer(t *testing.T) {
	var c Capturer
	first, _ := c.Text()
	second, _ := c.Text()
	if &first[0] != &second[0] || c.Takes() != 2 {
		t.Errorf("new buffer for the same process, %d takes", c.Takes())
	}
}

func TestWriteProfile(t *testing.T) {
	block := make(chan struct{})
	done := withLabels(func() { nest(0, block) }, "call", "17]:")
	poll(t, "the labelled goroutine", func(d *Dump) bool {
		return len(find(d, func(g *Goroutine) bool { return g.HasFunc("goroutine.nest") && g.State == "chan receive" })) == 1
	})
	var b bytes.Buffer
	if err := WriteProfile(&b); err != nil {
		t.Fatal(err)
	}
	close(block)
	<-done
	p, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	labelled := slices.IndexFunc(p.Sample, func(s *profile.Sample) bool { return slices.Equal(s.Label["call"], []string{"17]:"}) })
	if labelled < 0 || p.Sample[labelled].Value[0] != 1 {
		t.Errorf("no sample of 1 goroutine with the label in %s", p)
	}
	if err := WriteProfile(brokenWriter{}); err == nil {
		t.Error("a failed write is no error")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

// TestWriteLeakProfile holds with and without GOEXPERIMENT=goroutineleakprofile; .ci/run does both.
func TestWriteLeakProfile(t *testing.T) {
	var b bytes.Buffer
	supported, err := WriteLeakProfile(&b)
	if err != nil {
		t.Fatal(err)
	}
	if want := pprof.Lookup("goroutineleak") != nil; supported != want {
		t.Errorf("supported: %v, want %v", supported, want)
	}
	if !supported {
		if b.Len() != 0 {
			t.Errorf("not supported, but %d bytes", b.Len())
		}
		return
	}
	if _, err := profile.Parse(&b); err != nil {
		t.Error(err)
	}
}

func TestEnableLabels(t *testing.T) {
	for before, want := range map[string]string{
		"":                                  "tracebacklabels=1",
		"madvdontneed=1":                    "madvdontneed=1,tracebacklabels=1",
		"tracebacklabels=1":                 "tracebacklabels=1",
		"tracebacklabels=1,madvdontneed=1":  "tracebacklabels=1,madvdontneed=1",
		"tracebacklabels=0":                 "tracebacklabels=0,tracebacklabels=1",
		"tracebacklabels=1,tracebacklabels": "tracebacklabels=1,tracebacklabels",
		"tracebacklabels=1,tracebacklabels=0,madvdontneed=1": "tracebacklabels=1,tracebacklabels=0,madvdontneed=1,tracebacklabels=1",
	} {
		t.Setenv("GODEBUG", before)
		for range 2 {
			if err := EnableLabels(); err != nil {
				t.Errorf("from %q: %v", before, err)
			}
			if got := os.Getenv("GODEBUG"); got != want {
				t.Errorf("from %q: %q, want %q", before, got, want)
			}
		}
	}
}

// TestEnableLabelsKeepsCaller checks that looking for labels leaves those of the
// caller alone.
func TestEnableLabelsKeepsCaller(t *testing.T) {
	t.Setenv("GODEBUG", "")
	var text string
	<-withLabels(func() {
		if err := EnableLabels(); err != nil {
			t.Error(err)
		}
		var c Capturer
		b, _ := c.Text()
		text = string(b)
	}, "call", "mine")
	if header, _, _ := strings.Cut(text, "\n"); !strings.Contains(header, `"call": "mine"`) {
		t.Errorf("header of the caller: %s", header)
	}
}
