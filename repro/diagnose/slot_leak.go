package diagnose

import (
	"fmt"
	"time"
)

// slotLeak: slots are held in the name of calls that have ended, or that no longer hold them.
func slotLeak() cause {
	return cause{
		name: CauseSlotLeak, outcome: Wedged, layer: LayerPacer,
		judge: judgeSlotLeak,
		because: func(r *reading) string {
			p := &r.pool
			text := fmt.Sprintf("Of the pacer's %s, %d %s held by nobody: the calls they were taken for have ended, and nothing gives them back. ", count(p.capacity, "slot"), len(p.kept), verb(len(p.kept), "is", "are"))
			text += fmt.Sprintf("%s for a slot.", does(p.waiting, "call", "waits", "wait"))
			if live := p.inUse - len(p.kept); live > 0 {
				text += fmt.Sprintf(" The other %s still used.", does(live, "slot", "is", "are"))
			}
			return text
		},
		next: func(r *reading) []string {
			return []string{
				"look at each way out of a call (error status, time limit, cancel): the slot must be given back on all of them, so in a deferred call",
				"count slots in use while nothing is in flight: the floor must be 0",
			}
		},
	}
}

func judgeSlotLeak(r *reading, j *judgement) {
	p := &r.pool
	switch {
	case !p.limited:
		j.refute("the pacer has no limit on slots")
		return
	case p.object == nil:
		j.open(0, "who holds the slots: the pacer's semaphore is not in the evidence")
		return
	case p.inUse == 0:
		j.refute("no slot is in use")
		return
	case len(p.kept) == 0 && p.inUse > len(p.object.Holders):
		j.open(0.2, "who holds the slots: not all holders are in the evidence")
		return
	case len(p.kept) == 0:
		j.refute("each of the %s in use belongs to a call in flight", count(p.inUse, "slot"))
		return
	}
	kept := make([]string, len(p.kept))
	var oldest time.Duration
	for i, who := range p.kept {
		kept[i] = partyName(who)
		oldest = max(oldest, age(r.now.At, who.Since))
	}
	j.beside = fmt.Sprintf("%s kept by calls that have ended", does(len(kept), "slot", "is", "are"))
	if p.blocks() {
		j.support(0.97 * r.share(len(kept)))
	} else {
		j.open(0.1, "a capture when the slots have run out")
		j.con("%s free, or nobody waits for one", does(max(0, p.capacity-p.inUse), "slot", "is", "are"))
	}
	j.pro("%s in use, but %s of them in the name of calls that have ended or do not hold one, the longest for %s: %s",
		does(p.inUse, "slot", "is", "are"), num(float64(len(kept))), secs(oldest), few(kept))
	if t := &r.now.Totals; t.AttemptsStatus+t.AttemptsTimeout+t.AttemptsNetwork > 0 {
		j.pro("%s failed so far in this run, each of which has to give its slot back", count(t.AttemptsStatus+t.AttemptsTimeout+t.AttemptsNetwork, "attempt"))
	}
	if live := p.inUse - len(kept); live > 0 {
		j.con("%s held by calls in flight", does(live, "slot", "is", "are"))
	}
}
