package goroutine

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"
)

// A StackGroup is the goroutines that have the same state and the same stack:
// equal functions, lines and gap. Arguments, labels, creators and waits differ.
type StackGroup struct {
	State string
	// Frames and Gap are those of the first goroutine, whose Args thus stand for
	// this one only.
	Frames []Frame
	Gap    Gap
	// Members is their number.
	Members int
	// IDs are those of the members in the order of the dump, no more than 10,000,
	// and none where the form has none.
	IDs []int64
	// WaitMin and WaitMax are the range of the members' Wait.
	WaitMin, WaitMax time.Duration
	// Labels sums up each label key of a member, in the order first seen.
	Labels []LabelCount
	// Creators counts the functions with the go statement, the first 1,000
	// different ones; "" is not printed.
	Creators []ValueCount
}

// Count is the number of goroutines in the group.
func (g *StackGroup) Count() int { return g.Members }

// A LabelCount says how often each value of a label occurs in a group. Members
// without the label are not counted.
type LabelCount struct {
	Key string
	// Values are the first 1,000 different ones, and Others counts the members
	// that have any other.
	Values []ValueCount
	Others int
}

const (
	idsMax         = 10_000
	labelKeysMax   = 64
	labelValuesMax = 1_000
	creatorsMax    = 1_000
)

// A ValueCount is a value and how many goroutines have it. Lists of it have the
// most frequent first, equal counts by value.
type ValueCount struct {
	Value string
	Count int
}

// Group puts the goroutines of d that are blocked at the same place together:
// the largest group first, equal sizes by the place of their first member.
func Group(d *Dump) []StackGroup {
	var g Grouper
	for i := range d.Goroutines {
		g.Add(&d.Goroutines[i])
	}
	return g.Groups()
}

// A Grouper groups goroutines as they come. It keeps one stack a group, and of
// the members what StackGroup has, which is bounded: with a Reader, a dump larger
// than memory can be grouped. Its memory grows with the number of different
// stacks. The zero value is empty.
type Grouper struct {
	groups []*tally
	byKey  map[string]*tally
	key    []byte
}

// A tally is a group that grows.
type tally struct {
	StackGroup
	labels   []labelTally // in the order first seen
	creators counter
}

type labelTally struct {
	key    string
	values counter
}

// A counter counts different values up to a bound, the rest as one.
type counter struct {
	counts map[string]int
	others int
}

func (c *counter) add(value string, n, valuesMax int) {
	if old, ok := c.counts[value]; ok || len(c.counts) < valuesMax {
		if c.counts == nil {
			c.counts = map[string]int{}
		}
		c.counts[value] = old + n
		return
	}
	c.others += n
}

// Add counts a goroutine, but not Again. It keeps nothing of it that Reader.Next
// would reuse.
func (g *Grouper) Add(one *Goroutine) {
	if one.Again {
		return
	}
	g.key = AppendStackKey(g.key[:0], one)
	t := g.byKey[string(g.key)]
	if t == nil {
		t = new(tally)
		t.State, t.Frames, t.Gap = one.State, append([]Frame(nil), one.Frames...), one.Gap
		t.WaitMin = one.Wait
		if g.byKey == nil {
			g.byKey = map[string]*tally{}
		}
		g.byKey[string(g.key)] = t
		g.groups = append(g.groups, t)
	}
	t.add(one)
}

func (t *tally) add(one *Goroutine) {
	n := one.N()
	t.Members += n
	t.addID(one.ID)
	for _, id := range one.Merged {
		t.addID(id)
	}
	t.WaitMin = min(t.WaitMin, one.Wait)
	t.WaitMax = max(t.WaitMax, one.Wait)
	t.creators.add(one.CreatedBy.Func, n, creatorsMax)
	for _, l := range one.Labels {
		i := slices.IndexFunc(t.labels, func(known labelTally) bool { return known.key == l.Key })
		if i < 0 {
			if len(t.labels) == labelKeysMax {
				continue
			}
			i = len(t.labels)
			t.labels = append(t.labels, labelTally{key: l.Key})
		}
		t.labels[i].values.add(l.Value, n, labelValuesMax)
	}
}

func (t *tally) addID(id int64) {
	if id != 0 && len(t.IDs) < idsMax {
		t.IDs = append(t.IDs, id)
	}
}

// Groups returns the groups so far, in the order that Group documents.
func (g *Grouper) Groups() []StackGroup {
	groups := make([]StackGroup, 0, len(g.groups))
	for _, t := range g.groups {
		s := t.StackGroup
		s.IDs = slices.Clone(s.IDs)
		s.Creators = sortCounts(t.creators.counts)
		s.Labels = make([]LabelCount, 0, len(t.labels))
		for _, l := range t.labels {
			s.Labels = append(s.Labels, LabelCount{l.key, sortCounts(l.values.counts), l.values.others})
		}
		groups = append(groups, s)
	}
	// Stable, and in the order of the first member before: a total order.
	slices.SortStableFunc(groups, func(a, b StackGroup) int { return cmp.Compare(b.Count(), a.Count()) })
	return groups
}

func sortCounts(counts map[string]int) []ValueCount {
	sorted := make([]ValueCount, 0, len(counts))
	for value, n := range counts {
		sorted = append(sorted, ValueCount{value, n})
	}
	slices.SortFunc(sorted, func(a, b ValueCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return sorted
}

// AppendStackKey appends to key what makes two stacks identical: state, functions, lines and gap. Texts
// are preceded by their size, so that different stacks cannot run into the same key.
func AppendStackKey(key []byte, g *Goroutine) []byte {
	key = appendText(key, g.State)
	key = binary.AppendVarint(key, int64(g.Gap.Before))
	key = binary.AppendVarint(key, int64(g.Gap.Count))
	for i := range g.Frames {
		f := &g.Frames[i]
		key = appendText(key, f.Func)
		key = appendText(key, f.File)
		key = binary.AppendVarint(key, int64(f.Line))
	}
	return key
}

func appendText(key []byte, s string) []byte {
	return append(binary.AppendUvarint(key, uint64(len(s))), s...)
}
