package guest

import (
	"io"
	"strings"
	"testing"
	"time"
)

// TestPump: what comes is passed on, until it is kept instead.
func TestPump(t *testing.T) {
	var out strings.Builder
	p, w, err := newPump(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "first "); err != nil {
		t.Fatal(err)
	}
	passed := func() bool {
		p.mu.Lock() // the pump writes with it held
		defer p.mu.Unlock()
		return out.Len() > 0
	}
	for deadline := time.Now().Add(time.Minute); !passed() && time.Now().Before(deadline); {
		continue
	}
	p.keep()
	if _, err := io.WriteString(w, "second"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p.end(time.Minute)
	if out.String() != "first " || string(p.text()) != "second" {
		t.Errorf("passed on %q, kept %q", out.String(), p.text())
	}
}

// TestPumpEnds: neither a program that keeps its end open nor a reader that takes nothing is waited for.
func TestPumpEnds(t *testing.T) {
	open, w, err := newPump(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	open.end(time.Millisecond) // returns
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	reader, writer := io.Pipe()
	stuck, w, err := newPump(writer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "text"); err != nil {
		t.Fatal(err)
	}
	stuck.end(time.Millisecond) // returns
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	<-stuck.ended
}
