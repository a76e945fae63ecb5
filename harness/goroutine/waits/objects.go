package waits

import (
	"cmp"
	"fmt"
	"slices"
)

// An objectKey is what makes two objects the same: the address, or where the
// text has none the place that waits.
type objectKey struct {
	kind    ObjectKind
	address uint64
	place   string
}

// findObjects lists what is waited for, in program-ending waits and for slots.
func (z *analyzer) findObjects() {
	z.objects = map[objectKey]int32{}
	z.objectOf = make([]int32, len(z.facts))
	for i := range z.facts {
		z.objectOf[i] = -1
		s := z.shape(int32(i))
		if s.kind == "" || z.class(int32(i)) != ProgramEnding && s.role != slot {
			continue
		}
		f := &z.facts[i]
		key := objectKey{kind: s.kind, address: f.object}
		if f.object == 0 {
			key.place = z.b.groups[f.group].place()
			if w := z.receiver(int32(i)); s.kind == RWMutex && w != 0 {
				key.place = fmt.Sprintf("owner %#x", w) // readers and writers meet at the struct it is in
			}
		}
		o, ok := z.objects[key]
		if !ok {
			o = int32(len(z.a.Objects))
			z.objects[key] = o
			z.a.Objects = append(z.a.Objects, Object{Kind: key.kind, Address: key.address, Name: key.name()})
		}
		z.objectOf[i] = o
		z.a.Objects[o].Waiters = append(z.a.Objects[o].Waiters, f.id)
	}
}

func (k objectKey) name() string {
	if k.address != 0 {
		return fmt.Sprintf("%s %#x", k.kind, k.address)
	}
	return fmt.Sprintf("%s at %s", k.kind, k.place)
}

// place is where the group waits, in words.
func (g *group) place() string {
	if p := g.shape.show; p >= 0 {
		return placeText(&g.frames[p])
	}
	if len(g.frames) > 0 {
		return placeText(&g.frames[0])
	}
	return ""
}

// sortObjects puts those with the most waiters first and keeps the indexes of
// the findings right.
func (z *analyzer) sortObjects() {
	order := make([]int, len(z.a.Objects))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Compare(len(z.a.Objects[y].Waiters), len(z.a.Objects[x].Waiters))
	})
	objects, place := make([]Object, len(order)), make([]int, len(order))
	for to, from := range order {
		objects[to], place[from] = z.a.Objects[from], to
	}
	z.a.Objects = objects
	for i := range z.a.Findings {
		f := &z.a.Findings[i]
		for k := range f.Objects {
			f.Objects[k] = place[f.Objects[k]]
		}
		slices.Sort(f.Objects)
	}
	for i := range z.objectOf {
		if z.objectOf[i] >= 0 {
			z.objectOf[i] = int32(place[z.objectOf[i]])
		}
	}
}
