package series

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Values answers what thresholds ask of a run: it has the methods of threshold.Values, where their arguments are described.
// Make one with [NewValues].
type Values struct {
	windows []Window
	process []Process
	all     Window // the counts of all windows
	lengthS float64
	times   [timeCount]histogram // of all windows, as they are asked for
	loaded  [timeCount]error
}

// errNotLoaded stands for a distribution that nobody has asked for.
var errNotLoaded = errors.New("not loaded")

// NewValues returns the values of a run after its warm-up: windows and readings of the warm-up are not to be given. The
// error says that they are not in order of time. They must not change as long as Values are in use.
func NewValues(windows []Window, process []Process) (*Values, error) {
	v := &Values{windows: windows, process: process}
	for i := range windows {
		w := &windows[i]
		if w.ToS < w.FromS || i > 0 && w.FromS < windows[i-1].FromS {
			return nil, errors.New("series: NewValues: found windows that are not in order of time, want them as they were closed")
		}
		v.lengthS += w.ToS - w.FromS
		if i == 0 {
			v.all = *w
			v.all.Times, v.all.Gauges = nil, nil
			continue
		}
		all := mergeCounts(&v.all, w)
		length := v.lengthS - (w.ToS - w.FromS)
		all.Agents = mergeLevels(v.all.Agents, w.Agents, length, w.ToS-w.FromS)
		all.Flight = mergeLevels(v.all.Flight, w.Flight, length, w.ToS-w.FromS)
		all.Slots = mergeSlots(v.all.Slots, w.Slots, length, w.ToS-w.FromS)
		v.all = all
	}
	if !slices.IsSortedFunc(process, func(a, b Process) int {
		switch {
		case a.AtS < b.AtS:
			return -1
		case a.AtS > b.AtS:
			return 1
		}
		return 0
	}) {
		return nil, errors.New("series: NewValues: found readings that are not in order of time")
	}
	for i := range v.loaded {
		v.loaded[i] = errNotLoaded
	}
	return v, nil
}

// The words for why there is no value.
const (
	noWindows  = "there is no window after the warm-up"
	noReadings = "there is no reading of the process after the warm-up"
	notKnown   = "it is not known on this machine, or to this run"
)

// Value returns an aggregate of a metric over all windows, or its trend. missing says why there is none; empty: there is one.
func (v *Values) Value(trend, agg, metric, unit string) (value float64, missing string) {
	if trend != "" {
		return v.trend(trend, agg, metric, unit)
	}
	if r := resourceOf(metric); r != nil {
		return aggregate(agg, values(r.points(v.process)), len(v.process))
	}
	if len(v.windows) == 0 {
		return 0, noWindows
	}
	if i := slices.Index(timeNames[:], Time(metric)); i >= 0 {
		if v.loaded[i] == errNotLoaded {
			v.load(i)
		}
		if v.loaded[i] != nil {
			return 0, v.loaded[i].Error()
		}
		return v.times[i].aggregate(agg, v.lengthS)
	}
	return v.all.number(agg, metric, v.lengthS)
}

func (v *Values) load(i int) {
	v.times[i], v.loaded[i] = newHistogram(), nil
	for w := range v.windows {
		if d := v.windows[w].Time(timeNames[i]); d != nil {
			if err := v.times[i].load(d); err != nil {
				v.loaded[i] = err
				return
			}
		}
	}
}

// WindowCount returns how many windows there are.
func (v *Values) WindowCount() int { return len(v.windows) }

// WindowValue is Value of window i alone, counted from 0, without a trend.
func (v *Values) WindowValue(i int, agg, metric, unit string) (value float64, missing string) {
	w := &v.windows[i]
	if r := resourceOf(metric); r != nil {
		var inside []Process
		for _, p := range v.process {
			if p.AtS > w.FromS && p.AtS <= w.ToS {
				inside = append(inside, p)
			}
		}
		return aggregate(agg, values(r.points(inside)), len(inside))
	}
	length := w.ToS - w.FromS
	if !slices.Contains(timeNames[:], Time(metric)) {
		return w.number(agg, metric, length)
	}
	d := w.Time(Time(metric))
	if d == nil || d.N == 0 {
		d = &Distribution{}
	}
	switch agg { // what needs no bins
	case "p50":
		return d.P50S, d.missing()
	case "p95":
		return d.P95S, d.missing()
	case "p99":
		return d.P99S, d.missing()
	}
	if !strings.HasPrefix(agg, "p") {
		h := histogram{n: d.N, sum: d.MeanS * float64(d.N) * 1e9, min: durationOf(d.MinS), max: durationOf(d.MaxS)}
		return h.aggregate(agg, length)
	}
	h := newHistogram()
	if err := h.load(d); err != nil {
		return 0, err.Error()
	}
	return h.aggregate(agg, length)
}

const noTimes = "none has ended"

func (d *Distribution) missing() string {
	if d.N == 0 {
		return noTimes
	}
	return ""
}

func (h *histogram) aggregate(agg string, lengthS float64) (float64, string) {
	switch agg {
	case "count":
		return float64(h.n), ""
	case "rate":
		return per(float64(h.n), lengthS, "no time has passed")
	}
	if h.n == 0 {
		return 0, noTimes
	}
	switch agg {
	case "avg":
		return h.sum / float64(h.n) / 1e9, ""
	case "min":
		return h.min.Seconds(), ""
	case "max":
		return h.max.Seconds(), ""
	}
	if q, ok := quantileOf(agg); ok {
		return h.quantile(q), ""
	}
	return 0, "there is no " + agg + " of times"
}

// quantileOf returns the share that "p99.9" and the like stand for.
func quantileOf(agg string) (float64, bool) {
	number, ok := strings.CutPrefix(agg, "p")
	if !ok {
		return 0, false
	}
	q, err := strconv.ParseFloat(number, 64)
	return q / 100, err == nil && q >= 0 && q <= 100
}

// aggregate returns that of readings, of which taken were made in all.
func aggregate(agg string, xs []float64, taken int) (float64, string) {
	switch {
	case taken == 0:
		return 0, noReadings
	case len(xs) == 0:
		return 0, notKnown
	case agg == "last":
		return xs[len(xs)-1], ""
	}
	slices.Sort(xs)
	switch agg {
	case "max":
		return xs[len(xs)-1], ""
	case "min":
		return xs[0], ""
	case "avg":
		sum := 0.0
		for _, x := range xs {
			sum += x
		}
		return sum / float64(len(xs)), ""
	}
	if q, ok := quantileOf(agg); ok {
		rank := max(int(math.Ceil(q*float64(len(xs)))), 1)
		return xs[rank-1], ""
	}
	return 0, "there is no " + agg + " of readings"
}

func resourceOf(metric string) *resource {
	for i := range resources {
		if resources[i].name == metric {
			return &resources[i]
		}
	}
	return nil
}

// per is a ratio, or why there is none.
func per(a, b float64, why string) (float64, string) {
	if b <= 0 {
		return 0, why
	}
	return a / b, ""
}
