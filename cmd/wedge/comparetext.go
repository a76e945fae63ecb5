package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"example.com/wedge/repro/compare"
	"example.com/wedge/repro/compare/stats"
)

// printComparison writes the answer in words first, then the table over all scenarios, then one for each
// scenario. With verbose, every group of figures is there.
func printComparison(w io.Writer, r *compare.Results, verbose bool) error {
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
		for i := range r.Scenarios {
			p.scenario(r, &r.Scenarios[i], verbose)
		}
		p.legend(verbose)
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// overall is the table over all scenarios.
func (p *page) overall(r *compare.Results) {
	p.section(fmt.Sprintf("All scenarios, %d seeds, each scenario counts the same", r.N))
	p.columns(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  policy\ttime a task against %s\twins\tp, Holm\t%s\truns completed\n", plainText(r.Baseline), strings.Join(mainNames()[1:], "\t"))
		for i := range r.Policies {
			row := &r.Policies[i]
			change := "-"
			wins, holm := "-", "-"
			if row.Name != r.Baseline {
				change = fmt.Sprintf("%s [%s, %s]%s", signedPercent(row.Ratio-1), signedPercent(row.RatioCI.Low-1), signedPercent(row.RatioCI.High-1), mark(row.Best, row.RatioCI.Excludes(1), row.Ratio < 1))
				wins, holm = fmt.Sprintf("%.0f %%", 100*row.WinRate), smallNumber(row.PHolm)
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%d/%d\n", plainText(row.Name), change, wins, holm,
				strings.Join(mainFigures(row.Figures)[1:], "\t"), row.Completed.K, row.Completed.N)
		}
	})
}

// scenario is the tables of one scenario.
func (p *page) scenario(r *compare.Results, s *compare.ScenarioResult, verbose bool) {
	p.section(plainText(s.Name))
	p.columns(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  policy\t%s\tdifference to %s\tpairing\tnever\ttask p50\tp95\tn\tcall p99\tn\n", strings.Join(mainNames(), "\t"), plainText(r.Baseline))
		for i := range s.Cells {
			c := &s.Cells[i]
			f := c.Of(compare.KeyTaskTime)
			diff, pairing := "-", "-"
			if c.Policy != r.Baseline {
				diff = fmt.Sprintf("%s [%s, %s]", signedSeconds(f.Diff), signedSeconds(f.DiffCI.Low), signedSeconds(f.DiffCI.High))
				if f.Pairing != nil {
					pairing = fmt.Sprintf("%.2f", *f.Pairing)
				}
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%d/%d\t%s\t%s\t%d\t%s\t%d\n", plainText(c.Policy), strings.Join(mainFigures(c.Figures), "\t"), diff, pairing,
				c.Never, c.Completed.N, quantileText(c.Tasks.P50), quantileText(c.Tasks.P95), c.Tasks.N, quantileText(c.Calls.P99), c.Calls.N)
		}
	})
	p.recovery(s)
	if verbose {
		p.groups(s)
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
		"* best of its column, + better and - worse than the baseline: only where the 95 % interval of the paired difference excludes zero (10,000 resamples over seeds).",
		"Pairing is the correlation with the baseline, seed by seed. Near 1 both saw the same luck; after the first retry runs go different ways, and it falls.",
		"A quantile has its number of samples n beside it and is left out (-) where fewer than ten lie beyond it. Tasks that failed or never ended count as longer than any.",
	} {
		p.b.WriteString(p.dimmed(p.wrap("  ", text)))
	}
	for _, m := range compare.Metrics() {
		if verbose || isMain(m.Key) {
			p.b.WriteString(p.dimmed(p.wrap("  ", m.Name+": "+m.Help+".")))
		}
	}
}

func isMain(key string) bool {
	for _, k := range compare.MainKeys() {
		if k == key {
			return true
		}
	}
	return false
}

func mainNames() []string {
	var names []string
	all := compare.Metrics()
	for _, key := range compare.MainKeys() {
		for i := range all {
			if all[i].Key == key {
				names = append(names, all[i].Name)
			}
		}
	}
	return names
}

func mainFigures(figures []compare.Figure) []string {
	var texts []string
	all := compare.Metrics()
	for _, key := range compare.MainKeys() {
		for i := range all {
			if all[i].Key == key {
				texts = append(texts, figureText(&all[i], &figures[i]))
			}
		}
	}
	return texts
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
	if share > -0.0005 && share < 0.0005 {
		return "0 %"
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
