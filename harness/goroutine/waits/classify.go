package waits

import "slices"

// A tally sorts the members of a cluster by what they wait for.
type sorted struct {
	locks, readers, writers []int32 // for locks; readers and writers are those of RWMutexes
	sends, receives         []int32
	selects, nils, forever  []int32
	conds, groups, slots    []int32
	onces, pipes            []int32 // onces are among the locks too: a sync.Once hides one
	joins                   []int32 // receives, selects and WaitGroups of those that others of the cluster were started by
	objects                 []int32 // the locks waited for, each once
}

// sortMembers tells the members apart. One that waits for those it started is a
// joiner: it waits since they do.
func (z *analyzer) sortMembers(members []int32) sorted {
	parents := map[int64]bool{}
	for _, i := range members {
		parents[z.facts[i].parent] = true
	}
	var s sorted
	for _, i := range members {
		z.sortMember(&s, i, z.facts[i].id != 0 && parents[z.facts[i].id])
	}
	return s
}

func (z *analyzer) sortMember(s *sorted, i int32, isParent bool) {
	g := z.b.groups[z.facts[i].group]
	list := &s.receives
	switch kind := g.shape.kind; {
	case g.shape.role == slot:
		list = &s.slots
	case g.shape.role == joiner:
		list = &s.joins
	case kind == Pipe:
		list = &s.pipes
	case isLock(kind):
		list = &s.locks
		if kind == Once {
			s.onces = append(s.onces, i)
		} else if kind == RWMutex && g.shape.writer {
			s.writers = append(s.writers, i)
		} else if kind == RWMutex {
			s.readers = append(s.readers, i)
		}
		if o := z.objectOf[i]; !slices.Contains(s.objects, o) && len(s.objects) < objectsMax {
			s.objects = append(s.objects, o)
		}
	case kind == Cond:
		list = &s.conds
	case g.state == "select (no cases)":
		list = &s.forever
	case g.state == "chan receive (nil chan)" || g.state == "chan send (nil chan)":
		list = &s.nils
	case kind == WaitGroup:
		list = &s.groups
		if isParent {
			list = &s.joins
		}
	case kind == Select:
		list = &s.selects
		if isParent {
			list = &s.joins
		}
	case g.state == "chan send":
		list = &s.sends
	case isParent:
		list = &s.joins
	}
	*list = append(*list, i)
}

// objectsMax bounds the locks that are looked at in one cluster.
const objectsMax = 256

// classify says what shape of trouble a cluster has, how sure that is and from
// what it was inferred. The members that make the shape come first.
func (z *analyzer) classify(s *sorted) (class FindingClass, confidence float64, because string) {
	if len(s.locks) > len(s.onces) {
		return z.classifyLocks(s)
	}
	channels := len(s.sends) + len(s.receives) + len(s.selects)
	switch {
	case len(s.onces) > 0:
		return OnceStuck, 0.7, "the others wait for the one that runs the function"
	case len(s.slots) > 0:
		return SlotExhausted, 0.6, ""
	case len(s.conds) > 0:
		return CondStuck, 0.7, ""
	case len(s.groups) > 0 && channels > 0:
		return WaitGroupChannel, 0.6, "the ones wait for a message, the other for them to be done"
	case len(s.pipes) > 0:
		return PipeStuck, 0.7, ""
	case len(s.sends) > 0:
		return SendNoReceiver, 0.7, ""
	case len(s.selects) > 1 && z.places(s.selects) > 1:
		return ChannelCycle, 0.5, "no select shows its channels; these were started together and none goes on"
	case len(s.receives) > 0:
		return RecvNoSender, 0.7, ""
	case len(s.selects) > 0:
		return SelectForever, 0.5, "a select does not show its channels"
	case len(s.nils) > 0:
		return NilChannel, 1, ""
	case len(s.forever) > 0:
		return SelectForever, 1, ""
	case len(s.groups) > 0:
		return WaitGroupStuck, 0.7, ""
	}
	return z.classifyJoins(s)
}

// classifyJoins is for a cluster in which all wait for one another to end.
func (z *analyzer) classifyJoins(s *sorted) (FindingClass, float64, string) {
	for _, i := range s.joins {
		if z.shape(i).kind == WaitGroup {
			return WaitGroupStuck, 0.5, ""
		}
	}
	return RecvNoSender, 0.5, ""
}

// places counts the places at which the goroutines wait.
func (z *analyzer) places(list []int32) int {
	var groups []int32
	for _, i := range list {
		if g := z.facts[i].group; !slices.Contains(groups, g) && len(groups) < objectsMax {
			groups = append(groups, g)
		}
	}
	return len(groups)
}

