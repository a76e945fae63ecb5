package load

import (
	"context"
	"math"
	"time"

	"example.com/wedge/harness/sim"
)

// arrival is a conversation of an open loop, and when it was meant to begin.
type arrival struct {
	number int
	at     sim.Instant
}

// arrivals hands arrivals to clients, and brings in more clients when all are busy.
type arrivals struct {
	g       *generator
	queue   sim.Queue[arrival]
	clients []*sim.Process
	idle    int // clients that wait for an arrival; guarded by the monitor
}

func newArrivals(g *generator) *arrivals {
	a := &arrivals{g: g}
	a.queue.Init(g.w, "", 0)
	return a
}

// run lets all conversations arrive, and waits until they are over or ctx has ended. When each one
// arrives depends on the seed and the plan alone.
func (a *arrivals) run(ctx, life context.Context) {
	plan := a.g.plan
	draw := a.g.w.Stream("load", "arrivals")
	began := a.g.w.Now()
	due := 0.0 // seconds from the start
	for number := 0; plan.Requests == 0 || number < plan.Requests; number++ {
		switch plan.Arrivals {
		case Constant:
			due = float64(number) / plan.Rate
		default:
			due -= math.Log1p(-draw.Float64()) / plan.Rate
		}
		at := began.Add(time.Duration(due * float64(time.Second)))
		if a.g.w.Sleep(ctx, at.Sub(a.g.w.Now())) != nil {
			break
		}
		a.admit(ctx, arrival{number, at})
	}
	a.queue.Close()
	for _, c := range a.clients {
		if c.Wait(life) != nil {
			return
		}
	}
}

// admit hands an arrival over.
func (a *arrivals) admit(ctx context.Context, one arrival) {
	a.g.w.Lock()
	busy := a.queue.Len() >= a.idle
	a.queue.PutLocked(one)
	a.g.w.Unlock()
	if !busy {
		return
	}
	if len(a.clients) == a.g.plan.clientsMax() {
		a.g.atBound = true
		return
	}
	c := newClient(a.g, len(a.clients)+1)
	a.clients = append(a.clients, a.g.w.Spawn(ctx, c.name, c.openLoop))
}

// take waits for an arrival. The error says that there will be none.
func (a *arrivals) take(ctx context.Context) (arrival, error) {
	a.count(1)
	one, err := a.queue.Get(ctx)
	a.count(-1)
	return one, err
}

func (a *arrivals) count(n int) {
	a.g.w.Lock()
	a.idle += n
	a.g.w.Unlock()
}

// unsent returns how many arrivals no client has taken. The monitor must be free.
func (a *arrivals) unsent() int {
	a.g.w.Lock()
	defer a.g.w.Unlock()
	return a.queue.Len()
}
