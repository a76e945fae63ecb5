package waits

import (
	"slices"
	"strings"
)

// judge finds what is wrong and says the verdict.
func (a *Analysis) judge(b *Builder) {
	z := newAnalyzer(a, b)
	z.rest()
	z.sort()
	z.findObjects()
	z.cluster()
	z.findHolders()
	z.findSlots()
	z.findClusters()
	z.findPeers()
	z.sortFindings()
	z.sortObjects()
	z.markStuck()
	a.Verdict = z.verdict()
	a.graph = z.graph
	a.keys = z.keys()
	for _, g := range b.groups {
		a.shapes = append(a.shapes, g.shape)
	}
	z.drop()
}

// markStuck writes the stuck goroutines down, and how many each group has.
func (z *analyzer) markStuck() {
	counts, atRest := make([]int, len(z.b.groups)), make([]bool, len(z.b.groups))
	for i := range z.facts {
		if z.marks[i]&(stuck|leaked) != 0 {
			z.a.Stuck = append(z.a.Stuck, z.facts[i].id)
			counts[z.facts[i].group]++
		}
		if z.marks[i]&resting != 0 {
			atRest[z.facts[i].group] = true
		}
	}
	for i := range z.a.Groups {
		g := z.b.groups[z.a.order[i]]
		z.a.Groups[i].Stuck = counts[g.index]
		if atRest[g.index] {
			z.a.Groups[i].Class = AtRest
		}
	}
}

// sortFindings puts trouble with slots and locks that is sure first, and what one dump
// cannot judge last.
func (z *analyzer) sortFindings() {
	slices.SortStableFunc(z.a.Findings, func(x, y Finding) int { return tier(&x) - tier(&y) })
}

// peerTier is the first tier of those that only wait for the outside or a timer.
const peerTier = 3

// tier is where a finding stands in the list.
func tier(f *Finding) int {
	switch f.Class {
	case SlotNested, SlotLockCycle, SlotLeaked:
		return 0
	case HTTPPool, DeadConnection, PipeFull:
		return peerTier
	case HTTPHeaders, StreamStall, RateLimit, ExecWait:
		return peerTier + 1
	case SlotExhausted, SQLPool:
		return 1
	}
	if f.Confidence < byType {
		return 2
	}
	return 1
}

// asleep is what the runtime prints when it finds that nobody can go on.
const asleep = "all goroutines are asleep - deadlock!"

// verdict follows the order of the diagnosis: does anything move (one dump does
// not say), who waits for slots, what do the holders wait for, and only then locks.
func (z *analyzer) verdict() Verdict {
	v := Verdict{Outcome: Unknown, Decided: "nothing"}
	v.Missing = z.missing()
	if z.b.Partial {
		v.Missing = append(v.Missing, partDump)
	}
	root := z.root()
	switch {
	case slices.ContainsFunc(z.b.Messages, func(m string) bool { return strings.Contains(m, asleep) }):
		v.Outcome, v.Decided = Deadlocked, "movement"
		v.Reason = "the Go runtime found that no goroutine could go on" + andRoot(root)
	case root != nil && isSlot(root.Class):
		z.judgeSlots(&v, root)
	case root != nil && tier(root) < peerTier:
		z.judgeLocks(&v, root)
	case root != nil:
		z.judgePeers(&v)
	default:
		z.judgeQuiet(&v)
	}
	z.addNext(&v)
	return v
}

// root is the first finding, nil for none.
func (z *analyzer) root() *Finding {
	if len(z.a.Findings) == 0 {
		return nil
	}
	return &z.a.Findings[0]
}

func andRoot(f *Finding) string {
	if f == nil {
		return ""
	}
	return ": " + f.Text
}

func isSlot(c FindingClass) bool {
	switch c {
	case SlotExhausted, SlotNested, SlotLeaked, SlotLockCycle, SQLPool:
		return true
	}
	return false
}

// judgeSlots says what follows from what the holders of slots wait for.
func (z *analyzer) judgeSlots(v *Verdict, f *Finding) {
	v.Decided, v.Reason = "holders", f.Text+because(f)
	alive := z.wild >= 0 || z.b.Partial
	switch f.Class {
	case SlotNested, SlotLockCycle:
		switch {
		case z.allStuck(f) && !alive && f.Confidence >= byOwner:
			v.Outcome = Deadlocked
		case !z.b.Partial:
			v.Outcome = Wedged
		}
	case SlotLeaked:
		v.Outcome = Wedged
	default:
		v.Decided = "slots"
		v.Outcome = Unknown
		if live := z.liveOf(f); live > 0 {
			v.Outcome, v.Decided = Starved, "holders"
			v.Reason += "; it is starved if those come on, and wedged if not"
		}
	}
}

func because(f *Finding) string {
	if f.Because == "" {
		return ""
	}
	return " (" + f.Because + ")"
}

// allStuck reports whether all members are called stuck.
func (z *analyzer) allStuck(f *Finding) bool {
	for _, id := range f.Members {
		if i, ok := z.find(id); !ok || z.marks[i]&stuck == 0 {
			return false
		}
	}
	return true
}

// liveOf counts the members that go on.
func (z *analyzer) liveOf(f *Finding) int {
	n := 0
	for _, id := range f.Members {
		if i, ok := z.find(id); ok && z.goesOn(i) {
			n++
		}
	}
	return n
}

// judgeLocks is for locks, channels and the like. Only a cycle that the
// addresses show, or a program in which nobody is left to wake anybody, is a
// deadlock.
func (z *analyzer) judgeLocks(v *Verdict, f *Finding) {
	v.Decided, v.Reason = "locks", f.Text+because(f)
	switch proven := f.Class == ABBA && f.Confidence >= byReceiver; {
	case proven && !z.canWake():
		v.Outcome = Deadlocked
	case f.Class == NilChannel && (z.canWake() || z.hasRest()):
		v.Reason += "; the rest of the program goes on"
	case !z.dying && !z.canWake() && z.allStuck(f) && !z.hasTimer() && (isLocksOnly(f.Class) || !z.hasRest()):
		v.Outcome = Deadlocked
		v.Reason += "; nobody in the dump runs, sleeps or waits for the outside"
	case proven || len(z.a.Stuck) > 0 && z.allStuck(f):
		v.Outcome = Wedged
	case f.Class == LockOverCall || f.Class == DeadConnection:
		v.Decided = "holders"
	}
	if z.dying {
		v.Missing = append(v.Missing, "the program was ended by a panic or fatal error: whether its main goroutine would have woken somebody")
	}
	if len(z.live) > 0 {
		v.Missing = append(v.Missing, secondDump)
	}
}

// canWake reports whether somebody goes on who may wake others, in the dump or
// missing from its text.
func (z *analyzer) canWake() bool { return len(z.live) > 0 || z.b.Partial }

// isLocksOnly reports whether only a holder of a lock can end the waits: one who
// comes new into the program cannot.
func isLocksOnly(c FindingClass) bool { return c == DoubleLock || c == ABBA || c == RWRecursive }

// hasRest reports whether somebody is at rest until the outside comes.
func (z *analyzer) hasRest() bool {
	for i := range z.facts {
		if z.class(int32(i)) == AtRest && z.shape(int32(i)).kind == Conn {
			return true
		}
	}
	return false
}

// hasTimer reports whether somebody may wait for a timer's channel, or for
// signals: any receive or select. No text tells such a channel from another.
func (z *analyzer) hasTimer() bool {
	for _, i := range z.waits {
		g := z.b.groups[z.facts[i].group]
		if (g.state == "select" || g.state == "chan receive") && g.shape.role == plain {
			return true
		}
	}
	return false
}
