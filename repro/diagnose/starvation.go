package diagnose

import "fmt"

// starvation: live calls hold every slot, and will give them back in time.
func starvation() cause {
	return cause{
		name: CauseStarvation, outcome: Starved, layer: LayerPacer,
		judge: judgeStarvation,
		because: func(r *reading) string {
			h := r.holders()
			text := "Slow calls hold " + ofAll(h.live, r.pool.inUse, "slot") + ". They are alive"
			if h.moving > 0 {
				text += fmt.Sprintf(" (tokens arrive on %d, the latest %s)", h.moving, ago(r.newest(fateMoving)))
			}
			return text + ", so slots come back as their answers end; until then nobody else can start. The fleet is starved, not stuck." + r.nextEndText()
		},
		next: func(r *reading) []string {
			out := []string{"wait for the oldest answers: with these slots the fleet goes on by itself"}
			if limit, length, _ := r.nextEnd(); length > 0 {
				out = []string{"a limit that no call reaches while it waits or is served (" + limit + "): more than " + secs(length) + ", or one on silence instead, policy.idle"}
			}
			if r.now.Setup.Workers > r.pool.capacity {
				out = append(out, "--set pacer.slots="+num(float64(r.now.Setup.Workers))+", if the servers take that many at once: look at tokens per second before and after")
			}
			return append(out, "measure tokens per second at the servers with more requests at once: if the total does not rise, the servers are the limit, not the slots")
		},
	}
}

// holders says how the holders of slots are.
type holders struct {
	weight float64 // sum of how surely each will finish
	live   int     // those seen to be alive
	moving int     // of these, those whose tokens arrive
	unsure int     // those that may be alive, and may not
}

// holders looks at who holds a slot: by the semaphore if it is known, else by the calls' own word.
func (r *reading) holders() holders {
	var h holders
	if r.pool.object == nil {
		for i := range r.calls {
			if r.calls[i].HoldsSlot {
				h.add(r, &r.calls[i])
			}
		}
		return h
	}
	byAgent := r.now.Setup.Hold == "agent"
	calls := make(map[string]*callReading, len(r.calls))
	for i := range r.calls {
		c := &r.calls[i]
		calls[c.ID] = c
		if byAgent {
			calls[c.Agent] = c
		}
	}
	between := make(map[string]*agentReading, len(r.idle))
	for i := range r.idle {
		between[r.idle[i].Name] = &r.idle[i]
	}
	for i, who := range r.pool.object.Holders {
		if r.pool.keeps[i] {
			continue
		}
		if c := calls[slotKey(who, byAgent)]; c != nil {
			h.add(r, c)
		} else if a := between[who.Name]; byAgent && a != nil && a.goesOn() {
			h.weight++ // between two calls
			h.live++
		}
	}
	return h
}

// dribbles says whether so few tokens arrive on a stream that, with no gauge to tell more, its engine may
// as well be about to stop.
func (r *reading) dribbles(c *callReading) bool {
	return c.fate == fateMoving && r.gauges.loaded == 0 && (c.quiet >= quietMin || c.gap.Seconds() > 1/crawlMax)
}

// dribbling counts such streams.
func (r *reading) dribbling() int {
	n := 0
	for i := range r.calls {
		if r.dribbles(&r.calls[i]) {
			n++
		}
	}
	return n
}

// goesOn says whether an agent between two calls will make the next one by itself.
func (a *agentReading) goesOn() bool {
	return !a.waits && (a.age < toolMin || a.run == toolSlow)
}

// add counts a call that holds a slot. One that was sent a moment ago is seen to be alive only if the
// servers' counters move, and one that waits for its next attempt is not.
func (h *holders) add(r *reading, c *callReading) {
	h.weight += c.fate.alive()
	switch c.fate {
	case fateMoving:
		if r.dribbles(c) {
			h.unsure++
			return
		}
		h.moving++
		h.live++
	case fateServed, fatePrefill, fateDecodeWait:
		h.live++
	case fateFresh:
		if r.counting() {
			h.live++
		}
	case fateOpen, fateUnanswered:
		if c.doubtful(r) {
			h.unsure++
		}
	}
}

func judgeStarvation(r *reading, j *judgement) {
	p := &r.pool
	switch {
	case !p.limited:
		j.refute("the pacer has no limit on slots")
		return
	case !p.full():
		j.refute("%d of %d slots are free", p.capacity-p.inUse, p.capacity)
		return
	case p.waiting == 0:
		j.refute("nobody waits for a slot")
		return
	}
	j.pro("all %s are held and %s for one, the longest for %s", count(p.capacity, "slot"), does(p.waiting, "call", "waits", "wait"), secs(p.longest))
	h := r.holders()
	lost := r.lostOnTheWay()
	score := 0.95 * max(0, h.weight-0.5*float64(lost)) / float64(max(1, p.inUse))
	if h.live > 0 {
		j.beside = areOfAll(h.live, p.inUse, "slot") + " held by calls that are alive"
	}
	switch {
	case h.live > 0 && h.unsure > h.live:
		j.open(min(score, 0.5), "the router's log or the gauges: are the requests of the calls that hold the other slots still worked on?")
		j.con("of %s that hold a slot nothing shows whether the servers work on them", count(h.unsure, "call"))
	case h.live > 0:
		j.support(score)
	case h.weight > 0:
		j.open(score, "the router's log or the gauges: are the requests of the calls that hold slots still worked on?")
	case r.n[fateExpiring] > 0:
		j.refute("the slots are held by quiet streams, which the idle limit will end")
	default:
		j.refute("none of the %s that are held will come back by itself", count(p.inUse, "slot"))
	}
	r.movingObservation(j)
	r.batchObservation(j)
	r.otherHolders(j, lost)
}

// otherHolders adds what holders of slots there are that a slow answer does not explain.
func (r *reading) otherHolders(j *judgement, lost int) {
	if n := len(r.pool.kept); n > 0 {
		j.con("%s by calls that have ended", does(n, "slot", "is kept", "are kept"))
	}
	if n := r.n[fateSilent]; n > 0 {
		j.con("%s gone quiet for good", does(n, "stream", "has", "have"))
	}
	if lost > 0 {
		j.con("%s had tokens and then none for %s or more: what the servers produce may not arrive", does(lost, "stream", "has", "have"), secs(quietMax))
	}
	if n := r.rateWaiters().slots; n > 0 {
		j.con("%s held by calls that wait for the pacer's own rate", does(n, "slot", "is", "are"))
	}
	if n := r.n[fatePrefill]; n > 0 {
		j.con("%s for prefill, so the slots are not held by decoding alone", does(n, "call", "waits", "wait"))
	}
}

// movingObservation adds what is seen of tokens that arrive.
func (r *reading) movingObservation(j *judgement) {
	if n := r.n[fateMoving]; n > 0 {
		j.pro("tokens arrive on %s, the latest %s", count(n, "call"), ago(r.newest(fateMoving)))
	}
	if n := r.n[fateServed]; n > 0 {
		j.pro("%s no token to see, but the decode engine produces them: it runs as many requests and its counter moves", does(n, "call", "has", "have"))
	}
	if m := &r.moved; m.ok && m.same > 0 {
		j.pro("of %s in flight at the capture %s earlier, %d have had tokens since", count(m.same, "attempt"), secs(m.over), m.same-m.still)
	}
}

// batchObservation adds what the decode engine runs.
func (r *reading) batchObservation(j *judgement) {
	if s := &r.gauges.recent[decodeRunning]; s.ok() && s.max > 0 {
		j.pro("%s, %s", s.tell("decode_running"), r.gauges.under)
	}
}
