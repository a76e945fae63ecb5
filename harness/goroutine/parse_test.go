package goroutine

import (
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func parseString(t testing.TB, text string) *Dump {
	t.Helper()
	d, err := Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	checkAccount(t, d.Stats, len(text))
	return d
}

func TestHeader(t *testing.T) {
	for _, test := range []struct {
		header string
		want   Goroutine
	}{
		{"goroutine 1 [running]:", Goroutine{ID: 1, State: "running", Thread: -1}},
		{"goroutine 1 [waiting for cgo callback]:", Goroutine{ID: 1, State: "waiting for cgo callback", Thread: -1}},
		{"goroutine 7 gp=0x1f2e80 m=nil [select, 4 minutes]:", Goroutine{ID: 7, G: 0x1f2e80, State: "select", Wait: 4 * time.Minute, Thread: -1}},
		{"goroutine 7 gp=0x1f m=0 mp=0xa0 [syscall]:", Goroutine{ID: 7, G: 0x1f, State: "syscall"}},
		{"goroutine 9 [select (no cases) (leaked), locked to thread]:", Goroutine{ID: 9, State: "select (no cases)", Leaked: true, LockedToThread: true, Thread: -1}},
		{"goroutine 9 [chan receive (durable), synctest bubble 3]:", Goroutine{ID: 9, State: "chan receive", Durable: true, Bubble: 3, Thread: -1}},
		{"goroutine 9 [chan receive (nil chan) (leaked) (scan) (durable), 1 minutes]:",
			Goroutine{ID: 9, State: "chan receive (nil chan)", Leaked: true, Scan: true, Durable: true, Wait: time.Minute, Thread: -1}},
		{`goroutine 9 [sleep labels:{"note": "x], 9 minutes]:", "a": ""}]:`,
			Goroutine{ID: 9, State: "sleep", Labels: []Label{{"note", "x], 9 minutes]:"}, {"a", ""}}, Thread: -1}},
		{`goroutine 9 [IO wait, 2 minutes, locked to thread, synctest bubble 3 labels:{"\"\\\n\r\t": "\x01\u00fc\U0001f600"}]:`,
			Goroutine{ID: 9, State: "IO wait", Wait: 2 * time.Minute, LockedToThread: true, Bubble: 3, Labels: []Label{{"\"\\\n\r\t", "\x01ü😀"}}, Thread: -1}},
		{`goroutine 9 [IO wait (leaked), 2 minutes, locked to thread] {req: a/b_c.7, : , "x-y": "]:}\n\xff", k: }:`,
			Goroutine{ID: 9, State: "IO wait", Leaked: true, Wait: 2 * time.Minute, LockedToThread: true, Thread: -1,
				Labels: []Label{{"req", "a/b_c.7"}, {"", ""}, {"x-y", "]:}\n\xff"}, {"k", ""}}}},
		{`goroutine 9 gp=0x1f m=3 mp=0xa0 [select] {a: b}:`, Goroutine{ID: 9, G: 0x1f, Thread: 3, State: "select", Labels: []Label{{"a", "b"}}}},
		{"goroutine 9 [???, on fire, minutes 3]:", Goroutine{ID: 9, State: "???", Extra: "on fire, minutes 3", Thread: -1}},
	} {
		d := parseString(t, test.header+"\nmain.main()\n\t/a.go:1 +0x1\n")
		if len(d.Goroutines) != 1 || d.SkippedBytes != 0 {
			t.Errorf("%s: %d goroutines, %d bytes skipped", test.header, len(d.Goroutines), d.SkippedBytes)
			continue
		}
		test.want.Frames = []Frame{{Func: "main.main", File: "/a.go", Line: 1}}
		if got := d.Goroutines[0]; !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", test.header, got, test.want)
		}
	}
}

func TestNoHeader(t *testing.T) {
	for _, text := range []string{
		"goroutine 5 started",
		"\tgoroutine 5 [running]:",
		"goroutine x [running]:",
		"goroutine 5 [running] is slow",
		"goroutine 5 [running]: 119 times: [5, six]",
		`goroutine 5 [sleep labels:{"a": "b}]:`,
		`goroutine 5 [sleep labels:{"a": "\q"}]:`,
		`goroutine 5 [sleep labels:{"a"}]:`,
		`goroutine 5 [sleep] {a: b`,
		`goroutine 5 [sleep] {a: b}`,
		`goroutine 5 [sleep] {a-b: c}:`,
		`goroutine 5 [sleep] {a: "b}:`,
		`goroutine 5 [sleep] {a}:`,
		`goroutine 5 [sleep] is {a: b}:`,
		`goroutine 5 [sleep labels:{"a": "b" "c": "d"}]:`,
	} {
		d := parseString(t, text+"\n")
		if len(d.Goroutines)+len(d.Others) != 0 || d.SkippedBytes != d.Bytes || d.Truncated {
			t.Errorf("%s: %+v", text, d)
		}
		if len(d.Skipped) != 1 || strings.TrimSpace(d.Skipped[0].Text) != strings.TrimSpace(text) {
			t.Errorf("%s: shown as %+v", text, d.Skipped)
		}
	}
}

// TestTruncated cuts a dump at every byte. A cut may go unseen only where what is
// left is a whole stack: after a position.
func TestTruncated(t *testing.T) {
	text, err := os.ReadFile("testdata/go1.26-stack.txt")
	if err != nil {
		t.Fatal(err)
	}
	mayBeWhole := regexp.MustCompile(`(^|\+0x[0-9a-f]+|:[0-9]+\n|elided\.\.\.\n)\n*$`)
	for size := range text {
		head := text[:size]
		d, err := Parse(bytes.NewReader(head))
		if err != nil {
			t.Fatal(err)
		}
		checkAccount(t, d.Stats, size)
		tail := head[max(0, size-80):]
		if !d.Truncated && !mayBeWhole.Match(tail) {
			t.Fatalf("cut after %d bytes not seen: …%q", size, tail)
		}
		if want := bytes.Count(head, []byte("]:\n")); len(d.Goroutines) < want {
			t.Fatalf("cut after %d bytes: %d goroutines, want %d", size, len(d.Goroutines), want)
		}
	}
}

