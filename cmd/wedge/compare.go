package main

import (
	"errors"

	"github.com/spf13/cobra"

	"example.com/wedge/repro"
	"example.com/wedge/repro/compare"
)

// compareFlags are the flags of wedge compare.
type compareFlags struct {
	policies []string
	seeds    string
	against  string
	out      string
	resume   string
	json     bool
	quiet    bool
	verbose  bool
	workers  int
}

func newCompare() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare [SCENARIO|FILE]...",
		Short: "Compare timeout policies: same agents, same servers, same random numbers",
		RunE:  f.run,
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.policies, "policy", nil, "policy to compare: a preset, a policy file, as-is, or one written out such as 'patient: {idle: 60s}'; may be repeated")
	flags.StringVar(&f.seeds, "seeds", "1-10", "range of seeds")
	flags.StringVar(&f.against, "against", "", "policy that the others are held against (default the first)")
	flags.StringVar(&f.out, "out", "-", "directory of the results; - writes none")
	flags.StringVar(&f.resume, "resume", "", "directory of a comparison that was cut off, to go on with")
	flags.BoolVar(&f.json, "json", false, "print the results as one JSON document")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print the result only, no progress")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print every group of figures")
	flags.IntVar(&f.workers, "workers", 0, "runs at once (default one for each core); changes no result")
	return cmd
}

func (f *compareFlags) run(cmd *cobra.Command, args []string) error {
	plan, err := f.plan(args)
	if err != nil {
		return err
	}
	o := compare.Options{Workers: f.workers, Version: version()}
	if f.out != "-" {
		o.Dir = f.out
	}
	runs, err := compare.Execute(cmd.Context(), plan, o)
	if err != nil {
		if runs != nil && errors.Is(err, cmd.Context().Err()) {
			return &exitError{code: exitInterrupted}
		}
		return err
	}
	return printComparison(cmd.OutOrStdout(), compare.Analyse(runs), f.verbose)
}

func (f *compareFlags) plan(args []string) (*compare.Plan, error) {
	seeds, err := compare.ParseSeeds("--seeds", f.seeds)
	if err != nil {
		return nil, err
	}
	p := &compare.Plan{Seeds: seeds, Baseline: f.against}
	for _, text := range f.policies {
		v, err := compare.ParseVariant(text)
		if err != nil {
			return nil, err
		}
		p.Policies = append(p.Policies, v)
	}
	for _, name := range args {
		s, err := scenarioOf(name)
		if err != nil {
			return nil, err
		}
		p.Scenarios = append(p.Scenarios, s)
	}
	if len(p.Scenarios) == 0 {
		p.Scenarios = append(p.Scenarios, repro.Default())
	}
	return p, nil
}
