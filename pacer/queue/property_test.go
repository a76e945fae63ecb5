package queue

import (
	"math/rand/v2"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// Nobody is lost: who was taken in is, in the end, let in, turned away, or has left, and is so once.
func TestConservation(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		c := anyConfig(r)
		if err := c.Validate(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		q := New(c)
		inside := map[uint64]sim.Instant{}
		out := func(id uint64, what string) {
			if _, ok := inside[id]; !ok {
				t.Fatalf("seed %d: %d %s, but does not wait", seed, id, what)
			}
			delete(inside, id)
		}
		now, last := sim.Instant(0), uint64(0)
		for range 500 {
			now = now.Add(time.Duration(r.IntN(3)) * time.Duration(r.IntN(int(2*time.Second))))
			var shed []Shed
			switch r.IntN(5) {
			case 0, 1, 2:
				last++
				w := Waiter{ID: last, Agent: string(rune('a' + r.IntN(5))), Retry: r.IntN(3) == 0}
				if r.IntN(2) == 0 {
					w.Deadline = now.Add(time.Duration(r.IntN(int(20 * time.Second))))
				}
				if _, ok := q.Push(now, w, 3, r.Float64()); ok {
					inside[last] = now
				}
			case 3:
				var id uint64
				var ok bool
				if id, shed, ok = q.Next(now, nil); ok {
					out(id, "is let in")
				} else if q.Len() > 0 {
					t.Fatalf("seed %d: nobody is let in of %d", seed, q.Len())
				}
			case 4:
				id := 1 + uint64(r.Int64N(int64(last)+1))
				q.Remove(now, id)
				delete(inside, id)
				if shed = q.Expire(now, nil); q.NextWake() <= now {
					t.Fatalf("seed %d: the next wake is at %v, and it is %v", seed, q.NextWake(), now)
				}
			}
			for _, s := range shed {
				if s.Waited != now.Sub(inside[s.ID]) {
					t.Fatalf("seed %d: %d has waited for %v, said to be %v", seed, s.ID, now.Sub(inside[s.ID]), s.Waited)
				}
				out(s.ID, "is turned away")
			}
			if q.Len() != len(inside) || c.Max > 0 && q.Len() > c.Max {
				t.Fatalf("seed %d: %d wait, want %d, at most %d", seed, q.Len(), len(inside), c.Max)
			}
		}
		for q.Len() > 0 {
			id, shed, ok := q.Next(now, nil)
			if ok {
				out(id, "is let in")
			}
			for _, s := range shed {
				out(s.ID, "is turned away")
			}
		}
		if len(inside) > 0 || len(q.agents) > 0 {
			t.Fatalf("seed %d: %d are lost, and %d agents are kept", seed, len(inside), len(q.agents))
		}
	}
}

func anyConfig(r *rand.Rand) Config {
	c := Config{Order: Orders()[r.IntN(len(Orders()))]}
	if c.Order == AdaptiveLIFO {
		c.LIFOAbove = 1 + r.IntN(5)
	}
	if r.IntN(2) == 0 {
		c.Max = 1 + r.IntN(20)
	}
	if r.IntN(3) == 0 {
		c.RejectFrom, c.RejectTo = 1, 4
	}
	if r.IntN(2) == 0 {
		c.Wait = time.Duration(1+r.IntN(10)) * time.Second
	}
	switch r.IntN(3) {
	case 0:
		c.CoDel, c.Target, c.Interval = CoDelServer, time.Second, 5*time.Second
	case 1:
		c.CoDel, c.Target, c.Interval = CoDelRFC8289, time.Second, 5*time.Second
	}
	if r.IntN(3) == 0 {
		c.DropDead, c.Need = true, time.Second
	}
	return c
}

// Under fair, agents that always have somebody waiting have equal shares, however many each has.
func TestFairness(t *testing.T) {
	const agents = 4
	q := New(Config{Order: Fair})
	owner, served, id := map[uint64]int{}, [agents]int{}, uint64(0)
	add := func(agent int) {
		id++
		owner[id] = agent
		q.Push(0, Waiter{ID: id, Agent: string(rune('a' + agent))}, 1, 0)
	}
	for agent := range agents {
		for range 1 + agent*20 {
			add(agent)
		}
	}
	for range 100 * agents {
		got, _, ok := q.Next(0, nil)
		if !ok {
			t.Fatal("nobody is let in")
		}
		served[owner[got]]++
		// The agent whose only call it was joins the round anew, at its end.
		add(owner[got])
	}
	if served != [agents]int{100, 100, 100, 100} {
		t.Errorf("served %v, want 100 each", served)
	}
}
