package diagnose

import (
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// TestLogForm finds out when a log has its finished lines, and what follows for each attempt.
func TestLogForm(t *testing.T) {
	at := func(seconds float64) sim.Instant { return sim.Instant(seconds * float64(s)) }
	stream := func(last float64) pacer.CallState { // sent at 10 s, headers at 20 s
		return pacer.CallState{AttemptID: "x", Stage: pacer.StageStream, Sent: at(10), Headers: at(20), FirstToken: at(20), Tokens: 9, LastToken: at(last), LastByte: at(last)}
	}
	waits := pacer.CallState{AttemptID: "x", Stage: pacer.StageHeaders, Sent: at(10)}
	answer := func(seconds float64) *harness.RouterView {
		return &harness.RouterView{Started: 9, Finished: 9, Answered: []harness.RouterAnswer{{ID: "x", At: at(seconds), Status: 200}}}
	}
	open := &harness.RouterView{Started: 9, Finished: 8, Open: []harness.RouterRequest{{ID: "x", Since: at(10)}}}
	slow := harness.Totals{Answered: 10, HeadersWait: 80 * s, AttemptsOK: 10, AttemptsTook: 1500 * s}
	latency := func(d time.Duration) *harness.RouterView {
		return &harness.RouterView{Started: 9, Finished: 9, LatencyMean: d}
	}
	for _, c := range []struct {
		name        string
		call        pacer.CallState
		router      *harness.RouterView
		totals      harness.Totals
		form        logForm
		has, denies bool
	}{
		{"finished, and tokens since", stream(95), answer(20), harness.Totals{}, formHeaders, true, false},
		{"finished, a whole second early, and no token since", stream(20.9), answer(20), harness.Totals{}, formUnknown, true, false},
		{"finished long after the headers and the last token", stream(50), answer(70), harness.Totals{}, formEnd, false, true},
		{"under way and open", stream(95), open, harness.Totals{}, formEnd, true, false},
		{"waits and open", waits, open, harness.Totals{}, formUnknown, true, false},
		{"waits and finished", waits, answer(20), harness.Totals{}, formUnknown, false, false},
		{"waits and never heard of", waits, latency(0), harness.Totals{}, formUnknown, false, true},
		{"waits and perhaps forgotten", waits, &harness.RouterView{Started: 9, AnsweredFrom: at(11)}, harness.Totals{}, formUnknown, false, false},
		{"latencies like the time to headers", waits, latency(9 * s), slow, formHeaders, false, true},
		{"latencies like whole answers", waits, latency(140 * s), slow, formEnd, false, true},
		{"latencies like both", waits, latency(9 * s), harness.Totals{Answered: 10, HeadersWait: 80 * s, AttemptsOK: 10, AttemptsTook: 90 * s}, formUnknown, false, true},
		{"no log", stream(95), nil, slow, formUnknown, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ev := &harness.Evidence{At: at(100), Calls: []pacer.CallState{c.call}, Router: c.router, Totals: c.totals}
			l := readLines(ev)
			if has, denies := l.has(0, &c.call), l.denies(0, &c.call); l.form != c.form || has != c.has || denies != c.denies {
				t.Errorf("form %d, has %v, denies %v; want %d, %v, %v", l.form, has, denies, c.form, c.has, c.denies)
			}
		})
	}
}
