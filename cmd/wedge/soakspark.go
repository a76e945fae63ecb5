package main

import (
	"fmt"
	"math"
	"strings"

	"example.com/wedge/repro/series"
	"example.com/wedge/repro/soak"
)

// sparkColumns is how wide the series are drawn, so that a line with its name and figures fits 80 columns.
const sparkColumns = 44

// bars are heights from nothing to full.
var bars = [...]rune{'▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}

// overTime draws the series of a soak, each from 0 to its highest value.
func (p *page) overTime(r *soak.Result) {
	if len(r.Windows) < 2 {
		return
	}
	last := r.Windows[len(r.Windows)-1].ToS
	p.section(fmt.Sprintf("Over time: %s from left to right, from 0 to the highest", soak.Length(last)))
	for _, s := range []struct {
		name string
		unit func(float64) string
		of   func(w *series.Window) float64
	}{
		{"p95 call", soak.Length, func(w *series.Window) float64 { return p95(w, series.TimeCall) }},
		{"goodput", percent, goodput},
		{"calls/h", plainNumber, func(w *series.Window) float64 { return perHour(w.Calls.OK, w) }},
		{"slots", plainNumber, slotsMean},
		{"agents", plainNumber, func(w *series.Window) float64 { return w.Agents.Mean }},
		{"stalled", percent, stalledShare},
	} {
		values := make([]float64, len(r.Windows))
		for i := range r.Windows {
			values[i] = s.of(&r.Windows[i])
		}
		p.sparkline(s.name, values, s.unit)
	}
	heap := make([]float64, len(r.Process))
	for i := range r.Process {
		heap[i] = known(r.Process[i].HeapLiveBytes)
	}
	p.sparkline("heap", heap, mebibytes)
}

// sparkline draws one series, if there are any values.
func (p *page) sparkline(name string, values []float64, unit func(float64) string) {
	line, least, most := spark(values, sparkColumns)
	if math.IsNaN(most) {
		return
	}
	p.line("  %-8s %s %s…%s", name, line, unit(least), unit(most))
}

// spark draws values in at most so many columns, each as high as the mean of its values. One without values is a dot.
func spark(values []float64, columns int) (line string, least, most float64) {
	least, most = math.NaN(), math.NaN()
	for _, v := range values {
		if !math.IsNaN(v) {
			least, most = fmin(least, v), fmax(most, v)
		}
	}
	n := min(columns, len(values))
	var b strings.Builder
	for i := range n {
		b.WriteRune(bar(mean(values[i*len(values)/n:(i+1)*len(values)/n]), most))
	}
	return b.String() + strings.Repeat(" ", columns-n), least, most
}

func bar(v, most float64) rune {
	switch {
	case math.IsNaN(v):
		return '·'
	case most <= 0:
		return bars[0]
	}
	return bars[min(len(bars)-1, int(v/most*float64(len(bars))))]
}

// mean is that of the numbers among the values; not a number if there is none.
func mean(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// fmin and fmax pass over what is no number.
func fmin(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}

func fmax(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// p95 is that of a time in a window; not a number if nothing of the kind ended in it.
func p95(w *series.Window, name series.Time) float64 {
	if d := w.Time(name); d != nil && d.N > 0 {
		return d.P95S
	}
	return math.NaN()
}

// goodput is the share of tokens that were of use.
func goodput(w *series.Window) float64 {
	if w.Tokens.Received == 0 {
		return math.NaN()
	}
	return 1 - float64(w.Tokens.Wasted)/float64(w.Tokens.Received)
}

// stalledShare is 1 at most: a stall counts where it is raised, with the time that led to it, which may have begun before.
func stalledShare(w *series.Window) float64 { return min(w.Stalls.S/(w.ToS-w.FromS), 1) }

func slotsMean(w *series.Window) float64 {
	if w.Slots == nil || w.Slots.Limit == 0 {
		return math.NaN()
	}
	return w.Slots.Mean
}

func perHour(n int, w *series.Window) float64 { return float64(n) / (w.ToS - w.FromS) * 3600 }

func known(n int64) float64 {
	if n == series.Unknown {
		return math.NaN()
	}
	return float64(n)
}

func percent(v float64) string     { return fmt.Sprintf("%.3g %%", 100*v) }
func plainNumber(v float64) string { return fmt.Sprintf("%.4g", v) }
func mebibytes(v float64) string   { return fmt.Sprintf("%.1f MiB", v/(1<<20)) }
