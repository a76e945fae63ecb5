//go:build integration

package repro_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"example.com/wedge/repro"
)

// scale is that of the wall runs: a minute a second.
const scale = 60

// wallSeeds is how many seeds of each scenario TestIntegrationWallSeeds runs. One seed of the catalogue takes
// about three minutes of real time with six runs beside each other on two cores, so that 20 of each are for a
// machine with nothing else to do.
var wallSeeds = flag.Int("wallseeds", 0, "seeds of each scenario in TestIntegrationWallSeeds; 0: none")

// wallLeast is the share of wall runs whose verdict must be right.
const wallLeast = 0.95

// outcome is what of a run is compared between the clocks.
type outcome struct {
	result *repro.Result
	calls  int
	p50    float64 // seconds
	p95    float64 // seconds
}

func runOn(t *testing.T, clock repro.Clock, name string) outcome {
	t.Helper()
	o := repro.Options{Clock: clock, Out: filepath.Join(t.TempDir(), "bundle")}
	if clock == repro.ClockWall {
		o.Scale = scale
	}
	r, err := repro.Run(context.Background(), lookup(t, name), o)
	if err != nil {
		t.Fatalf("%s on the %s clock: %v", name, clock, err)
	}
	took := callTimes(t, filepath.Join(o.Out, "events.jsonl"))
	return outcome{r, len(took), quantile(took, 0.50), quantile(took, 0.95)}
}

// callTimes returns how long each completed call took, in seconds, in ascending order.
func callTimes(t *testing.T, path string) []float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var took []float64
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e struct {
			Event string
			OK    bool
			Took  float64 `json:"took_s"`
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", lines.Bytes(), err)
		}
		if e.Event == "call_end" && e.OK {
			took = append(took, e.Took)
		}
	}
	slices.Sort(took)
	return took
}

func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return sorted[int(q*float64(len(sorted)-1))]
}

// longestFirst moves the scenarios that take a minute and more of real time to the front, so that the others
// run beside them and not before.
func longestFirst(names []string) []string {
	long := []string{"connection-dead", "starvation", "tool-hang", "long-context-decode", "ignored-abort", "lock-over-call"}
	out := slices.Clone(names)
	slices.SortStableFunc(out, func(a, b string) int {
		return cmp.Compare(placeOf(long, a), placeOf(long, b))
	})
	return out
}

// placeOf is the index of a name, or behind all.
func placeOf(names []string, name string) int {
	if i := slices.Index(names, name); i >= 0 {
		return i
	}
	return len(names)
}

// TestIntegrationWall runs the catalogue over real HTTP at a minute a second, all scenarios beside
// each other. Each gives its verdict; those without a fault's luck in them also agree with virtual time.
func TestIntegrationWall(t *testing.T) {
	agree := []string{"starvation", "silent-stream", "healthy"}
	for _, name := range longestFirst(repro.Names()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wall := runOn(t, repro.ClockWall, name)
			v := &wall.result.Verdict
			t.Logf("%s: %s %s %s, run %s; %s", name, v.Outcome, v.Layer, v.Cause, v.FinalOutcome, wall.result.Story())
			if !v.Reproduced {
				t.Errorf("expected %s; summary: %s", wall.result.Expectation(), v.Summary)
			}
			if wall.result.Scenario.Control() {
				for _, e := range wall.result.Episodes {
					if e.Outcome.Hang() {
						t.Errorf("a control has an episode called %s: %s", e.Outcome, e.Summary)
					}
				}
			}
			if slices.Contains(agree, name) {
				compareClocks(t, runOn(t, repro.ClockVirtual, name), wall)
			}
		})
	}
}

// TestIntegrationWallSeeds runs the catalogue over real HTTP with many seeds, and scores outcome, layer and
// cause as TestAccuracy does in virtual time.
func TestIntegrationWallSeeds(t *testing.T) {
	if *wallSeeds == 0 {
		t.Skip("with -wallseeds N: N seeds of each scenario")
	}
	var right, all atomic.Int64
	t.Run("runs", func(t *testing.T) {
		for _, name := range repro.Names() {
			for seed := uint64(1); seed <= uint64(*wallSeeds); seed++ {
				t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
					t.Parallel()
					s := lookup(t, name)
					s.Seed = seed
					r, err := repro.Run(context.Background(), s, repro.Options{Clock: repro.ClockWall, Scale: scale})
					if err != nil {
						t.Fatal(err)
					}
					all.Add(1)
					got := score(r)
					if got.wrong == "" {
						right.Add(1)
						return
					}
					t.Logf("WRONG: found %s: %s\n  replay: wedge repro %s --seed %d --clock wall --scale %d\n  %s", got.found, got.wrong, name, seed, scale, r.Verdict.Summary)
					if control(s) {
						t.Errorf("a control: %s", got.wrong)
					}
				})
			}
		}
	})
	fmt.Printf("right: %d of %d runs on the wall\n", right.Load(), all.Load())
	if float64(right.Load()) < wallLeast*float64(all.Load()) {
		t.Errorf("%d of %d verdicts are right, want %.0f %%", right.Load(), all.Load(), 100*wallLeast)
	}
}

func compareClocks(t *testing.T, virtual, wall outcome) {
	t.Helper()
	a, b := &virtual.result.Verdict, &wall.result.Verdict
	if a.Outcome != b.Outcome || a.Layer != b.Layer || a.Cause != b.Cause || a.FinalOutcome != b.FinalOutcome {
		t.Errorf("virtual: %s %s %s, run %s; wall: %s %s %s, run %s", a.Outcome, a.Layer, a.Cause, a.FinalOutcome, b.Outcome, b.Layer, b.Cause, b.FinalOutcome)
	}
	for _, c := range []struct {
		what          string
		virtual, wall float64
		within        float64
	}{
		{"completed calls", float64(virtual.calls), float64(wall.calls), 0.02},
		{"p50 call latency in s", virtual.p50, wall.p50, 0.05},
		{"p95 call latency in s", virtual.p95, wall.p95, 0.05},
	} {
		off := math.Abs(c.wall-c.virtual) / c.virtual
		line := fmt.Sprintf("%s: virtual %.2f, wall %.2f, off by %.2f %%, allowed %.0f %%", c.what, c.virtual, c.wall, 100*off, 100*c.within)
		if off > c.within {
			t.Error(line)
			continue
		}
		t.Log(line)
	}
}
