package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"example.com/wedge/repro"
	"example.com/wedge/repro/load"
)

func newLoad() *cobra.Command {
	f := loadFlags{plan: load.DefaultPlan()}
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Put servers under a known load, and say what they made of it",
		Long: `load sends chat completions and measures what comes back: answers, failures, latencies, tokens a
second, and what the servers' gauges read while how many requests were out. Lists such as --concurrency 1,16,64 make a
row for each combination.

In a closed loop (--concurrency) each client sends its next request when it has the answer to the one before, at once
after a timeout, after --backoff when it was refused. In an open loop (--rate) requests arrive whatever became of those before, and all
latencies count from the instant at which a request was meant to start.

Without --base-url the servers are simulated and made afresh for each row: in memory and in virtual time, or over HTTP on loopback
with --clock wall. With it, any OpenAI-compatible server will do. The API key is taken from WEDGE_API_KEY or OPENAI_API_KEY and is
in nothing that wedge writes.

Exit codes: 0 every request was answered (but for those that were to leave, or were under way at the end), 2 bad input,
3 in some row nothing was answered, 4 requests failed or the server does not answer, 130 interrupted; the result is
printed in all cases but bad input.`,
		Example: `  wedge load --concurrency 16 --max-tokens 128 --requests 16
  wedge load --concurrency 64,96 --set servers.router.queued_max=0
  wedge load --concurrency 20 --timeout 10s,6s,4s,2s --json
  wedge load --rate 2 --duration 10m --prompt-tokens '{lognormal: {median: 4000, p90: 30000}}'
  wedge load --fault '{id: pin, where: inflight, what: pin_on_abort}' --abandon 0.1
  wedge load --base-url http://127.0.0.1:30000/v1 --concurrency 1,16,64 --metrics-url http://127.0.0.1:30001/metrics`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.load(cmd) },
	}
	f.register(cmd.Flags())
	return cmd
}

// load runs all rows and prints what came of them, also when it is interrupted.
func (f *loadFlags) load(cmd *cobra.Command) error {
	plans, err := f.plans(cmd)
	if err != nil {
		return err
	}
	o, about, err := f.options(cmd)
	if err != nil {
		return err
	}
	doc := loadDocument{
		Schema: "wedge.load/1", Version: version(), Target: about, Clock: string(f.clockOf()), Scale: f.scale, Seed: f.seed,
		Replay: f.replay(cmd), Rows: []*load.Row{},
	}
	failed := f.rows(cmd, plans, o, &doc)
	if failed != nil && len(doc.Rows) == 0 {
		return failed
	}
	if err := f.report(cmd.OutOrStdout(), &doc); err != nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("standard output: %w", err)}
	}
	if failed != nil {
		return failed
	}
	return doc.exit()
}

// rows runs the plans one after the other.
func (f *loadFlags) rows(cmd *cobra.Command, plans []load.Plan, o load.Options, doc *loadDocument) error {
	var p loadProgress
	if !f.quiet {
		stop := showLines(cmd.ErrOrStderr(), p.line)
		defer stop()
	}
	o.Watch = p.set
	for i, plan := range plans {
		p.begin(i+1, len(plans))
		row, err := load.Run(cmd.Context(), plan, o)
		if err != nil {
			return loadFailure(cmd.Context(), err)
		}
		doc.Rows = append(doc.Rows, row)
		if row.Interrupted {
			doc.Interrupted = true
			return nil
		}
		if o.Server != nil {
			o.NumbersFrom += row.Requests.Sent
		}
	}
	return nil
}

// loadFailure gives the error of a run that did not come about its exit code.
func loadFailure(ctx context.Context, err error) error {
	if input := fieldInput(err); input != nil {
		return input
	}
	return failure(ctx, err)
}

// loadDocument is the result of a command, the document that --json prints.
type loadDocument struct {
	Schema      string      `json:"schema"` // wedge.load/1
	Version     string      `json:"version"`
	Target      string      `json:"target"`
	Clock       string      `json:"clock"`
	Scale       float64     `json:"scale"`
	Seed        uint64      `json:"seed"`
	Interrupted bool        `json:"interrupted"`
	Replay      string      `json:"replay"`
	Rows        []*load.Row `json:"rows"`
}

// exit is how the command ends.
func (d *loadDocument) exit() error {
	if d.Interrupted {
		return &exitError{code: exitInterrupted}
	}
	sent, failed := 0, 0
	for _, r := range d.Rows {
		sent, failed = sent+r.Requests.Sent, failed+r.Requests.Failed
		if r.Stalled() {
			return &exitError{code: exitStalled, err: fmt.Errorf("nothing was answered of %d requests: %s", r.Requests.Sent, rowName(r))}
		}
	}
	if failed > 0 {
		return &exitError{code: exitFailed, err: fmt.Errorf("%d of %d requests failed", failed, sent)}
	}
	return nil
}

// report prints the result, as the flags ask for it.
func (f *loadFlags) report(w io.Writer, d *loadDocument) error {
	if !f.json {
		return printLoad(w, d)
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// clockOf is the clock of the run: a real server has but one.
func (f *loadFlags) clockOf() repro.Clock {
	if f.server.BaseURL != "" {
		return repro.ClockWall
	}
	return repro.Clock(f.clock)
}
