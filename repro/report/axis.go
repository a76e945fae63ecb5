package report

import (
	"math"
	"slices"
)

// tick is a place on an axis, as a share of its length, with what stands there.
type tick struct {
	At   float64 // in percent from the left, or from the bottom
	Text string
	Odd  bool // left out where there is little room
}

// timeSteps are the distances of ticks that people count in, in seconds.
var timeSteps = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400}

// timeTicks are the ticks of an axis of time from 0 to end, in seconds: not more than about eight.
func timeTicks(end float64) (ticks []tick) {
	if !(end > 0) || !finite(end) {
		return nil
	}
	const most = 8
	at, _ := slices.BinarySearch(timeSteps, end/most)
	step := end / most
	if at < len(timeSteps) {
		step = timeSteps[at]
	}
	for i := 0; float64(i)*step <= end*1.0001; i++ {
		ticks = append(ticks, tick{100 * float64(i) * step / end, span(float64(i) * step), i%2 == 1})
	}
	return ticks
}

// ceiling is a round number not below v, whose half is round too. 1 for what is not above 0.
func ceiling(v float64) float64 {
	if !(v > 0) || !finite(v) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8} {
		if v <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// timeCeilings are lengths of time from a minute on, in seconds, whose halves people count in too.
var timeCeilings = []float64{60, 120, 240, 360, 600, 1200, 1800, 2400, 3600, 2 * 3600, 4 * 3600, 6 * 3600, 8 * 3600, 12 * 3600, 86400}

// timeCeiling is a length of time not below v seconds, which is as round as its half.
func timeCeiling(v float64) float64 {
	if v < timeCeilings[0] {
		return min(ceiling(v), timeCeilings[0])
	}
	if at, _ := slices.BinarySearch(timeCeilings, v*(1-1e-9)); at < len(timeCeilings) {
		return timeCeilings[at]
	}
	return 86400 * countCeiling(v/86400)
}

// bytesCeiling is a round number of bytes not below v, whose half is round too: 1 KiB at least.
func bytesCeiling(v float64) float64 {
	v = math.Max(v, 1024)
	power := math.Pow(2, math.Floor(math.Log2(v)))
	for _, m := range []float64{1, 1.25, 1.5} {
		if v <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 2 * power
}

// countCeiling is a round number not below v, for what comes in whole ones: its half is whole too.
func countCeiling(v float64) float64 {
	for _, small := range []float64{2, 4, 6, 8, 10, 12, 16, 20} {
		if v <= small {
			return small
		}
	}
	return ceiling(v)
}
