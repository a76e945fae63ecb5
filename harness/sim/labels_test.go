package sim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// dump returns the goroutine profile, in which labels are shown.
func dump(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestLabelsOnDemand: in a virtual world a parked process shows its labels after RefreshLabels,
// wherever that is called, with what they are at that time.
func TestLabelsOnDemand(t *testing.T) {
	for _, from := range []string{"main", "timer", "labelled process"} {
		t.Run(from, func(t *testing.T) {
			w := sim.NewVirtual(sim.VirtualOptions{})
			run(t, w, func(ctx context.Context) {
				step, asked := 0, 0
				labels := func(name string) func() []string {
					return func() []string {
						w.Lock() // allowed
						defer w.Unlock()
						asked++
						return []string{"agent", name, "step", fmt.Sprint(step)}
					}
				}
				l := sim.NewLatch(w, "")
				var text string
				refresh := func() {
					w.RefreshLabels()
					text = dump(t)
				}
				body := func(name string, wait func(ctx context.Context) error) func(ctx context.Context) {
					return func(ctx context.Context) {
						sim.ProcessOf(ctx).SetLabels(labels(name))
						sim.ProcessOf(ctx).Relabel()
						if err := wait(ctx); err != nil {
							t.Errorf("%s: %v", name, err)
						}
						if from == "labelled process" && name == "lena" {
							refresh()
						}
					}
				}
				w.Spawn(ctx, "sleeper", body("sam", func(ctx context.Context) error { return w.Sleep(ctx, time.Hour) }))
				w.Spawn(ctx, "waiter", body("lena", func(ctx context.Context) error { return l.Wait(ctx) }))
				w.Spawn(ctx, "unlabelled", func(ctx context.Context) { _ = l.Wait(ctx) })
				_ = w.Sleep(ctx, time.Second)
				if asked > 0 {
					t.Errorf("labels were made %d times although nobody needed them", asked)
				}
				step = 1
				w.Spawn(ctx, "unstarted", func(ctx context.Context) {})
				l.Open() // the waiter is runnable now
				switch from {
				case "main":
					refresh()
				case "timer":
					w.AfterFunc(0, refresh)
				}
				_ = w.Sleep(ctx, time.Second)
				want := []string{`{"agent":"sam", "step":"1"}`, `{"agent":"lena", "step":"1"}`}
				if from == "timer" {
					want = want[:1] // the waiter has gone
				}
				for _, want := range want {
					if !strings.Contains(text, want) {
						t.Errorf("the dump lacks %s:\n%s", want, text)
					}
				}
				if w.Now() != sim.Instant(2*time.Second) {
					t.Errorf("it is %v: refreshing must not disturb a wait", w.Now())
				}
			})
		})
	}
}

// TestLabelsOfWall: on the wall a process puts its labels on itself.
func TestLabelsOfWall(t *testing.T) {
	w := sim.NewWall(sim.WallOptions{})
	run(t, w, func(ctx context.Context) {
		labelled := sim.NewLatch(w, "")
		step := 1
		w.Spawn(ctx, "p", func(ctx context.Context) {
			p := sim.ProcessOf(ctx)
			p.SetLabels(func() []string { return []string{"agent", "paul", "step", fmt.Sprint(step)} })
			step = 2
			p.Relabel()
			labelled.Open()
			_ = w.Sleep(ctx, time.Hour)
		})
		_ = labelled.Wait(ctx)
		w.RefreshLabels() // does nothing here
		if text := dump(t); !strings.Contains(text, `{"agent":"paul", "step":"2"}`) {
			t.Errorf("no labels in\n%s", text)
		}
	})
}

// TestLabelsPanic: a panic of a labels function fails the run with its stack, and the wait that the
// process is in is taken apart in order.
func TestLabelsPanic(t *testing.T) {
	for _, own := range []bool{false, true} {
		w := sim.NewVirtual(sim.VirtualOptions{})
		err := w.Run(context.Background(), func(ctx context.Context) {
			s := sim.NewSemaphore(w, "s", 1)
			_, _ = s.TryAcquire(sim.Party{})
			bad := func() []string { panickingFunction(w); return nil }
			w.Spawn(ctx, "labelled", func(ctx context.Context) {
				sim.ProcessOf(ctx).SetLabels(bad)
				_, _ = s.Acquire(ctx, sim.Party{})
			})
			_ = w.Sleep(ctx, time.Second)
			if own {
				sim.ProcessOf(ctx).SetLabels(bad)
			}
			w.RefreshLabels()
			_ = w.Sleep(ctx, time.Second)
			t.Error("the run went on")
		})
		var p *sim.PanicError
		if !errors.As(err, &p) || !strings.Contains(string(p.Stack), "panickingFunction") {
			t.Errorf("Run: %v", err)
		}
	}
}
