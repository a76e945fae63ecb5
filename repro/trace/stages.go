package trace

import (
	"time"

	"example.com/wedge/harness/record"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// stageCounter counts the calls in each stage. It writes how many there were at most once a second, and
// then as they stood since the latest change.
type stageCounter struct {
	in      [pacer.StageCount]int
	used    [pacer.StageCount]bool // has been entered
	at      map[string]pacer.Stage // of calls under way
	changed sim.Instant
	written sim.Instant
	dirty   bool
}

const stageCounterEvery = time.Second

func (s *stageCounter) entered(o *out, e record.StageEvent) {
	if s.at == nil {
		s.at = map[string]pacer.Stage{}
	}
	s.tick(o, e.At)
	if before, ok := s.at[e.Call]; ok {
		s.in[before]--
	}
	s.at[e.Call] = e.Stage
	s.in[e.Stage]++
	s.used[e.Stage] = true
	s.dirty = true
}

// left takes out a call that has ended.
func (s *stageCounter) left(o *out, c *record.Call) {
	before, ok := s.at[c.ID]
	if !ok {
		return
	}
	s.tick(o, c.To)
	delete(s.at, c.ID)
	s.in[before]--
	s.dirty = true
}

// tick is called before a change.
func (s *stageCounter) tick(o *out, now sim.Instant) {
	if s.dirty && now > s.changed && s.changed >= s.written+sim.Instant(stageCounterEvery) {
		s.write(o)
	}
	s.changed = max(s.changed, now)
}

func (s *stageCounter) finish(o *out) {
	if s.dirty {
		s.write(o)
	}
}

func (s *stageCounter) write(o *out) {
	s.dirty, s.written = false, s.changed
	o.event('C', track{pid: pidRun}, s.changed, "calls by stage")
	for i, used := range s.used {
		if used {
			o.count(pacer.Stage(i).String(), s.in[i])
		}
	}
	o.end()
}
