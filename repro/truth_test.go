package repro_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
)

// TestVerdictsDoNotRestOnTheSimulation: what the simulation shows of itself beyond a real run must not
// matter. A simulated tool waits in the world, by sleeping or, if it hangs, at a latch that tells so;
// in a real run nothing is seen but an agent in a tool. And a real server's refusals say what they like.
func TestVerdictsDoNotRestOnTheSimulation(t *testing.T) {
	for _, name := range catalogue() {
		r, err := repro.Run(context.Background(), lookup(t, name), repro.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, e := range r.Report.Episodes {
			want := diagnose.Diagnose(e.Latest, e.Before)
			got := diagnose.Diagnose(asReal(e.Latest), asReal(e.Before))
			if got.Outcome != want.Outcome || got.Layer != want.Layer || got.Cause != want.Cause || got.Summary != want.Summary {
				t.Errorf("%s, episode %d: %s %s %s, want %s %s %s\n%s\n%s", name, e.Number,
					got.Outcome, got.Layer, got.Cause, want.Outcome, want.Layer, want.Cause, got.Summary, want.Summary)
			}
		}
	}
}

// asReal returns evidence without what only simulated tools and servers show.
func asReal(e *harness.Evidence) *harness.Evidence {
	if e == nil {
		return nil
	}
	real := *e
	real.Setup.SimulatedModel, real.Setup.Servers = false, "https://example.com/v1"
	real.Objects = slices.DeleteFunc(slices.Clone(e.Objects), func(o sim.ObjectState) bool { return o.Kind == "latch" })
	real.Agents = slices.Clone(e.Agents)
	for i := range real.Agents {
		a := &real.Agents[i]
		if strings.HasPrefix(a.Waits, "latch ") || a.Waits == "sleep" {
			a.Waits = ""
		}
		a.WaitsOn = slices.DeleteFunc(slices.Clone(a.WaitsOn), func(what string) bool { return strings.HasPrefix(what, "tool ") })
	}
	real.Processes = slices.Clone(e.Processes)
	for i := range real.Processes {
		if p := &real.Processes[i]; strings.HasPrefix(p.WaitsFor, "latch ") || p.WaitsFor == "sleep" {
			p.WaitsFor, p.Since = "", 0
		}
	}
	real.Calls = slices.Clone(e.Calls)
	for i := range real.Calls {
		if c := &real.Calls[i]; c.LastError != "" && c.Stage != pacer.StageDone {
			c.LastError = "HTTP status 500: oops"
		}
	}
	return &real
}
