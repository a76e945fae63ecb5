package waits

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A pool is something that hands out slots, and who waits for one.
type pool struct {
	object  int32
	waiters []int32
	groups  []int32
	// holders are those who are inside the code that a waiter would go on with:
	// they have a slot, as far as one can tell.
	holders []int32
	by      string // the function that told the holders
}

// findPools lists the pools with waiters: one for each object.
func (z *analyzer) findPools() []pool {
	var pools []pool
	index := map[int32]int{}
	for i := range z.facts {
		o := z.objectOf[i]
		if o < 0 || z.shape(int32(i)).role != slot || z.class(int32(i)) != ProgramEnding {
			continue
		}
		k, ok := index[o]
		if !ok {
			k = len(pools)
			index[o] = k
			pools = append(pools, pool{object: o})
		}
		p := &pools[k]
		p.waiters = append(p.waiters, int32(i))
		if g := z.facts[i].group; !slices.Contains(p.groups, g) {
			p.groups = append(p.groups, g)
		}
	}
	for k := range pools {
		z.findSlotHolders(&pools[k])
	}
	slices.SortStableFunc(pools, func(x, y pool) int { return cmp.Compare(len(y.waiters), len(x.waiters)) })
	return pools
}

// findSlots makes findings of the pools.
func (z *analyzer) findSlots() {
	pools := z.findPools()
	var orphans []pool // nobody is seen to have their slots
	for k := range pools {
		p := &pools[k]
		if len(p.holders) == 0 {
			z.holdersByLock(p)
		}
		if len(p.holders) == 0 {
			z.holdersByChild(p)
		}
		if len(p.holders) == 0 && z.a.Objects[p.object].Kind == Semaphore {
			orphans = append(orphans, *p)
		}
	}
	cross := len(orphans) > 1 && z.wild < 0 && !z.b.Partial
	if cross {
		z.addCross(orphans)
	}
	for k := range pools {
		if !cross || !slices.ContainsFunc(orphans, func(o pool) bool { return o.object == pools[k].object }) {
			z.judgePool(&pools[k])
		}
	}
}

// addCross is for several semaphores whose holders are not seen, while nobody
// but their waiters is left: those who wait for one have a slot of another.
func (z *analyzer) addCross(pools []pool) {
	var all pool
	f := Finding{Class: ABBA, Confidence: byElimination, Because: fmt.Sprintf("of %d semaphores no holder is seen, and only those who wait for one are left to have a slot of another", len(pools))}
	for _, p := range pools {
		f.Objects = append(f.Objects, int(p.object))
		all.waiters = append(all.waiters, p.waiters...)
	}
	slices.Sort(all.waiters)
	all.groups = z.groupsOf(all.waiters)
	z.addPool(&all, f, true)
}

// judgePool asks what the holders wait for: the same slots, a lock, the outside.
func (z *analyzer) judgePool(p *pool) {
	object := &z.a.Objects[p.object]
	for _, h := range p.holders[:min(len(p.holders), holdersMax)] {
		object.Holders = append(object.Holders, Holder{z.facts[h].id, byOwner, "it is inside " + p.by + ", past the wait for a slot"})
	}
	f := Finding{Class: SlotExhausted, Confidence: 0.6, Objects: []int{int(p.object)}}
	nested, locked, live := z.sortHolders(p)
	var stuckMembers bool
	switch {
	case object.Kind == Pool && strings.Contains(z.b.groups[p.groups[0]].shape.waits, "database/sql"):
		f.Class = SQLPool
		f.Because, stuckMembers = z.openSQL(p)
		if stuckMembers {
			f.Class, f.Confidence = SlotNested, byReceiver
		}
	case len(nested) > 0:
		f.Class, stuckMembers = SlotNested, live < 0 && !z.b.Partial
		f.Because = fmt.Sprintf("%d that wait for a slot have one already, or work for one that has", z.sum(nested))
	case len(p.holders) == 0 && object.Kind == Semaphore:
		f.Because = "nobody in the dump is inside the code that follows on the wait"
		if z.wild >= 0 {
			f.Confidence = byType
			f.Because += fmt.Sprintf(", but %s or others that go on may have one", z.who(z.wild))
			break
		}
		if z.b.Partial {
			f.Confidence = byType
			f.Because += ", but those that are missing from the text may have one"
			break
		}
		f.Class, f.Confidence = SlotLeaked, byElimination
	case len(locked) > 0 && len(locked) == len(p.holders):
		f.Class, f.Confidence, f.Because = z.judgeLocked(p, locked)
		stuckMembers = f.Class == SlotLockCycle
	}
	if live >= 0 && f.Because == "" {
		f.Because = fmt.Sprintf("%d of %d holders run or can be woken from outside or by a timer, such as %s", z.countLive(p.holders), z.sum(p.holders), z.who(live))
	}
	z.addPool(p, f, stuckMembers)
}

