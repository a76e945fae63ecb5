package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/wedge/harness"
	"example.com/wedge/repro"
	"example.com/wedge/repro/live"
	"example.com/wedge/repro/series"
)

// listenTokenVariable is the environment variable with the token that who watches a run by --listen must bear.
const listenTokenVariable = "WEDGE_LISTEN_TOKEN"

// registerListen offers --listen.
func registerListen(flags *pflag.FlagSet, listen *string) {
	flags.StringVar(listen, "listen", "", "show the run live at this address, such as 127.0.0.1:8080 (port 0: any): a web page, /metrics for Prometheus, /debug/pprof. "+
		"Loopback only, unless there is a token in "+listenTokenVariable)
}

// watching is how a run is shown while it goes on. Made by [manner.show].
type watching struct {
	view   *live.View
	server *live.Server
	screen *screen // nil: there is none
	stop   func()  // of the line
	stderr io.Writer
}

// manner is how a run is to be shown.
type manner struct {
	listen string // address of the page; empty: none
	screen bool   // on a terminal
	quiet  bool   // neither screen nor line nor a word about the page
	// counts returns what is counted of the run, for /metrics. nil: that is not known.
	counts func() (series.Cumulative, bool)
}

// show makes ready to show a run. close must follow. The error is for an address that will not do.
func (m *manner) show(cmd *cobra.Command, run live.Run) (*watching, error) {
	w := &watching{stderr: cmd.ErrOrStderr(), stop: func() {}}
	run.Version = version()
	if m.screen && !m.quiet {
		w.screen = screenOn(cmd.Context(), w.stderr)
	}
	if m.listen == "" && w.screen == nil {
		return w, nil
	}
	w.view = live.NewView(run)
	if m.listen == "" {
		return w, nil
	}
	server, err := live.Listen(live.Options{Listen: m.listen, Token: os.Getenv(listenTokenVariable), View: w.view, Cumulative: m.counts})
	if err != nil {
		w.view.Stop()
		return nil, badListen(err)
	}
	w.server = server
	if w.screen != nil {
		w.screen.url = server.URL()
	} else if !m.quiet {
		fmt.Fprintf(w.stderr, "wedge: to be watched at %s\n", server.URL())
	}
	return w, nil
}

// badListen is the error of an address that will not do.
func badListen(err error) error {
	msg := err.Error()
	if strings.Contains(msg, "want a loopback host") && os.Getenv(listenTokenVariable) == "" {
		msg += " without a token in " + listenTokenVariable
	}
	return &repro.InputError{Source: "--listen", Msg: msg}
}

// show makes ready to show a run of a scenario, and to count what happens in it if that is asked for.
func (f *runFlags) show(cmd *cobra.Command, s *repro.Scenario, o *repro.Options) (*watching, error) {
	m := manner{listen: f.listen, quiet: f.quiet, screen: o.Clock == repro.ClockWall && !f.line}
	if f.listen != "" {
		m.counts = countIn(o, s)
	}
	run := liveRun(cmd, s, o)
	run.Tasks = s.TaskCount()
	return m.show(cmd, run)
}

// liveRun says which run it is.
func liveRun(cmd *cobra.Command, s *repro.Scenario, o *repro.Options) live.Run {
	return live.Run{
		Command: cmd.Name(), Scenario: s.Name, Seed: s.Seed, Clock: string(o.Clock), Scale: o.Scale, Model: s.Workflow.Model, Evidence: o.Out,
	}
}

// countIn has what happens in a run counted, and returns what asks for it, from any goroutine.
func countIn(o *repro.Options, s *repro.Scenario) (counts func() (series.Cumulative, bool)) {
	o.Tap, counts = counted(s.Watchdog.StallAfter, o.Tap)
	return counts
}

// counted returns a tap that counts what happens in a run, besides what another one does, which may be nil, and what
// asks for the counts, from any goroutine.
func counted(stallAfter time.Duration, besides func(repro.Inside) repro.Tap) (tap func(repro.Inside) repro.Tap, counts func() (series.Cumulative, bool)) {
	type counting struct {
		in    repro.Inside
		meter *series.Meter
	}
	var now atomic.Pointer[counting] // nil: the run has not begun
	tap = func(in repro.Inside) repro.Tap {
		meter := series.NewMeter(in.World, series.Options{StallAfter: stallAfter, Stalls: in.Stalls})
		now.Store(&counting{in, meter})
		t := repro.Tap{Calls: meter.CallObserver(), Agents: meter.AgentObserver()}
		if besides == nil {
			return t
		}
		return besides(in).And(t)
	}
	return tap, func() (c series.Cumulative, ok bool) {
		run := now.Load()
		if run == nil {
			return c, false
		}
		ok = run.in.Ask(func() {
			run.in.World.Lock()
			defer run.in.World.Unlock()
			c = run.meter.Snapshot(run.in.World.Now())
		})
		return c, ok
	}
}

// begin shows a run that has begun. Without a screen line is shown; nil: it is not. facts may be nil.
func (w *watching) begin(progress func() harness.Progress, line func() string, facts func() []live.Fact) {
	if w.view != nil {
		w.view.Attach(progress, facts)
	}
	switch {
	case w.screen != nil:
		w.screen.begin(w.view)
	case line != nil:
		w.stop = showLines(w.stderr, line)
	}
}

// say says something while the run is shown.
func (w *watching) say(line string) {
	if w.screen != nil {
		w.screen.say(line)
		return
	}
	fmt.Fprintln(w.stderr, line)
}

// close ends the showing. It may be called more than once.
func (w *watching) close() error {
	w.stop()
	w.stop = func() {}
	if w.view != nil {
		w.view.Stop()
	}
	if w.screen != nil {
		w.screen.end()
	}
	if w.server == nil {
		return nil
	}
	if err := w.server.Close(); err != nil {
		return errors.Join(errors.New("--listen"), err)
	}
	return nil
}
