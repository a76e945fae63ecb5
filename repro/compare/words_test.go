package compare

import (
	"strings"
	"testing"

	"example.com/wedge/repro/compare/stats"
)

// cellWith is a cell with some figures; all others are 0.
func cellWith(figures map[string]float64) *Cell {
	c := &Cell{Completed: Proportion{K: 10, N: 10}}
	for _, m := range Metrics() {
		c.Figures = append(c.Figures, Figure{Metric: m.Key, Mean: figures[m.Key]})
	}
	return c
}

// TestReason has what was measured of two policies, and why one takes longer.
func TestReason(t *testing.T) {
	quick := map[string]float64{"call_stream_s": 100, "call_slot_s": 10}
	for _, c := range []struct {
		name   string
		change func(*Cell)
		slow   map[string]float64
		want   string
	}{
		{"nothing", func(*Cell) {}, quick, ""},
		{"slots", func(*Cell) {}, map[string]float64{"call_stream_s": 100, "call_slot_s": 50}, "a call waits 40 s longer for a slot"},
		{"less than a second", func(*Cell) {}, map[string]float64{"call_stream_s": 100.5, "call_slot_s": 10}, ""},
		{"never", func(c *Cell) { c.Never = 4 }, map[string]float64{"call_stream_s": 105, "call_slot_s": 10}, "4 of 10 runs never end"},
		{"never, and slots", func(c *Cell) { c.Never = 4 }, map[string]float64{"call_stream_s": 100, "call_slot_s": 60}, "4 of 10 runs never end, and a call waits 50 s longer for a slot"},
		{"killed", func(c *Cell) { c.KilledBy = []KilledBy{{"idle", 3, 3}, {"total", 20, 20}} }, map[string]float64{"call_stream_s": 100, "call_slot_s": 10, KeyKilled: 23}, "the total limit ends 20.0 healthy attempts a run"},
		{"zombies", func(*Cell) {}, map[string]float64{"call_stream_s": 100, "call_slot_s": 10, KeyZombies: 2}, "the servers go on with what was given up (2.0 more places for nobody)"},
	} {
		slow := cellWith(c.slow)
		c.change(slow)
		if got := reason(slow, cellWith(quick)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	before, after := cellWith(quick), cellWith(quick)
	before.Failed, after.Failed = 2, 5
	if got := reason(after, before); got != "tasks fail in 5 of 10 runs instead of 2" {
		t.Errorf("%q", got)
	}
}

func TestChangeOf(t *testing.T) {
	for _, c := range []struct {
		ratio, low, high float64
		want             string
	}{
		{0.69, 0.66, 0.72, "31 % less time (95 % interval 28 % to 34 %)"},
		{0.9985, 0.99, 1.007, "0.1 % less time (95 % interval -0.7 % to 1.0 %)"},
		{1.31, 1.2, 1.4, "31 % more time (95 % interval 20 % to 40 %)"},
		{53, 50, 56, "53.0 times the time (95 % interval 50.0 to 56.0)"},
	} {
		p := &PolicyResult{Ratio: c.ratio, RatioCI: stats.Interval{Low: c.low, High: c.high}}
		if got := changeOf(p); got != c.want {
			t.Errorf("%v: %q, want %q", c.ratio, got, c.want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for s, want := range map[float64]string{0: "0 s", 0.0123: "0.012 s", 7.25: "7.2 s", 6507: "6507 s", 43200: "12.0 h", -40: "-40 s"} {
		if got := Seconds(s); got != want {
			t.Errorf("%v: %q, want %q", s, got, want)
		}
	}
}

// TestKnobValues are three digits on a logarithmic scale, ends included.
func TestKnobValues(t *testing.T) {
	for text, want := range map[string]string{
		"policy.idle=10s..1000s":           "10s 1m40s 16m40s",
		"policy.max_attempts=1..9":         "1 3 9",
		"policy.backoff_multiplier=1..4.0": "1 2 4",
	} {
		k, err := ParseKnob(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, place := range []float64{0, 0.5, 1} {
			_, value := k.value(place)
			got = append(got, value)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
