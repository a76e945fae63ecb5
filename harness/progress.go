package harness

import (
	"slices"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Progress is what a run looks like at one instant, for people who watch it. The zero value is a run that has not
// begun. What its slices hold is its own.
type Progress struct {
	At         sim.Instant
	Totals     Totals
	Agents     int // at work, sub-agents included
	Calls      int // in flight
	Sent       int // attempts under way at the servers, by the agents' count
	ByStage    [pacer.StageCount]int
	Stall      int           // number of the stall that is open; 0: none
	StalledFor time.Duration // since the latest step, or since work began

	// The following is told by [Fleet.Progress], and not by [Ledger.Progress].

	// AgentsByStage counts the agents at work by what they are at: thinking, a tool, or the stage of their call.
	AgentsByStage [pacer.StageCount]int
	Tasks         int             // begun so far
	Pacer         pacer.Occupancy // zero: the agents' pacer is not known
	Oldest        OldestCall
	Gauges        []Gauge // as they were read last; empty: they have not been, or could not be
	GaugesAt      sim.Instant
	GaugesErr     string       // why the servers could not be read that time; empty: they were
	LastStall     StallGlimpse // the one that is open, else the one before; zero: nothing has stalled
}

// OldestCall is that of the calls in flight that began first. The zero value is none.
type OldestCall struct {
	ID      string
	Agent   string
	Stage   pacer.Stage
	Started sim.Instant // when the call began
	Since   sim.Instant // when its stage did
}

// StallGlimpse is a stall as someone who watches a run wants to know it.
type StallGlimpse struct {
	Episode    int         // counted from 1; 0: none
	StartedAt  sim.Instant // the last step before it
	DetectedAt sim.Instant
	EndedAt    sim.Instant // 0: it is open
	EndedBy    string      // agent whose step that was
	Verdict    any         // what Options.Judge made of it last; nil: nothing yet
}

// Open says whether there is a stall that has not ended.
func (g *StallGlimpse) Open() bool { return g.Episode != 0 && g.EndedAt == 0 }

// Progress returns what the books say of the run. The monitor must not be held.
func (l *Ledger) Progress() Progress {
	l.w.Lock()
	defer l.w.Unlock()
	return l.progress()
}

// progress is Progress with the monitor held.
func (l *Ledger) progress() Progress {
	now := l.w.Now()
	return Progress{
		At: now, Totals: l.total, Agents: l.live, Calls: l.calls, Sent: l.sent(), ByStage: l.inStage,
		Stall: l.watch.open, StalledFor: l.watch.idle(now), Tasks: l.tasks,
	}
}

// stages counts the agents at work by what they are at. The monitor is held.
func (l *Ledger) stages() (by [pacer.StageCount]int) {
	for m := l.oldest; m != nil; m = m.newer {
		by[m.state.Stage]++
	}
	return by
}

// Progress returns the state of the run. It looks at each agent at work, so ask a few times a second at most.
// It may be called at any time, before Run and after it too. The monitor must not be held.
func (f *Fleet) Progress() Progress {
	var guests []pacer.CallState
	if f.o.Occupancy == nil { // then only the calls themselves tell which is the oldest
		guests = f.o.Calls()
	}
	f.w.Lock()
	defer f.w.Unlock()
	p := f.ledger.progress()
	p.AgentsByStage = f.ledger.stages()
	if f.o.Occupancy != nil {
		p.Pacer = f.o.Occupancy()
		p.Oldest = oldestOf(&p.Pacer.Oldest)
	} else if len(guests) > 0 {
		p.Oldest = oldestOf(&guests[0])
	}
	if s := f.sampler.latest(); s != nil {
		p.Gauges, p.GaugesAt, p.GaugesErr = slices.Clone(s.Gauges), s.At, s.Err
	}
	p.LastStall = f.glimpse
	return p
}

func oldestOf(c *pacer.CallState) OldestCall {
	return OldestCall{ID: c.ID, Agent: c.Agent, Stage: c.Stage, Started: c.Started, Since: c.Since}
}

// latest returns the latest sample, or nil if there is none. The monitor is held.
func (p *sampler) latest() *Sample {
	if p.kept == 0 {
		return nil
	}
	return &p.ring[(p.next+len(p.ring)-1)%len(p.ring)]
}
