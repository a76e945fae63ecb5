package waits

import (
	"fmt"
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

// tier is where a finding stands in the list.
func tier(f *Finding) int {
	switch f.Class {
	case SlotNested, SlotLockCycle, SlotLeaked:
		return 0
	case HTTPPool, DeadConnection, PipeFull:
		return 3
	case HTTPHeaders, StreamStall, RateLimit, ExecWait:
		return 4
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
	root := z.root()
	switch {
	case slices.ContainsFunc(z.b.Messages, func(m string) bool { return strings.Contains(m, asleep) }):
		v.Outcome, v.Decided = Deadlocked, "movement"
		v.Reason = "the Go runtime found that no goroutine could go on" + andRoot(root)
	case root != nil && isSlot(root.Class):
		z.judgeSlots(&v, root)
	case root != nil && tier(root) < 3:
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
	alive := z.wild >= 0
	switch f.Class {
	case SlotNested, SlotLockCycle:
		v.Outcome = Wedged
		if z.allStuck(f) && !alive && f.Confidence >= byOwner {
			v.Outcome = Deadlocked
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
	case !z.dying && len(z.live) == 0 && z.allStuck(f) && !z.hasTimer() && (isLocksOnly(f.Class) || !z.hasRest()):
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
	if z.canWake() {
		v.Missing = append(v.Missing, secondDump)
	}
}

// canWake reports whether somebody goes on who may wake others.
func (z *analyzer) canWake() bool { return len(z.live) > 0 }

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

// judgePeers is for a program that only waits for the outside and for timers.
func (z *analyzer) judgePeers(v *Verdict) {
	v.Decided = "movement"
	var parts []string
	for i := range z.a.Findings {
		parts = append(parts, z.a.Findings[i].Text)
	}
	v.Reason = "all waits can be ended from outside or by timers; one dump does not tell slow from wedged: " + strings.Join(parts, "; ")
}

// judgeQuiet is for a dump without findings.
func (z *analyzer) judgeQuiet(v *Verdict) {
	running, resting := 0, 0
	for i := range z.facts {
		s := z.shape(int32(i))
		switch z.class(int32(i)) {
		case Running:
			if s.role == plain {
				running += int(z.facts[i].count)
			}
		case AtRest:
			resting += int(z.facts[i].count)
		}
	}
	switch {
	case z.a.Goroutines == 0:
		v.Reason = "the text has no goroutine"
	case running > 0:
		v.Reason = fmt.Sprintf("%d of %d goroutines run or are ready to; one dump does not tell whether they get anywhere", running, z.a.Goroutines)
	case resting > 0 && len(z.waits) == 0 && len(z.live) == 0:
		v.Outcome, v.Decided = Idle, "holders"
		v.Reason = fmt.Sprintf("nobody waits for anybody: %d of %d goroutines are at rest until work comes", resting, z.a.Goroutines)
	default:
		v.Reason = fmt.Sprintf("no trouble is seen in one dump of %d goroutines, and one dump does not tell what moves", z.a.Goroutines)
	}
}

// missing says what the text cannot tell.
func (z *analyzer) missing() []string {
	var list []string
	unnamed, shown := 0, 0
	for _, i := range z.waits {
		switch z.shape(i).kind {
		case Channel, RWMutex:
			if z.facts[i].object == 0 {
				unnamed++
			} else {
				shown++
			}
		}
	}
	if unnamed > 0 && shown == 0 {
		list = append(list, fmt.Sprintf("which channels or RWMutexes %d goroutines wait for: a dump by SIGQUIT or of a crash has their addresses", unnamed))
	}
	return list
}

// nextDump is the step that decides between slow and stuck.
const nextDump = "take a second dump some seconds later and compare: wedge dump FIRST SECOND, or wedge dump http://HOST:PORT/debug/pprof/goroutine"

// addNext says what to do.
func (z *analyzer) addNext(v *Verdict) {
	if v.Outcome != Deadlocked && v.Outcome != Idle {
		v.Next = append(v.Next, nextDump)
	}
	if slices.ContainsFunc(v.Missing, func(m string) bool { return strings.Contains(m, "SIGQUIT") }) {
		v.Next = append(v.Next, "if the process may end: kill -QUIT PID prints the addresses of channels")
	}
	if root := z.root(); root != nil && v.Outcome != Unknown {
		v.Next = append(v.Next, z.placesToRead(root)...)
	}
}

// placesToRead says which places in the source to look at first.
func (z *analyzer) placesToRead(f *Finding) []string {
	places := z.a.placesOf(f)
	if len(places) == 0 {
		return nil
	}
	return []string{"read " + strings.Join(places, ", ")}
}

// placesOf lists the places where the members of a finding are, the first few.
func (a *Analysis) placesOf(f *Finding) []string {
	members := map[int64]bool{}
	for _, id := range f.Members {
		members[id] = true
	}
	var places []string
	for i := range a.Groups {
		g := &a.Groups[i]
		isIn := slices.ContainsFunc(g.IDs, func(id int64) bool { return members[id] })
		if isIn && !slices.Contains(places, g.Place) && len(places) < partsMax {
			places = append(places, g.Place)
		}
	}
	return places
}
