package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"example.com/wedge/repro/compare"
	"example.com/wedge/repro/compare/stats"
)

// printComparison writes the answer in words first, then the table over all scenarios, then what each
// policy did to each. A table for each scenario follows where there are few, or with verbose.
func printComparison(w io.Writer, r *compare.Results, verbose bool, files string) error {
	p := &page{style: styleOf(w)}
	what := fmt.Sprintf("seeds %s, virtual clock", r.Seeds)
	if r.N > 0 {
		what = fmt.Sprintf("%s, %s, %s", r.Compared(), plural(len(r.Scenarios), "scenario"), what)
	}
	p.line("%s  %s", p.bold("compare"), p.dim(what))
	for _, paragraph := range r.Advice {
		p.line("")
		p.b.WriteString(p.wrap("  ", plainText(paragraph)))
	}
	for _, warning := range r.Warnings {
		p.line("")
		p.b.WriteString(p.wrap("  ", "Mind: "+plainText(warning)))
	}
	if r.N > 0 {
		p.overall(r)
		p.search(r.Tuning)
		if len(r.Scenarios) > 1 {
			p.byScenario(r)
		}
		const few = 3
		if verbose || len(r.Scenarios) <= few {
			for i := range r.Scenarios {
				p.scenario(r, &r.Scenarios[i], verbose)
			}
		}
		p.legend(verbose)
	}
	if files != "" {
		p.line("")
		p.line("written  %s", files)
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// besideTime are the figures that stand beside the time: giving up makes every one of them look better
// but the first.
func besideTime() []string {
	return []string{compare.KeyCompletion, compare.KeyGoodput, compare.KeyWasted, compare.KeyPerCall, compare.KeyKilled}
}

// overall is the table over all scenarios.
func (p *page) overall(r *compare.Results) {
	p.section(fmt.Sprintf("All scenarios, %d seeds, each scenario counts the same", r.N))
	p.columns(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  policy\ttime a task\t[95 %%]\tpairing\t%s\tnever\n", strings.Join(metricNames(besideTime()), "\t"))
		for i := range r.Policies {
			row := &r.Policies[i]
			change, within, pairing := "baseline", "", ""
			if row.Name != r.Baseline {
				change = signedPercent(row.Ratio-1) + mark(row.Best, row.RatioCI.Excludes(1) && !row.Bracket, row.Ratio < 1)
				within = fmt.Sprintf("[%s, %s]", signedPercent(row.RatioCI.Low-1), signedPercent(row.RatioCI.High-1))
				pairing = pairingText(row.Of(compare.KeyTaskTime))
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%d/%d\n", plainText(row.Label()), change, within, pairing,
				strings.Join(figureTexts(besideTime(), row.Figures), "\t"), row.Never, row.Completed.N)
		}
	})
}

// byScenario is the time a task of each policy in each scenario, with what never ended.
func (p *page) byScenario(r *compare.Results) {
	p.section("Time a task, by scenario")
	p.columns(func(t *tabwriter.Writer) {
		fmt.Fprint(t, "  scenario")
		for i := range r.Policies {
			fmt.Fprintf(t, "\t%s", plainText(r.Policies[i].Label()))
		}
		fmt.Fprintln(t)
		for i := range r.Scenarios {
			fmt.Fprintf(t, "  %s", plainText(r.Scenarios[i].Name))
			for j := range r.Scenarios[i].Cells {
				c := &r.Scenarios[i].Cells[j]
				f := c.Of(compare.KeyTaskTime)
				fmt.Fprintf(t, "\t%s%s", timeText(c), mark(f.Best, f.Better || f.Worse, f.Better))
			}
			fmt.Fprintln(t)
		}
	})
}

// timeText is the time a task, and how many tasks were completed where that is not all: a time that counts
// failures as the horizon looks short where the horizon is.
func timeText(c *compare.Cell) string {
	done := c.Of(compare.KeyCompletion).Mean
	switch {
	case c.Never == c.Completed.N:
		return "never"
	case c.Failed == c.Completed.N:
		return fmt.Sprintf("%.0f %% done", 100*done)
	case done < 1:
		return fmt.Sprintf("%s, %g %% done", compare.Seconds(c.Of(compare.KeyTaskTime).Mean), math.Floor(1000*done)/10)
	}
	return compare.Seconds(c.Of(compare.KeyTaskTime).Mean)
}

// legend explains the marks and columns.
func (p *page) legend(verbose bool) {
	p.line("")
	for _, text := range []string{
		"never: no run ended; 38 % done: in every run tasks failed, and 38 % of all were completed (with a time before it: in some runs). Both count as the horizon for what was not completed.",
		"* best of its column, + better and - worse than the baseline: only where the 95 % interval of the paired difference excludes zero (10,000 resamples over seeds).",
		"Pairing is the correlation with the baseline, seed by seed. Near 1 both saw the same luck; after the first retry runs go different ways, and it falls.",
		"A quantile has its number of samples n beside it and is left out (-) where fewer than ten lie beyond it. Tasks that failed or never ended count as longer than any.",
	} {
		p.b.WriteString(p.dimmed(p.wrap("  ", text)))
	}
	for _, m := range compare.Metrics() {
		if verbose || m.Key == compare.KeyTaskTime || slices.Contains(besideTime(), m.Key) {
			p.b.WriteString(p.dimmed(p.wrap("  ", m.Name+": "+m.Help+".")))
		}
	}
}

// metricNames are the names of metrics as tables have them.
func metricNames(keys []string) []string {
	var names []string
	for _, m := range metricsOf(keys) {
		names = append(names, compare.Metrics()[m].Name)
	}
	return names
}

// figureTexts are the figures of metrics with their marks.
func figureTexts(keys []string, figures []compare.Figure) []string {
	var texts []string
	all := compare.Metrics()
	for _, m := range metricsOf(keys) {
		texts = append(texts, figureText(&all[m], &figures[m]))
	}
	return texts
}

// metricsOf are the places of metrics among all.
func metricsOf(keys []string) []int {
	var places []int
	for _, key := range keys {
		places = append(places, slices.IndexFunc(compare.Metrics(), func(m compare.Metric) bool { return m.Key == key }))
	}
	return places
}

// figureText is a mean with its mark.
func figureText(m *compare.Metric, f *compare.Figure) string {
	text := ""
	switch m.Unit {
	case "s":
		text = compare.Seconds(f.Mean)
	case "%":
		text = fmt.Sprintf("%.4g %%", round3(100*f.Mean))
	default:
		text = fmt.Sprintf("%.4g", round3(f.Mean))
	}
	return text + mark(f.Best, f.Better || f.Worse, f.Better)
}

func mark(best, differs, better bool) string {
	switch {
	case best:
		return "*"
	case differs && better:
		return "+"
	case differs:
		return "-"
	}
	return ""
}

// round3 drops what no table of this kind can mean.
func round3(x float64) float64 {
	if x > -0.005 && x < 0.005 {
		return 0
	}
	return x
}

func signedPercent(share float64) string {
	const large = 9.995 // from here on it is told how many times as long
	switch {
	case share > -0.0005 && share < 0.0005:
		return "0 %"
	case share >= large:
		return fmt.Sprintf("x%.3g", 1+share)
	}
	return fmt.Sprintf("%+.3g %%", 100*share)
}

func signedSeconds(s float64) string {
	if text := compare.Seconds(s); s > 0.0005 {
		return "+" + text
	} else {
		return text
	}
}

func percentRange(i stats.Interval) string {
	return fmt.Sprintf("%.0f to %.0f %%", 100*i.Low, 100*i.High)
}

func smallNumber(p float64) string {
	if p < 0.0001 {
		return "<0.0001"
	}
	return fmt.Sprintf("%.2g", p)
}

func quantileText(q *compare.Quantile) string {
	switch {
	case q == nil:
		return "-"
	case q.Never:
		return "never"
	}
	return compare.Seconds(q.S)
}
