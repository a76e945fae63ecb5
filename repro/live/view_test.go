package live

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// moving is a run that completes two calls in a second of its clock, which goes 10 times as fast as the machine's, and
// is stalled for a while.
func moving(began time.Time) func() harness.Progress {
	return func() harness.Progress {
		at := 10 * time.Since(began)
		p := harness.Progress{At: sim.Instant(at), Agents: 3}
		p.Totals.CallsCompleted, p.Totals.TokensReceived = 2*int(at.Seconds()), 100*int(at.Seconds())
		p.AgentsByStage[pacer.StageStream] = 3
		if from := sim.Instant(1000 * time.Second); p.At > from {
			p.LastStall = harness.StallGlimpse{Episode: 1, StartedAt: from, DetectedAt: from + 60}
			if end := from.Add(500 * time.Second); p.At > end {
				p.LastStall.EndedAt = end
			}
		}
		return p
	}
}

// TestView shows what a view sees of a run, and until when.
func TestView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := NewView(Run{Command: "soak"})
		if s := v.Latest(); s.State != Starting || len(s.Agents.ByStage) != 9 {
			t.Errorf("before it began: %+v", s)
		}
		v.Describe(Run{Command: "soak", Scenario: "x"})
		began := time.Now()
		v.Attach(moving(began), nil)
		for _, tc := range []struct {
			at    time.Duration // of the machine's clock
			state State
			rate  float64
			open  bool
		}{
			{0, Running, 0, false},
			{time.Second, Running, 2, false},
			{30 * time.Second, Running, 2, false},
			{101 * time.Second, Running, 2, true},
			{151 * time.Second, Running, 2, false},
		} {
			time.Sleep(time.Until(began.Add(tc.at)))
			synctest.Wait()
			s := v.Latest()
			if s.State != tc.state || s.Calls.PerS < 0.8*tc.rate || s.Calls.PerS > 1.2*tc.rate || s.Run.Scenario != "x" || s.Tokens.PerS < 40*tc.rate ||
				(s.Stall != nil && s.Stall.Open) != tc.open {
				t.Errorf("at %v: %+v", tc.at, s)
			}
		}
		v.Stop()
		v.Stop()
		if s := v.Latest(); s.State != Ended {
			t.Errorf("after the end: %+v", s)
		}
		v.Attach(func() harness.Progress { t.Error("looked at after the end"); return harness.Progress{} }, nil)
	})
}

// TestHistory shows that of a long run there are no more points than of a short one, that they cover all of it, and
// that a stall is not lost.
func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := NewView(Run{})
		began := time.Now()
		v.Attach(moving(began), nil)
		for range 20 {
			time.Sleep(7 * time.Minute)
			h := v.History()
			last := 10 * time.Since(began).Seconds()
			if n := len(h.Points); n >= pointsMax+1 || n < 200 && last > 4200 {
				t.Fatalf("%d points after %v", n, time.Since(began))
			}
			if p := h.Points[len(h.Points)-1]; p.AtS < last-20*h.EveryS || p.CallsPerS < 1.8 || p.CallsPerS > 2.2 || p.Stages[pacer.StageStream] != 3 {
				t.Errorf("the last point at %v: %+v", last, p)
			}
			if h.Points[0].AtS > 20*h.EveryS {
				t.Errorf("the first point is at %v", h.Points[0].AtS)
			}
			before, stalled := -1.0, 0
			for _, p := range h.Points {
				if p.AtS <= before {
					t.Fatalf("points at %v and %v", before, p.AtS)
				}
				before = p.AtS
				if p.Stalled {
					stalled++
				}
			}
			if stalled == 0 {
				t.Error("the stall is lost")
			}
		}
		v.Stop()
	})
}

// TestStuckRun shows that a run that cannot be asked any more does not keep a view from its end.
func TestStuckRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := NewView(Run{})
		free := make(chan struct{})
		var asked atomic.Int32
		v.Attach(func() harness.Progress {
			if asked.Add(1) > 2 {
				<-free
			}
			return harness.Progress{Tasks: 7}
		}, nil)
		time.Sleep(10 * time.Second)
		v.Stop()
		if s := v.Latest(); s.State != Ended || s.Agents.Begun != 7 {
			t.Errorf("%+v", s)
		}
		close(free)
	})
}

// TestSnapshot shows what becomes of texts: they are bounded, and what has none is told from what is empty.
func TestSnapshot(t *testing.T) {
	p := stalled()
	p.GaugesErr = strings.Repeat("é", 1000)
	p.Oldest.ID = "\xff" + strings.Repeat("x", 1000)
	s := Snapshot{Facts: []Fact{{Name: strings.Repeat("長", 1000)}}}
	s.fill(&p)
	for _, text := range []string{s.GaugesErr, s.Oldest.ID, s.Facts[0].Name} {
		if len(text) > textBytesMax || !strings.HasSuffix(text, "…") || !utf8.ValidString(strings.TrimPrefix(text, "\xff")) {
			t.Errorf("%d bytes: %q", len(text), text)
		}
	}
	var empty Snapshot
	empty.fill(&harness.Progress{})
	text, err := json.Marshal(&empty)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"oldest":null`, `"stall":null`, `"gauges":[]`, `"rates":[]`, `"facts":[]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}
