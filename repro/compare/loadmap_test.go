package compare

import (
	"strings"
	"testing"
)

// mapPlan has two loads and three triggers, swept in the given order.
func mapPlan(first, second []Point) *Plan {
	p := &Plan{}
	for _, a := range first {
		for _, b := range second {
			p.Loads = append(p.Loads, []Point{a, b})
		}
	}
	return p
}

func TestLoadMaps(t *testing.T) {
	loads := []Point{{"spike", "fleet.arrivals.rate_per_s", "0.3", 0.3}, {"spike", "fleet.arrivals.rate_per_s", "0.1", 0.1}}
	triggers := []Point{{"spike", "triggers.rush.load", "2", 2}, {"spike", "triggers.rush.load", "5", 5}, {"spike", "triggers.rush.load", "15", 15}}
	for name, p := range map[string]*Plan{"load first": mapPlan(loads, triggers), "trigger first": mapPlan(triggers, loads)} {
		maps := p.loadMaps()
		if len(maps) != 1 || len(maps[0].load) != 2 || len(maps[0].trigger) != 3 {
			t.Fatalf("%s: %+v", name, maps)
		}
		m := &maps[0]
		if m.load[0].Value != "0.1" || axisName(m.trigger[0].Path) != "rush.load" || axisName(m.load[0].Path) != "rate_per_s" {
			t.Errorf("%s: %+v", name, m)
		}
		for y, row := range m.scenario {
			for x, s := range row {
				if at := p.Loads[s]; !strings.Contains(at[0].Value+" "+at[1].Value, m.load[x].Value) || !strings.Contains(at[0].Value+" "+at[1].Value, m.trigger[y].Value) {
					t.Errorf("%s: at %s and %s stands %v", name, m.load[x].Value, m.trigger[y].Value, at)
				}
			}
		}
	}
	if maps := (&Plan{Loads: [][]Point{{loads[0]}, {loads[1]}}}).loadMaps(); maps != nil {
		t.Errorf("one sweep makes a map: %+v", maps)
	}
}

// TestReach: what is told is the load up to which all runs recover, not the largest at which some do.
func TestReach(t *testing.T) {
	m := &loadMap{of: "spike", load: []Point{{Value: "0.1"}, {Value: "0.2"}, {Value: "0.3"}}, trigger: []Point{{Value: "2"}, {Value: "5"}, {Value: "15"}}}
	for want, recovered := range map[string][3][3]int{
		"all":                 {{5, 5, 5}, {5, 5, 5}, {5, 5, 5}},
		"not all at any load": {{4, 5, 5}, {0, 5, 5}, {1, 0, 0}},
		"all up to load 0.2":  {{5, 5, 4}, {5, 5, 0}, {5, 5, 0}},
		"all after trigger 2, all up to load 0.1 after trigger 5, not all at any load after trigger 15": {{5, 5, 5}, {5, 4, 5}, {0, 0, 0}},
		"all up to load 0.2 after trigger 2 to 5, not all at any load after trigger 15":                 {{5, 5, 0}, {5, 5, 2}, {3, 0, 0}},
	} {
		w := &wording{r: &Results{}}
		m.scenario = nil
		for y := range recovered {
			var row []int
			for x := range recovered[y] {
				row = append(row, len(w.r.Scenarios))
				w.r.Scenarios = append(w.r.Scenarios, ScenarioResult{Cells: []Cell{{Recovery: &Recovery{Recovered: proportion(recovered[y][x], 5)}}}})
			}
			m.scenario = append(m.scenario, row)
		}
		if got := w.reach(m, 0); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
