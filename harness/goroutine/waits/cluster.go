package waits

import (
	"cmp"
	"slices"
)

// A cluster is goroutines in program-ending waits that have to do with each
// other: they wait for one object, have one receiver in common, started one another, or
// were started by one that is gone.
type cluster struct {
	members []int32 // indexes into facts, ascending
	// live are goroutines that go on and are near: a child, the starter, one
	// with the same receiver.
	live []int32
	// explained says that a finding about slots has it already.
	explained bool
	// holder is one who goes on and may hold the lock that the members wait for.
	holder int32
}

// A forest joins goroutines into clusters.
type forest struct{ up []int32 }

func newForest(n int) forest {
	f := forest{up: make([]int32, n)}
	for i := range f.up {
		f.up[i] = int32(i)
	}
	return f
}

func (f forest) root(i int32) int32 {
	for f.up[i] != i {
		f.up[i] = f.up[f.up[i]]
		i = f.up[i]
	}
	return i
}

// join lets the smaller index lead, so that the order of joining does not matter.
func (f forest) join(i, k int32) {
	i, k = f.root(i), f.root(k)
	if i != k {
		f.up[max(i, k)] = min(i, k)
	}
}

// An analyzer is what the passes over one dump share.
type analyzer struct {
	a     *Analysis
	b     *Builder
	facts []fact
	// byID are the indexes into facts in the order of the goroutines' numbers.
	byID []int32
	// marks and clusterOf are by fact; the latter is -1 for none.
	marks     []flags
	clusterOf []int32
	// seen is a mark for each group, all false between two uses.
	seen []bool
	// waits are the program-ending waiters, live those that go on; both are
	// indexes into facts, ascending.
	waits, live []int32
	// dying says that a goroutine ends the program, which then did not end the
	// waits of others.
	dying    bool
	objects  map[objectKey]int32 // index into a.Objects
	objectOf []int32             // by fact, -1 for none
	clusters []cluster
	// wild is one that goes on and is near no cluster, so that it may wake
	// anybody; -1 for none.
	wild int32
	// handed are the addresses of locks that somebody was just given.
	handed map[uint64]bool
	// companions has what a HTTP/2 caller waits for, by the goroutine that serves it.
	companions map[int32]FindingClass
}

func newAnalyzer(a *Analysis, b *Builder) *analyzer {
	z := &analyzer{a: a, b: b, facts: a.facts, marks: a.marks, seen: make([]bool, len(b.groups))}
	z.byID, z.clusterOf = make([]int32, len(z.facts)), make([]int32, len(z.facts))
	for i := range z.facts {
		z.byID[i], z.clusterOf[i] = int32(i), -1
	}
	slices.SortStableFunc(z.byID, func(i, k int32) int { return cmp.Compare(z.facts[i].id, z.facts[k].id) })
	return z
}

// find returns the index of the goroutine with the number, ok false for none.
func (z *analyzer) find(id int64) (i int32, ok bool) {
	if id == 0 {
		return 0, false
	}
	k, ok := slices.BinarySearchFunc(z.byID, id, func(i int32, id int64) int { return cmp.Compare(z.facts[i].id, id) })
	if !ok {
		return 0, false
	}
	return z.byID[k], true
}

// drop lets go of what only the passes need: the analysis may live long.
func (z *analyzer) drop() {
	z.clusters, z.clusterOf, z.objectOf, z.objects, z.waits, z.live = nil, nil, nil, nil, nil, nil
}

func (z *analyzer) shape(i int32) *shape { return &z.b.groups[z.facts[i].group].shape }

// class is that of the goroutine, which rest may have changed from its shape's.
func (z *analyzer) class(i int32) Class {
	if z.marks[i]&resting != 0 {
		return AtRest
	}
	return z.shape(i).class
}

// sort tells waiters from those that go on.
func (z *analyzer) sort() {
	for i := range z.facts {
		s := z.shape(int32(i))
		switch z.class(int32(i)) {
		case ProgramEnding:
			z.waits = append(z.waits, int32(i))
		case SelfEnding, PeerEnding, Running:
			if s.role == dying {
				z.dying = true
				continue
			}
			if s.role == observer {
				continue
			}
			z.live = append(z.live, int32(i))
		}
	}
}

// cluster joins the waiters.
func (z *analyzer) cluster() {
	f := newForest(len(z.facts))
	waiting := make([]bool, len(z.facts))
	for _, i := range z.waits {
		waiting[i] = true
	}
	z.joinByObject(f)
	z.joinByReceiver(f)
	z.joinByParent(f, waiting)
	index := map[int32]int{}
	for _, i := range z.waits {
		root := f.root(i)
		k, ok := index[root]
		if !ok {
			k = len(z.clusters)
			index[root] = k
			z.clusters = append(z.clusters, cluster{holder: -1})
		}
		z.clusters[k].members = append(z.clusters[k].members, i)
		z.clusterOf[i] = int32(k)
	}
	z.addLive()
}

func (z *analyzer) joinByObject(f forest) {
	first := map[int32]int32{}
	for _, i := range z.waits {
		o := z.objectOf[i]
		if o < 0 || z.a.Objects[o].Address == 0 {
			continue
		}
		if k, ok := first[o]; ok {
			f.join(k, i)
		} else {
			first[o] = i
		}
	}
}

// joinByReceiver joins goroutines with one receiver or first argument in common.
func (z *analyzer) joinByReceiver(f forest) {
	first := map[uint64]int32{}
	for _, i := range z.waits {
		for _, w := range z.wordsOf(i) {
			if w == 0 {
				continue
			}
			if k, ok := first[w]; ok {
				f.join(k, i)
			} else {
				first[w] = i
			}
		}
		if o := z.facts[i].object; o != 0 {
			if k, ok := first[o]; ok {
				f.join(k, i)
			} else {
				first[o] = i
			}
		}
	}
}

// joinByParent joins a goroutine with its starter if that waits too, and those
// whose common starter is gone or waits.
func (z *analyzer) joinByParent(f forest, waiting []bool) {
	orphans := map[int64]int32{}
	for _, i := range z.waits {
		parent := z.facts[i].parent
		if parent == 0 {
			continue
		}
		if p, ok := z.find(parent); ok {
			if waiting[p] {
				f.join(p, i)
			}
		} else if k, ok := orphans[parent]; ok {
			f.join(k, i)
		} else {
			orphans[parent] = i
		}
	}
}
