package repro_test

import (
	"context"
	"testing"

	"example.com/wedge/repro"
)

// TestShuffledSchedules: when the scheduler chooses among what is due at one instant, runs differ, are
// as repeatable as ever, and give the same verdict.
func TestShuffledSchedules(t *testing.T) {
	for _, name := range catalogue() {
		s := lookup(t, name)
		run := func(shuffle bool) *repro.Result {
			r, err := repro.Run(context.Background(), s, repro.Options{Shuffle: shuffle})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return r
		}
		plain, one, again := run(false), run(true), run(true)
		if one.TraceHash != again.TraceHash {
			t.Errorf("%s: two shuffled runs of seed %d differ", name, s.Seed)
		}
		if s.Fleet.Agents > 0 && one.TraceHash == plain.TraceHash {
			t.Errorf("%s: shuffling changed nothing", name)
		}
		if !one.Verdict.Reproduced {
			t.Errorf("%s, shuffled: %s %s %s, run %s; want %s", name, one.Verdict.Outcome, one.Verdict.Layer, one.Verdict.Cause, one.End.Outcome, verdictText(s))
		}
	}
}
