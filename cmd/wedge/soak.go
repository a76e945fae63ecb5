package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/wedge/harness"
	"example.com/wedge/harness/goroutine"
	"example.com/wedge/repro"
	"example.com/wedge/repro/soak"
	"example.com/wedge/repro/threshold"
)

// exitThreshold is for a soak that lasted and did not meet a threshold.
const exitThreshold = 5

// soakFlags are the flags of wedge soak.
type soakFlags struct {
	runFlags
	scenario   string
	lasts      time.Duration
	tasks      int
	thresholds []string
	resume     string
	server     repro.Server
	model      string // that calls ask for; empty: not known before the soak begins
}

func newSoak() *cobra.Command {
	var f soakFlags
	cmd := &cobra.Command{
		Use:   "soak [NAME|FILE]",
		Short: "Run a scenario, or the fleet against a real server, for hours, and judge it by thresholds",
		Long: `soak keeps a fleet at work for a length of time or a number of tasks: tasks without end, load that changes over
time, faults at times drawn from the seed. It sums up what happens window by window, keeps evidence of each stall within bounds, rotates
its logs, and says at the end what happened: thresholds, stalls by cause, drift, leaks.

In virtual time 24 hours take seconds, and the same seed gives the same bytes. The block soak of a scenario file says all
that the flags say, and more: load, random faults, what to do when the disk is full (wedge soak NAME --for 24h --print shows it).

A soak that was interrupted or killed goes on with --resume DIR: in virtual time with the same result as if it had
never been broken, on the wall for the rest of its time.

Exit codes: 0 it lasted and met every threshold, 2 bad input, 3 it ended in a stall, or was given up in one, 4 all tasks
failed, the server does not answer, or it was stopped since its files could not be written, 5 a threshold was missed, or
fewer tasks ended than were asked for, 130 interrupted. The gravest counts.`,
		Example: `  wedge soak starvation --for 24h --seed 3
  wedge soak starvation --for 24h --threshold 'p95(call) < 300s' --threshold 'goodput > 0.9'
  wedge soak my.yaml --clock wall --scale 60 --tasks 1000
  wedge soak --base-url http://127.0.0.1:30000/v1 --model my-model --for 8h --set fleet.agents=50
  wedge soak --resume wedge-out/soak-starvation-3`,
		Args: atMostOne("scenario"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.junit.around(cmd, func() error { return f.soak(cmd, args) })
		},
	}
	f.register(cmd.Flags(), string(repro.ClockVirtual))
	flags := cmd.Flags()
	flags.StringVar(&f.scenario, "scenario", "", "scenario of the catalogue, or a file (the same as the argument)")
	flags.DurationVar(&f.lasts, "for", 0, "how long it lasts, on the run's own clock (default: soak.for of the scenario)")
	flags.IntVar(&f.tasks, "tasks", 0, "how many tasks end it, within --for or else the scenario's horizon (default: soak.tasks of the scenario)")
	flags.StringArrayVar(&f.thresholds, "threshold", nil, "what must hold at the end, besides soak.thresholds, such as 'p95(call) < 120s'; may be repeated")
	flags.StringVar(&f.resume, "resume", "", "directory of a soak that was interrupted or killed, to go on with")
	flags.StringVar(&f.server.BaseURL, "base-url", "", "base URL of a real OpenAI-compatible server, such as http://127.0.0.1:30000/v1")
	flags.StringVar(&f.server.Model, "model", "", "model to ask the real server for (default: workflow.model of the scenario)")
	flags.StringVar(&f.server.MetricsURL, "metrics-url", "", "where to read the real server's gauges (default /metrics at its host, if that answers)")
	return cmd
}

func (f *soakFlags) soak(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("resume") {
		return f.goOn(cmd, args)
	}
	s, words, err := f.read(cmd, args)
	if err != nil {
		return err
	}
	if f.print {
		if s, err = s.Soaking(); err != nil {
			return err
		}
		return printScenario(cmd.OutOrStdout(), s)
	}
	if f.server.BaseURL != "" && !cmd.Flags().Changed("clock") {
		f.clock = string(repro.ClockWall)
	}
	name := s.Name
	s.Name = "soak-" + name // of the directory
	o, err := f.options(cmd, s, words)
	if s.Name = name; err != nil {
		return err
	}
	if f.server.BaseURL != "" {
		f.server.Model, f.server.APIKey = s.Workflow.Model, apiKey()
		o.Server = &f.server
	}
	f.model = s.Workflow.Model
	return f.execute(cmd, o, func(ctx context.Context, o soak.Options) (*soak.Result, error) { return soak.Run(ctx, s, o) })
}

// goOn goes on with a soak whose directory says all that there is to say.
func (f *soakFlags) goOn(cmd *cobra.Command, args []string) error {
	fixed := []string{"scenario", "for", "tasks", "threshold", "base-url", "model", "metrics-url", "seed", "clock", "scale", "out", "set", "fault", "print"}
	for _, name := range fixed {
		if cmd.Flags().Changed(name) {
			return &repro.InputError{Source: "--" + name, Msg: "found it with --resume, want neither it nor any other setting of the run: the soak that goes on has them"}
		}
	}
	if len(args) > 0 {
		return &repro.InputError{Source: args[0], Msg: "found a scenario with --resume, want none: the soak that goes on has it"}
	}
	if f.resume == "" {
		return &repro.InputError{Source: "--resume", Msg: "found nothing, want the directory of a soak, such as wedge-out/soak-starvation-1"}
	}
	o := repro.Options{Dumps: true, Version: version(), Out: f.resume, Server: &repro.Server{APIKey: apiKey()}}
	return f.execute(cmd, o, func(ctx context.Context, o soak.Options) (*soak.Result, error) { return soak.Resume(ctx, f.resume, o) })
}

