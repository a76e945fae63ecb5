package report

import (
	"math"
	"strings"
	"testing"
)

// extentOf gathers numbers.
func extentOf(log bool, vs ...float64) extent {
	e := extent{log: log}
	for _, v := range vs {
		e.add(v)
	}
	return e
}

func TestTicks(t *testing.T) {
	inf := math.Inf(1)
	for _, row := range []struct {
		name   string
		extent extent
		unit   string
		want   string
	}{
		{"counts", extentOf(false, 0, 130), "", "0 50 100"},
		{"shares", extentOf(false, 0, 1), "%", "0 % 50 % 100 %"},
		{"seconds", extentOf(false, 0, 45), "s", "0 s 15 s 30 s 45 s"},
		{"minutes", extentOf(false, 0, 1800), "s", "0 10 min 20 min 30 min"},
		{"hours", extentOf(false, 0, 10*3600), "s", "0 3 h 6 h 9 h"},
		{"quarters", extentOf(false, 280, 330), "s", "4.75 min 5.00 min 5.25 min 5.50 min"},
		{"beside zero", extentOf(false, -3, 4), "", "−2 0 2 4"},
		{"far from zero", extentOf(false, 100.1, 100.9), "", "100.5"},
		{"nothing", extent{}, "", "0 0.5 1.0"},
		{"only zero", extentOf(false, 0), "", "0 0.5 1.0"},
		{"decades", extentOf(true, 0.01, 1000), "", "0.01 1 100"},
		{"half a decade", extentOf(true, 3, 8), "", "5"},
		{"log of one", extentOf(true, 7), "", "5 10"},
		{"log times", extentOf(true, 5, 7200), "s", "10 s 10 min"},
		{"log and zero", extentOf(true, 0, 1, 100), "", "0 10 100"},
		{"log of zeros", extentOf(true, 0), "%", "0 10 % 100 %"},
		{"never", extentOf(false, 60, inf), "s", "55 s 60 s 65 s never"},
		{"negative on log", extentOf(true, -1, 10, 20), "", "10 20"},
	} {
		s := row.extent.scale(row.unit, 3)
		var labels []string
		last := math.Inf(-1)
		for _, tick := range s.Ticks(0, 0) {
			labels = append(labels, tick.Label)
			at := s.Normalize(0, 0, tick.Value)
			if at < 0 || at > 1 || at <= last {
				t.Errorf("%s: tick %s at %v after %v", row.name, tick.Label, at, last)
			}
			last = at
		}
		if got := strings.Join(labels, " "); got != row.want {
			t.Errorf("%s: ticks %q, want %q", row.name, got, row.want)
		}
	}
}

// FuzzScale: whatever the data, a scale has two ends, puts every number between them, and has few ticks in order.
func FuzzScale(f *testing.F) {
	f.Add(0.0, 1.0, 0.5, false, false)
	f.Add(1e308, -1e308, math.NaN(), false, true)
	f.Add(5e-324, 1e308, math.Inf(1), true, false)
	f.Add(1e15, 1e15+1, math.Inf(-1), false, true)
	f.Fuzz(func(t *testing.T, a, b, v float64, log, time bool) {
		unit := map[bool]string{true: "s"}[time]
		s := extentOf(log, a, b).scale(unit, 5)
		if !(s.low < s.high) || !finite(s.low) || !finite(s.high) {
			t.Fatalf("ends %v, %v of %v, %v", s.low, s.high, a, b)
		}
		for _, x := range []float64{a, b, v} {
			if at := s.Normalize(0, 0, x); !(at >= 0 && at <= 1) {
				t.Fatalf("%v of %v, %v lies at %v", x, a, b, at)
			}
		}
		if ticks := s.Ticks(0, 0); len(ticks) > 42 {
			t.Fatalf("%d ticks", len(ticks))
		}
	})
}

func TestNumbers(t *testing.T) {
	for _, row := range []struct {
		v    float64
		unit string
		want string
	}{
		{0, "", "0"}, {-0.25, "", "−0.25"}, {12.345, "", "12.3"}, {999.6, "", "1,000"}, {1234567, "", "1,234,567"}, {0.00001, "", "1e-05"},
		{0.0312, "%", "3.12 %"}, {0.25, "s", "250 ms"}, {90, "s", "90 s"}, {150, "s", "2.5 min"}, {-7300, "s", "−2.03 h"},
		{nan(), "s", "– s"}, {math.Inf(1), "", "∞"}, {-1234, "", "−1,234"}, {3, "calls/s", "3 calls/s"},
	} {
		if got := number(row.v, row.unit); got != row.want {
			t.Errorf("number(%v, %q) = %q, want %q", row.v, row.unit, got, row.want)
		}
	}
}

func TestFitKeepsBothEnds(t *testing.T) {
	sty := style(sizeText, inkText, false)
	long := "an-extraordinarily-long-name-idle=60s"
	got := fit(long, sty, 120)
	if !strings.HasPrefix(got, "an-ex") || !strings.HasSuffix(got, "60s") || widthOf(sty, got) > 120 {
		t.Errorf("fit gave %q, %v wide", got, widthOf(sty, got))
	}
	if got := fit("short", sty, 120); got != "short" {
		t.Errorf("fit gave %q", got)
	}
	if lines := wrap(strings.Repeat("word ", 200), sty, 100, 3); len(lines) != 3 {
		t.Errorf("%d lines, want 3", len(lines))
	}
}
