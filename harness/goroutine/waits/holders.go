package waits

import (
	"cmp"
	"fmt"
	"slices"
)

// How sure a holder is, by what it was inferred from.
const (
	byReceiver    = 0.8 // it is inside a method of the object's owner
	byItself      = 0.7 // so is an outer call of the waiter itself
	byOwner       = 0.6 // it waits there for another lock of the same owner
	byElimination = 0.5 // nobody else is left
)

// lockKinds are held by somebody; the other kinds are signalled.
func isLock(k ObjectKind) bool { return k == Mutex || k == RWMutex || k == Once }

// findHolders infers who holds the locks. A struct's methods lock the struct's
// own mutex, so whoever is inside a method of the receiver whose method waits
// for the lock, further out than where it waits itself, may hold it.
func (z *analyzer) findHolders() {
	z.findDone()
	if owners := z.owners(); len(owners) > 0 {
		for i := range z.facts {
			z.findHeld(int32(i), owners)
		}
	}
	for o := range z.a.Objects {
		holders := z.a.Objects[o].Holders
		slices.SortStableFunc(holders, func(x, y Holder) int { return cmp.Compare(y.Confidence, x.Confidence) })
		z.a.Objects[o].Holders = holders[:min(len(holders), holdersMax)]
	}
}

// findDone takes those whom a WaitGroup's or channel's waiter started for the
// ones that are to call Done or to send.
func (z *analyzer) findDone() {
	for i := range z.facts {
		p, ok := z.find(z.facts[i].parent)
		if class := z.class(int32(i)); !ok || z.objectOf[p] < 0 || z.shape(int32(i)).companion || class == AtRest || class == Runtime {
			continue
		}
		o := z.objectOf[p]
		s := z.shape(p)
		if s.role == plain && (s.kind == WaitGroup || z.b.groups[z.facts[p].group].state == "chan receive") {
			z.addHolder(o, Holder{z.facts[i].id, byType, "the one that waits started it, and may wait for it to be done"})
		}
	}
}

// eliminate notes as holders of locks those who alone are left to hold them.
func (z *analyzer) eliminate(locks, left []int32) {
	if len(left) == 0 || len(left) > 3 {
		return
	}
	for _, o := range locks {
		if len(z.a.Objects[o].Holders) > 0 {
			continue
		}
		for _, i := range left {
			z.addHolder(o, Holder{z.facts[i].id, byElimination / float64(len(left)), "nobody else is left to hold it"})
		}
	}
}

// holdersMax bounds the candidates that are shown of one object.
const holdersMax = 8

// owners maps the addresses that stand for a lock to its object: its own, and
// the receiver of the method that waits for it, in which it is a field.
func (z *analyzer) owners() map[uint64]int32 {
	owners := map[uint64]int32{}
	for _, i := range z.waits {
		o := z.objectOf[i]
		if o < 0 || !isLock(z.a.Objects[o].Kind) || z.a.Objects[o].Address == 0 {
			continue
		}
		address := z.a.Objects[o].Address
		owners[address] = o
		if w := z.receiver(i); w != 0 && address-w < fieldBytesMax {
			if _, ok := owners[w]; !ok {
				owners[w] = o
			}
		}
	}
	return owners
}

// fieldBytesMax is how far into its struct a lock is looked for.
const fieldBytesMax = 4096

// receiver is the receiver of the innermost frame of interest, 0 if not shown.
func (z *analyzer) receiver(i int32) uint64 {
	g := z.b.groups[z.facts[i].group]
	words := z.wordsOf(i)
	for k, frame := range g.receivers[:len(words)] {
		if frame == g.shape.place {
			return words[k]
		}
	}
	return 0
}

// findHeld notes which locks goroutine i may hold.
func (z *analyzer) findHeld(i int32, owners map[uint64]int32) {
	g := z.b.groups[z.facts[i].group]
	if g.shape.class == Runtime || g.shape.role == dumper {
		return
	}
	for k, w := range z.wordsOf(i) {
		o, ok := owners[w]
		if w == 0 || !ok {
			continue
		}
		frame := g.receivers[k]
		own := z.objectOf[i] == o
		if own && frame <= g.shape.place {
			continue // the very call that waits
		}
		h := Holder{Goroutine: z.facts[i].id, Confidence: byReceiver}
		if frame <= g.shape.place && isLock(g.shape.kind) {
			h.Confidence = byOwner
		}
		h.Why = fmt.Sprintf("it is inside %s of the same owner %#x", placeText(&g.frames[frame]), w)
		if own {
			h.Confidence = byItself
			h.Why = fmt.Sprintf("its own outer call %s has the same owner %#x", placeText(&g.frames[frame]), w)
		}
		z.addHolder(o, h)
	}
}

// addHolder keeps the first reason for each goroutine.
func (z *analyzer) addHolder(o int32, h Holder) {
	object := &z.a.Objects[o]
	if len(object.Holders) >= 4*holdersMax || slices.ContainsFunc(object.Holders, func(k Holder) bool { return k.Goroutine == h.Goroutine }) {
		return
	}
	object.Holders = append(object.Holders, h)
}

// heldBy reports how sure it is that goroutine i holds the object, 0 for not at all.
func (z *analyzer) heldBy(o, i int32) float64 {
	for _, h := range z.a.Objects[o].Holders {
		if h.Goroutine == z.facts[i].id {
			return h.Confidence
		}
	}
	return 0
}
