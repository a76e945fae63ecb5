package waits

// A pile is a wait that goroutines come to and do not leave.
type pile struct {
	group  *Group // of the second dump
	before int
}

// pileUp is the largest pile of those that wait for others of the program, nil for none. One more may be chance.
func pileUp(before, after *Analysis, still map[int64]bool) *pile {
	was := map[key]int{}
	for i := range before.facts {
		was[before.keys[before.facts[i].group]]++
	}
	var found *pile
	for i := range after.Groups {
		g := &after.Groups[i]
		n := was[after.keys[after.order[i]]]
		stayed := 0
		for _, id := range g.IDs {
			if still[id] {
				stayed++
			}
		}
		if g.Class == ProgramEnding && n > 1 && stayed == n && g.Count() > n+1 && (found == nil || g.Count() > found.group.Count()) {
			found = &pile{group: g, before: n}
		}
	}
	return found
}
