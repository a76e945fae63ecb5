package main

import (
	"testing"

	"example.com/wedge/harness"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/live"
)

// FuzzScreen shows runs with any names in terminals of any size: the terminal of the tests fails what it does not know,
// and lines that are too long.
func FuzzScreen(f *testing.F) {
	f.Add("agent-07", uint8(80), uint8(24))
	f.Add("\x1b]0;title\a\x1b[2J\r\n\u202e\x00\xff", uint8(40), uint8(12))
	f.Add("作家한글é́👩‍👩‍👧", uint8(7), uint8(3))
	f.Fuzz(func(t *testing.T, name string, width, height uint8) {
		p := watched()
		p.Oldest.ID, p.GaugesErr, p.LastStall.EndedBy = name, "", name
		p.Gauges = append(p.Gauges, harness.Gauge{Name: name, Value: -1e300})
		p.LastStall.Verdict = diagnose.Verdict{Outcome: diagnose.Outcome(name), Cause: diagnose.Cause(name), Summary: name}
		v := live.NewView(live.Run{Command: "run", Scenario: name, Evidence: name, UntilS: 1})
		defer v.Stop()
		news, forget := v.Watch()
		defer forget()
		v.Attach(func() harness.Progress { return p }, func() []live.Fact { return []live.Fact{{Name: name, Value: name}} })
		<-news
		term := newFakeTerminal(t, int(width)+1, int(height)+1)
		s := newScreen(term, term.size, style{color: true})
		s.say(name)
		s.draw(v)
		s.draw(v)
	})
}