// classifyLocks tells lock orders from locks that are held over another wait.
func (z *analyzer) classifyLocks(s *sorted) (FindingClass, float64, string) {
	if z.lockCycle(s, byReceiver) {
		because := "each waits for a lock and is inside a method of the owner of the other's"
		if i := z.sameOwner(s.locks); i >= 0 {
			return ABBA, byOwner, because + "; " + z.mayHold(i)
		}
		return ABBA, byReceiver, because
	}
	held := func(list []int32) bool { return z.holdsOne(s.objects, list) }
	switch others := slices.Concat(s.sends, s.receives, s.selects, s.pipes); {
	case held(others):
		return LockOverChannel, byReceiver, "the one at the channel is inside a method of the lock's owner"
	case held(s.conds):
		return LockOverCond, byReceiver, "the one at the Cond is inside a method of the lock's owner"
	case held(s.groups):
		return LockOverWait, byReceiver, "the one at the WaitGroup is inside a method of the lock's owner"
	case held(s.joins):
		return LockOverChannel, byReceiver, "the one that waits for the others is inside a method of the lock's owner"
	case z.hasLiveHolder(s.objects):
		return DoubleLock, byElimination, "" // lockHolder says more
	case z.isAmongLockers(s):
		return ABBA, byElimination, "the waiters wait for several locks at several places, and the others only wait for them, in code that has no part in it"
	case len(s.conds) > 0:
		z.eliminate(s.objects, s.conds)
		return LockOverCond, byElimination, "nobody else is left to hold the lock"
	case len(others) > 0:
		z.eliminate(s.objects, others)
		return LockOverChannel, byElimination, "nobody else is left to hold the lock"
	case len(s.groups) > 0:
		z.eliminate(s.objects, s.groups)
		return LockOverWait, byElimination, "nobody else is left to hold the lock"
	}
	return z.classifyLocksAlone(s)
}

func (z *analyzer) classifyLocksAlone(s *sorted) (FindingClass, float64, string) {
	switch {
	case len(s.readers) > 0 && len(s.writers) > 0 && len(s.readers)+len(s.writers) == len(s.locks) && z.unnamed(s.objects):
		return RWRecursive, 0.5, "a reader that waits behind a writer, of one RWMutex as far as the text tells, and nobody else who could hold it"
	case z.lockCycle(s, byOwner):
		return ABBA, byOwner, "each waits for a lock in a function that has the other's as an argument, and so may hold that"
	case len(s.objects) > 1:
		return ABBA, byElimination, "the waiters wait for several locks and nobody else is left to hold them"
	case len(s.readers) > 0 && len(s.writers) > 0:
		return RWRecursive, 0.6, "a reader that waits behind a writer, and nobody else who could hold the lock: it holds it for reading already"
	}
	for _, i := range s.locks {
		if z.heldBy(z.objectOf[i], i) > 0 {
			return DoubleLock, byItself, "an outer call of the waiter is a method of the lock's owner"
		}
	}
	return DoubleLock, byElimination, "nobody is left to hold it: the waiter itself does, or one that ended without unlocking"
}

// unnamed reports whether one of the objects has no address, so that two of them may
// be one.
func (z *analyzer) unnamed(objects []int32) bool {
	return slices.ContainsFunc(objects, func(o int32) bool { return z.a.Objects[o].Address == 0 })
}

// holdsOne reports whether one of the goroutines may hold one of the locks by
// its receivers.
func (z *analyzer) holdsOne(objects, list []int32) bool {
	for _, o := range objects {
		for _, i := range list {
			if z.heldBy(o, i) >= byReceiver {
				return true
			}
		}
	}
	return false
}

// lockCycle reports whether two or more of the waiters wait for locks that each
// other may hold, which must be as sure as least.
func (z *analyzer) lockCycle(s *sorted, least float64) bool {
	if len(s.objects) < 2 {
		return false
	}
	next := map[int32]int32{} // object to the object that its holder waits for
	for _, o := range s.objects {
		for _, h := range z.a.Objects[o].Holders {
			i, ok := z.find(h.Goroutine)
			if ok && h.Confidence >= least && z.objectOf[i] >= 0 && z.objectOf[i] != o && isLock(z.a.Objects[z.objectOf[i]].Kind) {
				next[o] = z.objectOf[i]
				break
			}
		}
	}
	for _, start := range s.objects {
		o, ok := next[start]
		for steps := 0; ok && steps < len(s.objects); steps++ {
			if o == start {
				return true
			}
			o, ok = next[o]
		}
	}
	return false
}
