package series

import (
	"math"
	"math/rand/v2"
	"testing"
)

func pointsOf(xs ...float64) []point {
	out := make([]point, len(xs))
	for i, x := range xs {
		out[i] = point{float64(i), x}
	}
	return out
}

// TestKendall: figures that can be counted by hand.
func TestKendall(t *testing.T) {
	for _, tt := range []struct {
		xs          []float64
		s, variance float64
	}{
		{[]float64{1, 2, 3, 4, 5}, 10, 5 * 4 * 15. / 18},
		{[]float64{5, 4, 3, 2, 1}, -10, 5 * 4 * 15. / 18},
		{[]float64{1, 1, 1, 1}, 0, 0},
		{[]float64{1, 3, 2, 4}, 4, 4 * 3 * 13. / 18},
		{[]float64{1, 2, 2, 3}, 5, (4*3*13. - 2*1*9) / 18},
	} {
		if s, variance := kendall(pointsOf(tt.xs...)); s != tt.s || math.Abs(variance-tt.variance) > 1e-12 {
			t.Errorf("%v: got %v, %v, want %v, %v", tt.xs, s, variance, tt.s, tt.variance)
		}
	}
}

// TestTrend: the slope of a line is found though a quarter of the values are nonsense, and the intervals of 99 % hold the truth
// in about that share of runs.
func TestTrend(t *testing.T) {
	line := trendOf(pointsOf(1, 3, 5, 1e9, 9, 11, -1e9, 15, 17, 19, 21, 23))
	if line.slope != 2 || line.start != 1 || line.end != 23 {
		t.Errorf("got %+v, want a slope of 2 from 1 to 23", line)
	}
	if flat := trendOf(pointsOf(4, 4, 4, 4)); flat.slope != 0 || flat.p != 1 || flat.start != 4 || flat.low != 0 || flat.high != 0 {
		t.Errorf("of a constant: %+v", flat)
	}
	if still := trendOf([]point{{1, 5}, {1, 6}, {1, 7}}); still.slope != 0 || still.p != 1 {
		t.Errorf("of values at one time: %+v", still)
	}
	const runs = 2000
	missed, alarms := 0, 0
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 4))
		xs := make([]float64, 40)
		for i := range xs {
			xs[i] = 0.1*float64(i) + r.NormFloat64()
		}
		if l := trendOf(pointsOf(xs...)); l.low > 0.1 || l.high < 0.1 {
			missed++
		}
		for i := range xs {
			xs[i] -= 0.1 * float64(i)
		}
		if l := trendOf(pointsOf(xs...)); l.p < 0.01 {
			alarms++
		}
	}
	if missed > runs/50 || alarms > runs/50 {
		t.Errorf("of %d runs %d missed the slope, and %d of flat noise had p < 0.01: want about %d each", runs, missed, alarms, runs/100)
	}
	t.Logf("of %d runs %d missed the slope, %d of flat noise had p < 0.01", runs, missed, alarms)
}

func TestThin(t *testing.T) {
	got := thin(pointsOf(1, 2, 3, 4, 5, 6, 7, 8, 9), 3)
	want := []point{{1, 2}, {4, 5}, {7, 8}}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	if n := len(thin(pointsOf(1, 2), 3)); n != 2 {
		t.Errorf("%d points of 2", n)
	}
}

// Values stand in the unit that they are read best in.
func TestShow(t *testing.T) {
	for _, row := range []struct{ got, want string }{
		{show(0.0451, "s"), "45.1 ms"}, {show(0, "s"), "0 s"}, {show(-0.002, "s"), "-2 ms"}, {show(323, "s"), "323 s"}, {show(0.5, "share"), "50 %"}, {show(1536, "bytes"), "1.5 KiB"},
		{showSeconds(4.2), "4.2 s"}, {showSeconds(1410), "23 min 30 s"}, {showSeconds(180), "3 min"}, {showSeconds(59.6), "1 min"}, {showSeconds(288 * 3600), "288 h"}, {showSeconds(5400), "1 h 30 min"},
	} {
		if row.got != row.want {
			t.Errorf("found %q, want %q", row.got, row.want)
		}
	}
}
