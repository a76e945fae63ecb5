package sim_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// The tests here run random scripts of single operations, one a millisecond, against a model that
// knows nothing of worlds: after each operation the object must be in the model's state.

const scriptLength = 120

// semaphoreModel is a counter and two lists.
type semaphoreModel struct {
	permits         int
	holders, queued []string
}

func (m *semaphoreModel) acquire(who string) {
	if len(m.holders) < m.permits {
		m.holders = append(m.holders, who)
	} else {
		m.queued = append(m.queued, who)
	}
}

func (m *semaphoreModel) release(who string) {
	m.holders = without(m.holders, who)
	if len(m.queued) > 0 {
		m.holders = append(m.holders, m.queued[0])
		m.queued = m.queued[1:]
	}
}

func without(list []string, who string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == who })
}

func TestSemaphoreAgainstModel(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inEachWorld(t, func(t *testing.T, w sim.World) { semaphoreScript(t, w, seed) })
		})
	}
}

func semaphoreScript(t *testing.T, w sim.World, seed uint64) {
	draw := sim.NewStream(seed, "script", "semaphore")
	m := semaphoreModel{permits: 1 + draw.IntN(4)}
	s := sim.NewSemaphore(w, "s", m.permits)
	run(t, w, func(ctx context.Context) {
		leases := map[string]sim.Lease{} // guarded by the monitor, as errs
		errs := map[string]error{}
		cancels := map[string]context.CancelCauseFunc{}
		counts := map[string]int{}
		for n := range scriptLength {
			switch op := draw.IntN(5); {
			case op <= 1:
				who := fmt.Sprint("p", n)
				actx, cancel := w.WithCancel(ctx)
				cancels[who] = cancel
				w.Spawn(actx, who, func(ctx context.Context) {
					l, err := s.Acquire(ctx, sim.Party{})
					w.Lock()
					defer w.Unlock()
					leases[who], errs[who] = l, err
				})
				m.acquire(who)
				counts["acquire"]++
			case op <= 3 && len(m.holders) > 0:
				who := m.holders[draw.IntN(len(m.holders))]
				w.Lock()
				l := leases[who]
				w.Unlock()
				if err := l.Release(); err != nil {
					t.Error(err)
				}
				if l.Release() == nil {
					t.Error("a second Release was taken")
				}
				m.release(who)
				counts["release"]++
			case op == 4 && len(m.queued) > 0:
				who := m.queued[draw.IntN(len(m.queued))]
				cancels[who](errCancelled)
				m.queued = without(m.queued, who)
				counts["cancel"]++
			}
			_ = w.Sleep(ctx, time.Millisecond)
			st := s.State()
			got := fmt.Sprint(sorted(names(st.Holders)), names(st.Waiters), st.InUse)
			if want := fmt.Sprint(sorted(m.holders), m.queued, len(m.holders)); got != want {
				t.Fatalf("operation %d: %s, want %s", n, got, want)
			}
		}
		w.Lock()
		defer w.Unlock()
		for who, err := range errs {
			if err == nil != (leases[who] != sim.Lease{}) || err != nil && err != errCancelled {
				t.Errorf("%s: lease %v, error %v", who, leases[who], err)
			}
		}
		if counts["acquire"] == 0 || counts["release"] == 0 {
			t.Errorf("operations: %v", counts)
		}
	})
}

// queueModel gives items to getters and places to putters in the order in which they came.
type queueModel struct {
	bound            int
	items            []int
	getters, putters []string
	waiting          map[string]int // what the putters bring
	closed           bool
	got              []string
}

func (m *queueModel) put(who string, item int) {
	switch {
	case m.closed:
		m.got = append(m.got, who+" closed")
	case m.bound > 0 && len(m.items) >= m.bound:
		m.putters = append(m.putters, who)
		m.waiting[who] = item
	default:
		m.items = append(m.items, item)
		m.got = append(m.got, who+" put")
	}
	m.settle()
}

func (m *queueModel) get(who string) {
	if m.closed && len(m.items) == 0 {
		m.got = append(m.got, who+" closed")
		return
	}
	m.getters = append(m.getters, who)
	m.settle()
}

func (m *queueModel) settle() {
	for len(m.getters) > 0 && len(m.items) > 0 {
		m.got = append(m.got, fmt.Sprint(m.getters[0], " got ", m.items[0]))
		m.getters, m.items = m.getters[1:], m.items[1:]
		if len(m.putters) > 0 && len(m.items) < m.bound {
			m.items = append(m.items, m.waiting[m.putters[0]])
			m.got = append(m.got, m.putters[0]+" put")
			m.putters = m.putters[1:]
		}
	}
}

func (m *queueModel) close() {
	m.closed = true
	for _, who := range append(m.getters, m.putters...) {
		m.got = append(m.got, who+" closed")
	}
	m.getters, m.putters = nil, nil
}

func TestQueueAgainstModel(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inEachWorld(t, func(t *testing.T, w sim.World) { queueScript(t, w, seed) })
		})
	}
}

func queueScript(t *testing.T, w sim.World, seed uint64) {
	draw := sim.NewStream(seed, "script", "queue")
	m := queueModel{bound: draw.IntN(4), waiting: map[string]int{}}
	q := sim.NewQueue[int](w, "q", m.bound)
	run(t, w, func(ctx context.Context) {
		var got []string // guarded by the monitor
		cancels := map[string]context.CancelCauseFunc{}
		actor := func(who string, do func(ctx context.Context) (string, error)) {
			actx, cancel := w.WithCancel(ctx)
			cancels[who] = cancel
			w.Spawn(actx, who, func(ctx context.Context) {
				said, err := do(ctx)
				if err != nil {
					said = strings.TrimPrefix(err.Error(), "sim: queue is ")
				}
				w.Lock()
				defer w.Unlock()
				got = append(got, who+" "+said)
			})
		}
		for n := range scriptLength {
			who := fmt.Sprint("p", n)
			switch op := draw.IntN(9); {
			case op <= 2:
				actor(who, func(ctx context.Context) (string, error) { return "put", q.Put(ctx, n) })
				m.put(who, n)
			case op <= 5:
				actor(who, func(ctx context.Context) (string, error) {
					item, err := q.Get(ctx)
					return fmt.Sprint("got ", item), err
				})
				m.get(who)
			case op == 6:
				all := append(slices.Clone(m.getters), m.putters...)
				if len(all) == 0 {
					continue
				}
				who := all[draw.IntN(len(all))]
				cancels[who](errCancelled)
				m.getters, m.putters = without(m.getters, who), without(m.putters, who)
				m.got = append(m.got, who+" cancelled")
			case op == 7:
				w.Lock()
				q.PutLocked(n)
				w.Unlock()
				if !m.closed {
					m.items = append(m.items, n)
					m.settle()
				}
			case n > scriptLength*3/4:
				q.Close()
				m.close()
			}
			_ = w.Sleep(ctx, time.Millisecond)
			w.Lock()
			said, left := sorted(got), q.Len()
			got = nil
			w.Unlock()
			if want := sorted(m.got); !slices.Equal(said, want) || left != len(m.items) {
				t.Fatalf("operation %d: %v with %d left, want %v with %d", n, said, left, want, len(m.items))
			}
			m.got = nil
		}
	})
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}
