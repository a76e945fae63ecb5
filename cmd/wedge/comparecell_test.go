package main

import (
	"testing"

	"example.com/wedge/repro/compare"
)

// TestTimeText: what was not completed shows beside each time.
func TestTimeText(t *testing.T) {
	for _, c := range []struct {
		done          float64
		failed, never int
		want          string
	}{
		{1, 0, 0, "1978 s"},
		{0.41032, 7, 0, "1978 s, 41 % done"},
		{0.9999, 1, 0, "1978 s, 99.9 % done"},
		{0.21, 10, 0, "21 % done"},
		{0.9, 0, 3, "1978 s, 90 % done"},
		{0, 0, 10, "never"},
	} {
		cell := &compare.Cell{Failed: c.failed, Never: c.never, Completed: compare.Proportion{N: 10}, Figures: []compare.Figure{
			{Metric: compare.KeyTaskTime, Mean: 1978}, {Metric: compare.KeyCompletion, Mean: c.done},
		}}
		if got := timeText(cell); got != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}
