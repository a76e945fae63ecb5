package goroutine

import (
	"bytes"
	"slices"
	"strconv"
)

// A Movement is what changed from one dump to a later one of the same process.
// "Still" is evidence of a stall and no proof: a loop can be met twice at the
// same line, which only a third dump or a counter of progress shows.
type Movement struct {
	// Still and Changed are the keys of both dumps: with the same states and
	// stacks, or not. Gone are keys of the first only, New of the second only.
	// Each is in the order of the dump, the first one where both have it.
	Still, Changed, Gone, New []Pair
	// Unkeyed is the number of goroutines in both dumps that the key function
	// gave no key.
	Unkeyed int
}

// A Pair is one key's goroutines in either dump. There is often more than one
// for a label, since goroutines inherit labels.
type Pair struct {
	Key           string
	Before, After []*Goroutine
}

// Compare matches the goroutines of two dumps by key; those with the key "" are
// left out. What it returns points into the dumps.
func Compare(before, after *Dump, key func(*Goroutine) string) Movement {
	var m Movement
	var pairs []*Pair
	byKey := map[string]*Pair{}
	pair := func(g *Goroutine) *Pair {
		k := key(g)
		if k == "" {
			m.Unkeyed++
			return nil
		}
		p := byKey[k]
		if p == nil {
			p = &Pair{Key: k}
			byKey[k] = p
			pairs = append(pairs, p)
		}
		return p
	}
	for i := range before.Goroutines {
		g := &before.Goroutines[i]
		if p := pair(g); p != nil {
			p.Before = append(p.Before, g)
		}
	}
	for i := range after.Goroutines {
		g := &after.Goroutines[i]
		if p := pair(g); p != nil {
			p.After = append(p.After, g)
		}
	}
	for _, p := range pairs {
		list := m.list(p)
		*list = append(*list, *p)
	}
	return m
}

// list returns where the pair belongs.
func (m *Movement) list(p *Pair) *[]Pair {
	switch {
	case len(p.After) == 0:
		return &m.Gone
	case len(p.Before) == 0:
		return &m.New
	case sameStacks(p.Before, p.After):
		return &m.Still
	default:
		return &m.Changed
	}
}

// sameStacks compares two sets of goroutines by state and stack as groups do.
// Arguments do not count: the collector moves stacks, and with them every
// pointer into one, without the goroutine running.
func sameStacks(a, b []*Goroutine) bool {
	return slices.EqualFunc(stackKeys(a), stackKeys(b), bytes.Equal)
}

func stackKeys(gs []*Goroutine) [][]byte {
	keys := make([][]byte, len(gs))
	for i, g := range gs {
		keys[i] = AppendStackKey(nil, g)
	}
	slices.SortFunc(keys, bytes.Compare)
	return keys
}

// ByID is a key for Compare: the goroutine's ID. IDs are not used again within
// a process.
func ByID(g *Goroutine) string { return strconv.FormatInt(g.ID, 10) }

// ByLabel returns a key for Compare: the value of the label. Goroutines whose
// labels are Inherited get no key.
func ByLabel(label string) func(*Goroutine) string {
	return func(g *Goroutine) string {
		if Inherited(g) {
			return ""
		}
		return g.Label(label)
	}
}
