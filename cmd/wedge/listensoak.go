package main

import (
	"cmp"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"example.com/wedge/harness"
	"example.com/wedge/repro"
	"example.com/wedge/repro/live"
	"example.com/wedge/repro/series"
	"example.com/wedge/repro/soak"
)

// factsEvery is how often thresholds are evaluated for who watches, on the machine's clock: it means going through all
// windows.
const factsEvery = 5 * time.Second

// show makes ready to show a soak, and has what o asks for show it. close must follow.
func (f *soakFlags) show(cmd *cobra.Command, o *soak.Options) (*watching, error) {
	var monitor atomic.Pointer[soak.Monitor] // nil: it has not begun
	o.Started = monitor.Store
	m := manner{listen: f.listen, quiet: f.quiet, screen: !f.line, counts: func() (c series.Cumulative, ok bool) {
		if m := monitor.Load(); m != nil {
			return m.Snapshot()
		}
		return c, false
	}}
	run := live.Run{Command: cmd.Name(), Scenario: "…", Clock: string(o.Run.Clock), Scale: o.Run.Scale, Model: f.model, Evidence: o.Run.Out}
	shown, err := m.show(cmd, run)
	if err != nil {
		return nil, err
	}
	watch := o.Run.Watch
	o.Run.Watch = func(progress func() harness.Progress) {
		if watch != nil {
			watch(progress)
		}
		m := monitor.Load()
		d := m.Document()
		if shown.view != nil {
			run.Scenario, run.Seed, run.Clock, run.Scale = d.Scenario, d.Seed, d.Clock, d.Scale
			run.UntilS, run.Tasks, run.Version, run.Model = d.ForS, d.Tasks, d.Version, m.Model()
			shown.view.Describe(run)
		}
		var line func() string
		if !f.quiet {
			if shown.screen == nil && (f.verbose || d.Clock == string(repro.ClockWall)) { // a screen says so itself
				shown.say("wedge: soaking; " + evidenceIn(o.Run.Out))
			}
			line = func() string { return soakLine(progress()) }
		}
		shown.begin(progress, line, soakFacts(m))
	}
	return shown, nil
}

// soakFacts returns what tells of a soak what is not to be seen of any run: how its thresholds stand.
func soakFacts(m *soak.Monitor) func() []live.Fact {
	var latest []live.Fact
	var at time.Time
	return func() []live.Fact {
		if now := time.Now(); at.IsZero() || now.Sub(at) >= factsEvery {
			at, latest = now, factsOf(m.Document())
		}
		return append([]live.Fact(nil), latest...)
	}
}

func factsOf(d soak.Document) []live.Fact {
	var out []live.Fact
	for _, t := range d.Thresholds {
		fact := live.Fact{Name: t.Expr, Value: cmp.Or(t.Text, t.Missing), Bad: !t.OK && t.Missing == ""}
		if !t.OK && t.Missing == "" {
			fact.Value += ", not met"
		}
		out = append(out, fact)
	}
	if n := len(d.Stalls.ByCause); n > 0 {
		var causes []string
		for _, c := range d.Stalls.ByCause {
			causes = append(causes, fmt.Sprintf("%d × %s", c.Stalls, strings.TrimSpace(strings.ToUpper(string(c.Outcome))+" "+string(c.Cause))))
		}
		out = append(out, live.Fact{Name: "stalls", Value: strings.Join(causes, ", ")})
	}
	for _, l := range d.Leaks {
		if l.Verdict == series.VerdictLeaking {
			out = append(out, live.Fact{Name: l.Name, Value: string(l.Verdict), Bad: true})
		}
	}
	return out
}
