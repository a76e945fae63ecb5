package compare

import (
	"fmt"
	"slices"
	"strings"
)

// hangs warns if runs of the best policy never end: a short time a task elsewhere does not make up for a
// fleet that hangs. It names the limit that is missing, as far as that was measured, and what ends there.
func (w *wording) hangs() string {
	where := w.neverIn(w.best)
	if w.best == w.base || where == "" {
		return ""
	}
	text := fmt.Sprintf("It is not enough by itself: with it, runs never end in %s.", where)
	other := w.bestThatEnds()
	if other < 0 {
		return text + " Nor is any of the others: with each of them, there are runs that never end."
	}
	if limit := w.missing(other); limit != "" {
		text += fmt.Sprintf(" It lacks a limit on the wait %s.", limit)
	}
	return text + fmt.Sprintf(" Of those with which every run ends, a task takes the least time with %s: %s than with %s.", w.policy(other).Name, changeOf(w.policy(other)), w.policy(w.base).Name)
}

// never tells of runs of the baseline that never ended, which no average shows. The table has the others'.
func (w *wording) never() string {
	if where := w.neverIn(w.base); where != "" {
		return fmt.Sprintf("Some runs never end with %s: in %s.", w.policy(w.base).Name, where)
	}
	return ""
}

// neverIn lists the scenarios in which runs of a policy never end, and how many; "" if all end.
func (w *wording) neverIn(policy int) string {
	var where []string
	for s := range w.r.Scenarios {
		if c := &w.r.Scenarios[s].Cells[policy]; c.Never > 0 {
			where = append(where, fmt.Sprintf("%s (%d of %d)", w.r.Scenarios[s].Name, c.Never, w.r.N))
		}
	}
	return strings.Join(where, ", ")
}

// bestThatEnds is the policy that one can have with the least time a task of those whose runs all end, or
// -1.
func (w *wording) bestThatEnds() int {
	best := -1
	for i := range w.r.Policies {
		p := w.policy(i)
		if !p.Bracket && w.neverIn(i) == "" && (best < 0 || p.Ratio < w.policy(best).Ratio) {
			best = i
		}
	}
	return best
}

// missing names the limits that would end the waits of the best policy's runs that never end: those for
// which calls wait longer than with another policy. "" if no limit would in one of the scenarios.
func (w *wording) missing(other int) string {
	var limits []string
	for s := range w.r.Scenarios {
		cells := w.r.Scenarios[s].Cells
		if cells[w.best].Never == 0 {
			continue
		}
		limit := longest(&cells[w.best], &cells[other]).limit
		if limit == "" {
			return ""
		}
		if !slices.Contains(limits, limit) {
			limits = append(limits, limit)
		}
	}
	return strings.Join(limits, " and ")
}

// what says what the best policy does, so that one need not ask for it.
func (w *wording) what() string {
	best := w.policy(w.best)
	if w.best == w.base || best.About == "" || !best.RatioCI.Excludes(1) {
		return ""
	}
	return fmt.Sprintf("What it is: %s", best.About)
}

// beyond names the scenarios that no policy makes better: what is wrong there is not a limit that is
// missing, and no figure of theirs speaks for any policy.
func (w *wording) beyond() string {
	var lost, alike []string
	for s := range w.r.Scenarios {
		switch name := w.r.Scenarios[s].Name; {
		case w.all(s, func(c *Cell) bool { return c.Of(KeyCompletion).Mean == 0 }):
			lost = append(lost, name)
		case w.all(s, func(c *Cell) bool { return !c.Of(KeyTaskTime).Better && !c.Of(KeyTaskTime).Worse }):
			alike = append(alike, name)
		}
	}
	var said []string
	if len(lost) > 0 {
		said = append(said, fmt.Sprintf("No policy completes a task in %s: none of these limits cures that.", w.few(lost)))
	}
	if len(alike) > 0 {
		said = append(said, fmt.Sprintf("None makes a difference for sure to the time a task in %s.", w.few(alike)))
	}
	return strings.Join(said, " ")
}

// namesTold is how many scenarios are named before they are only counted.
const namesTold = 5

// few names scenarios, or counts them where they are many, as the points of a sweep are.
func (w *wording) few(names []string) string {
	if n := len(names); n > namesTold {
		return fmt.Sprintf("%d of %s", n, count(len(w.r.Scenarios), "scenario"))
	}
	return strings.Join(names, ", ")
}

// all says whether something holds of all policies that one can have in a scenario.
func (w *wording) all(s int, holds func(*Cell) bool) bool {
	for i := range w.r.Policies {
		if !w.policy(i).Bracket && !holds(&w.r.Scenarios[s].Cells[i]) {
			return false
		}
	}
	return true
}
