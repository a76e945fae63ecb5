package report

import (
	"math"

	"example.com/wedge/pacer"
	"example.com/wedge/repro/series"
)

// views lays charts out; those without values are left out.
func views(charts ...*chart) (out []chartView) {
	for _, c := range charts {
		if c != nil {
			out = append(out, c.view())
		}
	}
	return out
}

// over makes the values of a series of windows.
func over(windows []series.Window, of func(*series.Window) float64) []float64 {
	out := make([]float64, len(windows))
	for i := range windows {
		out[i] = of(&windows[i])
	}
	return out
}

// perHour is a count of a window as a rate.
func perHour(w *series.Window, n int) float64 { return float64(n) / (w.ToS - w.FromS) * 3600 }

// ratio is a part of a whole; unknown if there is none.
func ratio(part, whole int) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return float64(part) / float64(whole)
}

// quantile is one of a distribution of a window; unknown if nothing of it ended there.
func quantile(name series.Time, of func(*series.Distribution) float64) func(*series.Window) float64 {
	return func(w *series.Window) float64 {
		if d := w.Time(name); d != nil && d.N > 0 {
			return of(d)
		}
		return math.NaN()
	}
}

func p50(d *series.Distribution) float64 { return d.P50S }
func p95(d *series.Distribution) float64 { return d.P95S }
func p99(d *series.Distribution) float64 { return d.P99S }

// Looks of lines where there is more than one.
const (
	lookOne   = "gauge"
	lookTwo   = "line2"
	lookThree = "line3"
)

// windowSeries are the series of a soak.
func windowSeries(windows []series.Window, bands []band) []*chart {
	if len(windows) == 0 {
		return nil
	}
	at := over(windows, func(w *series.Window) float64 { return w.FromS })
	end := windows[len(windows)-1].ToS
	plot := func(title, unit string, lines ...line) *chart {
		c := &chart{Title: title, Unit: unit, EndS: end, AtS: at, Bands: bands, Kind: "small"}
		some := false
		for i, l := range lines {
			s := curve{Name: l.name, Class: []string{lookOne, lookTwo, lookThree}[i%3], V: over(windows, l.of)}
			low, high := extremes(s.V)
			if i > 0 && low == 0 && high == 0 {
				continue // such as calls that failed where none did
			}
			some = some || low <= high && (low != 0 || high != 0)
			c.Series = append(c.Series, s)
		}
		if !some {
			return nil
		}
		c.Keys = len(c.Series) > 1
		return c
	}
	shared := func(c *chart) *chart {
		if c != nil {
			c.Share = true
		}
		return c
	}
	slots := plot("Slots in use", "", line{"mean", slotsOf(func(s *series.Slots) float64 { return s.Mean })}, line{"most", slotsOf(func(s *series.Slots) float64 { return float64(s.Max) })})
	if slots != nil {
		if limit := windows[len(windows)-1].Slots; limit != nil && limit.Limit > 0 {
			slots.Lines = []level{{"limit", float64(limit.Limit)}}
		}
		slots.Whole = true
	}
	return []*chart{
		plot("Time of a call", "s", line{"p50", quantile(series.TimeCall, p50)}, line{"p95", quantile(series.TimeCall, p95)}, line{"p99", quantile(series.TimeCall, p99)}),
		plot("Time to the first token", "s", line{"p50", quantile(series.TimeTTFT, p50)}, line{"p95", quantile(series.TimeTTFT, p95)}),
		plot("Between tokens", "s", line{"p50", quantile(series.TimeInterToken, p50)}, line{"p95", quantile(series.TimeInterToken, p95)}),
		plot("Wait for a slot", "s", line{"p50", quantile(series.TimeSlotWait, p50)}, line{"p95", quantile(series.TimeSlotWait, p95)}),
		plot("Calls an hour", "", line{"answered", func(w *series.Window) float64 { return perHour(w, w.Calls.OK) }}, line{"failed", func(w *series.Window) float64 { return perHour(w, w.Calls.Failed) }}),
		plot("Tasks an hour", "", line{"done", func(w *series.Window) float64 { return perHour(w, w.Tasks.Done) }}, line{"failed", func(w *series.Window) float64 { return perHour(w, w.Tasks.Failed) }}),
		plot("Tokens", "/s", line{"received", func(w *series.Window) float64 { return float64(w.Tokens.Received) / (w.ToS - w.FromS) }}, line{"wasted", func(w *series.Window) float64 { return float64(w.Tokens.Wasted) / (w.ToS - w.FromS) }}),
		shared(plot("Goodput: share of tokens not wasted", "", line{"goodput", func(w *series.Window) float64 { return 1 - ratio(w.Tokens.Wasted, w.Tokens.Received) }})),
		shared(plot("Attempts that ended badly", "", line{"share", func(w *series.Window) float64 {
			a := &w.Attempts
			bad := a.Timeout + a.Status + a.Network + a.Lost + a.Rejected + a.Shed
			return ratio(bad, bad+a.OK)
		}})),
		shared(plot("Stalled: share of the time", "", line{"stalled", func(w *series.Window) float64 { return math.Min(1, w.Stalls.S/(w.ToS-w.FromS)) }})),
		slots,
		plot("Agents at work", "", line{"mean", func(w *series.Window) float64 { return w.Agents.Mean }}),
	}
}

