package report

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
)

const (
	minute = 60.0
	hour   = 3600.0
	day    = 86400.0
)

// gutter is the part of an axis kept for values that its scale has no place for.
const gutter = 0.08

// scale is one axis: where a value lies and which values are labelled. It stands any number: what is beyond an end lies at
// that end, so that no drawing leaves its picture.
type scale struct {
	unit      string
	log       bool
	low, high float64 // ends of the scale proper, low < high
	zero      bool    // a gutter at the low end holds zero (log axes)
	never     bool    // a gutter at the high end holds infinity
	ticks     int     // about so many labels
}

var (
	_ plot.Normalizer = scale{}
	_ plot.Ticker     = scale{}
)

// Normalize gives the place of x as a share of the axis. gonum's own ends are not looked at: low and high are the same.
func (s scale) Normalize(_, _, x float64) float64 {
	from, to := 0.0, 1.0
	if s.zero {
		from = gutter
	}
	if s.never {
		to = 1 - gutter
	}
	switch {
	case math.IsNaN(x):
		return from
	case math.IsInf(x, 1) && s.never:
		return 1 - gutter/3
	case s.log && x <= 0 && s.zero:
		return gutter / 3
	}
	share := (x - s.low) / (s.high - s.low)
	if s.log {
		share = (math.Log(math.Max(x, s.low)) - math.Log(s.low)) / (math.Log(s.high) - math.Log(s.low))
	}
	return from + (to-from)*math.Min(1, math.Max(0, share))
}

// Ticks labels the scale: round numbers, round times for seconds, decades on a log scale.
func (s scale) Ticks(_, _ float64) []plot.Tick {
	var at []float64
	switch {
	case s.log:
		at = s.decades()
	default:
		step := s.step()
		for i := math.Ceil(s.low/step - 1e-9); i*step <= s.high+step*1e-9 && len(at) < 40; i++ {
			at = append(at, i*step+0) // + 0: no negative zero
		}
	}
	var ticks []plot.Tick
	if s.zero {
		ticks = append(ticks, plot.Tick{Value: 0, Label: "0"})
	}
	for _, v := range at {
		// Where labels are few they are wide for their axis: keep them off the gutter's.
		if s.zero && s.ticks <= 4 && s.Normalize(0, 0, v) < gutter*1.8 {
			continue
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: s.label(v)})
	}
	if s.never {
		ticks = append(ticks, plot.Tick{Value: math.Inf(1), Label: "never"})
	}
	return ticks
}

// label writes one tick.
func (s scale) label(v float64) string {
	if s.log && s.unit == "s" {
		return roundTime(v)
	}
	if s.log {
		return number(v, map[bool]string{true: "%"}[s.unit == "%"])
	}
	switch s.unit {
	case "s":
		if math.Max(math.Abs(s.low), math.Abs(s.high)) < 2*minute {
			return s.places(v, 1) + " s"
		}
		if v == 0 {
			return "0"
		}
		// One unit for the whole axis: 90 min beside 60 min, not beside 1 h.
		if math.Max(math.Abs(s.low), math.Abs(s.high)) >= 3*hour {
			return s.places(v, hour) + " h"
		}
		return s.places(v, minute) + " min"
	case "%":
		return s.places(v, 0.01) + " %"
	}
	return s.places(v, 1)
}

// roundTime writes a time of decades: 1 min rather than 60 s.
func roundTime(v float64) string {
	switch {
	case v >= day:
		return digits(v/day) + " d"
	case v >= hour:
		return digits(v/hour) + " h"
	case v >= minute:
		return digits(v/minute) + " min"
	}
	return number(v, "s")
}

// places writes v in units of so much, with as many decimals as tell one tick from the next.
func (s scale) places(v, unit float64) string {
	v, step := v/unit, s.step()/unit
	if v == 0 || math.Abs(v) >= 1e7 || step < 1e-5 || math.Abs(v) >= 100 && step >= 1 {
		return digits(v)
	}
	decimals := 0
	for grain := step; decimals < 6 && math.Abs(grain-math.Round(grain)) > 1e-6; grain *= 10 {
		decimals++
	}
	return minus(strconv.FormatFloat(v, 'f', decimals, 64))
}

// step is the distance of ticks on a linear scale.
func (s scale) step() float64 {
	rough := (s.high - s.low) / float64(max(2, s.ticks))
	if s.unit == "s" && rough > 10 {
		for _, step := range []float64{15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day} {
			if step >= rough*0.8 {
				return step
			}
		}
	}
	return roundUp(rough)
}

