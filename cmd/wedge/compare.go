package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"example.com/wedge/repro"
	"example.com/wedge/repro/compare"
)

// compareFlags are the flags of wedge compare.
type compareFlags struct {
	policies   []string
	sweeps     []string
	tunes      []string
	tuneSeeds  string
	tuneBudget int
	set        []string
	seeds      string
	against    string
	out        string
	resume     string
	workers    int
	json       bool
	csv        bool
	quiet      bool
	verbose    bool
	junit      junitFlag
}

func newCompare() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare [SCENARIO|FILE]...",
		Short: "Compare timeout policies: same agents, same servers, same random numbers",
		Long: `compare runs policies x scenarios x seeds in virtual time on all cores, and says which policy to use, how much
better it is, at what cost, and on which scenarios it loses. Every policy sees the same world: the same agents, tasks,
answers and faults, seed by seed; only the scenario's block policy is replaced, and its pacer patched.

Without arguments it compares eight policies on ten of the incident's scenarios. A policy is a preset (wedge policy list
has them), a policy file, as-is for each scenario's own, or written out: 'NAME: {idle: 60s, preset: none, set: [pacer.hold=start]}'.
oracle is no policy that anybody can have but a bracket of what limits can reach: it has none, and the servers tell
which attempts are dead, which end at once. It is shown, and never recommended.

Two sweeps of the world, a load and a trigger, make a map of the runs that recover, and a picture of goodput against load.

Results are the same bytes whatever the number of cores. They are kept in a directory with every run that is finished; an
interrupted comparison goes on with --resume.

Exit codes: 0 compared, 2 bad input, 4 wedge itself failed, 130 interrupted.`,
		Example: `  wedge compare
  wedge compare starvation silent-stream --policy none --policy idle-60s --seeds 1-50
  wedge compare silent-stream --policy none --policy 'patient: {idle: 5m, max_attempts: 8}'
  wedge compare long-reasoning --sweep policy.idle=30s,60s,120s,240s
  wedge compare silent-stream long-reasoning --policy idle-60s --tune policy.idle=10s..600s
  wedge compare load-spike --policy as-is --policy oracle --sweep fleet.arrivals.rate_per_s=0.1,0.2,0.3 --sweep triggers.rush.load=2,5,15
  wedge compare --resume wedge-out/compare-1a2b3c4d`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.junit.around(cmd, func() error { return f.run(cmd, args) })
		},
	}
	f.register(cmd)
	return cmd
}

func (f *compareFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.policies, "policy", nil, "policy to compare: a preset, a policy file, as-is, oracle, or one written out such as 'patient: {idle: 60s}'; may be repeated")
	flags.StringVar(&f.seeds, "seeds", compare.DefaultSeeds().String(), "range of seeds, such as 1-50")
	flags.StringArrayVar(&f.set, "set", nil, "override a field of every scenario, such as fleet.agents=60; may be repeated")
	flags.StringArrayVar(&f.sweeps, "sweep", nil, "field with values to try, such as policy.idle=30s,60s,120s; of policy or pacer it changes the policies, else the scenarios; may be repeated")
	flags.StringArrayVar(&f.tunes, "tune", nil, "field of policy or pacer to look for the best value of, such as policy.idle=10s..600s; may be repeated")
	flags.StringVar(&f.tuneSeeds, "tune-seeds", "", "seeds that --tune searches on (default as many as --seeds, 20 at most, after those)")
	flags.IntVar(&f.tuneBudget, "tune-budget", 12, "points that --tune tries for each policy")
	flags.StringVar(&f.against, "against", "", "policy that the others are held against (default the first)")
	flags.StringVar(&f.out, "out", "", "directory of the results; - writes none (default wedge-out/compare-… by what is compared)")
	flags.StringVar(&f.resume, "resume", "", "directory of a comparison that was cut off, to go on with; what is compared is taken from there")
	flags.IntVar(&f.workers, "workers", 0, "runs at once (default one for each core); changes no result")
	flags.BoolVar(&f.json, "json", false, "print the results as one JSON document")
	flags.BoolVar(&f.csv, "csv", false, "print every figure as CSV")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print the result only, no progress")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print a table for each scenario, with every group of figures")
	f.junit.register(flags)
}

