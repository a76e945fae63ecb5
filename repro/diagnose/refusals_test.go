package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/pacer"
)

// failedEvidence is a fleet of which so many agents failed of a status in its first seconds, while the
// others stream.
func failedEvidence(agents, failed, status int) *harness.Evidence {
	left := agents - failed
	return stallOf("failed-1", agents, agents, 2*m, 2*m).stream(left, 110*s, 0).
		set(func(ev *harness.Evidence) {
			t := &ev.Totals
			t.AgentsFailed, t.CallsFailed, t.CallsRefused, t.AttemptsStatus = failed, failed, failed, 3*failed
			if status == 503 {
				t.Attempts503 = 3 * failed
			} else if status == 429 {
				t.Attempts429 = 3 * failed
			}
			ev.Window = ev.Totals // no step has finished so far
		}).
		gauges(0, 700, gauge(harness.GaugeDecodeRunning, float64(left))).done()
}

// TestFailedAgentsAreSaid: agents that failed of refusals are told, whatever holds up the others.
func TestFailedAgentsAreSaid(t *testing.T) {
	for _, c := range []struct {
		name                   string
		agents, failed, status int
		outcome                Outcome
		cause                  Cause
		queue, storm           Status
		says                   string
	}{
		{"half of them, 503", 64, 32, 503, Failed, CauseRouterQueue, Supported, Refuted, "96 attempts ended with status 503, and 32 calls were given up after one"},
		{"some of them, 503", 64, 20, 503, Slow, CauseSlowServer, Supported, Refuted, "60 attempts ended with status 503, and 20 calls were given up after one"},
		{"almost all, 503", 2000, 1968, 503, Failed, CauseRouterQueue, Supported, Refuted, "5904 attempts ended with status 503"},
		{"half of them, 429", 64, 32, 429, Slow, CauseSlowServer, Refuted, Open, "96 attempts ended with status 429 (too many requests), and 32"},
		{"one, 401", 64, 1, 401, Slow, CauseSlowServer, Open, Open, "3 attempts ended with an error status, and 1 call was given up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Diagnose(failedEvidence(c.agents, c.failed, c.status), nil)
			if v.Outcome != c.outcome || v.Cause != c.cause || status(t, &v, CauseRouterQueue) != c.queue || status(t, &v, CauseRetryStorm) != c.storm {
				t.Errorf("%s, cause %s, queue %s, storm %s\n%s", v.Outcome, v.Cause, status(t, &v, CauseRouterQueue), status(t, &v, CauseRetryStorm), transcript(&v))
			}
			if !strings.Contains(v.Summary, c.says) || strings.Contains(v.Summary, "Nothing is stuck") {
				t.Errorf("want %q in %s", c.says, v.Summary)
			}
			if c.queue == Supported && !strings.Contains(strings.Join(v.Next, "\n"), "max-queued-requests") {
				t.Errorf("nothing says what to do about the refusals: %q", v.Next)
			}
			if v.Calls.Refused != 3*c.failed {
				t.Errorf("calls %+v", v.Calls)
			}
			checkWords(t, &v)
		})
	}
}

// TestWhatAgentsFailedOf: time limits and lost connections are told too, where agents failed.
func TestWhatAgentsFailedOf(t *testing.T) {
	ev := starvationEvidence()
	ev.Totals.AttemptsTimeout, ev.Totals.AttemptsNetwork, ev.Totals.AttemptsStatus, ev.Totals.Attempts503 = 7, 1, 3, 3
	if v := Diagnose(ev, nil); strings.Contains(v.Summary, "time limit") || strings.Contains(v.Summary, "503") {
		t.Errorf("nobody failed, and yet: %s", v.Summary)
	}
	ev.Totals.AgentsFailed = 2
	v := Diagnose(ev, nil)
	for _, want := range []string{"7 attempts have run into a time limit", "1 attempt was without a connection or lost it", "3 attempts ended with status 503, and no call was given up after one"} {
		if !strings.Contains(v.Summary, want) {
			t.Errorf("the summary lacks %q: %s", want, v.Summary)
		}
	}
	ev.Agents, ev.Calls, ev.Totals.AgentsDone = nil, nil, 28 // and when the run is over
	if end := Diagnose(ev, nil); end.Outcome != Failed || !strings.Contains(end.Summary, "3 attempts ended with status 503") {
		t.Errorf("%s: %s", end.Outcome, end.Summary)
	}
	if v.Cause != CauseStarvation || status(t, &v, CauseRouterQueue) != Refuted {
		t.Errorf("cause %s\n%s", v.Cause, transcript(&v))
	}
	checkWords(t, &v)
}

