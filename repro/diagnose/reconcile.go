package diagnose

import (
	"example.com/wedge/harness"
	"example.com/wedge/pacer"
)

// sent says whether the call's current attempt has gone out to the servers.
func sent(c *pacer.CallState) bool {
	return c.Stage == pacer.StageHeaders || c.Stage == pacer.StageFirstToken || c.Stage == pacer.StageStream
}

// Reconcile compares the agents' requests with those that the router's log tells of, both ways: what
// one side has and the other does not is the finding. A log whose finished lines are written with the
// response headers has a stream under way for finished; a log that writes them at the end has it open.
// Which it is follows from the evidence. Requests are matched by id; by time, and by size if the log has
// sizes, where it has ids of its own; and by number where only gauges tell of them.
func Reconcile(ev *harness.Evidence) Sides { return newReading(ev, nil).sides }

// has says whether, by the log, the router has the attempt of a call and has not done with it.
func (l *routerLines) has(i int, c *pacer.CallState) bool {
	return l.of[i] == lineStarted || l.of[i] == lineFinished && l.form != formEnd && c.Stage != pacer.StageHeaders
}

// denies says whether, by the log, the router does not have it: it never heard of it, or has done with
// it.
func (l *routerLines) denies(i int, c *pacer.CallState) bool {
	switch l.of[i] {
	case lineNone:
		return c.Stage == pacer.StageHeaders || l.form == formEnd
	case lineFinished:
		return l.form == formEnd
	}
	return false
}

func (l *routerLines) sides(ev *harness.Evidence) Sides {
	s := Sides{Usable: l.usable, ByTime: l.byTime, BySize: l.bySize}
	for i := range ev.Calls {
		c := &ev.Calls[i]
		switch {
		case !sent(c):
			continue
		case l.has(i, c):
			s.Both++
		case l.usable && !(l.byTime && l.of[i] == lineUnknown):
			s.AgentsOnly++
			s.note(c.AttemptID)
		}
		s.Sent++
	}
	if l.usable {
		for i := range ev.Router.Open {
			if q := &ev.Router.Open[i]; !l.ours(q) {
				s.RouterOnly++
				s.note(q.ID)
			}
		}
	}
	return s
}

func (s *Sides) note(id string) {
	if len(s.Only) < idsShown {
		s.Only = append(s.Only, id)
	}
}
