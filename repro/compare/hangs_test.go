package compare

import (
	"strings"
	"testing"

	"example.com/wedge/repro/compare/stats"
)

// TestHangs has a best policy with which runs of one scenario never end, and others beside it.
func TestHangs(t *testing.T) {
	sure := func(name string, ratio float64) PolicyResult {
		return PolicyResult{Name: name, Ratio: ratio, RatioCI: stats.Interval{Low: ratio, High: ratio}}
	}
	for _, c := range []struct {
		name       string
		stuck      string // the part of a call that is longer with the best policy
		never      int    // runs of the best one
		othersHang int
		want       string
	}{
		{"all end", "call_headers_s", 0, 0, ""},
		{"one is missing", "call_headers_s", 6, 0, "It is not enough by itself: with it, runs never end in dead (6 of 6). It lacks a limit on the wait for an answer to begin (response_header or first_token). " +
			"Of those with which every run ends, a task takes the least time with patient: 20 % less time (95 % interval 20 % to 20 %) than with none."},
		{"no limit helps", "call_slot_s", 2, 0, "It is not enough by itself: with it, runs never end in dead (2 of 6). " +
			"Of those with which every run ends, a task takes the least time with patient: 20 % less time (95 % interval 20 % to 20 %) than with none."},
		{"all hang", "call_headers_s", 6, 1, "It is not enough by itself: with it, runs never end in dead (6 of 6). Nor is any of the others: with each of them, there are runs that never end."},
	} {
		cells := make([]Cell, 4)
		for i, never := range []int{6, c.never, c.othersHang, c.othersHang} {
			cells[i] = *cellWith(nil)
			cells[i].Never = never
		}
		cells[1] = *cellWith(map[string]float64{c.stuck: 4000})
		cells[1].Never = c.never
		r := &Results{N: 6, Baseline: "none", Scenarios: []ScenarioResult{{Name: "dead", Cells: cells}},
			Policies: []PolicyResult{sure("none", 1), sure("quick", 0.5), sure("patient", 0.8), sure("hasty", 0.9)}}
		if got := newWording(r).hangs(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	if said := (&wording{r: &Results{Policies: []PolicyResult{sure("none", 1)}}}).hangs(); said != "" {
		t.Errorf("of the baseline: %q", strings.TrimSpace(said))
	}
}

// TestBeyond has scenarios in which no policy does anything, and one in which one does. What the oracle
// does counts for nothing.
func TestBeyond(t *testing.T) {
	cells := func(done float64, mark func(*Figure)) []Cell {
		all := make([]Cell, 3)
		for i := range all {
			all[i] = *cellWith(map[string]float64{KeyCompletion: done})
		}
		mark(all[1].Of(KeyTaskTime))
		all[2].Of(KeyTaskTime).Better, all[2].Of(KeyCompletion).Mean = true, 1
		return all
	}
	r := &Results{N: 6, Baseline: "none", Policies: []PolicyResult{{Name: "none", Ratio: 1}, {Name: "quick", Ratio: 0.5}, {Name: Oracle, Ratio: 0.1, Bracket: true}},
		Scenarios: []ScenarioResult{
			{Name: "dead", Cells: cells(0, func(*Figure) {})},
			{Name: "full", Cells: cells(1, func(*Figure) {})},
			{Name: "silent", Cells: cells(1, func(f *Figure) { f.Better = true })},
		}}
	want := "No policy completes a task in dead: none of these limits cures that. None makes a difference for sure to the time a task in full."
	if got := newWording(r).beyond(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
