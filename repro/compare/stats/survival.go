package stats

import (
	"cmp"
	"math"
	"slices"
)

// Time is how long something took, or, if Censored, how long it had not happened when nobody looked
// any more.
type Time struct {
	Seconds  float64
	Censored bool
}

// Step is where a survival curve falls.
type Step struct {
	Seconds  float64 `json:"s"`
	Survival float64 `json:"survival"` // share for which it has not happened after Seconds
	AtRisk   int     `json:"at_risk"`  // for how many it had not happened just before, and somebody still looked
}

// Survival is a Kaplan-Meier curve: the share for which something has not happened yet. The zero
// value is that of no times, and stays at 1.
type Survival struct {
	Steps []Step `json:"steps"`
	N     int    `json:"n"`
	Never int    `json:"never"` // censored times
}

// KaplanMeier estimates the curve. A time that is censored where another one ends counts as longer.
func KaplanMeier(times []Time) Survival {
	sorted := slices.Clone(times)
	slices.SortFunc(sorted, func(a, b Time) int {
		switch {
		case a.Seconds != b.Seconds:
			return cmp.Compare(a.Seconds, b.Seconds)
		case a.Censored == b.Censored:
			return 0
		case b.Censored:
			return -1
		}
		return 1
	})
	curve := Survival{N: len(sorted)}
	share := 1.0
	for i := 0; i < len(sorted); {
		risk, events, j := len(sorted)-i, 0, i
		for j < len(sorted) && sorted[j].Seconds == sorted[i].Seconds {
			if sorted[j].Censored {
				curve.Never++
			} else {
				events++
			}
			j++
		}
		if events > 0 {
			share *= 1 - float64(events)/float64(risk)
			curve.Steps = append(curve.Steps, Step{sorted[i].Seconds, share, risk})
		}
		i = j
	}
	return curve
}

// Median is the time by which it has happened for half, and false if it never comes to that.
func (c Survival) Median() (float64, bool) {
	for _, step := range c.Steps {
		if step.Survival <= 0.5 {
			return step.Seconds, true
		}
	}
	return 0, false
}

// At is the share for which it has not happened by an instant.
func (c Survival) At(seconds float64) float64 {
	share := 1.0
	for _, step := range c.Steps {
		if step.Seconds > seconds {
			break
		}
		share = step.Survival
	}
	return share
}

// RestrictedMean is the mean time up to a horizon, which stands for all that is longer: the area under
// the curve. It needs no guess about what was never seen, and is the same for all only with the same
// horizon.
func (c Survival) RestrictedMean(horizonS float64) float64 {
	area, share, from := 0.0, 1.0, 0.0
	for _, step := range c.Steps {
		if step.Seconds >= horizonS {
			break
		}
		area += share * (step.Seconds - from)
		share, from = step.Survival, step.Seconds
	}
	return area + share*math.Max(0, horizonS-from)
}
