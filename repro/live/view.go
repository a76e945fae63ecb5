package live

import (
	"sync"
	"time"

	"example.com/wedge/harness"
)

// How often a view looks at its run, on the machine's clock, and how long it waits for a last look when the run has
// ended: one that broke off may keep its monitor for good.
const (
	lookEvery  = 500 * time.Millisecond
	lastWithin = time.Second
)

// View looks at a run twice a second, and keeps what has been seen for pages and screens. It is safe for concurrent
// use. Make one with [NewView].
type View struct {
	began time.Time

	stop  chan struct{} // closed by Stop
	ended chan struct{} // closed once nobody looks any more

	mu       sync.Mutex
	run      Run
	attached bool
	stopped  bool
	latest   *Snapshot
	pace     pace
	history  history
	looks    int
	watchers map[*watcher]struct{}
}

// watcher is somebody who wants to know of each look.
type watcher struct{ news chan struct{} }

// NewView returns a view of a run that has not begun. Stop must follow.
func NewView(run Run) *View {
	v := &View{
		run: run, began: time.Now(), stop: make(chan struct{}), ended: make(chan struct{}),
		watchers: map[*watcher]struct{}{},
	}
	v.latest = &Snapshot{Schema: Schema, Run: run, State: Starting}
	v.latest.fill(&harness.Progress{})
	return v
}

// Describe says better which run it is, from the next look on: what was not known when the view was made.
func (v *View) Describe(run Run) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.run = run
}

// Attach says that the run has begun, and how its progress is asked for: see repro.Options.Watch. facts says what else
// is to be seen; it is called twice a second, and may be nil. Attach does nothing at a second call and after Stop.
func (v *View) Attach(progress func() harness.Progress, facts func() []Fact) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.attached || v.stopped {
		return
	}
	v.attached = true
	go v.watch(progress, facts)
}

// watch looks until Stop, and then once more.
func (v *View) watch(progress func() harness.Progress, facts func() []Fact) {
	defer close(v.ended)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for state := Running; ; {
		p := progress()
		var more []Fact
		if facts != nil {
			more = facts()
		}
		v.see(&p, more, state, time.Now())
		if state == Ended {
			return
		}
		select {
		case <-tick.C:
		case <-v.stop:
			state = Ended
		}
	}
}

// see takes in what a look has shown.
func (v *View) see(p *harness.Progress, facts []Fact, state State, now time.Time) {
	s := &Snapshot{Schema: Schema, State: state, Facts: facts, RealS: now.Sub(v.began).Seconds()}
	s.fill(p)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.latest.State == Ended { // a look that took too long
		return
	}
	s.Run = v.run
	s.Calls.PerS, s.Tokens.PerS = v.pace.next(s)
	if v.looks++; v.looks%2 == 1 || state == Ended {
		v.history.add(pointOf(s))
	}
	v.publish(s)
}

// publish makes a snapshot the latest one. mu is held.
func (v *View) publish(s *Snapshot) {
	v.latest = s
	for w := range v.watchers {
		select {
		case w.news <- struct{}{}:
		default: // it has not heard of the one before
		}
	}
}

// Stop says that the run has ended, and returns when that has been seen. The last snapshot stays. Stop may be called
// more than once.
func (v *View) Stop() {
	v.mu.Lock()
	first, attached := !v.stopped, v.attached
	v.stopped = true
	v.mu.Unlock()
	if first {
		close(v.stop)
	}
	if attached {
		select {
		case <-v.ended:
		case <-time.After(lastWithin):
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.latest.State != Ended {
		last := *v.latest
		last.State = Ended
		v.publish(&last)
	}
}

// Latest returns the latest snapshot.
func (v *View) Latest() *Snapshot {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.latest
}

// History returns how things have been up to the latest snapshot.
func (v *View) History() History {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.history.copy()
}

// Watch returns a channel on which there is a word after each look, unless the last one has not been taken yet. forget
// must be called when nobody reads it any more.
func (v *View) Watch() (news <-chan struct{}, forget func()) {
	w := &watcher{news: make(chan struct{}, 1)}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.watchers[w] = struct{}{}
	return w.news, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.watchers, w)
	}
}