func TestNotTruncated(t *testing.T) {
	const created = "goroutine 5 [select]:\nmain.f()\n\t/a.go:1 +0x1\ncreated by main.main in goroutine 1\n\t/a.go:2 +0x2"
	for _, text := range []string{
		"goroutine 1 [running]:\nmain.main()\n\t/a.go:1 +0x1",
		created,
		created + "\nexit status 2",
		created + "\nFAIL\tpkg\t3.1s\nFAIL",
		created + "\n[originating from goroutine 1]:\nmain.main(...)\n\t/a.go:9 +0x3",
		"goroutine 5 [running]:\n\tgoroutine running on other thread; stack unavailable",
		"no dump at all",
	} {
		if d := parseString(t, text); d.Truncated {
			t.Errorf("called truncated: %q", text)
		}
	}
	if d := parseString(t, created+strings.Repeat(" ", 1024-len(created))); !d.Truncated {
		t.Error("a text as large as a buffer was not called truncated")
	}
}

func TestSourcesOfAllKinds(t *testing.T) {
	for _, path := range fixtures(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := parseString(t, string(text))
		for name, source := range map[string]func(io.Reader) io.Reader{
			"one byte at a time": iotest.OneByteReader, "half reads": iotest.HalfReader, "data with EOF": iotest.DataErrReader,
		} {
			got, err := Parse(source(bytes.NewReader(text)))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: differs, %v", path, name, err)
			}
		}
	}
}

func TestSourceFails(t *testing.T) {
	broken := errors.New("disk on fire")
	text := "goroutine 1 [running]:\nmain.main()\n\t/a.go:1 +0x1\n"
	d, err := Parse(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if len(d.Goroutines) != 1 || !d.Truncated {
		t.Errorf("what was read before: %+v", d)
	}
	if _, err := Parse(stuckReader{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a source that returns nothing: %v", err)
	}
}

type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, nil }

func TestLongLine(t *testing.T) {
	whole := "goroutine 1 [running]:\nmain.main()\n\t/a.go:1 +0x1\n"
	long := strings.Repeat("x", 3<<20) + "\n"
	label := `goroutine 2 [sleep labels:{"k": "` + strings.Repeat("v", 1<<19) + "\"}]:\nmain.g()\n\t/a.go:2 +0x1\n"
	d := parseString(t, whole+long+label)
	if len(d.Goroutines) != 2 || d.SkippedBytes != int64(len(long)) {
		t.Fatalf("%d goroutines, %d bytes skipped, want 2, %d", len(d.Goroutines), d.SkippedBytes, len(long))
	}
	if n := len(d.Goroutines[1].Label("k")); n != 1<<19 {
		t.Errorf("label of %d bytes", n)
	}
	if s := d.Skipped; len(s) != 1 || s[0].Bytes != int64(len(long)) || len(s[0].Text) > skipTextBytesMax {
		t.Errorf("skipped: %.200v", s)
	}
}

func TestReaderReusesBlocks(t *testing.T) {
	r := NewReader(strings.NewReader("goroutine 1 [a labels:{\"k\": \"1\"}]:\nmain.a(0x1)\n\t/a.go:1 +0x1\n" +
		"goroutine 2 [b labels:{\"k\": \"2\"}]:\nmain.b(0x2)\n\t/b.go:2 +0x1\n" +
		"goroutine 3 [c labels:{\"k\": \"3\"}]:\nmain.c(0x3)\n\t/c.go:3 +0x1\n" +
		"goroutine 4 [d]:\nmain.d()\n\t/d.go:4 +0x1\n"))
	first, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	kept := first.Clone()
	for range 3 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	want := &Goroutine{ID: 1, State: "a", Thread: -1, Labels: []Label{{"k", "1"}}, Frames: []Frame{{"main.a", "0x1", "/a.go", 1}}}
	if !reflect.DeepEqual(kept, want) {
		t.Errorf("clone: %+v", kept)
	}
	for range 2 {
		if g, err := r.Next(); g != nil || err != io.EOF {
			t.Errorf("at the end: %v, %v", g, err)
		}
	}
}

func TestHasFunc(t *testing.T) {
	g := &Goroutine{Frames: []Frame{{Func: "example.com/app/pacer.(*Pacer).Chat"}, {Func: "main.work[...]"}, {Func: "main.run.func1"}}}
	for name, want := range map[string]bool{
		"example.com/app/pacer.(*Pacer).Chat": true, "app/pacer.(*Pacer).Chat": true, "pacer.(*Pacer).Chat": true,
		"(*Pacer).Chat": true, "Chat": true, "work": true, "main.work": true, "main.work[...]": true, "run.func1": true,
		"r.(*Pacer).Chat": false, "hat": false, "run": false, "main.run": false, "": false, "Pacer).Chat": false,
	} {
		if got := g.HasFunc(name); got != want {
			t.Errorf("HasFunc(%q) = %t", name, got)
		}
	}
}

func TestLabel(t *testing.T) {
	g := &Goroutine{Labels: []Label{{"call", "17"}, {"empty", ""}}}
	if g.Label("call") != "17" || g.Label("empty") != "" || g.Label("none") != "" {
		t.Errorf("labels %q %q %q", g.Label("call"), g.Label("empty"), g.Label("none"))
	}
}
