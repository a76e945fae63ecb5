package soak

import (
	"strings"
	"testing"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/series"
)

// TestHistory: of many windows neighbours are merged, those of the warm-up apart, and nothing that happened is lost.
func TestHistory(t *testing.T) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	m := series.NewMeter(w, series.Options{})
	template := m.Close(0, series.Extra{})
	h := newHistory(1000)
	const windows = 3000
	for i := range windows {
		one := template
		one.Index, one.FromS, one.ToS = i+1, float64(i*10), float64(i*10+10)
		one.Calls = series.Calls{Begun: 2, OK: 1, Failed: 1}
		if err := h.add(&one); err != nil {
			t.Fatal(err)
		}
		if n := len(h.rest.windows); n > keptMax {
			t.Fatalf("%d windows are kept", n)
		}
	}
	all, err := h.all()
	if err != nil {
		t.Fatal(err)
	}
	later, err := h.after()
	if err != nil || len(later) < keptMax/2 || later[0].FromS != 1000 || len(all) != 100+len(later) {
		t.Fatalf("%v: %d windows, %d after the warm-up from %v s", err, len(all), len(later), later[0].FromS)
	}
	calls, end := 0, 0.0
	for i := range all {
		if all[i].FromS != end {
			t.Fatalf("window %d is from %v s, after %v", i, all[i].FromS, end)
		}
		end = all[i].ToS
		calls += all[i].Calls.OK
	}
	if calls != windows || end != 10*windows || h.totals.CallsOK != windows || h.totals.Windows != windows || h.totals.LastS != end {
		t.Errorf("%d calls to %v s, totals %+v", calls, end, h.totals)
	}
}

func TestReadings(t *testing.T) {
	var r readings
	const n = 5000
	for i := range n {
		r.add(series.Process{AtS: float64(i)})
		if len(r.kept) > keptMax {
			t.Fatalf("%d are kept", len(r.kept))
		}
	}
	if first, last := r.kept[0].AtS, r.kept[len(r.kept)-1].AtS; first != 0 || last != n-1 || len(r.kept) < keptMax/2 {
		t.Errorf("%d readings from %v to %v", len(r.kept), first, last)
	}
	for i := 1; i < len(r.kept); i++ {
		if gap := r.kept[i].AtS - r.kept[i-1].AtS; gap <= 0 || gap > float64(r.stride) {
			t.Errorf("after %v comes %v, with a stride of %d", r.kept[i-1].AtS, r.kept[i].AtS, r.stride)
		}
	}
	if got := r.after(4_000_000_000_000); len(got) == 0 || got[0].AtS < 4000 {
		t.Errorf("from 4000 s on: %d readings", len(got))
	}
}

func TestTally(t *testing.T) {
	ended := func(v diagnose.Verdict, at float64) diagnose.Verdict {
		v.EndedAtS = &at
		return v
	}
	starved := diagnose.Verdict{Outcome: diagnose.Starved, Cause: diagnose.CauseStarvation, DetectedAtS: 100, StalledForS: 60, Summary: "short"}
	wedged := diagnose.Verdict{Outcome: diagnose.Wedged, Cause: diagnose.CauseSilentStream, DetectedAtS: 500, StalledForS: 60}
	c := tally{patienceS: 60}
	c.see(1, starved)
	if got := c.stalls(nil); got.Total != 1 || !got.Open || got.ByCause[0].TotalS != 60 {
		t.Errorf("an open one: %+v", got)
	}
	c.see(1, ended(starved, 130)) // 90 s without a step
	c.see(2, wedged)
	c.see(3, starved) // the end of 2 has not been told
	longer := starved
	longer.DetectedAtS, longer.Summary = 900, "long"
	c.see(3, ended(longer, 1840))
	got := c.stalls(nil)
	if got.Total != 3 || got.Open || len(got.ByCause) != 2 {
		t.Fatalf("%+v", got)
	}
	if first := got.ByCause[0]; first.Cause != diagnose.CauseStarvation || first.Stalls != 2 || first.TotalS != 1090 || first.LongestS != 1000 || first.LongestAtS != 900 || first.Summary != "long" {
		t.Errorf("%+v", first)
	}
	if words := stallWords(&got); words != "3 stalls: 2 starved (starvation, the longest 16 min 40 s), 1 wedged (silent-stream, the longest 1 min)." {
		t.Error(words)
	}
}

func TestLength(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0 s", 0.0123: "0.0123 s", 9.996: "10 s", 12.3: "12 s", 60: "1 min", 90: "1 min 30 s", 3600: "1 h", 3660: "1 h 1 min", 86399.6: "24 h", 360000: "100 h",
	} {
		if got := Length(seconds); got != want {
			t.Errorf("%v: %q, want %q", seconds, got, want)
		}
	}
}

// TestSummary: what is told first is how it ended.
func TestSummary(t *testing.T) {
	for _, c := range []struct {
		d    Document
		want string
	}{
		{Document{Verdict: Passed, AtS: 86400}, "Passed: it went on for 24 h. "},
		{Document{Verdict: Interrupted, AtS: 60, ForS: 3600, Tasks: 10}, "Interrupted after 1 min of 1 h (or 10 tasks). "},
		{Document{Verdict: Running, AtS: 60, ForS: 3600}, "Not over: 1 min of 1 h so far. "},
		{Document{Verdict: Stalled, Ended: "stall", AtS: 60, ForS: 3600}, "Given up after 1 min of 1 h in a stall that did not end. "},
		{Document{Verdict: Stalled, Ended: "for", AtS: 60}, "It went on for 1 min and ended in a stall. "},
		{Document{Verdict: Failed, AtS: 5}, "Failed: every task ended with an error, in 5 s. "},
		{Document{Verdict: Stopped, AtS: 5, ForS: 60}, "Stopped after 5 s of 1 min, since its files could not be written. "},
	} {
		if got := summary(&c.d); !strings.HasPrefix(got, c.want) || !strings.HasSuffix(got, "Nothing stalled.") {
			t.Errorf("%s: %q, want it to begin with %q", c.d.Verdict, got, c.want)
		}
	}
}
