package waits

import "slices"

// isAmongLockers reports whether those who wait for locks are likelier to hold them
// than those who are left: the lockers wait for several locks at several places, and
// each other one is a bystander.
func (z *analyzer) isAmongLockers(s *sorted) bool {
	left := slices.Concat(s.receives, s.groups)
	if len(left) == 0 || len(s.sends)+len(s.selects)+len(s.pipes)+len(s.conds)+len(s.slots) > 0 || len(s.objects) < 2 || z.places(s.locks) < 2 {
		return false
	}
	for _, i := range left {
		if !z.isBystander(i, s.locks) {
			return false
		}
	}
	return true
}

// isBystander reports whether the goroutine does nothing but wait, as far as its stack
// tells, for the others to be done or to send what they make: it waits in the very
// function that its go statement started, and has none in common with the lockers.
func (z *analyzer) isBystander(i int32, lockers []int32) bool {
	if !z.shape(i).entry {
		return false
	}
	g := z.b.groups[z.facts[i].group]
	for _, l := range lockers {
		other := z.b.groups[z.facts[l].group]
		for k := range other.frames {
			if name := other.frames[k].Func; !isPlumbing(name) && g.hasOwn(name) {
				return false
			}
		}
	}
	return true
}

// hasOwn reports whether the function, or another method of its type, is on the stack.
func (g *group) hasOwn(name string) bool {
	owner := receiverType(name)
	for k := range g.frames {
		if f := g.frames[k].Func; f == name || owner != "" && receiverType(f) == owner {
			return true
		}
	}
	return false
}
