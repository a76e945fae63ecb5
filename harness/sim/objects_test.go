package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// TestObjects reads the states of all named objects as they stand in evidence. They are listed in the
// order of their making, and those without a name are not.
func TestObjects(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		run(t, w, func(ctx context.Context) {
			s := sim.NewSemaphore(w, "slots", 1)
			sim.NewSemaphore(w, "", 1)
			q := sim.NewQueue[int](w, "tasks", 3)
			l := sim.NewLatch(w, "door")
			open := sim.NewLatch(w, "open")
			open.Open()
			_ = q.Put(ctx, 1)
			_, _ = s.Acquire(ctx, sim.Party{What: "call-1"})
			p := w.Spawn(ctx, "p", func(ctx context.Context) { _, _ = s.Acquire(ctx, sim.Party{Name: "agent-1", What: "call-2"}) })
			w.Spawn(ctx, "q", func(ctx context.Context) { _ = l.Wait(ctx) })
			w.Spawn(ctx, "r", func(ctx context.Context) { _ = p.Wait(ctx) })
			_ = w.Sleep(ctx, time.Millisecond)
			objects := w.Objects()
			for i := range objects {
				for j := range objects[i].Waiters {
					objects[i].Waiters[j].Since = 0 // a scale's rounding
				}
				for j := range objects[i].Holders {
					objects[i].Holders[j].Since = 0
				}
			}
			got, err := json.MarshalIndent(objects, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			const want = `[
 {
  "kind": "semaphore",
  "name": "slots",
  "capacity": 1,
  "in_use": 1,
  "holders": [
   {
    "name": "main",
    "what": "call-1",
    "since_ns": 0
   }
  ],
  "waiters": [
   {
    "name": "agent-1",
    "what": "call-2",
    "since_ns": 0
   }
  ]
 },
 {
  "kind": "queue",
  "name": "tasks",
  "capacity": 3,
  "in_use": 1,
  "holders": [],
  "waiters": []
 },
 {
  "kind": "latch",
  "name": "door",
  "capacity": 1,
  "in_use": 0,
  "holders": [],
  "waiters": [
   {
    "name": "q",
    "since_ns": 0
   }
  ]
 },
 {
  "kind": "latch",
  "name": "open",
  "capacity": 1,
  "in_use": 1,
  "holders": [],
  "waiters": []
 }
]`
			if string(got) != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	})
}

// TestLongQueue keeps a queue filled for long, so that it has to make room at its front.
func TestLongQueue(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		run(t, w, func(ctx context.Context) {
			q := sim.NewQueue[int](w, "", 0)
			put, got := 0, 0
			for round := range 100 {
				for range 10 {
					_ = q.Put(ctx, put)
					put++
				}
				for range 9 {
					item, err := q.Get(ctx)
					if err != nil || item != got {
						t.Fatalf("round %d: got %d, %v, want %d", round, item, err, got)
					}
					got++
				}
			}
			w.Lock()
			left := q.Len()
			w.Unlock()
			if left != put-got {
				t.Errorf("%d left, want %d", left, put-got)
			}
		})
	})
}

// TestGivenBackTwice: a release of what was given back already is counted and changes nothing else.
func TestGivenBackTwice(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		run(t, w, func(ctx context.Context) {
			s := sim.NewSemaphore(w, "slots", 2)
			first, _ := s.TryAcquire(sim.Party{Name: "a"})
			_, _ = s.TryAcquire(sim.Party{Name: "b"})
			if err := first.Release(); err != nil {
				t.Error(err)
			}
			for range 3 {
				if err := first.Release(); err == nil {
					t.Error("given back twice without an error")
				}
			}
			if st := s.State(); st.GivenBackTwice != 3 || st.InUse != 1 || st.Capacity != 2 {
				t.Errorf("%+v, want 3 given back twice and 1 of 2 in use", st)
			}
		})
	})
}

// TestRetire: what is retired is on the list no more, the others stay in their order, and it works as before.
func TestRetire(t *testing.T) {
	inEachWorld(t, func(t *testing.T, w sim.World) {
		run(t, w, func(ctx context.Context) {
			latch, queue := sim.NewLatch(w, "latch"), sim.NewQueue[int](w, "queue", 0)
			stays := sim.NewLatch(w, "stays")
			pipe, err := sim.NewPipe(w, "pipe")
			if err != nil {
				t.Fatal(err)
			}
			defer pipe.Close()
			sim.NewLatch(w, "") // not on the list
			latch.Retire()
			queue.Retire()
			pipe.Retire()
			pipe.Retire() // does nothing
			if left := w.Objects(); len(left) != 1 || left[0].Name != "stays" {
				t.Errorf("left are %+v, want the one that stays", left)
			}
			latch.Open()
			if err := errors.Join(latch.Wait(ctx), queue.Put(ctx, 7)); err != nil {
				t.Error(err)
			}
			if v, ok := queue.TryGet(); !ok || v != 7 {
				t.Errorf("the queue gives %d, %v", v, ok)
			}
			stays.Open()
		})
	})
}
