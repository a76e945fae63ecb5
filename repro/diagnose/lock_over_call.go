package diagnose

import (
	"fmt"
	"time"

	"example.com/wedge/harness/sim"
)

// lockOverCall: a lock is held across slow work, which is an LLM call or a tool such as the save, and
// others wait for it.
func lockOverCall() cause {
	return cause{
		name: CauseLockOverCall, outcome: Starved, layer: LayerHarness,
		judge: judgeLockOverCall,
		because: func(r *reading) string {
			l := r.lockOverCall()
			return fmt.Sprintf("%s for %s, which is held by an agent that is in a %s: one of them goes on when that has ended, the others wait on.", does(l.waiting, "agent", "waits", "wait"), l.lock, l.busy)
		},
		next: func(r *reading) []string {
			return []string{
				"give the lock back before the " + r.lockOverCall().busy + " and take it again afterwards: it must guard the state, not the work",
				"one lock for each article instead of one for the workspace, if agents do not touch each other's",
			}
		},
	}
}

// heldLock is a lock that an agent at slow work holds.
type heldLock struct {
	lock, holder string
	busy         string // what its holder is in: "call" or "tool"
	waiting      int
	longest      time.Duration
}

// lockOverCall returns the lock with most waiters among those whose holder is in a live call, or in a
// tool that is not late.
func (r *reading) lockOverCall() heldLock {
	busy := make(map[string]string, len(r.calls))
	for i := range r.calls {
		if c := &r.calls[i]; c.fate.alive() > 0 {
			busy[c.Agent] = "call"
		}
	}
	for i := range r.idle {
		if a := &r.idle[i]; a.run == toolYoung || a.run == toolSlow {
			busy[a.Name] = "tool"
		}
	}
	var worst heldLock
	for i := range r.now.Objects {
		o := &r.now.Objects[i]
		if !isLock(o) || len(o.Holders) != 1 || busy[o.Holders[0].Name] == "" {
			continue
		}
		l := heldLock{lock: o.Kind + " " + o.Name, holder: o.Holders[0].Name, busy: busy[o.Holders[0].Name]}
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
		j.refute("nobody has waited for %s or more for a lock whose holder is at work, in a call or a tool", secs(connectMin))
		return
	}
	j.support(0.95 * float64(l.waiting+1) / float64(max(l.waiting+1, r.agents.Blocked+r.agents.SubAgents)))
	j.beside = fmt.Sprintf("%s for %s, whose holder is in a %s", does(l.waiting, "agent", "waits", "wait"), l.lock, l.busy)
	j.pro("%s for %s, the longest for %s; its holder %s is in a %s that goes on", does(l.waiting, "agent", "waits", "wait"), l.lock, secs(l.longest), l.holder, l.busy)
	if n := r.pool.capacity - r.pool.inUse; r.pool.limited && n > 0 {
		j.pro("%s free meanwhile", does(n, "slot", "is", "are"))
	}
}