// retryAfterEvidence is a fleet whose calls were all refused with 429 and told to wait.
func retryAfterEvidence(calls int, after time.Duration) *harness.Evidence {
	b := blind(stallOf("retry-after-1", calls, 16, m, m))
	for range calls {
		c := b.newCall(pacer.StageBackoff, 55*s, 56*s)
		c.LastError = "pacer: HTTP status 429: slow down"
	}
	w := &b.ev.Window
	w.AttemptsStatus, w.Attempts429, w.RetryAfters, w.RetryAfterMax = calls, calls, calls, after
	w.Backoffs, w.BackoffWait = calls, time.Duration(calls)*2*m
	b.ev.Totals = *w
	return b.done()
}

// TestTooManyRequests: a server that answers 429 with Retry-After is said to, with numbers.
func TestTooManyRequests(t *testing.T) {
	v := Diagnose(retryAfterEvidence(2, 99999*s), nil)
	if v.Outcome != Slow || v.Layer != LayerPacer || status(t, &v, CauseRetryStorm) != Open || status(t, &v, CauseRouterQueue) != Refuted {
		t.Errorf("%s/%s, storm %s, queue %s\n%s", v.Outcome, v.Layer, status(t, &v, CauseRetryStorm), status(t, &v, CauseRouterQueue), transcript(&v))
	}
	for _, want := range []string{"2 attempts ended with status 429", "120.0 s long on average", "Retry-After, up to 99999.0 s"} {
		if !strings.Contains(v.Summary, want) {
			t.Errorf("the summary lacks %q: %s", want, v.Summary)
		}
	}
	for _, want := range []string{"policy.retry_after_max", "pacer.slots", "pacer.requests_per_second"} {
		if !strings.Contains(strings.Join(v.Next, "\n"), want) {
			t.Errorf("next lacks %q: %q", want, v.Next)
		}
	}
	checkWords(t, &v)
}

func TestRefusalsInWords(t *testing.T) {
	for _, c := range []struct {
		all, tooMany, unavailable int
		want                      string
	}{
		{1, 0, 1, "1 attempt ended with status 503"},
		{5, 5, 0, "5 attempts ended with status 429 (too many requests)"},
		{7, 0, 0, "7 attempts ended with an error status"},
		{9, 3, 4, "9 attempts ended with an error status (429: 3, 503: 4, others: 2)"},
		{-3, -1, 9, "0 attempts ended with an error status (503: 9)"},
	} {
		f := refusalsOf(&harness.Totals{AttemptsStatus: c.all, Attempts429: c.tooMany, Attempts503: c.unavailable})
		if got := f.text(); got != c.want {
			t.Errorf("%s: %q, want %q", fmt.Sprint(c), got, c.want)
		}
	}
}

// TestWhoeverIsRefusedMayHoldSlots: calls that wait for their next attempt with a slot in hand are not
// called alive.
func TestWhoeverIsRefusedMayHoldSlots(t *testing.T) {
	b := stallOf("backoff-1", 8, 4, 300*s, m)
	o := b.object("semaphore", SlotObject, 4)
	for range 4 {
		c := b.newCall(pacer.StageBackoff, 20*s, 200*s)
		c.HoldsSlot, c.Attempts = true, 2
		b.hold(o, c.Agent, c.ID, 200*s)
	}
	v := Diagnose(b.slot(4, m).done(), nil)
	if status(t, &v, CauseStarvation) != Open || strings.Contains(v.Summary, "alive") {
		t.Errorf("%s\n%s", v.Outcome, transcript(&v))
	}
	checkWords(t, &v)
}
