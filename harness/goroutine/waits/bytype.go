package waits

import "strings"

// byType is how sure a holder is that was found by the type of its receiver only.
const byType = 0.4

// troublesMax bounds the pairs that are looked at.
const troublesMax = 300

// joinByType looks once more at locks that nobody near holds: one that waits
// elsewhere inside a method of the same type as the method that wants the lock
// is a likelier holder than none. Receivers, which would tell one value of the type from
// another, are often not printed.
func (z *analyzer) joinByType(troubles []trouble) []trouble {
	if len(troubles) > troublesMax {
		return troubles
	}
	var kept []trouble
	gone := make([]bool, len(troubles))
	for i := range troubles {
		lock := &troubles[i]
		if lock.finding.Class != DoubleLock || lock.finding.Confidence > byElimination {
			continue
		}
		for k := range troubles {
			class := overClass(troubles[k].finding.Class)
			if gone[k] || class == "" || !z.sameType(lock.groups, troubles[k].groups) {
				continue
			}
			gone[k] = true
			lock.absorb(&troubles[k], class)
		}
	}
	for i := range troubles {
		if !gone[i] {
			kept = append(kept, troubles[i])
		}
	}
	return kept
}

// overClass is the class of a lock that is held over a wait of the class.
func overClass(class FindingClass) FindingClass {
	switch class {
	case CondStuck:
		return LockOverCond
	case SendNoReceiver, RecvNoSender, SelectForever, ChannelCycle:
		return LockOverChannel
	case WaitGroupStuck, WaitGroupChannel:
		return LockOverWait
	}
	return ""
}

func (t *trouble) absorb(other *trouble, class FindingClass) {
	if t.finding.Class == DoubleLock {
		t.finding.Class = class
	}
	t.finding.Confidence = byType
	t.finding.Because = "those that wait elsewhere are inside methods of the type whose method wants the lock; which value of the type is not printed"
	t.groups = append(t.groups, other.groups...)
	t.members = append(t.members, other.members...)
	t.near = max(t.near, other.near)
}

// sameType reports whether a goroutine of others is inside a method of the type
// whose method waits for the lock in groups.
func (z *analyzer) sameType(groups, others []int32) bool {
	for _, g := range groups {
		grp := z.b.groups[g]
		if !isLock(grp.shape.kind) || grp.shape.place < 0 {
			continue
		}
		owner := receiverType(grp.frames[grp.shape.place].Func)
		if owner == "" {
			continue
		}
		for _, o := range others {
			if z.b.groups[o].isInside(owner) {
				return true
			}
		}
	}
	return false
}

// isInside reports whether a method of the type is on the stack. A closure that the go
// statement started does not count: the method that made it may be over.
func (g *group) isInside(owner string) bool {
	for k := range g.frames {
		name := g.frames[k].Func
		if receiverType(name) == owner && !(strings.Contains(name, ".func") && isEntry(g.frames[k+1:])) {
			return true
		}
	}
	return false
}

// receiverType is "main.(*T)" of "main.(*T).Method.func1", "" for no method.
func receiverType(name string) string {
	open := strings.Index(name, ".(*")
	if open < 0 {
		return ""
	}
	end := strings.IndexByte(name[open:], ')')
	if end < 0 {
		return ""
	}
	return name[:open+end+1]
}
