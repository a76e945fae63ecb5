package waits

import "slices"

// liveMax bounds the list of those who go on near a cluster; one is enough.
const liveMax = 16

// rest marks those that wait for work in a program that goes on: a receive,
// select or Cond directly in the function of the go statement, of one that started nobody.
func (z *analyzer) rest() {
	alive := false
	for _, g := range z.b.groups {
		switch g.shape.class {
		case SelfEnding, PeerEnding, Running:
			alive = alive || g.shape.role != dying && g.shape.role != observer && !g.shape.companion
		case AtRest:
			alive = alive || g.shape.kind == Conn && !g.shape.companion
		}
	}
	parents := map[int64]bool{}
	for i := range z.facts {
		if s := z.shape(int32(i)); s.class != Runtime && !s.companion {
			parents[z.facts[i].parent] = true
		}
	}
	for i := range z.facts {
		if alive && z.marks[i]&leaked == 0 && (z.facts[i].id == 0 || !parents[z.facts[i].id]) && z.b.groups[z.facts[i].group].maybeResting() {
			z.marks[i] |= resting
		}
	}
}

// maybeResting reports whether a worker without work looks like this.
func (g *group) maybeResting() bool {
	kind := g.shape.kind
	waits := kind == Channel && g.state == "chan receive" || kind == Select && g.state == "select" || kind == Cond
	return waits && g.shape.entry && g.shape.class == ProgramEnding && g.shape.role == plain
}

// A neighbourhood is where the clusters are, for those who go on.
type neighbourhood struct {
	orphans map[int64]int32  // by the ID of a starter that is gone
	words   map[uint64]int32 // by receiver
	// kinds are the functions that members run, or that started them. One that
	// goes on and runs or came from one of these, but is near no cluster, belongs to
	// another case of the same program part.
	kinds map[string]bool
}

func (z *analyzer) neighbourhood() neighbourhood {
	n := neighbourhood{map[int64]int32{}, map[uint64]int32{}, map[string]bool{}}
	for k := range z.clusters {
		for _, i := range z.clusters[k].members {
			g := z.b.groups[z.facts[i].group]
			n.kinds[g.entryFunc()] = true
			if p := z.facts[i].parent; p != 0 {
				n.kinds[g.creator] = true
				if _, ok := z.find(p); !ok {
					n.orphans[p] = int32(k)
				}
			}
			for _, w := range z.wordsOf(i) {
				if w != 0 {
					n.words[w] = int32(k)
				}
			}
		}
	}
	return n
}

// entryFunc is the function of the go statement.
func (g *group) entryFunc() string {
	for i := len(g.frames) - 1; i >= 0; i-- {
		if name := g.frames[i].Func; !isPlumbing(name) {
			return name
		}
	}
	return ""
}

// addLive tells each cluster who near it goes on, and finds one that is near none.
func (z *analyzer) addLive() {
	n := z.neighbourhood()
	z.wild = -1
	for k := range z.clusters {
		for _, i := range z.clusters[k].members {
			if p, ok := z.find(z.facts[i].parent); ok && z.goesOn(p) {
				z.addNear(int32(k), p)
			}
		}
	}
	for _, i := range z.live {
		if !z.settle(i, &n) && z.wild < 0 && !z.shape(i).companion && !z.isKin(i, &n) {
			z.wild = i
		}
	}
}

// settle adds i to the clusters that it is near, and reports whether there is one.
func (z *analyzer) settle(i int32, n *neighbourhood) bool {
	near := false
	parent := z.facts[i].parent
	if p, ok := z.find(parent); ok && z.clusterOf[p] >= 0 {
		z.addNear(z.clusterOf[p], i)
		near = true
	}
	if k, ok := n.orphans[parent]; ok {
		z.addNear(k, i)
		near = true
	}
	for _, w := range z.wordsOf(i) {
		if k, ok := n.words[w]; ok && w != 0 {
			z.addNear(k, i)
			near = true
		}
	}
	return near
}

func (z *analyzer) addNear(k, i int32) {
	if c := &z.clusters[k]; len(c.live) < liveMax && !slices.Contains(c.live, i) {
		c.live = append(c.live, i)
	}
}

// isKin reports whether i belongs to another case of a program part that also
// the clusters are cases of: same functions, and a starter of its own.
func (z *analyzer) isKin(i int32, n *neighbourhood) bool {
	if p, ok := z.find(z.facts[i].parent); ok && z.class(p) == AtRest {
		return false // all its children serve one program part
	}
	g := z.b.groups[z.facts[i].group]
	return z.facts[i].parent != 0 && (n.kinds[g.creator] || n.kinds[g.entryFunc()])
}

// goesOn reports whether the goroutine is not itself in a program-ending wait
// and not dying: it runs, or a timer or the outside will wake it. One at rest only starts
// others.
func (z *analyzer) goesOn(i int32) bool {
	switch z.class(i) {
	case SelfEnding, PeerEnding, Running:
		role := z.shape(i).role
		return role != dying && role != observer
	}
	return false
}

func (z *analyzer) wordsOf(i int32) []uint64 {
	f := &z.facts[i]
	return z.b.words[f.words : f.words+uint32(f.wordCount)]
}
