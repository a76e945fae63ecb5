package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"example.com/wedge/harness"
	"example.com/wedge/harness/goroutine"
	"example.com/wedge/repro"
)

// execute runs a scenario with a progress line, and prints its result.
func (f *runFlags) execute(cmd *cobra.Command, s *repro.Scenario, o repro.Options) (*repro.Result, error) {
	if err := goroutine.EnableLabels(); err != nil {
		return nil, &exitError{code: exitFailed, err: fmt.Errorf("goroutine labels: %w", err)}
	}
	stop := func() {}
	if !f.quiet {
		o.Watch = func(progress func() harness.Progress) {
			if f.verbose || o.Clock == repro.ClockWall {
				fmt.Fprintf(cmd.ErrOrStderr(), "wedge: running %s, seed %d, on the %s clock; %s\n", s.Name, s.Seed, o.Clock, evidenceIn(o.Out))
			}
			stop = showProgress(cmd.ErrOrStderr(), progress, s.TaskCount())
		}
	}
	began := time.Now()
	r, err := repro.Run(cmd.Context(), s, o)
	stop()
	if err != nil {
		return nil, failure(cmd.Context(), err)
	}
	if f.verbose {
		fmt.Fprintf(cmd.ErrOrStderr(), "wedge: the run took %v of real time for %v of its own clock\n",
			time.Since(began).Round(time.Microsecond), time.Duration(r.Report.End.At).Round(time.Millisecond))
	}
	if err := f.report(cmd.OutOrStdout(), r); err != nil {
		return nil, &exitError{code: exitFailed, err: fmt.Errorf("standard output: %w", err)}
	}
	if r.WriteErr != nil {
		return r, &exitError{code: exitFailed, err: r.WriteErr}
	}
	return r, nil
}

// failure gives the error of a run that did not come about, or broke off, its exit code.
func failure(ctx context.Context, err error) error {
	var input *repro.InputError
	switch cause := context.Cause(ctx); {
	case errors.As(err, &input):
		return err
	case cause != nil && errors.Is(err, cause): // before the run began
		return &exitError{code: exitInterrupted}
	}
	return &exitError{code: exitFailed, err: err}
}

func evidenceIn(dir string) string {
	if dir == "" {
		return "no evidence is written"
	}
	return "evidence in " + dir
}
