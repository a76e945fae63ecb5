package repro_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/repro"
	"example.com/wedge/repro/metrics"
)

// TestIdleLimit: a limit of silence cures silent-stream. To long-reasoning it does no harm at all if it is longer
// than the silence of the healthiest of its answers, and kills each of them, every time, if it is shorter.
func TestIdleLimit(t *testing.T) {
	seeds := uint64(10)
	if testing.Short() {
		seeds = 2
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		for _, limit := range []string{"60s", "150s"} {
			c := newIdleCase(t, "silent-stream", seed, limit)
			c.check(c.without.Outcome == metrics.Never && c.without.Work.TasksCompleted == 0, "without a limit: want a fleet that hangs, with no task completed")
			c.check(c.with.Outcome == metrics.Completed && c.with.Work.TasksCompleted == c.with.Work.TasksStarted, "want all tasks completed")
			c.check(3*c.with.Work.TaskTimeMeanS < c.without.Work.TaskTimeMeanS, "want tasks that take less than a third of the time")
			c.check(c.with.Harm.Killed > 0 && c.with.Harm.HealthyKilled == 0, "want dead attempts ended, and no healthy one")
		}

		// The thinking takes 120 s; what the client sees of silence is that and the wait for prefill.
		above := newIdleCase(t, "long-reasoning", seed, "150s")
		above.check(above.without.Outcome == metrics.Completed, "without a limit: want it completed")
		above.check(above.with.Harm.Killed == 0 && above.with.Waste.TokensWasted == 0, "want nothing ended and nothing wasted")
		above.check(above.with.Work == above.without.Work && above.with.Amplification == above.without.Amplification, "want the very same run as without")

		below := newIdleCase(t, "long-reasoning", seed, "60s")
		agents := below.scenario.Fleet.Agents
		killed := agents * below.scenario.Policy.MaxAttempts
		below.check(below.with.Work.TasksCompleted == 0, "want no task completed")
		below.check(below.with.Harm.HealthyKilled == killed && below.with.Harm.Killed == killed,
			fmt.Sprintf("want %d healthy attempts ended, all attempts of the first call of %d agents", killed, agents))
		below.check(below.with.Harm.FalseAlarmRate == 1, "want nothing but false alarms")
		below.check(below.with.Waste.TokensTotal > 0 && below.with.Waste.TokensWasted == below.with.Waste.TokensTotal, "want all output wasted")
	}
}

// TestIdleLimitAtTheSilence finds the limit from which on it does harm to long-reasoning: within a second
// of the longest silence that was measured.
func TestIdleLimitAtTheSilence(t *testing.T) {
	const seed = 1
	silence := time.Duration(newIdleCase(t, "long-reasoning", seed, "1h").without.Split.GapMaxS * float64(time.Second)).Round(time.Millisecond)
	over := newIdleCase(t, "long-reasoning", seed, (silence + time.Second).String())
	over.check(over.with.Harm.Killed == 0, fmt.Sprintf("want nothing ended, for no silence is longer than %v", silence))
	under := newIdleCase(t, "long-reasoning", seed, (silence - time.Second).String())
	under.check(under.with.Harm.HealthyKilled > 0, fmt.Sprintf("want healthy attempts ended, for there is a silence of %v", silence))
}

// idleCase is a scenario with an idle limit and without.
type idleCase struct {
	t             *testing.T
	replay        string
	scenario      *repro.Scenario
	with, without *metrics.Run
}

func newIdleCase(t *testing.T, name string, seed uint64, limit string) *idleCase {
	t.Helper()
	at, idle := fmt.Sprintf("seed=%d", seed), "policy.idle="+limit
	return &idleCase{
		t: t, replay: fmt.Sprintf("wedge repro %s --seed %d --set %s", name, seed, idle),
		scenario: lookup(t, name, at, idle), with: measured(t, name, at, idle), without: measured(t, name, at),
	}
}

// check fails with the figures of both runs and the command that runs it again.
func (c *idleCase) check(ok bool, want string) {
	c.t.Helper()
	if !ok {
		c.t.Errorf("seed %d: %s\nwith:    %s\nwithout: %s\nreplay:  %s", c.scenario.Seed, want, idleFigures(c.with), idleFigures(c.without), c.replay)
	}
}

// idleFigures are those that a limit of silence changes.
func idleFigures(r *metrics.Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d of %d tasks completed, %.0f s a task, %d of %d tokens wasted, %d attempts, %d ended by limits, %d of them healthy, longest silence %.1f s",
		r.Outcome, r.Work.TasksCompleted, r.Work.TasksStarted, r.Work.TaskTimeMeanS, r.Waste.TokensWasted, r.Waste.TokensTotal,
		r.Amplification.Attempts, r.Harm.Killed, r.Harm.HealthyKilled, r.Split.GapMaxS)
	for _, l := range r.Harm.ByLimit {
		fmt.Fprintf(&b, "; %s: %d, %d healthy", l.Limit, l.Killed, l.HealthyKilled)
	}
	return b.String()
}
