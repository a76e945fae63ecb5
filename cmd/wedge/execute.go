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
	shown, err := f.show(cmd, s, &o)
	if err != nil {
		return nil, err
	}
	defer shown.close() // also when it panics
	if err := f.otlp.run(cmd, s, &o, shown.say); err != nil {
		return nil, err
	}
	defer f.otlp.close()
	o.Watch = func(progress func() harness.Progress) {
		var line func() string
		if !f.quiet {
			if shown.screen == nil && (f.verbose || o.Clock == repro.ClockWall) { // a screen says so itself
				shown.say(fmt.Sprintf("wedge: running %s, seed %d, on the %s clock; %s", s.Name, s.Seed, o.Clock, evidenceIn(o.Out)))
			}
			line = func() string { return progressLine(progress(), s.TaskCount()) }
		}
		shown.begin(progress, line, nil)
	}
	began := time.Now()
	r, err := repro.Run(cmd.Context(), s, o)
	f.otlp.close()
	if closed := shown.close(); closed != nil && err == nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "wedge: "+plainText(oneLine(closed.Error()))) // the run is as good as without
	}
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
	f.after.write(cmd, o.Out)
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
