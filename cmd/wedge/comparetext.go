package main

import (
	"fmt"
	"io"
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
	p.line("%s  %s", p.bold("compare"), p.dim(fmt.Sprintf("%s, %s, seeds %s, virtual clock",
		compare.Count(len(r.Policies), "policy", "policies"), plural(len(r.Scenarios), "scenario"), r.Seeds)))
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
				change = signedPercent(row.Ratio-1) + mark(row.Best, row.RatioCI.Excludes(1), row.Ratio < 1)
				within = fmt.Sprintf("[%s, %s]", signedPercent(row.RatioCI.Low-1), signedPercent(row.RatioCI.High-1))
				pairing = pairingText(row.Of(compare.KeyTaskTime))
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%d/%d\n", plainText(row.Name), change, within, pairing,
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
			fmt.Fprintf(t, "\t%s", plainText(r.Policies[i].Name))
		}
		fmt.Fprintln(t)
		for i := range r.Scenarios {
			fmt.Fprintf(t, "  %s", plainText(r.Scenarios[i].Name))
			for j := range r.Scenarios[i].Cells {
				c := &r.Scenarios[i].Cells[j]
				f := c.Of(compare.KeyTaskTime)
				text := compare.Seconds(f.Mean)
				switch c.Completed.N {
				case c.Never:
					text = "never"
				case c.Failed:
					text = fmt.Sprintf("%.0f %% done", 100*c.Of(compare.KeyCompletion).Mean)
				}
				fmt.Fprintf(t, "\t%s%s", text, mark(f.Best, f.Better || f.Worse, f.Better))
			}
			fmt.Fprintln(t)
		}
	})
}

// scenario is the tables of one scenario.
func (p *page) scenario(r *compare.Results, s *compare.ScenarioResult, verbose bool) {
	p.section(plainText(s.Name))
	p.columns(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  policy\ttime a task\tdifference [95 %%]\twins\tp, Holm\tpairing\t%s\tnever\n", strings.Join(metricNames(besideTime()), "\t"))
		for i := range s.Cells {
			c := &s.Cells[i]
			f := c.Of(compare.KeyTaskTime)
			diff, wins, holm, pairing := "baseline", "", "", ""
			if c.Policy != r.Baseline {
				diff, pairing = differenceText(f), pairingText(f)
				wins, holm = fmt.Sprintf("%.0f %%", 100*f.WinRate), smallNumber(f.PHolm)
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%d/%d\n", plainText(c.Policy), figureTexts([]string{compare.KeyTaskTime}, c.Figures)[0], diff, wins, holm, pairing,
				strings.Join(figureTexts(besideTime(), c.Figures), "\t"), c.Never, c.Completed.N)
		}
	})
	p.line("")
	p.columns(func(t *tabwriter.Writer) {
		fmt.Fprintln(t, "  policy\ttask p50\tp95\tof n\tcall p50\tp95\tp99\tof n\tdead noticed after p50\tof n")
		for i := range s.Cells {
			c := &s.Cells[i]
			fmt.Fprintf(t, "  %s\t%s\t%s\t%d\t%s\t%s\t%s\t%d\t%s\t%d\n", plainText(c.Policy), quantileText(c.Tasks.P50), quantileText(c.Tasks.P95), c.Tasks.N,
				quantileText(c.Calls.P50), quantileText(c.Calls.P95), quantileText(c.Calls.P99), c.Calls.N, quantileText(c.DetectDead.P50), c.DetectDead.N)
		}
	})
	p.recovery(s)
	if verbose {
		p.groups(s)
	}
}

// pairingText is the correlation with the baseline, or a dash where one of the two does not vary.
func pairingText(f *compare.Figure) string {
	if f.Pairing == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *f.Pairing)
}

func differenceText(f *compare.Figure) string {
	return fmt.Sprintf("%s [%s, %s]", signedSeconds(f.Diff), signedSeconds(f.DiffCI.Low), signedSeconds(f.DiffCI.High))
}

// search shows each point of a search, and not only the best: a peak between bad neighbours is luck.
func (p *page) search(t *compare.Tuning) {
	if t == nil {
		return
	}
	p.section(fmt.Sprintf("Search on seeds %s, %d points for each policy: time a task against the policy as it was", t.Seeds, t.Budget))
	for i := range t.Policies {
		tuned := &t.Policies[i]
		p.columns(func(w *tabwriter.Writer) {
			fmt.Fprintf(w, "  %s\t\t\n", plainText(tuned.Base))
			for j := range tuned.Points {
				at := &tuned.Points[j]
				var set []string
				for _, s := range at.Settings {
					set = append(set, s.Path+"="+s.Value)
				}
				best := ""
				if j == tuned.Best {
					best = "best of the search"
				}
				fmt.Fprintf(w, "    %s\t%s [%s, %s]\t%s\n", strings.Join(set, " "), signedPercent(at.Ratio-1), signedPercent(at.RatioCI.Low-1), signedPercent(at.RatioCI.High-1), best)
			}
		})
		if tuned.Left > 0 {
			p.line("    %s left out: no policy, such as an idle limit above the total one", plural(tuned.Left, "point"))
		}
	}
}

// recovery tells how runs came back after what upset them; "never" is not averaged into anything.
func (p *page) recovery(s *compare.ScenarioResult) {
	for i := range s.Cells {
		c := &s.Cells[i]
		if c.Recovery == nil {
			continue
		}
		text := fmt.Sprintf("%s recovered in %d of %d runs [%s]", c.Policy, c.Recovery.Recovered.K, c.Recovery.Recovered.N, percentRange(c.Recovery.Recovered.CI))
		if c.Recovery.MedianS != nil {
			text += fmt.Sprintf(", half of them within %s", compare.Seconds(*c.Recovery.MedianS))
		}
		if c.Recovery.Never > 0 {
			text += fmt.Sprintf("; %d never", c.Recovery.Never)
		}
		p.line("    %s", plainText(text))
	}
}

// groups are all figures, a table for each group.
func (p *page) groups(s *compare.ScenarioResult) {
	all := compare.Metrics()
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to].Group == all[from].Group {
			to++
		}
		p.line("")
		p.columns(func(t *tabwriter.Writer) {
			fmt.Fprintf(t, "    %s", all[from].Group)
			for _, m := range all[from:to] {
				fmt.Fprintf(t, "\t%s", m.Name)
			}
			fmt.Fprintln(t)
			for i := range s.Cells {
				fmt.Fprintf(t, "    %s", plainText(s.Cells[i].Policy))
				for m := from; m < to; m++ {
					fmt.Fprintf(t, "\t%s", figureText(&all[m], &s.Cells[i].Figures[m]))
				}
				fmt.Fprintln(t)
			}
		})
		from = to
	}
}

// legend explains the marks and columns.
func (p *page) legend(verbose bool) {
	p.line("")
	for _, text := range []string{
		"never: no run ended; 38 % done: in every run tasks failed, and 38 % of all were completed. Both count as the horizon for what was not completed.",
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
