package repro

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
)

// TestPanicIsNoInterrupt: a process that panics ends the run with its panic, in either world. On the
// wall the fleet ends as if it had been interrupted, with its evidence; that must not hide the panic.
func TestPanicIsNoInterrupt(t *testing.T) {
	for _, clock := range []Clock{ClockVirtual, ClockWall} {
		s, err := Lookup("healthy")
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Clock: clock, Out: filepath.Join(t.TempDir(), "bundle")}.withDefaults()
		b, err := openBundle(s, o)
		if err != nil {
			t.Fatal(err)
		}
		var w sim.World = sim.NewVirtual(sim.VirtualOptions{})
		if clock == ClockWall {
			w = sim.NewWall(sim.WallOptions{Scale: 60})
		}
		a := &assembly{s: s, o: o, w: w, porthole: newPorthole(w), bundle: b}
		a.o.Watch = func(func() harness.Progress) {
			a.w.Spawn(context.Background(), "clumsy", func(context.Context) { panic("dropped a plate") })
		}
		err = a.run(t.Context())
		var panicked *sim.PanicError
		if !errors.As(err, &panicked) || panicked.Process != "clumsy" || panicked.Value != "dropped a plate" {
			t.Errorf("%s clock: error %v, want the panic", clock, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(filepath.Join(o.Out, "events.jsonl")); err != nil || !strings.HasPrefix(string(text), `{"t_s":`) && clock == ClockWall {
			t.Errorf("%s clock: events %q, %v", clock, text, err)
		}
	}
}

// TestInterruptedWhileAsking: whoever interrupts the question whether a server is there gets that as
// the reason, and not that the server does not answer.
func TestInterruptedWhileAsking(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	out := filepath.Join(t.TempDir(), "bundle")
	_, err = Run(ctx, Default(), Options{Clock: ClockWall, Out: out, Server: &Server{BaseURL: "http://" + l.Addr().String() + "/v1", Model: "m"}})
	if err != enough {
		t.Errorf("error %v, want the cause", err)
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

// TestLostDirectory: a bundle that is taken away under a run is one error, in one line, and the run goes
// on without it.
func TestLostDirectory(t *testing.T) {
	s, err := Lookup("healthy")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "bundle")
	o := Options{Out: out, Watch: func(func() harness.Progress) { _ = os.RemoveAll(out) }}
	r, err := Run(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.WriteErr == nil || strings.Contains(r.WriteErr.Error(), "\n") || !r.Verdict.Reproduced {
		t.Errorf("write error %v, reproduced %v", r.WriteErr, r.Verdict.Reproduced)
	}
}
