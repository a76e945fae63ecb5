package series_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"example.com/wedge/repro"
	"example.com/wedge/repro/series"
	"example.com/wedge/repro/threshold"
)

var _ threshold.Values = (*series.Values)(nil)

func values(t testing.TB, w []series.Window, p []series.Process) *series.Values {
	t.Helper()
	v, err := series.NewValues(w, p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// process are readings of a process that grows by 10 % an hour, a minute apart.
func process(n int) []series.Process {
	out := make([]series.Process, n)
	for i := range out {
		h := float64(i) / 60
		out[i] = series.Process{AtS: 60 * float64(i+1), RSSBytes: int64(100 * mib * (1 + h/10)), HeapLiveBytes: 50 * mib, Goroutines: 100 + int64(i%7), OpenFiles: 20, OpenBodies: series.Unknown}
	}
	return out
}

// TestEveryName: what thresholds may ask for is there, over the run, in each window, and as a trend, but for what was not measured.
func TestEveryName(t *testing.T) {
	run := meter(t, "starvation", repro.Options{})
	v := values(t, run.windows, process(100))
	ask := func(text string) {
		t.Helper()
		e, err := threshold.Parse(text)
		if err != nil {
			t.Error(err)
			return
		}
		out := e.Eval(v)
		switch {
		case strings.Contains(text, "open_bodies"):
			if !strings.Contains(out.Missing, "not known") {
				t.Errorf("%s: got %+v, want that it is not known", text, out)
			}
		case strings.Contains(out.Missing, "there is no"), strings.Contains(out.Missing, "none has ended"), math.IsNaN(out.Value):
			t.Errorf("%s: got %+v", text, out)
		case out.Missing != "" && !strings.Contains(out.Missing, "it began at 0"):
			t.Errorf("%s: missing: %s", text, out.Missing)
		}
	}
	limits := map[string]string{"s": "1s", "bytes": "1MiB", "share": "50%", "1/s": "1/min", "": "1"}
	for _, n := range threshold.Names() {
		if n.Kind != threshold.KindMetric {
			continue
		}
		if n.Aggs == "" || n.Alone != "" {
			ask(n.Name + " < " + limits[n.Unit])
			ask("each(" + n.Name + ") < " + limits[n.Unit])
		}
		for _, agg := range strings.Fields(n.Aggs) {
			limit := limits[n.Unit]
			switch agg {
			case "pNN":
				agg = "p99.9"
			case "count", "failed":
				limit = "1"
			case "rate":
				limit = "1/h"
			}
			ask(fmt.Sprintf("%s(%s) < %s", agg, n.Name, limit))
			ask(fmt.Sprintf("each(%s(%s)) < %s", agg, n.Name, limit))
		}
		ask(n.Name + "_growth < 5%/h")
		ask(n.Name + "_drift < 5%")
	}
}

// TestThresholds: values that can be worked out by hand.
func TestThresholds(t *testing.T) {
	windows := make([]series.Window, 12)
	for i := range windows {
		w := &windows[i]
		*w = series.Window{
			Index: i + 4, FromS: 600 * float64(i+3), ToS: 600 * float64(i+4),
			Tasks: series.Tasks{Begun: 7, Done: 5, Failed: 1}, Calls: series.Calls{Begun: 20, OK: 18, Failed: 2},
			Attempts: series.Attempts{Begun: 25, Again: 5, OK: 18, Timeout: 4, Status: 3}, Tokens: series.Tokens{Received: 1000, Wasted: 100}, Steps: 18,
			Agents: series.Level{Mean: 3, Max: 4 + i, Last: 2}, Flight: series.Level{Mean: 1, Max: 2, Last: 1},
			Times: []series.Distribution{{Name: series.TimeCall, N: 20, P50S: 100 + 10*float64(i), P95S: 200, P99S: 300}},
		}
	}
	windows[0].Stalls = series.Stalls{S: 100, OpenBefore: true}
	windows[5].Stalls = series.Stalls{Begun: 2, S: 800}
	v := values(t, windows, process(61))
	for text, want := range map[string]string{
		"stalls == 0":                 "3", // that which was open before counts
		"each(stalls) == 0":           "2",
		"stalled_share < 1%":          "12.5%",
		"each(stalled_share) < 1%":    "100%", // the time before the window began is capped
		"goodput > 1%":                "90%",
		"tasks > 0":                   "72",
		"failed(tasks) == 0":          "12",
		"rate(tasks) > 1/h":           "36/h",
		"failed(attempts) == 0":       "84",
		"error_rate < 1%":             "10%",
		"retry_rate < 1%":             "20%",
		"amplification < 2":           "1.25",
		"tokens_per_s > 1/min":        "100/min",
		"useful_tokens_per_s > 1/min": "90/min",
		"agents < 3":                  "15",
		"avg(agents) < 3":             "3",
		"last(agents) < 3":            "2",
		"call_drift < 1%":             "69.57%", // from the median of 100 … 130 to that of 180 … 210
		"growth(p50(call)) < 1%/h":    "60%/h",
		"growth(p50(call)) < 1s/h":    "60s/h",
		"growth(p95(call)) < 1s/h":    "0s/h",
		"rss_growth < 5%/h":           "10%/h",
		"rss_growth < 5MiB/h":         "10MiB/h",
		"goroutines_growth < 5/h":     "0/h",
		"rss < 1MiB":                  "110MiB",
		"min(rss) < 1MiB":             "100MiB",
		"p50(rss) < 1MiB":             "105MiB",
		"last(goroutines) < 5":        "104",
		"open_bodies < 5":             "",
		"slots_in_use < 5":            "",
		"p95(task) < 5s":              "",
		"rate(task) < 5":              "0/s",
		"each(count(call)) >= 20":     "20",
		"each(p99(call)) < 1m":        "5m",
		"each(max(goroutines)) < 101": "106",
	} {
		e, err := threshold.Parse(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if out := e.Eval(v); out.Text != want || (want == "") != (out.Missing != "") {
			t.Errorf("%s: got %+v, want %q", text, out, want)
		}
	}
}

// TestMissing says why there is no value, and never that a threshold is met.
func TestMissing(t *testing.T) {
	run := meter(t, "starvation", repro.Options{}).windows
	for _, tt := range []struct {
		text    string
		windows []series.Window
		process []series.Process
		want    string
	}{
		{"stalls == 0", nil, nil, "no window after the warm-up"},
		{"p95(call) < 1h", nil, nil, "no window after the warm-up"},
		{"each(stalls) == 0", nil, nil, "no window after the warm-up"},
		{"rss < 1GiB", run, nil, "no reading of the process"},
		{"open_bodies < 1", run, process(9), "not known"},
		{"open_bodies_growth < 1/h", run, process(9), "not known"},
		{"rss_growth < 1%/h", run, process(5), "too short: 5 readings after the warm-up, want at least 8"},
		{"goodput > 1%", run[:1], nil, "no token was received"},
		{"call_drift < 1%", run[:4], nil, "too short: 2 windows that have a value after the warm-up, want at least 8"},
		{"growth(stalled_share) < 1%/h", windowsOf(3), nil, "too short"},
	} {
		e, err := threshold.Parse(tt.text)
		if err != nil {
			t.Error(err)
			continue
		}
		out := e.Eval(values(t, tt.windows, tt.process))
		if out.OK || !strings.Contains(out.Missing, tt.want) {
			t.Errorf("%s: got %+v, want it missing: %s", tt.text, out, tt.want)
		}
	}
	short := process(10)
	for i := range short {
		short[i].AtS /= 60
	}
	e, _ := threshold.Parse("rss_growth < 5%/h")
	if out := e.Eval(values(t, nil, short)); !strings.Contains(out.Missing, "too short: 9 s of readings") {
		t.Errorf("within seconds: got %+v", out)
	}
	if _, err := series.NewValues(nil, []series.Process{{AtS: 2}, {AtS: 1}}); err == nil {
		t.Error("readings that go back in time: no error")
	}
	if _, err := series.NewValues([]series.Window{{FromS: 2, ToS: 3}, {FromS: 1, ToS: 2}}, nil); err == nil {
		t.Error("windows that go back in time: no error")
	}
	bad := []series.Window{{ToS: 1, Times: []series.Distribution{{Name: series.TimeCall, N: 3, Hist: "!"}}}}
	e, _ = threshold.Parse("p95(call) < 5s")
	if out := e.Eval(values(t, bad, nil)); !strings.Contains(out.Missing, "hist of call") {
		t.Errorf("a histogram that cannot be read: got %+v", out)
	}
}

func windowsOf(n int) []series.Window {
	out := make([]series.Window, n)
	for i := range out {
		out[i] = series.Window{FromS: float64(i), ToS: float64(i + 1)}
	}
	return out
}
