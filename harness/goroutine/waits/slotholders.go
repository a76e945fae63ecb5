package waits

import (
	"slices"
	"strings"
)

// findSlotHolders looks for goroutines that are inside the function that waits for
// a slot, but not at that place; else inside its caller, and so on outwards. They
// went past the wait, so they have a slot.
func (z *analyzer) findSlotHolders(p *pool) {
	if strings.Contains(z.b.groups[p.groups[0]].shape.waits, "errgroup") {
		p.by = "golang.org/x/sync/errgroup.(*Group).Go.func1"
		p.holders = z.inside(p.by, p)
		return
	}
	for depth := range holderDepthMax {
		for _, g := range p.groups {
			frame := z.b.groups[g].shape.place + depth
			if frame < 0 || frame >= len(z.b.groups[g].frames) {
				continue
			}
			name := z.b.groups[g].frames[frame].Func
			if isPlumbing(name) || name == "main.main" || strings.HasPrefix(name, "testing.") || depth > 0 && isEntry(z.b.groups[g].frames[frame+1:]) {
				continue // the last says only that they are alike
			}
			p.holders, p.by = z.inside(name, p), name
			if len(p.holders) > 0 {
				return
			}
		}
	}
}

// holderDepthMax is how many calls outwards holders are looked for.
const holderDepthMax = 4

// inside lists those with the function on their stack who do not wait in the pool.
func (z *analyzer) inside(name string, p *pool) []int32 {
	has := make([]bool, len(z.b.groups))
	for k, g := range z.b.groups {
		for f := range g.frames {
			if g.frames[f].Func == name && !slices.Contains(p.groups, int32(k)) {
				has[k] = true
			}
		}
	}
	var list []int32
	for i := range z.facts {
		if has[z.facts[i].group] && z.shape(int32(i)).role != dumper {
			list = append(list, int32(i))
		}
	}
	return list
}

// holdersByLock takes those for holders who wait for a lock that a waiter holds: if
// they have the slots, neither side can go on.
func (z *analyzer) holdersByLock(p *pool) {
	for _, i := range z.waits {
		o := z.objectOf[i]
		if o < 0 || !isLock(z.a.Objects[o].Kind) {
			continue
		}
		for _, w := range p.waiters {
			if z.heldBy(o, w) >= byOwner {
				p.holders = append(p.holders, i)
				break
			}
		}
	}
}

// isGroupTask reports whether i waits for a slot of an errgroup's limit in a task
// that itself runs in an errgroup. It may be another group; but when nobody else
// runs in one, these are the ones that have the slots.
func (z *analyzer) isGroupTask(i int32) bool {
	g := z.b.groups[z.facts[i].group]
	task := false
	for f := range g.frames {
		task = task || g.frames[f].Func == "golang.org/x/sync/errgroup.(*Group).Go.func1"
	}
	return task && strings.Contains(g.shape.waits, "errgroup")
}

// holdersByChild takes those for holders who started waiters, wait for them, and
// are in the same code further out: an agent that keeps its slot while its
// sub-agents want one.
func (z *analyzer) holdersByChild(p *pool) {
	for _, w := range p.waiters {
		i, ok := z.find(z.facts[w].parent)
		if !ok || z.class(i) != ProgramEnding || slices.Contains(p.holders, i) || slices.Contains(p.waiters, i) {
			continue
		}
		if name := z.common(z.facts[w].group, z.facts[i].group); name != "" {
			p.holders, p.by = append(p.holders, i), name
		}
	}
}

// common is a function of the program that is on both stacks, "" for none. What
// starts every goroutine of a kind does not count.
func (z *analyzer) common(a, b int32) string {
	frames := z.b.groups[a].frames
	for k := max(z.b.groups[a].shape.place, 0); k < len(frames); k++ {
		name := frames[k].Func
		if isPlumbing(name) || isPool(name) || name == "main.main" || isEntry(frames[k+1:]) {
			continue
		}
		if z.b.groups[b].has(name) {
			return name
		}
	}
	return ""
}
