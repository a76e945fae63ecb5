package repro

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
)

// porthole is where those outside of a run look in. On the wall they may do so at any time, under the monitor. A virtual
// world has no lock to look under: there the process that reads the gauges lets them, if somebody wants to, so that a
// run that nobody looks at is not slowed down.
type porthole struct {
	virtual bool
	wanted  atomic.Bool // pending is not empty

	mu      sync.Mutex
	pending []*glance
	ended   bool // nothing moves any more: everybody may look
	broken  bool // the run broke off, so that the monitor may be held for good
}

// glance is what somebody waits to have done.
type glance struct {
	look func()
	done chan struct{}
}

// lookWithin is how long who wants to look in waits, on the machine's clock.
const lookWithin = 20 * time.Millisecond

// ask has look called while the run stands still, and returns when it has been. If that does not come about within
// a moment, it is not called, and ask returns false.
func (x *porthole) ask(look func()) bool {
	g := x.want(look)
	if x.wait(g) {
		return true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	i := slices.Index(x.pending, g)
	if i < 0 { // it has been called just now, or never will be
		return g.called()
	}
	x.pending = slices.Delete(x.pending, i, i+1)
	return false
}

// want has look called while the run stands still: at once if that may be, else when the run lets it.
func (x *porthole) want(look func()) *glance {
	g := &glance{look, make(chan struct{})}
	x.mu.Lock()
	switch {
	case x.broken:
		x.mu.Unlock()
	case !x.virtual:
		x.mu.Unlock()
		g.call()
	case x.ended: // nothing moves but those who look, one at a time
		defer x.mu.Unlock()
		g.call()
	default:
		x.pending = append(x.pending, g)
		x.wanted.Store(true)
		x.mu.Unlock()
	}
	return g
}

// wait waits a moment for what is wanted, and says whether it has come about.
func (x *porthole) wait(g *glance) bool {
	if g.called() {
		return true
	}
	late := time.NewTimer(lookWithin)
	defer late.Stop()
	select {
	case <-g.done:
		return true
	case <-late.C:
		return false
	}
}

func (g *glance) call() {
	g.look()
	close(g.done)
}

func (g *glance) called() bool {
	select {
	case <-g.done:
		return true
	default:
		return false
	}
}

// open lets those look in who want to. It is called by a virtual run, from time to time.
func (x *porthole) open() {
	if x == nil || !x.wanted.Load() {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.serve()
}

func (x *porthole) serve() {
	for _, g := range x.pending {
		g.call()
	}
	clear(x.pending)
	x.pending = x.pending[:0]
	x.wanted.Store(false)
}

// end says that the run is over, well or not.
func (x *porthole) end(broken bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended, x.broken = !broken, broken; !broken {
		x.serve()
	}
}

// progress returns what may be asked for the run's progress from outside. Of a virtual run that is between two readings
// of the gauges it is how things were when somebody asked last, or a little later.
func (a *assembly) progress() func() harness.Progress {
	var latest atomic.Pointer[harness.Progress]
	look := func() { latest.Store(new(a.fleet.Progress())) }
	look()
	var mu sync.Mutex
	var wanted *glance // that the run has not allowed yet
	return func() harness.Progress {
		mu.Lock()
		if wanted == nil || wanted.called() {
			wanted = a.porthole.want(look)
		}
		g := wanted
		mu.Unlock()
		a.porthole.wait(g)
		return *latest.Load()
	}
}

// newPorthole returns the porthole of a world's run.
func newPorthole(w sim.World) *porthole { return &porthole{virtual: w.Virtual()} }
