package live

import "example.com/wedge/harness"

// View looks at a run twice a second, and keeps what has been seen for pages and screens. It is safe for concurrent
// use. Make one with [NewView].
type View struct {
	run Run
}

// NewView returns a view of a run that has not begun. Stop must follow.
func NewView(run Run) *View { return &View{run: run} }

// Attach says that the run has begun, and how its progress is asked for: see repro.Options.Watch. facts may be nil.
func (v *View) Attach(progress func() harness.Progress, facts func() []Fact) {}

// Stop says that the run has ended. The last snapshot stays.
func (v *View) Stop() {}

// Latest returns the latest snapshot.
func (v *View) Latest() *Snapshot { return &Snapshot{Schema: Schema, Run: v.run, State: Starting} }
