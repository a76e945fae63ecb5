package series

import (
	"fmt"
	"math"
	"strings"
)

// How much there must be for a trend in a threshold.
const (
	trendPointsMin  = 8
	trendSecondsMin = 180 // of a growth: what happens within less says nothing of an hour
	trendPointsMax  = 200 // more are made into so many
	trendPMax       = 0.01
)

// points returns a metric over the windows that have a value of it, by the middle of each.
func (v *Values) points(agg, metric, unit string) []point {
	if r := resourceOf(metric); r != nil {
		return r.points(v.process)
	}
	var out []point
	for i := range v.windows {
		if x, missing := v.WindowValue(i, agg, metric, unit); missing == "" {
			w := &v.windows[i]
			out = append(out, point{(w.FromS + w.ToS) / 2 / 3600, x})
		}
	}
	return out
}

func (v *Values) trend(kind, agg, metric, unit string) (float64, string) {
	points := v.points(agg, metric, strings.TrimSuffix(unit, "/h"))
	what := "windows that have a value"
	if resourceOf(metric) != nil {
		what = "readings"
		if len(points) == 0 && len(v.process) > 0 {
			return 0, notKnown
		}
	}
	if len(points) < trendPointsMin {
		return 0, fmt.Sprintf("too short: %d %s after the warm-up, want at least %d", len(points), what, trendPointsMin)
	}
	if kind == "drift" {
		third := len(points) / 3
		first, last := median(values(points[:third])), median(values(points[len(points)-third:]))
		return relative(last-first, first)
	}
	spanS := (points[len(points)-1].t - points[0].t) * 3600
	if spanS < trendSecondsMin {
		return 0, fmt.Sprintf("too short: %s of %s after the warm-up, want at least %s to tell of an hour", showSeconds(spanS), what, showSeconds(trendSecondsMin))
	}
	line := trendOf(thin(points, trendPointsMax))
	if line.p > trendPMax || line.low <= 0 && line.high >= 0 {
		return 0, "" // a slope that noise explains is none
	}
	if unit == "share/h" {
		return relative(line.slope, line.start)
	}
	return line.slope, ""
}

// relative returns a change as a share of where it began.
func relative(change, start float64) (float64, string) {
	switch {
	case change == 0:
		return 0, ""
	case start == 0:
		return 0, "it began at 0, of which nothing is a share"
	}
	return change / math.Abs(start), ""
}
