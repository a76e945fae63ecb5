package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"example.com/wedge/repro/compare"
)

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
			if r.Policies[i].Bracket {
				wins, holm = "", ""
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%d/%d\n", plainText(r.Policies[i].Label()), figureTexts([]string{compare.KeyTaskTime}, c.Figures)[0], diff, wins, holm, pairing,
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
		if len(tuned.Points) == 0 && tuned.Left == 0 { // a bracket
			continue
		}
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
