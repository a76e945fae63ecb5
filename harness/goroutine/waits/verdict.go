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
	z.findSlots()
	z.findClusters()
	z.findPeers()
	z.sortObjects()
	z.markStuck()
	a.Verdict = z.verdict()
}

// markStuck writes the stuck goroutines down, and how many each group has.
func (z *analyzer) markStuck() {
	counts, atRest := make([]int, len(z.b.groups)), make([]bool, len(z.b.groups))
	for i := range z.facts {
		if z.facts[i].flags&(stuck|leaked) != 0 {
			z.a.Stuck = append(z.a.Stuck, z.facts[i].id)
			counts[z.facts[i].group]++
		}
		if z.facts[i].flags&resting != 0 {
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

func (z *analyzer) verdict() Verdict {
	return Verdict{Outcome: Unknown, Decided: "nothing", Reason: fmt.Sprintf("one dump of %d goroutines cannot tell what moves", z.a.Goroutines)}
}
