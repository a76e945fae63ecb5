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
	// IDs are the members in the order of the dump; their number is the count.
	IDs []int64
	// WaitMin and WaitMax are the range of the members' Wait.
	WaitMin, WaitMax time.Duration
	// Labels sums up each label key of a member, in the order first seen.
	Labels []LabelCount
	// Creators counts the functions with the go statement; "" is not printed.
	Creators []ValueCount
}

// Count is the number of goroutines in the group.
func (g *StackGroup) Count() int { return len(g.IDs) }

// A LabelCount says how often each value of a label occurs in a group. Members
// without the label are not counted.
type LabelCount struct {
	Key    string
	Values []ValueCount
}

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

// A Grouper groups goroutines as they come, keeping one stack a group; with a
// Reader, a dump larger than memory can be grouped. The zero value is empty.
type Grouper struct {
	groups []*tally
	byKey  map[string]*tally
	key    []byte
}

// A tally is a group that grows.
type tally struct {
	StackGroup
	keys     []string // label keys in order
	values   map[string]map[string]int
	creators map[string]int
}

// Add counts a goroutine, but not Again. It keeps nothing of it that Reader.Next
// would reuse.
func (g *Grouper) Add(one *Goroutine) {
	if one.Again {
		return
	}
	g.key = appendStackKey(g.key[:0], one)
	t := g.byKey[string(g.key)]
	if t == nil {
		t = &tally{values: map[string]map[string]int{}, creators: map[string]int{}}
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
	t.IDs = append(t.IDs, one.ID)
	t.WaitMin = min(t.WaitMin, one.Wait)
	t.WaitMax = max(t.WaitMax, one.Wait)
	t.creators[one.CreatedBy.Func]++
	for _, l := range one.Labels {
		counts := t.values[l.Key]
		if counts == nil {
			counts = map[string]int{}
			t.values[l.Key] = counts
			t.keys = append(t.keys, l.Key)
		}
		counts[l.Value]++
	}
}

// Groups returns the groups so far, in the order that Group documents.
func (g *Grouper) Groups() []StackGroup {
	groups := make([]StackGroup, 0, len(g.groups))
	for _, t := range g.groups {
		s := t.StackGroup
		s.IDs = slices.Clone(s.IDs)
		s.Creators = sortCounts(t.creators)
		s.Labels = make([]LabelCount, 0, len(t.keys))
		for _, key := range t.keys {
			s.Labels = append(s.Labels, LabelCount{key, sortCounts(t.values[key])})
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

// appendStackKey appends what makes two stacks identical. Texts are preceded by
// their size, so that different stacks cannot run into the same key.
func appendStackKey(key []byte, g *Goroutine) []byte {
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
