package series_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro"
	"example.com/wedge/repro/metrics"
	"example.com/wedge/repro/series"
)

// metered is a scenario's run with its windows, of a minute each.
type metered struct {
	result  *repro.Result
	windows []series.Window
	last    series.Cumulative
}

func meter(t testing.TB, name string, o repro.Options) metered {
	t.Helper()
	s, err := repro.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	var out metered
	var m *series.Meter
	var w sim.World
	o.Tap = func(in repro.Inside) repro.Tap {
		w = in.World
		m = series.NewMeter(w, series.Options{StallAfter: s.Watchdog.StallAfter, Slots: func() (int, int) {
			o := in.Occupancy()
			return o.SlotsInUse, o.SlotsMax
		}})
		return repro.Tap{Calls: m.CallObserver(), Agents: m.AgentObserver()}
	}
	shut := func(now sim.Instant) {
		w.Lock()
		defer w.Unlock()
		out.windows = append(out.windows, m.Close(now, series.Extra{}))
		out.last = m.Snapshot(now)
	}
	o.Hooks.Gauges = func(now sim.Instant, gauges []harness.Gauge) { m.Gauges(now, gauges) }
	o.Ticks = append(o.Ticks, harness.Tick{Every: time.Minute, Do: shut})
	if out.result, err = repro.Run(context.Background(), s, o); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	shut(w.Now())
	return out
}

func names(t *testing.T) []string {
	var out []string
	for i, name := range repro.Names() {
		if !testing.Short() || i%6 == 0 {
			out = append(out, name)
		}
	}
	return out
}

// whole merges all windows, in pairs as they come.
func whole(t testing.TB, windows []series.Window) series.Window {
	t.Helper()
	out := windows[0]
	for _, w := range windows[1:] {
		var err error
		if out, err = series.Merge(out, w); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestAgree holds the windows of every scenario against what the fleet's ledger and the meter of repro/metrics have
// counted on their own. The tear-down of a run that did not complete ends calls that are no part of theirs.
func TestAgree(t *testing.T) {
	stalled := 0
	for _, name := range names(t) {
		got := meter(t, name, repro.Options{Measure: &metrics.Options{}})
		all, want, measured := whole(t, got.windows), &got.result.Report.Totals, got.result.Measured
		completed := measured.Outcome == metrics.Completed
		for _, row := range []struct {
			what       string
			got, want  int
			everywhere bool
		}{
			{"tasks done", all.Tasks.Done, want.AgentsDone, true},
			{"tasks failed", all.Tasks.Failed, want.AgentsFailed, false},
			{"steps", all.Steps, want.Steps, true},
			{"calls", all.Calls.Begun, measured.Amplification.Calls, true},
			{"calls that ended well", all.Calls.OK, want.CallsCompleted, true},
			{"calls that failed", all.Calls.Failed, want.CallsFailed, false},
			{"attempts", all.Attempts.Begun, want.Attempts, true},
			{"attempts that ended well", all.Attempts.OK, want.AttemptsOK, true},
			{"timeouts", all.Attempts.Timeout, want.AttemptsTimeout, true},
			{"statuses", all.Attempts.Status, want.AttemptsStatus, true},
			{"tokens", all.Tokens.Received, want.TokensReceived, false},
			{"wasted tokens", all.Tokens.Wasted, want.TokensWasted, false},
			{"tool calls", all.Tools, want.ToolCalls, true},
			{"stalls", all.Stalls.Begun, got.result.Report.Stalls, true},
			{"calls, over the whole run", got.last.Calls.OK, want.CallsCompleted, true},
			{"calls in buckets", int(got.last.Call.N), want.CallsCompleted, true},
		} {
			if row.got != row.want && (completed || row.everywhere) {
				t.Errorf("%s: %d %s, want %d", name, row.got, row.what, row.want)
			}
		}
		stalled += all.Stalls.Begun
		if completed {
			agreeTimes(t, name, &all, measured)
		}
	}
	if stalled == 0 {
		t.Error("no scenario has stalled: nothing was compared")
	}
}

func agreeTimes(t *testing.T, name string, all *series.Window, r *metrics.Run) {
	t.Helper()
	call, task, n := all.Time(series.TimeCall), all.Time(series.TimeTask), float64(all.Calls.Begun)
	for _, row := range []struct {
		what      string
		got, want float64
		tolerance float64 // share
	}{
		{"median of calls", call.P50S, r.Calls.P50S, 0.011},
		{"p95 of calls", call.P95S, r.Calls.P95S, 0.011},
		{"p99 of calls", call.P99S, r.Calls.P99S, 0.011},
		{"longest call", call.MaxS, r.Calls.MaxS, 1e-6},
		{"mean of calls", call.MeanS, r.Calls.MeanS, 1e-6},
		{"p95 of tasks", task.P95S, r.Tasks.P95S, 0.011},
		{"mean of tasks", task.MeanS, r.Tasks.MeanS, 1e-6},
		{"seconds in stage slot", all.StageS.Slot / n, r.Split.SlotS, 1e-6},
		{"seconds in stage first_token", all.StageS.FirstToken / n, r.Split.FirstTokenS, 1e-6},
		{"seconds in stage stream", all.StageS.Stream / n, r.Split.StreamS, 1e-6},
		{"seconds in stage backoff", all.StageS.Backoff / n, r.Split.BackoffS, 1e-6},
	} {
		if math.Abs(row.got-row.want) > row.tolerance*row.want+1e-9 {
			t.Errorf("%s: %s: got %v, want %v", name, row.what, row.got, row.want)
		}
	}
	if call.N != r.Calls.N || call.Censored != r.Calls.Censored {
		t.Errorf("%s: %d calls, %d censored, want %d and %d", name, call.N, call.Censored, r.Calls.N, r.Calls.Censored)
	}
}

// TestSameBytes: equal runs have equal windows, which are not changed by being written and read, and the meter
// changes nothing of the run.
func TestSameBytes(t *testing.T) {
	a, b := meter(t, "starvation", repro.Options{}), meter(t, "starvation", repro.Options{})
	text, err := json.Marshal(a.windows)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := json.Marshal(b.windows)
	if !bytes.Equal(text, again) {
		t.Errorf("two runs\n%s\n%s", text, again)
	}
	var read []series.Window
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if back, _ := json.Marshal(read); !bytes.Equal(text, back) {
		t.Errorf("read and written again\n%s\n%s", text, back)
	}
	one, other := whole(t, a.windows), whole(t, read)
	if x, y := mustJSON(t, one), mustJSON(t, other); !bytes.Equal(x, y) {
		t.Errorf("merged\n%s\nmerged after reading\n%s", x, y)
	}
	t.Logf("%d windows, %d bytes each; merged: %s", len(a.windows), len(text)/len(a.windows), mustJSON(t, one))
}

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
