package repro_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/repro"
)

// catalogue returns the names of all scenarios, or with -short of every sixth: under the race detector,
// which is run so, each takes ten times as long.
func catalogue() []string {
	var out []string
	for i, name := range repro.Names() {
		if !testing.Short() || i%6 == 0 {
			out = append(out, name)
		}
	}
	return out
}

// lookup returns a catalogued scenario with overrides of the form path=value.
func lookup(t testing.TB, name string, sets ...string) *repro.Scenario {
	t.Helper()
	s, err := repro.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range sets {
		path, value, _ := strings.Cut(set, "=")
		if err := s.Set(path, value); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestCatalogue runs every scenario with its own seed and twenty others. It prints the table.
func TestCatalogue(t *testing.T) {
	seeds := uint64(21)
	if testing.Short() {
		seeds = 3
	}
	for _, name := range repro.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			right := uint64(0)
			for seed := uint64(1); seed <= seeds; seed++ {
				s := lookup(t, name)
				s.Seed = seed
				r, err := repro.Run(context.Background(), s, repro.Options{})
				if err != nil {
					t.Fatalf("seed %d: %v\nreplay: wedge repro %s --seed %d", seed, err, name, seed)
				}
				if v := &r.Verdict; !v.Reproduced {
					t.Errorf("seed %d: outcome %s, layer %s, cause %s; expected %s\nreplay: wedge repro %s --seed %d",
						seed, v.Outcome, v.Layer, v.Cause, r.Expectation(), name, seed)
					continue
				}
				if s.Control() {
					for _, e := range r.Episodes {
						if e.Outcome.Hang() {
							t.Errorf("seed %d: a control has an episode called %s\nreplay: wedge repro %s --seed %d", seed, e.Outcome, name, seed)
						}
					}
				}
				right++
			}
			fmt.Printf("%-20s %2d of %d seeds give %s\n", name, right, seeds, verdictText(lookup(t, name)))
		})
	}
}

func verdictText(s *repro.Scenario) string {
	return fmt.Sprintf("%s %s %s, run %s", s.Expect.Outcome, s.Expect.Layer, s.Expect.Cause, s.Expect.FinalOutcome)
}

// BenchmarkRun is one default run: 30 agents, 600 calls, about two million tokens. The scenario file is
// read once, outside of what is measured: a run does not change its scenario.
func BenchmarkRun(b *testing.B) {
	for _, name := range []string{"starvation", "silent-stream"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			s := lookup(b, name)
			var calls, tokens, events float64
			for b.Loop() {
				r, err := repro.Run(context.Background(), s, repro.Options{})
				if err != nil {
					b.Fatal(err)
				}
				calls, tokens, events = float64(r.Report.Totals.CallsCompleted), float64(r.Report.Totals.TokensReceived), float64(r.Steps)
			}
			b.ReportMetric(calls, "calls/run")
			b.ReportMetric(tokens, "tokens/run")
			b.ReportMetric(events, "events/run")
		})
	}
}

// TestVerdictIsNotAboutWhatIsKept: how many episodes are kept, and whether they are written, changes
// nothing about which of them the verdict is about.
func TestVerdictIsNotAboutWhatIsKept(t *testing.T) {
	for _, o := range []repro.Options{{}, {Out: filepath.Join(t.TempDir(), "bundle")}} {
		r, err := repro.Run(context.Background(), lookup(t, "decode-serialized", "watchdog.episodes_kept=1"), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Episodes) != 1 || r.Report.Stalls < 10 || r.Episode != 1 || !r.Verdict.Reproduced {
			t.Errorf("bundle %q: %d of %d stalls kept; the verdict is about the one numbered %d: %s", o.Out, len(r.Episodes), r.Report.Stalls, r.Episode, r.Verdict.Cause)
		}
	}
}