// roundUp is the next 1, 2 or 5 times a power of ten, or the one just below.
func roundUp(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= v*0.8 {
			return f * power
		}
	}
	return 10 * power
}

// decades labels powers of ten; with few of them also 2 and 5, with many only every other. Seconds get the round times.
func (s scale) decades() []float64 {
	if s.unit == "s" {
		return s.thin([]float64{1e-3, 1e-2, .1, 1, 10, minute, 10 * minute, hour, 10 * hour, 4 * day, 40 * day, 400 * day}, []float64{2e-3, 5e-3, .02, .05, .2, .5, 2, 5, 20, 30, 2 * minute, 5 * minute, 20 * minute, 30 * minute, 2 * hour, 5 * hour, day, 2 * day})
	}
	first, last := math.Floor(math.Log10(s.low)), math.Ceil(math.Log10(s.high))
	var main, fine []float64
	for e := first; e <= last; e++ {
		main = append(main, math.Pow(10, e))
		fine = append(fine, 2*math.Pow(10, e), 5*math.Pow(10, e))
	}
	return s.thin(main, fine)
}

// thin keeps the ticks within the scale: of main alone if they suffice, with fine between them if not, and every second or
// third of main if they are too many.
func (s scale) thin(main, fine []float64) []float64 {
	within := func(list []float64) (in []float64) {
		for _, v := range list {
			if v >= s.low*0.999 && v <= s.high*1.001 {
				in = append(in, v)
			}
		}
		return in
	}
	m := within(main)
	if len(m) < 3 {
		m = within(append(append([]float64{}, main...), fine...))
		slices.Sort(m)
	}
	if every := (len(m) + max(2, s.ticks) - 1) / max(2, s.ticks); every > 1 && len(within(main)) >= 3 {
		var kept []float64
		for i := 0; i < len(m); i += every {
			kept = append(kept, m[i])
		}
		return kept
	}
	return m
}

// extent gathers the numbers of one axis.
type extent struct {
	low, high   float64 // of what was finite (log: and positive)
	log         bool
	seen        bool
	zero, never bool
	room        bool // leave some above the highest
	odd         int  // NaN, -Inf; on a log axis negatives
}

// add takes one number in.
func (e *extent) add(v float64) {
	// Steps between numbers as small as these are no numbers any more.
	const nothing = 1e-250
	if math.Abs(v) < nothing {
		v = 0
	}
	switch {
	case math.IsInf(v, 1):
		e.never = true
	case !finite(v), e.log && v < 0:
		e.odd++
	case e.log && v == 0:
		e.zero = true
	case !e.seen:
		e.low, e.high, e.seen = v, v, true
	default:
		e.low, e.high = math.Min(e.low, v), math.Max(e.high, v)
	}
}

// addBound widens by a number that need not be there to be seen: the end of an interval, a reference. What does not fit is
// ignored.
func (e *extent) addBound(v float64) {
	if finite(v) && (!e.log || v > 0) {
		e.add(v)
	}
}

// scale makes an axis of what was gathered. Linear axes of amounts begin at zero; a single value gets room on both sides.
func (e extent) scale(unit string, ticks int) scale {
	s := scale{unit: unit, log: e.log, zero: e.log && e.zero, never: e.never, ticks: ticks, low: e.low, high: e.high}
	// Differences of numbers beyond these overflow; nothing measured is so large.
	const huge = 1e300
	s.low, s.high = max(-huge, min(s.low, huge)), max(-huge, min(s.high, huge))
	switch {
	case !e.seen && e.log:
		s.low, s.high = 0.01, 1
	case !e.seen:
		s.low, s.high = 0, 1
	case e.log:
		s.low = math.Max(s.low, 1e-300)
		s.high = math.Max(s.high, s.low)
		// A little room, and at least half a decade.
		room := math.Max(1.08, math.Sqrt(3/math.Max(1, s.high/s.low)))
		s.low, s.high = s.low/room, s.high*room
	case s.low >= 0 && s.low <= s.high*0.6:
		s.low = 0
	}
	if e.room && !e.log && s.high < 1e299 {
		s.high += (s.high - s.low) * 0.05
	}
	if s.low == 0 && s.high == 0 {
		s.high = 1
	}
	if s.high <= s.low || s.high-s.low < 1e-12*math.Max(math.Abs(s.low), math.Abs(s.high)) {
		room := math.Max(1e-300, math.Abs(s.low)*0.1)
		s.low, s.high = s.low-room, s.high+room
	}
	return s
}
