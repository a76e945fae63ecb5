package waits

import (
	"fmt"
	"slices"
)

// hasIDs reports whether the text had the goroutines' numbers, as profiles have not.
func (a *Analysis) hasIDs() bool {
	return len(a.facts) == 0 || a.facts[0].id != 0
}

// byCounts compares without numbers: as many goroutines at one place as before
// may be the same or others. It never calls anything wedged.
func (m *Movement) byCounts(before, after *Analysis) *Movement {
	old := map[key]int{}
	for i := range before.facts {
		old[before.keys[before.facts[i].group]] += int(before.facts[i].count)
	}
	for i := range after.facts {
		k, n := after.keys[after.facts[i].group], int(after.facts[i].count)
		same := min(old[k], n)
		old[k] -= same
		m.Still += same
		m.New += n - same
	}
	m.Gone = before.Goroutines - m.Still
	m.Verdict = after.Verdict
	m.Verdict.Next = slices.Clone(m.Verdict.Next)
	m.Verdict.Missing = slices.Clone(m.Verdict.Missing)
	if m.Verdict.Outcome == Wedged {
		m.Verdict.Outcome = Unknown
	}
	m.Verdict.Reason += fmt.Sprintf("; of %d goroutines, as many as %d may have stayed at their places, %d are new", after.Goroutines, m.Still, m.New)
	if g, was := grown(before, after); g != nil {
		m.Verdict.Reason += fmt.Sprintf("; at %s there were %d and are %d, which is a leak if it goes on", g.Place, was, g.Count())
		m.Verdict.Next = append(m.Verdict.Next, "read "+g.Place)
	}
	m.Verdict.Missing = append(m.Verdict.Missing, "the numbers of the goroutines, without which those at one place may be others than before: a debug=2 dump has them")
	m.Verdict.Missing = slices.DeleteFunc(m.Verdict.Missing, func(s string) bool { return s == secondDump })
	return m
}

// grown is the group that became larger by the most goroutines, of those in which nobody is at rest or runs, nil for none; and its size before.
func grown(before, after *Analysis) (group *Group, was int) {
	old := map[key]int{}
	for i := range before.facts {
		old[before.keys[before.facts[i].group]] += int(before.facts[i].count)
	}
	for i := range after.Groups {
		g := &after.Groups[i]
		n := old[after.keys[after.order[i]]]
		waits := g.Class == ProgramEnding || g.Class == Unclear
		if waits && n > 1 && g.Count() > n+1 && (group == nil || g.Count()-n > group.Count()-was) {
			group, was = g, n
		}
	}
	return group, was
}
