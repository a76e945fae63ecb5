package waits

import "slices"

// lockHolder looks among those that go on, or are at rest, for the holder of a
// lock that nobody in the cluster holds. It returns DoubleLock if there is none.
func (z *analyzer) lockHolder(c *cluster, s *sorted, confidence float64, because string) (FindingClass, float64, string) {
	for _, o := range s.objects {
		for _, h := range z.a.Objects[o].Holders {
			if i, ok := z.find(h.Goroutine); ok && h.Confidence >= byReceiver && z.goesOn(i) {
				c.holder = i
				return LockOverCall, byReceiver, z.who(i) + " may hold it: " + h.Why
			}
		}
	}
	for _, i := range c.live {
		if z.sharesFunc(i, s.locks) {
			z.hold(c, s, i, "it is in the same code as those that wait, and goes on")
			return LockOverCall, byType, z.who(i) + " is in the same code and may hold it"
		}
	}
	if i := z.sameOwner(s.locks); i >= 0 {
		z.hold(c, s, i, "it is inside a method of the type whose method wants the lock, and goes on")
		return LockOverCall, byType, z.mayHold(i)
	}
	return DoubleLock, confidence, because
}

// mayHold says why i, which goes on, may hold a lock.
func (z *analyzer) mayHold(i int32) string {
	return z.who(i) + " is inside a method of the type whose method wants the lock, and may hold it"
}

// hold notes i as the one who may hold the locks of the cluster.
func (z *analyzer) hold(c *cluster, s *sorted, i int32, why string) {
	c.holder = i
	for _, o := range s.objects {
		z.addHolder(o, Holder{z.facts[i].id, byType, why})
	}
}

// sharesFunc reports whether i has a function on its stack in which one of the
// others waits.
func (z *analyzer) sharesFunc(i int32, others []int32) bool {
	g := z.b.groups[z.facts[i].group]
	for _, k := range others {
		other := z.b.groups[z.facts[k].group]
		if other.shape.place < 0 {
			continue
		}
		name := other.frames[other.shape.place].Func
		for f := range g.frames {
			if g.frames[f].Func == name {
				return true
			}
		}
	}
	return false
}

// sameOwner finds one that goes on inside a method of the type whose method
// waits for a lock, -1 for none.
func (z *analyzer) sameOwner(locks []int32) int32 {
	var owners []string
	for _, k := range locks {
		g := z.b.groups[z.facts[k].group]
		if p := g.shape.place; p >= 0 {
			if t := receiverType(g.frames[p].Func); t != "" && !slices.Contains(owners, t) {
				owners = append(owners, t)
			}
		}
	}
	for _, i := range z.live {
		if g := z.b.groups[z.facts[i].group]; slices.ContainsFunc(owners, g.isInside) {
			return i
		}
	}
	return -1
}

// hasLiveHolder reports whether one that goes on is inside a method of the owner of
// one of the locks.
func (z *analyzer) hasLiveHolder(objects []int32) bool {
	for _, o := range objects {
		for _, h := range z.a.Objects[o].Holders {
			if i, ok := z.find(h.Goroutine); ok && h.Confidence >= byReceiver && z.goesOn(i) {
				return true
			}
		}
	}
	return false
}
