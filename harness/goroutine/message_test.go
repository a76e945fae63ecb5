package goroutine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const stack7 = "goroutine 7 [running]:\nmain.a()\n\t/a.go:1 +0x1\n"

func TestRunningTests(t *testing.T) {
	want := []RunningTest{{"TestA/b_(c) x", 9*time.Minute + 58*time.Second}, {"TestB", 1500 * time.Millisecond}}
	for _, text := range []string{
		"panic: test timed out after 10m0s\n\trunning tests:\n\t\tTestA/b_(c) x (9m58s)\n\t\tTestB (1.5s)\n\n" + stack7,
		"panic: test timed out after 10m0s\nrunning tests:\n\tTestA/b_(c) x (9m58s)\n\tTestB (1.5s)\n\n" + stack7,
	} {
		d := one(t, text)
		if !slices.Equal(d.Tests, want) || !slices.Equal(d.Messages, []string{"panic: test timed out after 10m0s"}) || d.SkippedBytes != 0 {
			t.Errorf("%v, %q, %d bytes skipped", d.Tests, d.Messages, d.SkippedBytes)
		}
	}
}

// TestMessagesBelong has crashes that follow each other in a log.
func TestMessagesBelong(t *testing.T) {
	text := "started\nSIGQUIT: quit\nPC=0x1 m=0 sigcode=0\n\n" + stack7 +
		"2026/01/02 03:04:05 http: panic serving 10.0.0.1:7: boom\n" + strings.Replace(stack7, "7", "8", 1) +
		"panic: a\n\tpanic: b\n[signal SIGSEGV: segmentation violation]\n\n" + stack7
	all, err := ParseAll(strings.NewReader(text))
	if err != nil || len(all) != 3 {
		t.Fatalf("%d dumps, %v", len(all), err)
	}
	for i, want := range [][]string{
		{"SIGQUIT: quit", "PC=0x1 m=0 sigcode=0"},
		{"2026/01/02 03:04:05 http: panic serving 10.0.0.1:7: boom"},
		{"panic: a", "panic: b", "[signal SIGSEGV: segmentation violation]"},
	} {
		if !slices.Equal(all[i].Messages, want) {
			t.Errorf("dump %d: messages %q, want %q", i, all[i].Messages, want)
		}
	}
}

// TestMessagesBounded has more and longer messages than are kept.
func TestMessagesBounded(t *testing.T) {
	var b strings.Builder
	for i := range messagesMax + 5 {
		fmt.Fprintf(&b, "runtime: note %d\n\t%s\n", i, strings.Repeat("x", 2*messageBytesMax))
	}
	d := one(t, b.String()+stack7)
	if len(d.Messages) != messagesMax || len(d.Messages[0]) != messageBytesMax || d.SkippedBytes != 0 {
		t.Errorf("%d messages, the first of %d bytes; %d bytes skipped", len(d.Messages), len(d.Messages[0]), d.SkippedBytes)
	}
}

// TestWhereDumpsEnd says what begins a new dump and what does not.
func TestWhereDumpsEnd(t *testing.T) {
	other := strings.Replace(stack7, "7", "8", 1)
	for _, test := range []struct {
		what, text string
		dumps      int
	}{
		{"other ids", stack7 + other, 1},
		{"the same id", stack7 + other + stack7, 2},
		{"a message", stack7 + "panic: x\n\n" + other, 2},
		{"a note", stack7 + "runtime: x\n\n" + other, 1},
		{"the threads of a crash", stack7 + "-----\n\nSIGQUIT: quit\nPC=0x1\n\n" + stack7, 1},
		{"a goroutine without its stack, then with", "goroutine 7 [running]:\n\tgoroutine running on other thread; stack unavailable\n\n" + other + stack7, 1},
		{"another form", stack7 + "1 @ 0x1\n#\t0x1\tmain.f+0x1\t/a.go:1\n", 2},
		{"two profiles", "goroutine profile: total 1\n1 @ 0x1\n#\t0x1\tmain.f+0x1\t/a.go:1\n\ngoroutine profile: total 1\n1 @ 0x1\n#\t0x1\tmain.f+0x1\t/a.go:1\n", 2},
		{"merged and others", "goroutine 9 [select]: 2 times: [[9, 10]\nmain.a()\n\t/a.go:1 +0x1\n\n" + stack7, 1},
		{"a damaged header", stack7 + "goroutine 8 [sel\n" + other, 1},
	} {
		all, err := ParseAll(strings.NewReader(test.text))
		if err != nil || len(all) != test.dumps {
			t.Errorf("%s: %d dumps, want %d (%v)", test.what, len(all), test.dumps, err)
		}
		first, err := Parse(strings.NewReader(test.text))
		if err != nil || first.Stats.Dumps != test.dumps || len(first.Goroutines) != len(all[0].Goroutines) {
			t.Errorf("%s: Parse has %d goroutines of %d dumps, %v", test.what, len(first.Goroutines), first.Stats.Dumps, err)
		}
	}
}

// TestReaderSaysWhere streams a text of two sources and two dumps.
func TestReaderSaysWhere(t *testing.T) {
	var b strings.Builder
	for range 2 {
		for l := range strings.Lines(stack7 + "\n") {
			b.WriteString("api-1  | " + l + "db-1  | " + l)
		}
	}
	r := NewReader(strings.NewReader(b.String()))
	var got []string
	for {
		g, err := r.Next()
		if err != nil {
			break
		}
		got = append(got, fmt.Sprintf("%s dump %d source %d", r.Dumps()[g.Snapshot].Source, g.Snapshot, g.Source))
	}
	want := []string{"api-1 dump 0 source 0", "db-1 dump 1 source 1", "api-1 dump 2 source 0", "db-1 dump 3 source 1"}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
