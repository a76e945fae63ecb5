package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"example.com/wedge/repro/series"
	"example.com/wedge/repro/soak"
)

// printSoak writes what a person wants to know of a soak: the verdict in words first, then what was asked for
// against what was measured, stalls by cause, the series at a glance, and what to do next.
func printSoak(w io.Writer, r *soak.Result, verbose bool) error {
	p, d := &page{style: styleOf(w)}, &r.Document
	p.line("%s  %s", p.bold("soak of "+plainText(d.Scenario)), p.dim(fmt.Sprintf("seed %d, %s clock%s", d.Seed, d.Clock, resumedWords(d.Resumed))))
	p.line("")
	p.line("  %s", p.soakVerdict(d))
	p.line("")
	p.b.WriteString(p.wrap("  ", plainText(d.Summary)))
	p.thresholds(d)
	p.soakStalls(d)
	p.randomFaults(d)
	p.overTime(r)
	p.soakFindings("Drift", d.Drift, verbose)
	p.soakFindings("Leaks of wedge itself", d.Leaks, verbose)
	p.soakFailures(d)
	p.soakNext(d)
	_, err := io.WriteString(w, p.b.String())
	return err
}

func resumedWords(times int) string {
	switch times {
	case 0:
		return ""
	case 1:
		return ", resumed once"
	}
	return fmt.Sprintf(", resumed %d times", times)
}

// soakVerdict is the verdict in capitals, painted by how bad it is.
func (p *page) soakVerdict(d *soak.Document) string {
	text := strings.ToUpper(strings.ReplaceAll(string(d.Verdict), "_", " "))
	switch d.Verdict {
	case soak.Passed:
		text = p.green(text)
	case soak.Interrupted, soak.Running:
		text = p.yellow(text)
	default:
		text = p.red(text)
	}
	if d.Verdict == soak.Stalled {
		text += "  " + p.outcome(d.Outcome)
	}
	return text
}

// thresholds is the table of what was asked for, with the value against the limit.
func (p *page) thresholds(d *soak.Document) {
	if len(d.Thresholds) == 0 {
		return
	}
	p.section("Thresholds")
	p.table(func(t *tabwriter.Writer) {
		for i := range d.Thresholds {
			o := &d.Thresholds[i]
			state, value := p.green("met   "), o.Text
			if !o.OK {
				state = p.red("MISSED")
			}
			if o.Missing != "" {
				value = "no value: " + o.Missing
			} else if o.Term != "" && o.Term != o.Expr {
				value += " for " + o.Term
			}
			if o.Window > 0 && o.Missing == "" {
				value += fmt.Sprintf(" in window %d after the warm-up", o.Window)
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\n", state, plainText(o.Expr), value)
		}
	})
}

func (p *page) soakStalls(d *soak.Document) {
	if d.Stalls.Total == 0 {
		return
	}
	p.section(fmt.Sprintf("Stalls: %s, %s in all without a finished step", count(d.Stalls.Total), soak.Length(d.Totals.StalledS)))
	p.table(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  stalls\toutcome\tcause\ttogether\tlongest\tat\n")
		for i := range d.Stalls.ByCause {
			c := &d.Stalls.ByCause[i]
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\n", count(c.Stalls), c.Outcome, c.Cause, soak.Length(c.TotalS), soak.Length(c.LongestS), soak.Length(c.LongestAtS))
		}
	})
	since := 0 // stalls since it was resumed, where they are numbered anew: on the wall
	if n := len(d.Stalls.Kept); n > 0 && d.Files.Dir != "" {
		since = d.Stalls.Kept[n-1].Episode
		to := ""
		if n > 1 {
			to = " … " + d.Stalls.Kept[n-1].Dir
		}
		p.line("  evidence of %d: %s/%s%s", n, d.Files.Dir, d.Stalls.Kept[0].Dir, to)
	}
	if d.Resumed > 0 && since < d.Stalls.Total && d.Files.Dir != "" {
		p.line("  evidence of those before it was resumed: %s/stalls-before-N", d.Files.Dir)
	}
}

func (p *page) randomFaults(d *soak.Document) {
	if len(d.Faults) == 0 {
		return
	}
	p.section("Random faults")
	p.table(func(t *tabwriter.Writer) {
		for _, f := range d.Faults {
			times := fmt.Sprintf("%s times", count(f.Times))
			if f.Times == 1 {
				times = "once"
			}
			fmt.Fprintf(t, "  %s\t%s\t%s in force\n", f.ID, times, soak.Length(f.InForceS))
		}
	})
}

// soakFindings tells what drifts or leaks in a line each, and what does not in one line.
func (p *page) soakFindings(title string, findings []series.Finding, verbose bool) {
	if len(findings) == 0 {
		return
	}
	p.section(title)
	var fine, unclear []string
	for i := range findings {
		f := &findings[i]
		switch {
		case verbose || f.Verdict != series.VerdictOK && f.Verdict != series.VerdictUnclear:
			p.entry(fmt.Sprintf("%s %s", f.Name, f.Verdict), plainText(f.Why))
		case f.Verdict == series.VerdictOK:
			fine = append(fine, f.Name)
		default:
			unclear = append(unclear, f.Name)
		}
	}
	if len(fine) > 0 {
		p.b.WriteString(p.wrap("  ", "none: "+strings.Join(fine, ", ")))
	}
	if len(unclear) > 0 {
		p.b.WriteString(p.dimmed(p.wrap("  ", "cannot be told: "+strings.Join(unclear, ", "))))
	}
}

func (p *page) soakFailures(d *soak.Document) {
	if len(d.Failures) == 0 {
		return
	}
	p.section("Failed tasks, the first of " + count(d.Totals.TasksFailed))
	const shown = 3
	for _, text := range d.Failures[:min(shown, len(d.Failures))] {
		p.b.WriteString(p.wrap("  ", plainText(text)))
	}
}

func (p *page) soakNext(d *soak.Document) {
	p.section("Next")
	for _, cmd := range d.Next {
		p.line("  %s", cmd)
	}
	if d.Replay != "" && !slices.Contains(d.Next, d.Replay) {
		p.line("  %s", d.Replay)
	}
}