// line is a line to come: a name and what it is of a window.
type line struct {
	name string
	of   func(*series.Window) float64
}

func slotsOf(of func(*series.Slots) float64) func(*series.Window) float64 {
	return func(w *series.Window) float64 {
		if w.Slots == nil {
			return math.NaN()
		}
		return of(w.Slots)
	}
}

// stageSeries is how many calls were in each stage, window by window.
func stageSeries(windows []series.Window, bands []band) *chart {
	if len(windows) == 0 {
		return nil
	}
	c := &chart{Title: "Calls by stage", Unit: "calls", EndS: windows[len(windows)-1].ToS, AtS: over(windows, func(w *series.Window) float64 { return w.FromS }), Stacked: true, Bands: bands, Kind: "broad"}
	for _, stage := range stacked {
		values := over(windows, func(w *series.Window) float64 { return w.StageS.Of(stage) / (w.ToS - w.FromS) })
		if _, high := extremes(values); high > 0 {
			c.Series = append(c.Series, curve{Name: stageWords(stage.String()), Class: "s-" + stage.String(), V: values, Area: true})
		}
	}
	return c
}

// stacked is the order of stages in a stack, from the bottom: what makes progress stands there.
var stacked = [...]pacer.Stage{pacer.StageStream, pacer.StageFirstToken, pacer.StageHeaders, pacer.StageConnect, pacer.StageBackoff, pacer.StageRate, pacer.StageSlot, pacer.StageTool, pacer.StageThink}

// processSeries is what wedge itself took.
func processSeries(process []series.Process, bands []band) (charts []*chart) {
	if len(process) < 2 {
		return nil
	}
	at := make([]float64, len(process))
	for i := range process {
		at[i] = process[i].AtS
	}
	for _, p := range []struct {
		title, unit string
		of          func(*series.Process) int64
	}{
		{"Resident memory", "B", func(p *series.Process) int64 { return p.RSSBytes }},
		{"Heap in use after collection", "B", func(p *series.Process) int64 { return p.HeapLiveBytes }},
		{"Goroutines", "", func(p *series.Process) int64 { return p.Goroutines }},
		{"Open files", "", func(p *series.Process) int64 { return p.OpenFiles }},
		{"Open bodies of responses", "", func(p *series.Process) int64 { return p.OpenBodies }},
	} {
		values := make([]float64, len(process))
		for i := range process {
			values[i] = float64(p.of(&process[i]))
			if values[i] < 0 {
				values[i] = math.NaN() // this machine does not tell
			}
		}
		if low, high := extremes(values); low > high {
			continue
		}
		charts = append(charts, &chart{Title: p.title, Unit: p.unit, EndS: at[len(at)-1], AtS: at, Bands: bands, Kind: "small", Whole: p.unit == "", Series: []curve{{Name: p.title, Class: lookOne, V: values}}})
	}
	return charts
}
