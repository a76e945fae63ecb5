package harness

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/pacer"
)

// What counts as an answer that came late, and as one that came at once. A proxy that holds an answer
// back hands it over as fast as the network takes it; no model makes tokens at such a rate.
const (
	lateAnswer       = 10 * time.Second // from sent to the first token, at least
	lateAnswerTokens = 32               // at least: a few tokens may well come together
	atOnceTokens     = 1000             // a second, at least
	atOnceWaits      = 5                // times as long as the tokens took was the wait for the first, at least
)

// ended counts an attempt that has ended.
func (t *Totals) ended(s *pacer.CallState, r *pacer.AttemptResult) {
	t.TokensReceived += r.Tokens
	if r.Outcome != pacer.AttemptOK {
		t.TokensWasted += r.Tokens - r.Kept
	}
	out := s.Stage == pacer.StageHeaders || s.Stage == pacer.StageFirstToken || s.Stage == pacer.StageStream
	switch r.Outcome {
	case pacer.AttemptOK:
		t.completed(s)
	case pacer.AttemptTimeout:
		t.AttemptsTimeout++
		t.limited(pacer.Limit(r.Limit))
	case pacer.AttemptStatus:
		t.refused(r)
	case pacer.AttemptNetwork:
		t.AttemptsNetwork++
	case pacer.AttemptLost:
		t.AttemptsLost++
	case pacer.AttemptRejected, pacer.AttemptShed:
		t.turnedAway(r)
	}
	if out && (r.Outcome == pacer.AttemptTimeout || r.Outcome == pacer.AttemptCanceled || r.Outcome == pacer.AttemptLost) {
		t.Left++
	}
}

// turnedAway counts an attempt that the pacer itself did not send.
func (t *Totals) turnedAway(r *pacer.AttemptResult) {
	if r.Outcome == pacer.AttemptShed {
		t.AttemptsShed++
	} else {
		t.AttemptsRejected++
	}
	if by, ok := errors.AsType[*pacer.RejectedError](r.Err); ok && by.By == pacer.ByBreaker {
		t.RejectedBreaker++
	}
	if !r.Again {
		t.CallsTurnedAway++
	}
}

// callFailed counts a call that has ended with an error.
func (t *Totals) callFailed(s *pacer.CallState, err error) {
	t.CallsFailed++
	t.TokensWasted += s.Kept
	over, limited := errors.AsType[*pacer.LimitError](err)
	given, ok := errors.AsType[*pacer.CallError](err)
	switch {
	case limited && over.Limit == pacer.LimitCallTotal, ok && given.Stop == pacer.StopCallTotal:
		t.CallsOutOfTime++
	case ok && given.Stop == pacer.StopBudget:
		t.CallsOverBudget++
	}
}

// outOfTime counts a task that has failed, if that is because it took too long.
func (t *Totals) outOfTime(err error) {
	over, ok := errors.AsType[*agents.LimitError](err)
	switch {
	case !ok:
	case over.Limit == agents.LimitRound:
		t.RoundLimits++
	case over.Limit == agents.LimitTask:
		t.TaskLimits++
	}
}

// answered counts an attempt whose response headers have come.
func (t *Totals) answered(s *pacer.CallState) {
	t.Answered++
	wait := s.Headers.Sub(s.Sent)
	t.HeadersWait += wait
	t.HeadersWaitMax = max(t.HeadersWaitMax, wait)
	t.AnsweredSent = max(t.AnsweredSent, s.Sent)
}

// completed counts an attempt that ended well, at this instant.
func (t *Totals) completed(s *pacer.CallState) {
	t.AttemptsOK++
	t.AttemptsTook += s.LastByte.Sub(s.Sent)
	t.PromptTokensMax = max(t.PromptTokensMax, s.PromptTokens)
	if s.Stage != pacer.StageStream || s.Tokens < lateAnswerTokens {
		return
	}
	wait, took := s.FirstToken.Sub(s.Sent), s.LastToken.Sub(s.FirstToken)
	if wait < lateAnswer {
		return
	}
	t.AnswersLate++
	if took*atOnceTokens <= time.Duration(s.Tokens)*time.Second && took*atOnceWaits <= wait {
		t.AnswersAtOnce++
	}
}

