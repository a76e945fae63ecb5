package repro_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
)

// accuracySeeds is how many randomised runs of each scenario TestAccuracy makes. CI makes more.
var accuracySeeds = flag.Int("accuracy", 5, "randomised runs of each scenario in TestAccuracy")

// accuracyRuns is how many it makes: one with -short, as under the race detector, to which runs in virtual
// time have little to show.
func accuracyRuns() int {
	if testing.Short() {
		return 1
	}
	return *accuracySeeds
}

// accuracyLeast is the share of randomised runs whose verdict must be right, and scenarioLeast that of the
// runs of each scenario, once there are scenarioRuns of them.
const (
	accuracyLeast = 0.99
	scenarioLeast = 0.95
	scenarioRuns  = 50
)

// draws are the settings of one randomised run, drawn from its seed.
type draws struct {
	rng  *rand.Rand
	sets []string
}

func drawsOfRun(name string, seed uint64) *draws {
	h := fnv.New64a()
	h.Write([]byte(name))
	return &draws{rng: rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// set overrides a field of the scenario.
func (d *draws) set(path string, value any) {
	d.sets = append(d.sets, fmt.Sprintf("%s=%v", path, value))
}

// between draws a whole number, both bounds included.
func (d *draws) between(least, most int) int { return least + d.rng.IntN(most-least+1) }

// seconds draws a length of time in whole seconds, both bounds included.
func (d *draws) seconds(least, most int) time.Duration {
	return time.Duration(d.between(least, most)) * time.Second
}

// share draws a number with two decimals.
func (d *draws) share(least, most float64) float64 {
	return float64(d.between(int(100*least+0.5), int(100*most+0.5))) / 100
}

// replay is the command that repeats the run.
func (d *draws) replay(name string, seed uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "wedge repro %s --seed %d --out -", name, seed)
	for _, set := range d.sets {
		if strings.ContainsAny(set, " {[") {
			set = "'" + set + "'"
		}
		b.WriteString(" --set " + set)
	}
	return b.String()
}

// scored is a randomised run against the truth.
type scored struct {
	found   string // outcome, layer and cause of the judged episode
	wrong   string // why it is not right; empty: it is
	stalled bool
}

// score compares a run with what its scenario is made to do, in the judged episode. Parameters are drawn
// so that the mechanism is what happens, so the truth is the scenario's own. A run in which no step was
// ever late has no episode to judge: that it is called completed is right, and says nothing.
func score(r *repro.Result) scored {
	v, want := &r.Verdict, r.Scenario.Expect
	s := scored{found: fmt.Sprintf("%s %s %s", v.Outcome, v.Layer, v.Cause), stalled: r.Report.Stalls > 0}
	if control(r.Scenario) {
		for _, e := range r.Episodes {
			if e.Outcome.Hang() {
				s.found, s.wrong = fmt.Sprintf("%s %s %s", e.Outcome, e.Layer, e.Cause), "a control has an episode that is called a hang"
				return s
			}
		}
		if c := v.Cause; c != diagnose.CauseNone && c != diagnose.CauseSlowServer {
			s.wrong = "a control has a cause"
		}
	}
	if want.Outcome == diagnose.Wedged && !v.Open() {
		// Whatever the scenario is made for: what has ended by itself was not wedged.
		want.Outcome = diagnose.Starved
	}
	switch {
	case !s.stalled && v.Outcome == diagnose.Completed && v.Cause == diagnose.CauseNone:
	case !v.Meets(diagnose.Expectation{Outcome: want.Outcome, Layer: want.Layer, Cause: want.Cause, Mechanisms: want.Mechanisms}):
		s.wrong = fmt.Sprintf("expected %s %s %s", want.Outcome, want.Layer, want.Cause)
		if len(want.Mechanisms) > 0 {
			s.wrong += fmt.Sprintf(" with %v at work, found %v", want.Mechanisms, v.Mechanisms)
		}
	}
	return s
}

// control says whether nothing is wrong in a scenario.
func control(s *repro.Scenario) bool { return s.Control() && s.Expect.Cause == "" }

// TestAccuracy runs every scenario of the catalogue with random seeds, sizes, slots, times and odds of
// faults, scores outcome, layer and cause against the truth, and prints the confusion matrix.
func TestAccuracy(t *testing.T) {
	var mu sync.Mutex
	table := map[string]map[string]int{}
	right, all, idle := 0, 0, map[string]int{}
	t.Run("runs", func(t *testing.T) {
		for _, name := range repro.Names() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				good := 0
				for seed := uint64(1); seed <= uint64(accuracyRuns()); seed++ {
					s, replay := randomised(t, name, seed)
					mu.Lock()
					if table[name] == nil {
						table[name] = map[string]int{}
					}
					table[name][s.found]++
					all++
					if !s.stalled {
						idle[name]++
					}
					if s.wrong == "" {
						right++
						good++
					}
					mu.Unlock()
					if s.wrong != "" {
						t.Logf("WRONG: found %s: %s\n  replay: %s", s.found, s.wrong, replay)
					}
				}
				if n := accuracyRuns(); n >= scenarioRuns && float64(good) < scenarioLeast*float64(n) {
					t.Errorf("%d of %d verdicts are right, want %.0f %%", good, n, 100*scenarioLeast)
				}
			})
		}
	})
	fmt.Print(confusion(table, idle))
	fmt.Printf("right: %d of %d randomised runs, %.2f %%\n", right, all, 100*float64(right)/float64(max(1, all)))
	if float64(right) < accuracyLeast*float64(all) {
		t.Errorf("%d of %d verdicts are right, want %.0f %%: go test -run 'TestAccuracy' -v shows which are not", right, all, 100*accuracyLeast)
	}
}

// randomised runs a scenario with settings drawn from the seed, after those that are given.
func randomised(t *testing.T, name string, seed uint64, sets ...string) (scored, string) {
	d := drawsOfRun(name, seed)
	d.sets = append(d.sets, sets...)
	draw := shapes[name]
	if draw == nil {
		draw = harnessShapes[name]
	}
	if draw != nil {
		d.surroundings()
		draw(d)
	}
	s := lookup(t, name, d.sets...)
	s.Seed = seed
	replay := d.replay(name, seed)
	r, err := repro.Run(context.Background(), s, repro.Options{})
	if err != nil {
		t.Fatalf("%v\nreplay: %s", err, replay)
	}
	got := score(r)
	if got.wrong != "" && control(s) && strings.Contains(got.wrong, "hang") {
		t.Errorf("%s: %s\nreplay: %s", got.wrong, got.found, replay)
	}
	return got, replay
}

// confusion writes what the runs of each scenario were found to be, in the order of the catalogue.
func confusion(table map[string]map[string]int, idle map[string]int) string {
	var b strings.Builder
	for _, name := range repro.Names() {
		type cell struct {
			found string
			n     int
		}
		var cells []cell
		for found, n := range table[name] {
			cells = append(cells, cell{found, n})
		}
		slices.SortFunc(cells, func(a, b cell) int { return cmp.Or(b.n-a.n, cmp.Compare(a.found, b.found)) })
		fmt.Fprintf(&b, "%-20s", name)
		for _, c := range cells {
			fmt.Fprintf(&b, " %4d %s;", c.n, c.found)
		}
		if n := idle[name]; n > 0 {
			fmt.Fprintf(&b, " (%d without a stall)", n)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