// sortHolders lists the waiters that have a slot already, the holders that wait
// for a lock, and one holder that goes on, -1 for none.
func (z *analyzer) sortHolders(p *pool) (nested, locked []int32, live int32) {
	live = -1
	holds := map[int64]bool{}
	for _, h := range p.holders {
		holds[z.facts[h].id] = true
		switch {
		case isLock(z.shape(h).kind) && z.class(h) == ProgramEnding:
			locked = append(locked, h)
		case live < 0 && (z.goesOn(h) || z.class(h) == AtRest):
			live = h
		}
	}
	for _, w := range p.waiters {
		if parent := z.facts[w].parent; parent != 0 && holds[parent] || z.twice(z.facts[w].group) || len(p.holders) == 0 && z.isGroupTask(w) {
			nested = append(nested, w)
		}
	}
	return nested, locked, live
}

func (z *analyzer) countLive(list []int32) int {
	n := 0
	for _, i := range list {
		if z.goesOn(i) || z.class(i) == AtRest {
			n += int(z.facts[i].count)
		}
	}
	return n
}

// twice reports whether the function that waits is on the stack once more: its
// outer call has a slot.
func (z *analyzer) twice(group int32) bool {
	g := z.b.groups[group]
	if g.shape.place < 0 {
		return false
	}
	name := g.frames[g.shape.place].Func
	for i := g.shape.place + 1; i < len(g.frames); i++ {
		if g.frames[i].Func == name {
			return true
		}
	}
	return false
}

// judgeLocked is for holders that all wait for locks: a cycle if one of those
// that wait for a slot holds the lock.
func (z *analyzer) judgeLocked(p *pool, locked []int32) (FindingClass, float64, string) {
	for _, l := range locked {
		for _, w := range p.waiters {
			if o := z.objectOf[l]; o >= 0 && z.heldBy(o, w) > 0 {
				return SlotLockCycle, byReceiver, fmt.Sprintf("goroutine %d, which waits for a slot, is inside a method of the owner of the lock that goroutine %d, which has one, waits for", z.facts[w].id, z.facts[l].id)
			}
		}
	}
	for _, l := range locked {
		if o := z.objectOf[l]; o < 0 || len(z.a.Objects[o].Holders) > 0 {
			return SlotExhausted, byElimination, "all holders wait for a lock"
		}
	}
	if z.wild >= 0 || z.b.Partial {
		return SlotExhausted, byElimination, "all holders wait for a lock, and who has that is not printed"
	}
	return SlotLockCycle, byElimination, "all holders wait for a lock, and only those that wait for a slot are left to hold it"
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if what == "query" {
		return fmt.Sprintf("%d queries", n)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// addPool writes the finding down and marks its waiters as explained.
func (z *analyzer) addPool(p *pool, f Finding, isStuck bool) {
	t := trouble{finding: f, members: slices.Clone(p.waiters)}
	t.members = append(t.members, p.holders...)
	slices.Sort(t.members)
	t.groups = z.groupsOf(t.members)
	for _, i := range t.members {
		f.Members = append(f.Members, z.facts[i].id)
		if isStuck {
			z.marks[i] |= stuck
		}
		z.explain(z.clusterOf[i], isStuck)
	}
	f.Text = z.poolText(p, f.Class)
	z.a.Findings = append(z.a.Findings, f)
}

// explain takes a cluster as explained by a finding about slots. Who waits for
// one of its members is stuck with them.
func (z *analyzer) explain(k int32, isStuck bool) {
	if k < 0 || z.clusters[k].explained {
		return
	}
	c := &z.clusters[k]
	c.explained = true
	for _, i := range c.members {
		if isStuck && z.waker(c) < 0 {
			z.marks[i] |= stuck
		}
	}
}

// poolText says how many wait, how many hold, and what those wait for.
func (z *analyzer) poolText(p *pool, class FindingClass) string {
	waiting := trouble{finding: Finding{Class: class}, members: p.waiters, groups: p.groups}
	text := z.text(&waiting)
	if len(p.holders) == 0 && class == ABBA {
		return strings.Replace(text, explain[ABBA], "slots of several semaphores are taken in different orders", 1)
	}
	if len(p.holders) == 0 {
		return text + "; no holder is in the dump"
	}
	holding := z.parts(p.holders, z.groupsOf(p.holders))
	return text + fmt.Sprintf("; of %s, ", plural(z.sum(p.holders), "holder")) + strings.Join(holding, ", ")
}
