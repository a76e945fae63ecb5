package sim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

var errFull = errors.New("full")

// house is a gate whose owner lets in the newest first, or turns it away: the smallest use of a gate
// that a semaphore cannot stand in for.
type house struct {
	w     sim.World
	g     *sim.Gate
	queue []*sim.Visitor
}

func newHouse(w sim.World, name string, permits int) *house {
	return &house{w: w, g: sim.NewGate(w, name, permits)}
}

func (h *house) enter(ctx context.Context, who sim.Party) (sim.Pass, error) {
	h.w.Lock()
	defer h.w.Unlock()
	if h.g.InUseLocked() < h.g.CapacityLocked() {
		return h.g.EnterLocked(who), nil
	}
	v := &sim.Visitor{Who: who}
	h.queue = append(h.queue, v)
	defer h.forget(v)
	pass, err := h.g.WaitLocked(ctx, v)
	if cause := sim.Cause(ctx); err == nil && cause != nil {
		_ = pass.LeaveLocked()
		h.serve()
		return sim.Pass{}, cause
	}
	return pass, err
}

func (h *house) forget(v *sim.Visitor) {
	h.queue = slices.DeleteFunc(h.queue, func(x *sim.Visitor) bool { return x == v })
}

func (h *house) serve() {
	for h.g.InUseLocked() < h.g.CapacityLocked() && len(h.queue) > 0 {
		v := h.queue[len(h.queue)-1]
		h.forget(v)
		h.g.AdmitLocked(v)
	}
}

func (h *house) leave(p sim.Pass) error {
	h.w.Lock()
	defer h.w.Unlock()
	err := p.LeaveLocked()
	h.serve()
	return err
}

func (h *house) turnAway() {
	h.w.Lock()
	defer h.w.Unlock()
	v := h.queue[0]
	h.forget(v)
	h.g.RefuseLocked(v, errFull)
}

func (h *house) resize(n int) {
	h.w.Lock()
	defer h.w.Unlock()
	h.g.SetCapacityLocked(n)
	h.serve()
}

func TestGate(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		h := newHouse(w, "house", 1)
		run(t, w, func(ctx context.Context) {
			var said []string // guarded by the monitor
			passes := map[string]sim.Pass{}
			cancels := map[string]context.CancelCauseFunc{}
			come := func(name string) {
				actx, cancel := w.WithCancel(ctx)
				cancels[name] = cancel
				w.Spawn(actx, name, func(ctx context.Context) {
					p, err := h.enter(ctx, sim.Party{Name: name, What: "tea"})
					w.Lock()
					defer w.Unlock()
					passes[name] = p
					said = append(said, strings.TrimSpace(fmt.Sprint(name, " ", err)))
				})
				_ = w.Sleep(ctx, time.Millisecond)
			}
			check := func(what, wantSaid, wantState string) {
				t.Helper()
				_ = w.Sleep(ctx, time.Millisecond)
				w.Lock()
				got := strings.Join(said, "; ")
				said = nil
				w.Unlock()
				st := h.g.State()
				state := fmt.Sprintf("%v%v %d/%d %d", names(st.Holders), names(st.Waiters), st.InUse, st.Capacity, st.GivenBackTwice)
				if got != wantSaid || state != wantState {
					t.Fatalf("%s: %q and %s, want %q and %s", what, got, state, wantSaid, wantState)
				}
			}
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				come(name)
			}
			check("five come", "a <nil>", "[a][b c d e] 1/1 0")
			if err := h.leave(passes["a"]); err != nil {
				t.Error(err)
			}
			check("a leaves", "e <nil>", "[e][b c d] 1/1 0")
			if h.leave(passes["a"]) == nil || h.leave(sim.Pass{}) != nil {
				t.Error("a permit was given back twice, or none was not taken")
			}
			h.turnAway()
			check("the oldest is turned away", "b full", "[e][c d] 1/1 1")
			cancels["d"](errCancelled)
			check("d gives up", "d "+errCancelled.Error(), "[e][c] 1/1 1")
			h.resize(3)
			check("there is more room", "c <nil>", "[e c][] 2/3 1")
			come("f")
			h.resize(1)
			check("there is less room", "f <nil>", "[e c f][] 3/1 1")
			come("g")
			_ = h.leave(passes["c"])
			_ = h.leave(passes["e"])
			check("one is still one", "", "[f][g] 1/1 1")
			_ = h.leave(passes["f"])
			check("none is left", "g <nil>", "[g][] 1/1 1")
			for _, o := range w.Objects() {
				if o.Kind != "semaphore" || o.Name != "house" || o.Holders[0].What != "tea" {
					t.Errorf("the object is %+v", o)
				}
			}
		})
	})
}

// One that is let in and cancelled at the same instant gives its place on, and nobody is lost.
func TestGateCancelAtAdmission(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		h := newHouse(w, "house", 1)
		run(t, w, func(ctx context.Context) {
			first, _ := h.enter(ctx, sim.Party{})
			got := map[string]error{}
			var cancel context.CancelCauseFunc
			for _, name := range []string{"old", "new"} {
				actx, c := w.WithCancel(ctx)
				cancel = c
				w.Spawn(actx, name, func(ctx context.Context) {
					_, err := h.enter(ctx, sim.Party{})
					w.Lock()
					got[name] = err
					w.Unlock()
				})
				_ = w.Sleep(ctx, time.Millisecond)
			}
			w.Lock()
			_ = first.LeaveLocked()
			h.serve()
			cancel(errCancelled)
			w.Unlock()
			_ = w.Sleep(ctx, time.Millisecond)
			w.Lock()
			defer w.Unlock()
			if len(got) != 2 || got["old"] != nil || got["new"] != errCancelled {
				t.Errorf("got %v, want the old one in and the new one cancelled", got)
			}
		})
	})
}

// A process that is stopped while it waits leaves nothing behind.
func TestGateAtTheEndOfTheWorld(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		h := newHouse(w, "house", 1)
		run(t, w, func(ctx context.Context) {
			_, _ = h.enter(ctx, sim.Party{})
			w.Spawn(ctx, "late", func(ctx context.Context) { _, _ = h.enter(ctx, sim.Party{}) })
			_ = w.Sleep(ctx, time.Millisecond)
		})
		if st := h.g.State(); len(st.Waiters) > 0 || len(h.queue) > 0 {
			t.Errorf("%v wait, and %d are in the queue", st.Waiters, len(h.queue))
		}
	})
}

func TestGateMisuse(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{})
	for name, f := range map[string]func(){
		"no permits":     func() { sim.NewGate(w, "g", 0) },
		"admits nobody":  func() { newHouse(w, "h", 1).g.AdmitLocked(&sim.Visitor{}) },
		"refuses nobody": func() { newHouse(w, "i", 1).g.RefuseLocked(&sim.Visitor{}, errFull) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
