package diagnose

import (
	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// sent says whether the call's current attempt has gone out to the servers.
func sent(c *pacer.CallState) bool {
	return c.Stage == pacer.StageHeaders || c.Stage == pacer.StageFirstToken || c.Stage == pacer.StageStream
}

// Reconcile compares the agents' requests with those that the router's log says are open, both ways:
// what one side has and the other does not is the finding.
func Reconcile(ev *harness.Evidence) Sides {
	s, _ := reconcile(ev)
	return s
}

// reconcile also returns, for each call in flight, whether its attempt is open at the router.
func reconcile(ev *harness.Evidence) (Sides, []bool) {
	atRouter := make([]bool, len(ev.Calls))
	// That a request has no line counts only if the log has lines of requests at all.
	usable := ev.Router != nil && (ev.Router.Started > 0 || ev.Router.Finished > 0)
	s := Sides{Usable: usable}
	open := map[string]sim.Instant{}
	if usable {
		for _, q := range ev.Router.Open {
			open[q.ID] = q.Since
		}
	}
	ours := make(map[string]bool, len(ev.Calls))
	for i := range ev.Calls {
		c := &ev.Calls[i]
		if c.AttemptID != "" {
			ours[c.AttemptID] = true
		}
		if !sent(c) {
			continue
		}
		s.Sent++
		if _, ok := open[c.AttemptID]; ok && c.AttemptID != "" {
			atRouter[i] = true
			s.Both++
		} else if usable {
			s.AgentsOnly++
			s.note(c.AttemptID)
		}
	}
	if usable {
		for _, q := range ev.Router.Open {
			if !ours[q.ID] {
				s.RouterOnly++
				s.note(q.ID)
			}
		}
	}
	return s, atRouter
}

func (s *Sides) note(id string) {
	if len(s.Only) < idsShown {
		s.Only = append(s.Only, id)
	}
}
