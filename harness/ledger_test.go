package harness

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// TestWindowSubtractsEverything fills all totals: a field that somebody adds must be part of a window too.
func TestWindowSubtractsEverything(t *testing.T) {
	l := NewLedger(sim.NewVirtual(sim.VirtualOptions{}), nil)
	total, atStep := reflect.ValueOf(&l.total).Elem(), reflect.ValueOf(&l.atStep).Elem()
	for i := range total.NumField() {
		total.Field(i).SetInt(int64(100 + i))
		atStep.Field(i).SetInt(90)
	}
	window := l.window()
	for i := range total.NumField() {
		name := reflect.TypeFor[Totals]().Field(i).Name
		want := int64(10 + i)
		switch name {
		case "RetryAfterMax", "HeadersWaitMax", "AnsweredSent", "PromptTokensMax": // the longest or latest of some is not known
			want = int64(100 + i)
		}
		if got := reflect.ValueOf(window).Field(i).Int(); got != want {
			t.Errorf("%s: %d in the window, want %d", name, got, want)
		}
	}
}

// TestToolStats: calls that ran count, however they ended; those that could not be made do not.
func TestToolStats(t *testing.T) {
	l := NewLedger(sim.NewVirtual(sim.VirtualOptions{}), nil)
	if l.toolStats() == nil {
		t.Error("no tools are null in JSON")
	}
	agent := &agents.State{Name: "agent-01"}
	for _, c := range []agents.ToolCall{
		{Tool: agents.ToolWrite, Took: 2 * time.Second, InRange: true},
		{Tool: agents.ToolAppend, Took: 3 * time.Second, InRange: true},
		{Tool: agents.ToolWrite, Took: time.Second, InRange: false},
		{Tool: agents.ToolWrite, Took: time.Hour, Error: "text is missing"},
		{Tool: agents.ToolUnknown, Took: time.Second, Error: "there is no such tool"},
	} {
		l.AgentObserver().ToolCalled(agent, c)
	}
	want := []ToolStats{{agents.ToolAppend, 1, 3 * time.Second}, {agents.ToolWrite, 2, 2 * time.Second}}
	if got := l.toolStats(); !slices.Equal(got, want) {
		t.Errorf("tools %+v, want %+v", got, want)
	}
	if l.total.ToolCalls != 5 {
		t.Errorf("%d tool calls, want all 5", l.total.ToolCalls)
	}
}

// TestRefusals counts what attempts ended with, by status, and the waits that followed.
// TestUnheard: a sub-agent that has ended is told of until its parent no longer waits for it.
func TestUnheard(t *testing.T) {
	l := NewLedger(sim.NewVirtual(sim.VirtualOptions{}), nil)
	o := l.AgentObserver()
	parent := &agents.State{Name: "agent-01", WaitsFor: []string{"results for agent-01", "agent-01.s1", "agent-01.s2"}}
	o.AgentStarted(parent)
	for i, err := range []error{nil, errors.New("refused")} {
		child := &agents.State{Name: fmt.Sprintf("agent-01.s%d", i+1), Parent: "agent-01"}
		o.AgentStarted(child)
		o.AgentEnded(child, err)
	}
	one, two := AgentEnd{Name: "agent-01.s1", Parent: "agent-01"}, AgentEnd{Name: "agent-01.s2", Parent: "agent-01", Err: "refused"}
	if got, want := l.unheard(), []AgentEnd{one, two}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	parent.WaitsFor = parent.WaitsFor[2:]
	if got, want := l.unheard(), []AgentEnd{two}; !slices.Equal(got, want) {
		t.Errorf("once it has heard of the first: %+v, want %+v", got, want)
	}
	o.ToolCalled(parent, agents.ToolCall{Tool: agents.ToolSubAgent})
	if got := l.unheard(); got != nil {
		t.Errorf("once it goes on: %+v, want none", got)
	}
}

func TestRefusals(t *testing.T) {
	l := NewLedger(sim.NewVirtual(sim.VirtualOptions{}), nil)
	state := &pacer.CallState{ID: "a-c1", Agent: "a"}
	for _, c := range []struct {
		status     int
		message    string
		retryAfter time.Duration
		again      bool
		delay      time.Duration
	}{
		{status: http.StatusTooManyRequests, retryAfter: time.Minute, again: true, delay: 66 * time.Second},
		{status: http.StatusTooManyRequests, retryAfter: 20 * time.Second, again: true, delay: 22 * time.Second},
		{status: http.StatusServiceUnavailable, message: "The request queue is full.", again: true, delay: 2 * time.Second},
		{status: http.StatusServiceUnavailable, message: "No available servers: No available decode workers (all circuits open or unhealthy)"},
		{status: http.StatusUnauthorized},
	} {
		err := &pacer.StatusError{Status: c.status, Message: c.message, RetryAfter: c.retryAfter, HasRetryAfter: c.retryAfter > 0}
		r := pacer.AttemptResult{Outcome: pacer.AttemptStatus, Status: c.status, Err: fmt.Errorf("attempt: %w", err), Again: c.again, Delay: c.delay}
		l.CallObserver().AttemptEnded(state, r)
	}
	l.CallObserver().AttemptEnded(state, pacer.AttemptResult{Outcome: pacer.AttemptNetwork, Err: errors.New("reset"), Again: true, Delay: time.Second})
	want := Totals{
		AttemptsStatus: 5, AttemptsNetwork: 1, Attempts429: 2, Attempts503: 2, Attempts503Full: 1, Attempts503Workers: 1, CallsRefused: 2,
		Backoffs: 4, BackoffWait: 91 * time.Second, RetryAfters: 2, RetryAfterMax: time.Minute,
	}
	if l.total != want {
		t.Errorf("totals %+v, want %+v", l.total, want)
	}
}

