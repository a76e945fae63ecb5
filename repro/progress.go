package repro

import (
	"sync/atomic"
	"time"

	"example.com/wedge/harness"
)

// progress returns what may be asked for the run's progress from outside. A virtual world has no lock
// to ask under, so there the process that reads the gauges leaves a copy behind.
func (a *assembly) progress() func() harness.Progress {
	m, ok := a.gauges.(*inMemory)
	if !ok {
		return a.fleet.Progress
	}
	m.watched = &watched{look: a.fleet.Progress, fresh: make(chan struct{}, 1)}
	m.watched.wanted.Store(true)
	m.watched.leave()
	return m.watched.progress
}

// watched is where a virtual run leaves copies of its progress. It makes one only if somebody has asked
// since the last, so that a run that nobody looks at is not slowed down.
type watched struct {
	look   func() harness.Progress // only from within the run
	wanted atomic.Bool
	latest atomic.Pointer[harness.Progress]
	fresh  chan struct{} // holds a word once there is a copy that was asked for
}

// freshWithin is how long whoever asks waits for a copy, on the machine's clock. A run that takes longer to get
// from one reading of the gauges to the next shows the copy before.
const freshWithin = 20 * time.Millisecond

// leave leaves a copy if one is wanted. It is called by the run.
func (x *watched) leave() {
	if x == nil || !x.wanted.Swap(false) {
		return
	}
	x.latest.Store(new(x.look()))
	select {
	case x.fresh <- struct{}{}:
	default: // the one who asked has gone
	}
}

// progress returns the run's progress as it stands, or as it last was. It may be called from any goroutine.
func (x *watched) progress() harness.Progress {
	select {
	case <-x.fresh: // of somebody who did not wait for it
	default:
	}
	x.wanted.Store(true)
	late := time.NewTimer(freshWithin)
	defer late.Stop()
	select {
	case <-x.fresh:
	case <-late.C:
	}
	return *x.latest.Load()
}
