package main

import (
	"fmt"
	"slices"
	"strings"

	"example.com/wedge/harness/goroutine/waits"
)

// dumpMovement is what happened between the first and the last of several dumps, in goroutines.
type dumpMovement struct {
	Still   int `json:"still"`   // the same state and stack
	Changed int `json:"changed"` // another state or stack
	Gone    int `json:"gone"`    // in the first only
	New     int `json:"new"`     // in the last only
	// Stuck are the ids of the still ones in waits that only another goroutine or the outside ends.
	Stuck []int64 `json:"stuck"`
	// ByGroup has the groups of the last dump of which some are still where they were.
	ByGroup []dumpStill `json:"still_by_group"`
}

type dumpStill struct {
	Count int    `json:"count"`
	Still int    `json:"still"`
	State string `json:"state"`
	Place string `json:"place"`
	Quiet bool   `json:"at_rest"`
}

// stackOf is the key of a group's state and stack.
func stackOf(g *waits.Group) string {
	var b strings.Builder
	b.WriteString(g.State)
	for _, f := range g.Frames {
		fmt.Fprintf(&b, "\x00%s\x00%s\x00%d", f.Func, f.File, f.Line)
	}
	return b.String()
}

// movementBetween compares two dumps of a process by the ids of goroutines.
func movementBetween(before, after *waits.Analysis, compared *waits.Movement) *dumpMovement {
	m := &dumpMovement{
		Still: compared.Still, Changed: compared.Moved, Gone: compared.Gone, New: compared.New,
		Stuck: orEmpty(compared.Stuck), ByGroup: []dumpStill{},
	}
	at := map[int64]string{}
	for i := range before.Groups {
		key := stackOf(&before.Groups[i])
		for _, id := range before.Groups[i].IDs {
			at[id] = key
		}
	}
	for i := range after.Groups {
		g := &after.Groups[i]
		key, still := stackOf(g), 0
		for _, id := range g.IDs {
			if at[id] == key {
				still++
			}
		}
		if still > 0 {
			m.ByGroup = append(m.ByGroup, dumpStill{g.Count(), still, g.State, g.Place, isQuiet(g.Class)})
		}
	}
	return m
}

// hasIDs says whether the text names goroutines.
func hasIDs(a *waits.Analysis) bool {
	return !slices.ContainsFunc(a.Groups, func(g waits.Group) bool { return len(g.IDs) == 0 || slices.Contains(g.IDs, 0) })
}

// sameProgram says whether two profiles, which have no ids, look as if they were of one process: most stacks of one are in
// the other.
func sameProgram(before, after *waits.Analysis) bool {
	stacks := map[string]bool{}
	for i := range before.Groups {
		stacks[stackOf(&before.Groups[i])] = true
	}
	same := 0
	for i := range after.Groups {
		if stacks[stackOf(&after.Groups[i])] {
			same++
		}
	}
	return 2*same >= min(len(before.Groups), len(after.Groups))
}

// sameProcess says whether two dumps look as if they were of one process: goroutines with the same id
// have the same outermost call.
func sameProcess(before, after *waits.Analysis) bool {
	if before.Goroutines == 0 || after.Goroutines == 0 {
		return false
	}
	if !hasIDs(before) && !hasIDs(after) {
		return sameProgram(before, after)
	}
	entries := map[int64]string{}
	for i := range before.Groups {
		for _, id := range before.Groups[i].IDs {
			entries[id] = entryOf(&before.Groups[i])
		}
	}
	same, other := 0, 0
	for i := range after.Groups {
		g := &after.Groups[i]
		entry := entryOf(g)
		for _, id := range g.IDs {
			if was, ok := entries[id]; ok && was == entry {
				same++
			} else if ok {
				other++
			}
		}
	}
	return same > 0 && same >= other
}

func entryOf(g *waits.Group) string {
	if len(g.Frames) == 0 {
		return ""
	}
	return g.Frames[len(g.Frames)-1].Func
}

// judge takes over the verdict on the last dump, in the light of the first one.
func (r *dumpReport) judge(dumps []*snapshot) {
	first, last := dumps[0].analysis, dumps[len(dumps)-1].analysis
	v := last.Verdict
	comparable := hasIDs(first) && hasIDs(last)
	if len(dumps) > 1 {
		compared := waits.Compare(first, last)
		v = compared.Verdict
		if comparable {
			r.Movement = movementBetween(first, last, compared)
		}
	}
	r.Verdict = dumpVerdict{string(v.Outcome), v.Reason, v.Decided, orEmpty(slices.Clone(v.Missing)), orEmpty(slices.Clone(v.Next))}
	if r.Movement != nil && (dumps[0].dump.Truncated || dumps[len(dumps)-1].dump.Truncated) {
		r.Verdict.Missing = append(r.Verdict.Missing, "a dump is cut off, so that goroutines that seem to have ended, or to be new, may only be missing from it")
	}
}
