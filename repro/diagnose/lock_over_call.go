package diagnose

import (
	"fmt"
	"time"

	"example.com/wedge/harness/sim"
)

// lockOverCall: a lock is held across an LLM call, and others wait for it.
func lockOverCall() cause {
	return cause{
		name: CauseLockOverCall, outcome: Starved, layer: LayerHarness,
		judge: judgeLockOverCall,
		because: func(r *reading) string {
			l := r.lockOverCall()
			return fmt.Sprintf("%s for %s, which is held by an agent that is in a call: they go on when the call has ended.", does(l.waiting, "agent", "waits", "wait"), l.lock)
		},
		next: func(r *reading) []string {
			return []string{"give the lock back before the call and take it again afterwards"}
		},
	}
}

// heldLock is a lock that an agent in a live call holds.
type heldLock struct {
	lock, holder string
	waiting      int
	longest      time.Duration
}

// lockOverCall returns the lock with most waiters among those whose holder is in a live call.
func (r *reading) lockOverCall() heldLock {
	inCall := make(map[string]bool, len(r.calls))
	for i := range r.calls {
		if c := &r.calls[i]; c.fate.alive() > 0 {
			inCall[c.Agent] = true
		}
	}
	var worst heldLock
	for i := range r.now.Objects {
		o := &r.now.Objects[i]
		if !isLock(o) || len(o.Holders) != 1 || !inCall[o.Holders[0].Name] {
			continue
		}
		l := heldLock{lock: o.Kind + " " + o.Name, holder: o.Holders[0].Name}
		l.count(r.now.At, o.Waiters)
		if l.waiting > worst.waiting {
			worst = l
		}
	}
	return worst
}

func (l *heldLock) count(at sim.Instant, waiters []sim.Party) {
	for _, w := range waiters {
		if d := age(at, w.Since); d >= connectMin {
			l.waiting++
			l.longest = max(l.longest, d)
		}
	}
}

func judgeLockOverCall(r *reading, j *judgement) {
	l := r.lockOverCall()
	if l.waiting == 0 {
		j.refute("nobody has waited for %s or more for a lock whose holder is in a call", secs(connectMin))
		return
	}
	j.support(0.9 * float64(l.waiting+1) / float64(max(l.waiting+1, r.agents.Blocked+r.agents.SubAgents)))
	j.beside = fmt.Sprintf("%s for %s, whose holder is in a call", does(l.waiting, "agent", "waits", "wait"), l.lock)
	j.pro("%s for %s, the longest for %s; its holder %s is in a call that is alive", does(l.waiting, "agent", "waits", "wait"), l.lock, secs(l.longest), l.holder)
}
