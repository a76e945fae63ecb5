package harness

import (
	"context"
	"time"

	"example.com/wedge/harness/sim"
)

// Tick is something that is done at regular instants of a run: at Every, twice Every and so on, counted from
// the start. In virtual time these instants are kept exactly, and everything else rests while it is done.
// On the wall it comes a little later, and an instant that passes while it is done is left out.
type Tick struct {
	// Every is more than 0.
	Every time.Duration
	// Do is called without the monitor held, by a process of its own, and never twice at once. now is
	// the instant of the grid, not that of the call. It must not wait in virtual time. It is not called
	// any more once the run has ended: what is left over then is for who started the run.
	Do func(now sim.Instant)
}

// tick does what is to be done at regular instants, until ctx is cancelled.
func (f *Fleet) tick(ctx context.Context, t Tick) {
	due := sim.Instant(0).Add((time.Duration(f.w.Now())/t.Every + 1) * t.Every)
	for {
		if f.w.Sleep(ctx, due.Sub(f.w.Now())) != nil {
			return
		}
		t.Do(due)
		late := f.w.Now().Sub(due)
		due = due.Add((late/t.Every + 1) * t.Every)
	}
}