// read makes the scenario of arguments and flags, with the words of the command that repeats it.
func (f *soakFlags) read(cmd *cobra.Command, args []string) (*repro.Scenario, string, error) {
	real := cmd.Flags().Changed("base-url")
	if real && f.server.BaseURL == "" {
		return nil, "", &repro.InputError{Source: "--base-url", Msg: "found nothing, want a URL such as http://127.0.0.1:30000/v1"}
	}
	if !real && (f.server.Model != "" || f.server.MetricsURL != "") {
		return nil, "", &repro.InputError{Source: "--base-url", Msg: "found --model or --metrics-url without it, want the server's base URL too"}
	}
	s, words, err := f.named(args, real)
	if err != nil {
		return nil, "", err
	}
	if cmd.Flags().Changed("for") {
		s.Soak.For = f.lasts
		words += " --for " + shortDuration(f.lasts)
	}
	if cmd.Flags().Changed("tasks") {
		s.Soak.Tasks = f.tasks
		words += " --tasks " + strconv.Itoa(f.tasks)
	}
	for _, text := range f.thresholds {
		if _, err := threshold.Parse(text); err != nil {
			return nil, "", &repro.InputError{Source: "--threshold", Msg: strings.TrimLeft(strings.TrimPrefix(err.Error(), "threshold"), ": ")}
		}
		s.Soak.Thresholds = append(s.Soak.Thresholds, text)
		words += " --threshold " + quote(text)
	}
	if f.server.Model != "" {
		s.Workflow.Model = f.server.Model
	}
	if real {
		words += serverWords(f.server)
	}
	return s, words, f.apply(cmd, s)
}

// named reads the scenario that is named, or takes the default fleet for a real server.
func (f *soakFlags) named(args []string, real bool) (*repro.Scenario, string, error) {
	name := f.scenario
	switch {
	case len(args) == 1 && name != "":
		return nil, "", &repro.InputError{Source: "--scenario", Msg: fmt.Sprintf("found it and %q, want one of them", args[0])}
	case len(args) == 1:
		name = args[0]
	case name == "" && real:
		return repro.Default(), "soak", nil
	case name == "":
		return nil, "", &repro.InputError{Source: "soak", Msg: "want a scenario, as wedge repro lists them, or a file; or --base-url of a real server; or --resume DIR"}
	}
	s, err := scenarioOf(name)
	return s, "soak " + quote(name), err
}

// execute runs a soak with a progress line, and prints its result.
func (f *soakFlags) execute(cmd *cobra.Command, o repro.Options, run func(context.Context, soak.Options) (*soak.Result, error)) error {
	if f.quiet && f.verbose {
		return &repro.InputError{Source: "--quiet", Msg: "found it together with --verbose, want one of them"}
	}
	if err := goroutine.EnableLabels(); err != nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("goroutine labels: %w", err)}
	}
	so := soak.Options{Run: o}
	shown, err := f.show(cmd, &so)
	if err != nil {
		return err
	}
	defer shown.close() // also when it panics
	so.Warn = func(line string) { shown.say("wedge: " + plainText(oneLine(line))) }
	if err := f.otlp.soak(cmd, &so, shown.say); err != nil {
		return err
	}
	defer f.otlp.close()
	r, err := run(cmd.Context(), so)
	f.otlp.close()
	if closed := shown.close(); closed != nil && err == nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "wedge: "+plainText(oneLine(closed.Error()))) // the soak is as good as without
	}
	if err != nil {
		return failure(cmd.Context(), err)
	}
	f.junit.soak(&r.Document)
	if err := f.printSoak(cmd.OutOrStdout(), r); err != nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("standard output: %w", err)}
	}
	f.after.write(cmd, o.Out)
	return soakExit(r)
}

func (f *soakFlags) printSoak(w io.Writer, r *soak.Result) error {
	if !f.json {
		return printSoak(w, r, f.verbose)
	}
	text, err := json.MarshalIndent(&r.Document, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// soakExit is the exit code of a soak, with a line that says why.
func soakExit(r *soak.Result) error {
	code, ok := map[soak.Verdict]int{
		soak.Passed: exitOK, soak.Interrupted: exitInterrupted, soak.Stopped: exitFailed, soak.Failed: exitFailed,
		soak.Stalled: exitStalled, soak.Missed: exitThreshold,
	}[r.Document.Verdict]
	switch {
	case !ok:
		return &exitError{code: exitFailed, err: fmt.Errorf("a soak that is %s", r.Document.Verdict)}
	case code == exitOK:
		return nil
	case code == exitInterrupted, r.Document.Verdict == soak.Stopped: // why, has been said
		return &exitError{code: code}
	}
	return &exitError{code: code, err: fmt.Errorf("the soak: %s", strings.ReplaceAll(string(r.Document.Verdict), "_", " "))}
}

// soakLine is one line about a soak that goes on.
func soakLine(p harness.Progress) string {
	line := fmt.Sprintf("t=%s", soak.Length(p.At.Seconds()))
	if p.Stall > 0 {
		line += fmt.Sprintf("  STALL %d for %.0f s", p.Stall, p.StalledFor.Seconds())
	}
	return line + fmt.Sprintf("  tasks %d done, %d failed  calls %d done, %d in flight  tokens %d",
		p.Totals.AgentsDone, p.Totals.AgentsFailed, p.Totals.CallsCompleted, p.Calls, p.Totals.TokensReceived)
}