func (f *compareFlags) run(cmd *cobra.Command, args []string) error {
	plan, o, err := f.prepare(cmd, args)
	if err != nil {
		return err
	}
	runs, err := f.execute(cmd, plan, o)
	interrupted := err != nil && cmd.Context().Err() != nil && errors.Is(err, context.Cause(cmd.Context()))
	if err != nil && !interrupted {
		return asInputError(err)
	}
	if interrupted {
		fmt.Fprintln(cmd.ErrOrStderr(), "wedge: "+keptText(o.Dir))
	}
	if runs != nil {
		err := f.report(cmd, runs, o.Dir, interrupted)
		if err != nil && cmd.Context().Err() != nil && !interrupted { // while the report was made
			fmt.Fprintln(cmd.ErrOrStderr(), "wedge: "+keptText(o.Dir))
			return &exitError{code: exitInterrupted}
		}
		if err != nil {
			return &exitError{code: exitFailed, err: err}
		}
	}
	if interrupted {
		return &exitError{code: exitInterrupted}
	}
	return nil
}

// asInputError leaves bad input as it is; all else is a failure of wedge.
func asInputError(err error) error {
	var input *repro.InputError
	if errors.As(err, &input) {
		return err
	}
	return &exitError{code: exitFailed, err: err}
}

func keptText(dir string) string {
	if dir == "" {
		return "interrupted; nothing is kept with --out -"
	}
	return "interrupted; what is finished is kept, go on with: wedge compare --resume " + quote(dir)
}

// execute runs the plan and shows how far it has come.
func (f *compareFlags) execute(cmd *cobra.Command, plan *compare.Plan, o compare.Options) (*compare.Runs, error) {
	if !f.quiet {
		var latest atomic.Pointer[compare.Progress]
		o.Progress = func(p compare.Progress) { latest.Store(&p) }
		stop := showLines(cmd.ErrOrStderr(), func() string { return compareProgress(latest.Load()) })
		defer stop()
	}
	if os.Getenv("GOGC") == "" {
		// Runs are short and leave little behind: collecting less often saves a fifth of the time, for some 50 MB.
		const percent = 400
		defer debug.SetGCPercent(debug.SetGCPercent(percent))
	}
	return compare.Run(cmd.Context(), plan, o)
}

func compareProgress(p *compare.Progress) string {
	if p == nil {
		return "compare: starting"
	}
	what := "compare"
	if p.Stage != "" {
		what = p.Stage
	}
	text := fmt.Sprintf("%s: %d of %d runs, %d %%, about %.0f s left", what, p.Done, p.Runs, 100*p.Done/max(1, p.Runs), p.Left.Seconds())
	if p.Kept > 0 {
		text += fmt.Sprintf(" (%d from before)", p.Kept)
	}
	return text
}

// report prints the results and writes them beside the runs. Those of an interrupted comparison are
// printed only, so that the directory says that it is not finished.
func (f *compareFlags) report(cmd *cobra.Command, runs *compare.Runs, dir string, interrupted bool) error {
	results := compare.Analyse(runs)
	f.junit.comparison(results)
	files := ""
	if dir != "" && !interrupted {
		command := fmt.Sprintf("wedge compare --resume %s", quote(dir))
		if err := compare.WriteReport(cmd.Context(), dir, command, runs, results); err != nil {
			return err
		}
		if err := compare.WriteResults(dir, results); err != nil { // last, as it says that all is there
			return err
		}
		files = filepath.Join(dir, compare.ReportFile) + ", " + strings.Join([]string{compare.ResultsFile, compare.TableFile, compare.RunsFile}, ", ")
	}
	w := cmd.OutOrStdout()
	switch {
	case f.json:
		text, err := json.MarshalIndent(results, "", "  ")
		if err != nil {
			return err
		}
		_, err = w.Write(append(text, '\n'))
		return err
	case f.csv:
		text, err := results.CSV()
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	}
	return printComparison(w, results, f.verbose, files)
}
