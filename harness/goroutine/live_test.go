package goroutine

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"iter"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"syscall"
	"testing"
)

// withLabels runs f in a goroutine with the labels and returns when it is done.
func withLabels(f func(), labels ...string) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		pprof.Do(context.Background(), pprof.Labels(labels...), func(context.Context) { f() })
	}()
	return done
}

// showLabels turns labels on for the length of the test.
func showLabels(t testing.TB) {
	t.Helper()
	t.Setenv("GODEBUG", os.Getenv("GODEBUG"))
	if err := EnableLabels(); err != nil {
		t.Fatal(err)
	}
}

// capture dumps this process.
func capture(t testing.TB) *Dump {
	t.Helper()
	var c Capturer
	text, truncated := c.Text()
	d, err := Parse(bytes.NewReader(text))
	if err != nil || truncated || d.Truncated {
		t.Fatalf("own dump: %v, truncated: %t, %t", err, truncated, d.Truncated)
	}
	checkAccount(t, d.Stats, len(text))
	if d.SkippedBytes != 0 || len(d.Others) != 0 {
		t.Fatalf("own dump: %d bytes skipped: %+v\n%s", d.SkippedBytes, d.Skipped, text)
	}
	if n := 1 + bytes.Count(text, []byte("\n\ngoroutine ")); n != len(d.Goroutines) {
		t.Fatalf("own dump: %d goroutines of %d", len(d.Goroutines), n)
	}
	return d
}

// find returns the goroutines for which ok is true.
func find(d *Dump, ok func(*Goroutine) bool) (found []*Goroutine) {
	for i := range d.Goroutines {
		if ok(&d.Goroutines[i]) {
			found = append(found, &d.Goroutines[i])
		}
	}
	return found
}

// pollTries bounds a wait for a goroutine to block: it will, but not at once.
const pollTries = 20_000

// poll dumps this process until ok finds what it waits for.
func poll(t *testing.T, what string, ok func(*Dump) bool) *Dump {
	t.Helper()
	var d *Dump
	for range pollTries {
		if d = capture(t); ok(d) {
			return d
		}
		runtime.Gosched()
	}
	t.Fatalf("never seen: %s\n%s", what, render(d))
	return nil
}

func TestLiveLabels(t *testing.T) {
	showLabels(t)
	values := []string{"x]:", "a\n\ngoroutine 99 [sleep]:\nmain.main()", `"quoted" \ back`, "ünï😀", "", ", 9 minutes", "\x01\x7f", "}]:"}
	block := make(chan struct{})
	var done []<-chan struct{}
	for i, v := range values {
		done = append(done, withLabels(func() { <-block }, "index", string(rune('a'+i)), "live value]: ", v))
	}
	d := poll(t, "blocked goroutines", func(d *Dump) bool {
		return len(find(d, func(g *Goroutine) bool { return g.Label("index") != "" && g.State == "chan receive" })) == len(values)
	})
	for i, v := range values {
		got := find(d, func(g *Goroutine) bool { return g.Label("index") == string(rune('a'+i)) })
		if len(got) != 1 || got[0].Label("live value]: ") != v || got[0].Labels[0].Key != "index" {
			t.Errorf("value %q read as %+v", v, got)
		}
	}
	close(block)
	for _, ch := range done {
		<-ch
	}
}

func TestLiveCoroutine(t *testing.T) {
	showLabels(t)
	var d *Dump
	<-withLabels(func() {
		next, stop := iter.Pull(parkedIterator)
		defer stop()
		next()
		d = capture(t) // the coroutine is parked in its yield
	}, "agent", "coro")
	found := find(d, func(g *Goroutine) bool { return g.HasFunc("goroutine.parkedIterator") })
	if len(found) != 1 {
		t.Fatalf("%d coroutines\n%s", len(found), render(d))
	}
	g := found[0]
	if g.State != "coroutine" || g.Label("agent") != "coro" || !isFunc(g.CreatedBy.Func, "iter.Pull") || g.ParentID == 0 {
		t.Errorf("coroutine read as %+v", g)
	}
}

func parkedIterator(yield func(int) bool) { yield(1) }

const quitChild = "GOROUTINE_TEST_QUIT_CHILD"

// TestLiveQuit reads the text with which a child of this binary dies of SIGQUIT.
func TestLiveQuit(t *testing.T) {
	if os.Getenv(quitChild) != "" {
		blockForQuit(t)
	}
	if runtime.GOOS == "windows" {
		t.Skip("no SIGQUIT")
	}
	child := exec.Command(os.Args[0], "-test.run=^TestLiveQuit$")
	child.Env = append(os.Environ(), quitChild+"=1", "GOTRACEBACK=")
	var crash bytes.Buffer
	child.Stderr = &crash
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := child.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, out)
	child.Wait() // fails, as it should: the child dies

	d := parseString(t, crash.String())
	found := find(d, func(g *Goroutine) bool { return g.Label("call") == "17" })
	if len(found) != 1 || d.Truncated {
		t.Fatalf("%d goroutines with the label, truncated: %t\n%s", len(found), d.Truncated, crash.String())
	}
	g := found[0]
	if g.State != "chan receive" || g.G == 0 || g.Thread != -1 || !g.HasFunc("runtime.chanrecv1") || !g.HasFunc("goroutine.blockForQuit.func1") {
		t.Errorf("read as %+v", g)
	}
	if len(find(d, func(g *Goroutine) bool { return g.State == "GC scavenge wait" })) != 1 {
		t.Errorf("system goroutines are missing\n%s", crash.String())
	}
}

func blockForQuit(t *testing.T) {
	if err := EnableLabels(); err != nil {
		t.Fatal(err)
	}
	block := make(chan struct{})
	withLabels(func() { <-block }, "call", "17")
	poll(t, "the labelled goroutine", func(d *Dump) bool {
		return len(find(d, func(g *Goroutine) bool { return g.Label("call") != "" && g.State == "chan receive" })) == 1
	})
	os.Stdout.WriteString("ready\n")
	select {}
}