// TestAnswers counts how attempts were answered and why they were left.
func TestAnswers(t *testing.T) {
	at := func(d time.Duration) sim.Instant { return sim.Instant(d) }
	l := NewLedger(sim.NewVirtual(sim.VirtualOptions{}), nil)
	play := func(s pacer.CallState, outcome string, limit pacer.Limit) {
		reached := s.Stage
		s.ID, s.Agent, s.Stage = "a-c1", "a", pacer.StageHeaders
		if reached >= pacer.StageFirstToken {
			s.Stage = pacer.StageFirstToken
			l.CallObserver().StageChanged(&s, pacer.StageHeaders)
		}
		s.Stage = reached
		l.CallObserver().AttemptEnded(&s, pacer.AttemptResult{Outcome: outcome, Limit: string(limit), Tokens: s.Tokens})
	}
	answer := func(sent, headers, first, last time.Duration, tokens, prompt int) pacer.CallState {
		return pacer.CallState{
			Stage: pacer.StageStream, PromptTokens: prompt, Sent: at(sent), Headers: at(headers), FirstToken: at(first),
			LastToken: at(last), LastByte: at(last), Tokens: tokens,
		}
	}
	const s = time.Second
	play(answer(100*s, 102*s, 102*s, 182*s, 4000, 900), pacer.AttemptOK, "")                       // steady
	play(answer(10*s, 90*s, 90*s, 90*s+100*time.Millisecond, 4000, 1200), pacer.AttemptOK, "")     // held back
	play(answer(10*s, 190*s, 190*s, 194*s, 200, 100), pacer.AttemptOK, "")                         // long in a queue
	play(answer(10*s, 190*s, 190*s, 190*s, 31, 100), pacer.AttemptOK, "")                          // too short to tell
	play(answer(5*s, 7*s, 8*s, 20*s, 100, 5000), pacer.AttemptTimeout, pacer.LimitIdle)            // left
	play(pacer.CallState{Stage: pacer.StageHeaders, Sent: at(300 * s)}, pacer.AttemptCanceled, "") // left
	play(pacer.CallState{Stage: pacer.StageConnect}, pacer.AttemptTimeout, pacer.LimitConnect)     // never sent
	want := Totals{
		TokensReceived: 4000 + 4000 + 200 + 31 + 100, TokensWasted: 100, Left: 2, AttemptsTimeout: 2, TimeoutsConnect: 1, TimeoutsIdle: 1,
		Answered: 5, HeadersWait: (2 + 80 + 180 + 180 + 2) * s, HeadersWaitMax: 180 * s, AnsweredSent: at(100 * s),
		AttemptsOK: 4, AttemptsTook: (82+80+184+180)*s + 100*time.Millisecond, AnswersLate: 2, AnswersAtOnce: 1, PromptTokensMax: 1200,
	}
	if l.total != want {
		t.Errorf("totals\n%+v, want\n%+v", l.total, want)
	}
}

// TestEpisodeKnowsWhoEndedIt: the agent whose step ends a stall is part of its last evidence.
func TestEpisodeKnowsWhoEndedIt(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World) {
		s := script{steps: [][]time.Duration{{10 * time.Second}, {5 * time.Second, 100 * time.Second}}, stuck: []bool{true}}
		s.options.Horizon = 1000 * time.Second
		r, err := s.run(t, w, t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ended, open := r.Episodes[0], r.Episodes[1]
		if ended.EndedBy != "agent-02" || ended.Latest.EndedBy != "agent-02" || ended.Latest.EndedAt != sec(100) {
			t.Errorf("the first stall ended at %v by %q, its evidence says %q", ended.EndedAt, ended.EndedBy, ended.Latest.EndedBy)
		}
		if got := ended.Latest.EndTotals.Steps; got != ended.Latest.Totals.Steps+1 {
			t.Errorf("%d steps when the first stall ended, want one more than the %d at its capture", got, ended.Latest.Totals.Steps)
		}
		if !open.Open() || open.EndedBy != "" || open.Latest.EndedBy != "" {
			t.Errorf("the second stall did not end, and yet ended by %q", open.EndedBy)
		}
		if got, want := open.Latest.Setup.Captures, DefaultWatchdog().Captures; !slices.Equal(got, want) {
			t.Errorf("captures at %v times the patience, want %v", got, want)
		}
	})
}
