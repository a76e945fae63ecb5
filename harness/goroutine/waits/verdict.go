package waits

import "fmt"

// judge finds what is wrong and says the verdict.
func (a *Analysis) judge(b *Builder) {
	z := &analyzer{a: a, b: b, facts: a.facts}
	z.rest()
	z.sort()
	z.findObjects()
	z.cluster()
	z.findHolders()
	z.findClusters()
	z.sortObjects()
	z.markStuck()
	a.Verdict = z.verdict()
}

// rest marks those that wait for work in a program that goes on: a receive,
// select or Cond directly in the function of the go statement.
func (z *analyzer) rest() {
	alive := false
	for _, g := range z.b.groups {
		switch g.shape.class {
		case SelfEnding, PeerEnding, Running:
			alive = alive || g.shape.role != dying && !g.shape.companion
		case AtRest:
			alive = alive || g.shape.kind == Conn && !g.shape.companion
		}
	}
	for _, g := range z.b.groups {
		kind := g.shape.kind
		waits := kind == Channel && g.state == "chan receive" || kind == Select && g.state == "select" || kind == Cond
		g.resting = alive && waits && g.shape.entry && g.shape.class == ProgramEnding && g.shape.role == plain
	}
}

// markStuck writes the stuck goroutines down, and how many each group has.
func (z *analyzer) markStuck() {
	counts := make([]int, len(z.b.groups))
	for i := range z.facts {
		if z.facts[i].flags&(stuck|leaked) != 0 {
			z.a.Stuck = append(z.a.Stuck, z.facts[i].id)
			counts[z.facts[i].group]++
		}
	}
	for i := range z.a.Groups {
		g := z.b.groups[z.a.order[i]]
		z.a.Groups[i].Stuck = counts[g.index]
		if g.resting {
			z.a.Groups[i].Class = AtRest
		}
	}
}

func (z *analyzer) verdict() Verdict {
	return Verdict{Outcome: Unknown, Decided: "nothing", Reason: fmt.Sprintf("one dump of %d goroutines cannot tell what moves", z.a.Goroutines)}
}
