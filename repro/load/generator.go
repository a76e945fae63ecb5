package load

import (
	"context"
	"time"

	"example.com/wedge/harness/sim"
)

// generator carries out one plan in one world.
type generator struct {
	w           sim.World
	plan        *Plan
	target      target
	sampler     *sampler
	probeEvery  time.Duration // how often the generator's own lateness is looked at; 0: never
	numbersFrom int           // requests that earlier runs have sent to the same servers
	watch       func(Progress)

	prompts, leavers sim.Stream

	rec      recorder // guarded by the monitor
	numbered int      // requests of a closed loop; guarded by the monitor
	arrivals *arrivals
	atBound  bool // an arrival found all clients busy, and no more were allowed
	tooMany  bool // a run that names no number of requests was ended by the bound
	began    sim.Instant
	ended    sim.Instant
	complete bool // it came to its end
	lag      histogram
}

// Progress is how far a run has come.
type Progress struct {
	At                    sim.Instant
	Sent, OK, Failed, Out int // requests; Out are under way
}

// run carries the plan out. It may be unwound at any wait; what has been counted by then stays.
func (g *generator) run(life context.Context) {
	g.rec.plan = g.plan
	g.prompts, g.leavers = g.w.Stream("load", "prompt"), g.w.Stream("load", "abandon")
	g.began = g.w.Now()
	ctx, over := g.w.WithCancel(life)
	defer over(errOver)
	if g.plan.Duration > 0 {
		timer := g.w.AfterFunc(g.plan.Duration, func() { over(errOver) })
		defer timer.Stop()
	}
	observers := []*sim.Process{g.w.Spawn(ctx, "sampler", g.sample)}
	if g.probeEvery > 0 {
		observers = append(observers, g.w.Spawn(ctx, "probe", g.probe))
	}
	if g.plan.Rate > 0 {
		g.arrivals = newArrivals(g)
		g.arrivals.run(ctx, life)
	} else {
		g.closed(ctx, life)
	}
	g.ended = g.w.Now()
	g.complete = sim.Cause(life) == nil
	over(errOver)
	for _, p := range observers {
		if p.Wait(life) != nil {
			return
		}
	}
}

// closed runs the clients of a closed loop until they are done.
func (g *generator) closed(ctx, life context.Context) {
	clients := make([]*sim.Process, g.plan.Clients)
	for i := range clients {
		c := newClient(g, i+1)
		clients[i] = g.w.Spawn(ctx, c.name, c.closedLoop)
	}
	for _, p := range clients {
		if p.Wait(life) != nil {
			return
		}
	}
}

// unboundMax is how many requests a run in virtual time may send that names no number: servers that
// take next to no time would be asked for ever before the first second is over.
const unboundMax = 10_000_000

// takeNumber returns the number of the next request of a closed loop, if there is to be one.
func (g *generator) takeNumber() (number int, ok bool) {
	g.w.Lock()
	defer g.w.Unlock()
	if g.plan.Requests > 0 && g.numbered == g.plan.Requests {
		return 0, false
	}
	if g.plan.Requests == 0 && g.numbered == unboundMax && g.w.Virtual() {
		g.tooMany = true
		return 0, false
	}
	g.numbered++
	return g.numbered - 1, true
}

// probe measures how late a process of this world comes back from a sleep. What a client measures is
// too long by about that.
func (g *generator) probe(ctx context.Context) {
	for {
		due := g.w.Now().Add(g.probeEvery)
		if g.w.Sleep(ctx, g.probeEvery) != nil {
			return
		}
		g.lag.add(g.w.Now().Sub(due), 1)
	}
}
