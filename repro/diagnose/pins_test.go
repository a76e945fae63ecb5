package diagnose

import (
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
)

// TestPins reads timelines of the prefill engine: a letter is five seconds. Lower case: it computes
// nothing; upper case: it does. The letter says how many entries are in the inflight queue: a for none,
// b for one, and so on; a dot is a sample that was taken while nobody asked for anything. The capture is
// at the bar, in a stall of half a minute.
func TestPins(t *testing.T) {
	for _, c := range []struct {
		line    string
		ended   int
		open    bool
		longest time.Duration
		inStall time.Duration
		entries float64
	}{
		{"aaaaaaaaaaaaaaaa|", 0, false, 0, 0, 0},
		{"AAAAAAAAAAAAAAAA|", 0, false, 0, 0, 0},
		{"BBBBBBBBBBBBBBBB|", 0, false, 0, 0, 0},
		{"Bbbbb|", 0, true, 20 * s, 20 * s, 1},
		{"Bbbb|", 0, false, 0, 0, 0},
		{"Ccccccbbbbbbb|", 0, true, 60 * s, 30 * s, 1},
		{"Cdddddddddddd|", 0, true, 60 * s, 30 * s, 2},
		{"CccccccccccccAAA|", 1, false, 60 * s, 15 * s, 2},
		{"Ccccccccccccca|", 1, false, 60 * s, 25 * s, 2},
		{"CccccccccccccBbbbbbbbb|", 1, true, 60 * s, 30 * s, 2},
		{"Cccccccccccccccc|cccAB", 1, false, 90 * s, 45 * s, 2},
		{"Cccc.cccc|", 0, false, 0, 0, 0},
	} {
		ev := &harness.Evidence{StalledFor: 30 * s}
		at, tokens, captured := sim.Instant(0), 0.0, false
		for _, x := range c.line {
			if x == '|' {
				captured = true
				continue
			}
			sample := harness.Sample{At: at, Sent: 1}
			switch {
			case x == '.':
				sample.Sent = 0
			case x < 'a':
				tokens += 1000
				x += 'a' - 'A'
			}
			sample.Gauges = []harness.Gauge{gauge(harness.GaugePrefillInflight, float64(max(0, x-'a'))), gauge(harness.GaugePrefillTokens, tokens), gauge(harness.GaugePrefillQueue, 1)}
			if captured {
				ev.After = append(ev.After, sample)
			} else {
				ev.At = at
				ev.Samples = append(ev.Samples, sample)
			}
			at = at.Add(5 * s)
		}
		p := newReading(ev, nil).pins
		if want := (pins{c.ended, c.open, c.longest, c.inStall, c.entries}); p != want {
			t.Errorf("%s: %+v, want %+v", c.line, p, want)
		}
	}
}
