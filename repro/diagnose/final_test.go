package diagnose

import (
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
)

func TestFinal(t *testing.T) {
	end := func(tasks, done, failed int) *harness.Evidence {
		return &harness.Evidence{
			At: sim.Instant(100 * s), Setup: harness.Setup{Agents: tasks, StallAfter: m}, Totals: harness.Totals{AgentsDone: done, AgentsFailed: failed},
		}
	}
	ended, open := storyNamed(t, "starvation").verdict(), storyNamed(t, "silent-stream").verdict()
	ended.End(4180200 * time.Millisecond)
	if *ended.EndedAtS != 4180.2 {
		t.Errorf("ended at %v s, want 4180.2", *ended.EndedAtS)
	}
	for _, c := range []struct {
		name     string
		end      *harness.Evidence
		episodes []Verdict
		why      Ending
		want     Outcome
		episode  int
	}{
		{"all done", end(30, 30, 0), nil, EndedByItself, Completed, 0},
		{"nothing to do", end(0, 0, 0), nil, EndedByItself, Completed, 0},
		{"all done, after a stall", end(30, 30, 0), []Verdict{ended}, EndedByItself, Completed, 0},
		{"some failed", end(30, 28, 2), []Verdict{ended}, EndedByItself, Failed, 0},
		{"given up in a stall", end(30, 3, 0), []Verdict{ended, open}, EndedByWatchdog, Wedged, 2},
		{"horizon in a stall, some failed before", end(30, 3, 1), []Verdict{open}, EndedAtHorizon, Wedged, 1},
		{"horizon while it worked", end(30, 3, 0), []Verdict{ended}, EndedAtHorizon, Slow, 0},
		{"interrupted while it worked", end(30, 3, 0), nil, EndedInterrupted, Slow, 0},
		{"interrupted in a stall", end(30, 3, 0), []Verdict{open}, EndedInterrupted, Wedged, 1},
		{"a stall that nobody captured", leakAtEnd(), nil, EndedAtHorizon, Wedged, 0},
		{"no evidence at all", nil, nil, EndedByItself, Completed, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Final(c.end, c.episodes, c.why)
			if got.Outcome != c.want || got.Episode != c.episode || got.Summary == "" {
				t.Errorf("got %+v, want outcome %s, episode %d", got, c.want, c.episode)
			}
		})
	}
}

func leakAtEnd() *harness.Evidence {
	ev := leakEvidence()
	ev.Episode = 0
	return ev
}

func TestMeets(t *testing.T) {
	v := Verdict{Outcome: Slow, Layer: LayerDecode, Cause: CauseSlowServer, Mechanisms: []Cause{CauseSlowServer, CauseIgnoredAbort}}
	for _, c := range []struct {
		want  Expectation
		meets bool
	}{
		{Expectation{}, true},
		{Expectation{Outcome: Slow}, true},
		{Expectation{Outcome: Slow, Layer: LayerDecode, Cause: CauseSlowServer}, true},
		{Expectation{Outcome: Starved}, false},
		{Expectation{Outcome: Slow, Layer: LayerNone}, false},
		{Expectation{Cause: CauseStarvation}, false},
		{Expectation{Mechanisms: []Cause{CauseIgnoredAbort}}, true},
		{Expectation{Mechanisms: []Cause{CauseIgnoredAbort, CauseStarvation}}, false},
	} {
		if got := v.Meets(c.want); got != c.meets {
			t.Errorf("Meets(%+v) = %v", c.want, got)
		}
	}
}
