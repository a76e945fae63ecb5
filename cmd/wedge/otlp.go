package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/wedge/repro"
	"example.com/wedge/repro/soak"
	"example.com/wedge/repro/telemetry"
)

// otlpFlag is where a run is to be sent as spans and metrics. The zero value is nowhere.
type otlpFlag struct {
	url      string
	exporter *telemetry.Exporter
	say      func(line string)
}

func (f *otlpFlag) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.url, "otlp", "", "send spans and metrics to an OpenTelemetry receiver (OTLP over HTTP), such as http://127.0.0.1:4318; headers from OTEL_EXPORTER_OTLP_HEADERS")
}

// run has the run of a scenario sent, if that is asked for; what is wrong with the receiver is said while it goes on.
// close must follow. The error is for a receiver that cannot be one.
func (f *otlpFlag) run(cmd *cobra.Command, s *repro.Scenario, o *repro.Options, say func(line string)) error {
	if !cmd.Flags().Changed("otlp") {
		return nil
	}
	t := telemetry.Options{Scenario: s.Name, Seed: s.Seed, Clock: string(o.Clock), Scale: o.Scale, Model: s.Workflow.Model, Counts: countIn(o, s)}
	if o.Server != nil {
		t.Server = o.Server.BaseURL
	}
	exporter, err := f.start(t, say)
	if err != nil {
		return err
	}
	o.JournalTee = exporter
	return nil
}

// soak is run for a soak. What soak it is, is known when it begins: it may be one that goes on.
func (f *otlpFlag) soak(cmd *cobra.Command, o *soak.Options, say func(line string)) error {
	if !cmd.Flags().Changed("otlp") {
		return nil
	}
	if err := telemetry.Check(f.url); err != nil {
		return badReceiver(err)
	}
	tee := &laterTee{to: io.Discard}
	o.Run.JournalTee = tee
	before := o.Started
	o.Started = func(m *soak.Monitor) {
		if before != nil {
			before(m)
		}
		d := m.Document()
		t := telemetry.Options{Scenario: d.Scenario, Seed: d.Seed, Clock: d.Clock, Scale: d.Scale, Model: m.Model(), Counts: m.Snapshot}
		if d.Server != nil {
			t.Server = d.Server.BaseURL
		}
		exporter, err := f.start(t, say)
		if err != nil {
			say("wedge: " + plainText(oneLine(err.Error())))
			return
		}
		tee.to = exporter
	}
	return nil
}

// laterTee is a tee whose end is known before the first line comes.
type laterTee struct{ to io.Writer }

func (t *laterTee) Write(line []byte) (int, error) { return t.to.Write(line) }

func (f *otlpFlag) start(t telemetry.Options, say func(line string)) (*telemetry.Exporter, error) {
	f.say = say
	t.Endpoint, t.Version, t.Wait = f.url, version(), t.Clock != string(repro.ClockWall)
	t.Warn = func(line string) { say("wedge: " + plainText(oneLine(line))) }
	exporter, err := telemetry.New(t)
	if err != nil {
		return nil, badReceiver(err)
	}
	f.exporter = exporter
	return exporter, nil
}

func badReceiver(err error) error { return &repro.InputError{Source: "--otlp", Msg: err.Error()} }

// close sends what is left. It may be called more than once.
func (f *otlpFlag) close() {
	if f.exporter == nil {
		return
	}
	stats := f.exporter.Close()
	f.exporter = nil
	if stats.LinesDropped > 0 {
		f.say(fmt.Sprintf("wedge: --otlp: %d lines of the journal came faster than they could be sent: some spans are missing", stats.LinesDropped))
	}
}