// limited counts an attempt that a time limit has ended.
func (t *Totals) limited(by pacer.Limit) {
	switch by {
	case pacer.LimitConnect, pacer.LimitDial:
		t.TimeoutsConnect++
	case pacer.LimitResponseHeader:
		t.TimeoutsHeader++
	case pacer.LimitFirstToken:
		t.TimeoutsFirst++
	case pacer.LimitIdle:
		t.TimeoutsIdle++
	case pacer.LimitTotal:
		t.TimeoutsTotal++
	case pacer.LimitWork:
		t.TimeoutsWork++
	case pacer.LimitCallTotal:
		t.TimeoutsCall++
	}
}

// refused counts an attempt that ended with an error status.
func (t *Totals) refused(r *pacer.AttemptResult) {
	t.AttemptsStatus++
	switch r.Status {
	case http.StatusTooManyRequests:
		t.Attempts429++
	case http.StatusServiceUnavailable:
		t.Attempts503++
	}
	if !r.Again && !r.Beside {
		t.CallsRefused++
	}
	status, ok := errors.AsType[*pacer.StatusError](r.Err)
	if !ok {
		return
	}
	if r.Status == http.StatusServiceUnavailable {
		switch text := strings.ToLower(status.Message); {
		case strings.Contains(text, "queue is full"):
			t.Attempts503Full++
		case strings.Contains(text, "no available"):
			t.Attempts503Workers++
		}
	}
	if status.HasRetryAfter {
		t.RetryAfters++
		t.RetryAfterMax = max(t.RetryAfterMax, status.RetryAfter)
	}
}

// window returns what has happened since the latest step.
func (l *Ledger) window() Totals {
	t, from := l.total, &l.atStep
	t.AgentsDone -= from.AgentsDone
	t.AgentsFailed -= from.AgentsFailed
	t.RoundLimits -= from.RoundLimits
	t.TaskLimits -= from.TaskLimits
	t.Steps -= from.Steps
	t.CallsCompleted -= from.CallsCompleted
	t.CallsFailed -= from.CallsFailed
	t.CallsRefused -= from.CallsRefused
	t.ToolCalls -= from.ToolCalls
	t.ToolErrors -= from.ToolErrors
	t.lessAttempts(from)
	return t
}

// lessAttempts takes off what is counted of attempts.
func (t *Totals) lessAttempts(from *Totals) {
	t.Attempts -= from.Attempts
	t.AttemptsTimeout -= from.AttemptsTimeout
	t.AttemptsStatus -= from.AttemptsStatus
	t.AttemptsNetwork -= from.AttemptsNetwork
	t.Attempts429 -= from.Attempts429
	t.Attempts503 -= from.Attempts503
	t.Attempts503Full -= from.Attempts503Full
	t.Attempts503Workers -= from.Attempts503Workers
	t.Backoffs -= from.Backoffs
	t.BackoffWait -= from.BackoffWait
	t.RetryAfters -= from.RetryAfters
	t.TokensReceived -= from.TokensReceived
	t.TokensWasted -= from.TokensWasted
	t.Left -= from.Left
	t.TimeoutsConnect -= from.TimeoutsConnect
	t.TimeoutsHeader -= from.TimeoutsHeader
	t.TimeoutsFirst -= from.TimeoutsFirst
	t.TimeoutsIdle -= from.TimeoutsIdle
	t.TimeoutsTotal -= from.TimeoutsTotal
	t.TimeoutsWork -= from.TimeoutsWork
	t.TimeoutsCall -= from.TimeoutsCall
	t.Hedges -= from.Hedges
	t.AttemptsLost -= from.AttemptsLost
	t.AttemptsRejected -= from.AttemptsRejected
	t.AttemptsShed -= from.AttemptsShed
	t.RejectedBreaker -= from.RejectedBreaker
	t.CallsTurnedAway -= from.CallsTurnedAway
	t.CallsOverBudget -= from.CallsOverBudget
	t.CallsOutOfTime -= from.CallsOutOfTime
	t.Answered -= from.Answered
	t.HeadersWait -= from.HeadersWait
	t.AttemptsOK -= from.AttemptsOK
	t.AttemptsTook -= from.AttemptsTook
	t.AnswersLate -= from.AnswersLate
	t.AnswersAtOnce -= from.AnswersAtOnce
}
