package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"example.com/wedge/repro"
	"example.com/wedge/repro/diff"
)

func newDiff() *cobra.Command {
	var asJSON, verbose, exitCode bool
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Say what changed between two evidence bundles",
		Long: `diff reads two bundles, as repro, run and others write them, and says what changed from A to B: the settings first,
then the verdict, then what was measured (calls, latencies, stages, gauges with the load they were read under), and the first
event in which two runs in virtual time part.

Exit codes: 0 the bundles were compared; 1 with --exit-code if the verdicts differ; 2 bad input.`,
		Example: `  wedge repro starvation --out before
  wedge repro starvation --set pacer.slots=20 --out after
  wedge diff before after`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("want the directories of two evidence bundles, found %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := diff.Dirs(args[0], args[1])
			if bad := new(diff.Error); errors.As(err, &bad) {
				return &repro.InputError{Source: bad.Path, Msg: bad.Msg}
			}
			if err != nil {
				return err
			}
			if err := reportDiff(cmd.OutOrStdout(), r, asJSON, verbose); err != nil {
				return &exitError{code: exitFailed, err: fmt.Errorf("standard output: %w", err)}
			}
			if exitCode && len(r.Verdict) > 0 && (r.A.Outcome != r.B.Outcome || r.A.Cause != r.B.Cause || r.A.FinalOutcome != r.B.FinalOutcome) {
				return &exitError{code: exitMismatch}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the comparison as one JSON document")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "print what is the same too, and how each hypothesis stands")
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 1 if outcome or cause differ")
	return cmd
}

func reportDiff(w io.Writer, r *diff.Report, asJSON, verbose bool) error {
	if asJSON {
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		_, err = w.Write(append(text, '\n'))
		return err
	}
	p := &page{style: styleOf(w)}
	p.line("A  %s  %s", p.bold(plainText(r.A.Dir)), p.dim(sideText(&r.A)))
	p.line("B  %s  %s", p.bold(plainText(r.B.Dir)), p.dim(sideText(&r.B)))
	p.line("")
	p.b.WriteString(p.wrap("  ", plainText(r.Summary)))
	p.changes("Settings that changed", "setting", r.Settings, true)
	p.changes("Verdict", "", r.Verdict, verbose)
	p.figures(r, verbose)
	p.shares(r, verbose)
	p.gaugeChanges(r)
	p.parting(r)
	for _, m := range r.Missing {
		p.b.WriteString(p.wrap("  ", plainText("Not compared: "+m+".")))
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

func sideText(s *diff.Side) string {
	return plainText(fmt.Sprintf("%s, seed %d, %s clock", s.Name, s.Seed, s.Clock))
}

// changes is a table of what differs. Without all, how hypotheses stand is left out.
func (p *page) changes(title, head string, list []diff.Change, all bool) {
	var shown []diff.Change
	for _, c := range list {
		if all || !strings.HasPrefix(c.What, "hypothesis ") {
			shown = append(shown, c)
		}
	}
	if len(shown) == 0 {
		return
	}
	p.section(title)
	p.table(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  %s\tA\tB\n", head)
		for _, c := range shown {
			fmt.Fprintf(t, "  %s\t%s\t%s\n", plainText(c.What), plainText(orDash(c.A)), plainText(orDash(c.B)))
		}
	})
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// figures is the table of numbers, without those that agree unless all are asked for.
func (p *page) figures(r *diff.Report, all bool) {
	var rows []diff.Figure
	for _, f := range r.Figures {
		if all || f.A != f.B {
			rows = append(rows, f)
		}
	}
	if len(rows) == 0 {
		return
	}
	p.section("What was measured")
	p.table(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  \tA\tB\tchange\n")
		for _, f := range rows {
			name, unit := f.Name, ""
			if stem, ok := strings.CutSuffix(name, "_s"); ok {
				name, unit = stem, " s"
			}
			change := "-"
			if unended := r.A.Unended || r.B.Unended; f.A != 0 && f.A != f.B && !(unended && f.Name == "run_s") {
				change = fmt.Sprintf("%+.1f %%", 100*(f.B/f.A-1))
			}
			n := ""
			if f.NA > 0 || f.NB > 0 {
				n = fmt.Sprintf("  (n %d, %d)", f.NA, f.NB)
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s%s\n", strings.ReplaceAll(name, "_", " "), amount(f.A, unit), amount(f.B, unit), change, n)
		}
	})
}

func amount(x float64, unit string) string {
	if unit == "" {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.1f%s", x, unit)
}

// shares is the table of stages, if they differ or are asked for.
func (p *page) shares(r *diff.Report, all bool) {
	if !all && !slices.ContainsFunc(r.Stages, func(s diff.Share) bool { return s.AS != s.BS }) {
		return
	}
	p.section("Where the time of calls went")
	p.table(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  stage\tA\tB\n")
		for _, s := range r.Stages {
			fmt.Fprintf(t, "  %s\t%.1f %%, %.0f s\t%.1f %%, %.0f s\n", s.Stage, 100*s.A, s.AS, 100*s.B, s.BS)
		}
	})
}

func (p *page) gaugeChanges(r *diff.Report) {
	if len(r.Gauges) == 0 {
		return
	}
	a, b := r.Gauges[0].A, r.Gauges[0].B
	p.section("Gauges that read differently")
	p.b.WriteString(p.dimmed(p.wrap("  ", fmt.Sprintf("Samples taken while requests were out: %d in A with %.1f requests out on average, %d in B with %.1f. Of counters (_total), growth a second and growth.", a.Samples, a.Load, b.Samples, b.Load))))
	p.table(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  gauge\tA mean\tmax\tB mean\tmax\n")
		for _, g := range r.Gauges {
			fmt.Fprintf(t, "  %s\t%.4g\t%.4g\t%.4g\t%.4g\n", plainText(g.Name), g.A.Mean, g.A.Max, g.B.Mean, g.B.Max)
		}
	})
}

func (p *page) parting(r *diff.Report) {
	if r.First == nil {
		return
	}
	p.section("The first event that differs")
	p.line("  after %d that are the same, at %s", r.First.Same, seconds(r.First.AtS))
	p.entry("A", orDash(r.First.A))
	p.entry("B", orDash(r.First.B))
}
