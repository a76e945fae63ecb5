package serving

import "example.com/wedge/repro/serving/engine"

// Places is who has a place in the running batches at one instant, for plots of a run. Real servers show
// only Running.
type Places struct {
	Running  int // requests in running batches
	Deserted int // of these: their client has gone
	Idle     int // of these, and not deserted: nothing that they make will reach the client any more, or they make nothing
	Queued   int // requests at the servers that have no place yet
}

// PlacesLocked returns who has the places now. The monitor must be held.
func (s *Stack) PlacesLocked() Places {
	s.enter()
	var p Places
	s.engines.Legs(func(l *engine.Leg) {
		if stage, _ := l.Stage(); stage != engine.StageDecode {
			return
		}
		p.Running++
		a, _ := l.Owner.(*attempt)
		switch {
		case l.Deserted():
			p.Deserted++
		case l.Prospect().Kind == engine.ProspectNone || a != nil && a.r != nil && (a.r.lost || a.r.stopped()):
			p.Idle++
		}
	})
	p.Queued = s.queued
	for r := s.oldest; r != nil; r = r.younger {
		if stage, _ := r.stage(); r.a != nil && stage != StageDecode {
			p.Queued++
		}
	}
	return p
}
