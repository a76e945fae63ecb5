package diagnose

import (
	"fmt"
	"strings"
	"time"

	"example.com/wedge/harness"
)

// retryStorm: refusals are met with retries at once, or all together.
func retryStorm() cause {
	return cause{
		name: CauseRetryStorm, outcome: Storming, layer: LayerPacer,
		judge: func(r *reading, j *judgement) { judgeRefusals(r, j, false) },
		because: func(r *reading) string {
			w := &r.now.Window
			text := fmt.Sprintf("Refused requests are sent again and again: %s in the stall, and no call completed.", refusalsOf(w).text())
			if !r.refusedNow() {
				text += fmt.Sprintf(" That has just ended: all that is out now was sent within the last %s.", secs(r.oldestSent()))
			}
			return text
		},
		next: func(r *reading) []string {
			return append([]string{"longer backoff with full jitter: --set policy.jitter=full, and a longer policy.backoff_base"}, r.refusalAdvice()...)
		},
	}
}

// routerQueue: the router's queue is full, it answers 503, and the requests come back at once.
func routerQueue() cause {
	return cause{
		name: CauseRouterQueue, outcome: Storming, layer: LayerRouter,
		judge: func(r *reading, j *judgement) { judgeRefusals(r, j, true) },
		because: func(r *reading) string {
			text := "The router has as many requests as it takes and refuses what comes on top: "
			if r.refusedNow() || r.stormPassed() {
				return text + refusalsOf(&r.now.Window).text() + " in the stall, and no call completed."
			}
			return text + refusalsOf(&r.now.Totals).text() + " since the start of the run, and " + r.givenUp() + "."
		},
		next: func(r *reading) []string {
			return []string{"fewer requests at once than the router's limit (max-queued-requests): fewer slots (pacer.slots), or a higher limit", "back off for longer after a 503, and more often: policy.backoff_base, policy.max_attempts"}
		},
	}
}

// refusals counts attempts that ended with an error status. Evidence that does not tell statuses apart
// has them all under other.
type refusals struct {
	all, tooMany, unavailable, other int
	full, workers                    int // of unavailable: those that say that a queue is full, or that there is no worker
}

func refusalsOf(t *harness.Totals) refusals {
	f := refusals{
		all: max(0, t.AttemptsStatus), tooMany: max(0, t.Attempts429), unavailable: max(0, t.Attempts503),
		full: max(0, t.Attempts503Full), workers: max(0, t.Attempts503Workers),
	}
	f.other = max(0, f.all-f.tooMany-f.unavailable)
	return f
}

// told says whether any status is known.
func (f refusals) told() bool { return f.tooMany+f.unavailable > 0 }

// text writes such as "96 attempts ended with status 503", or "5 attempts ended with an error status
// (429: 3, others: 2)".
func (f refusals) text() string {
	attempts := count(f.all, "attempt") + " ended with "
	switch {
	case f.tooMany == f.all && f.all > 0:
		return attempts + "status 429 (too many requests)"
	case f.unavailable == f.all && f.all > 0:
		return attempts + "status 503"
	case !f.told():
		return attempts + "an error status"
	}
	var parts []string
	for _, p := range []struct {
		n    int
		name string
	}{{f.tooMany, "429"}, {f.unavailable, "503"}, {f.other, "others"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", p.name, p.n))
		}
	}
	return attempts + "an error status (" + strings.Join(parts, ", ") + ")"
}

// failureText says what was refused, and what agents failed of, as sentences of the summary. It is
// empty if nothing was and none did.
func (r *reading) failureText() string {
	t := &r.now.Totals
	run, window := refusalsOf(t), refusalsOf(&r.now.Window)
	text := ""
	switch {
	case run.all > 0 && (r.agents.Failed > 0 || t.CallsRefused > 0):
		text = " Since the start of the run " + run.text()
		if window.all > 0 && window.all < run.all {
			text += fmt.Sprintf(", %d of them in the stall", window.all)
		}
		text += ", and " + r.callsGivenUp() + "."
	case window.all > 0:
		text = " In the stall " + window.text() + "."
	}
	if r.agents.Failed > 0 && t.AttemptsTimeout > 0 {
		text += fmt.Sprintf(" %s into a time limit.", does(t.AttemptsTimeout, "attempt", "has run", "have run"))
	}
	if r.agents.Failed > 0 && t.AttemptsNetwork > 0 {
		text += fmt.Sprintf(" %s without a connection or lost it.", does(t.AttemptsNetwork, "attempt", "was", "were"))
	}
	return text + policyText(r.now)
}

// callsGivenUp says how many calls failed of a refusal, after one has been spoken of.
func (r *reading) callsGivenUp() string {
	if n := r.now.Totals.CallsRefused; n > 0 {
		return does(n, "call", "was given up after one", "were given up after one")
	}
	return "no call was given up after one"
}

// givenUp says how many calls failed of a refusal, and how many agents failed.
func (r *reading) givenUp() string {
	text := r.callsGivenUp()
	if n := r.agents.Failed; n > 0 {
		text += fmt.Sprintf("; %s %s failed", ofAll(n, r.agents.Total, "agent"), verb(n, "has", "have"))
	}
	return text
}

// latest503 counts the calls whose latest failure was an HTTP status 503, by their own word.
func (r *reading) latest503() int {
	n := 0
	for i := range r.calls {
		if strings.Contains(r.calls[i].LastError, "status 503") {
			n++
		}
	}
	return n
}

// serverErrors counts the calls whose latest failure was a status of 500 to 502 or 504, by their own word.
func (r *reading) serverErrors() int {
	n := 0
	for i := range r.calls {
		text := r.calls[i].LastError
		for _, status := range [...]string{"status 500", "status 502", "status 504", "code 500", "code 502", "code 504"} {
			if strings.Contains(text, status) {
				n++
				break
			}
		}
	}
	return n
}

// comingBack counts the calls that have been refused and have not been taken since, as far as can be
// seen: no engine has them.
func (r *reading) comingBack() int {
	n := 0
	for i := range r.calls {
		switch c := &r.calls[i]; c.fate {
		case fateBackoff:
			n++
		case fateFresh, fateOpen, fateUnanswered, fateAtRouter, fateNeverReached:
			if c.Attempts > 1 {
				n++
			}
		}
	}
	return n
}

// refusedNow says whether most calls that have been sent have been refused before, or many of them
// have, and come back at once again and again.
func (r *reading) refusedNow() bool {
	_, begun := r.retried()
	again := r.comingBack()
	refused := r.now.Window.AttemptsStatus
	return refused > 0 && again > 0 && (2*again >= begun || 4*again >= begun && refused >= hammering*again)
}

// stormPassed says whether refusals took up most of the stall and have ended since: the calls were refused
// again and again, and what is out now was sent too late to be what held up the rest.
func (r *reading) stormPassed() bool {
	again, begun := r.retried()
	w := &r.now.Window
	return again > 0 && 2*again >= begun && w.CallsCompleted == 0 && w.AttemptsStatus >= 2*r.aStorm() && 2*r.oldestSent() < r.now.StalledFor
}

// oldestSent is how long ago the oldest of the requests that are out was sent.
func (r *reading) oldestSent() time.Duration {
	var d time.Duration
	for i := range r.calls {
		if c := &r.calls[i]; sent(c.CallState) {
			d = max(d, age(r.now.At, c.Sent))
		}
	}
	return d
}

// judgeRefusals judges the two causes in which the servers refuse requests: with a queue at the
// router, and without.
func judgeRefusals(r *reading, j *judgement, queue bool) {
	w := &r.now.Window
	run, window := refusalsOf(&r.now.Totals), refusalsOf(w)
	queued := &r.gauges.recent[routerQueued]
	unavailable := max(window.unavailable, r.latest503())
	switch {
	case run.all+window.all == 0:
		j.refute("no attempt has ended with an error status in this run")
		return
	case queue && r.tooFewForAQueue():
		j.refute("at most %s can be out at once here: no router is set to refuse so few", count(r.atOnceMax(), "request"))
		return
	case queue && run.told() && run.unavailable+r.latest503() == 0:
		j.refute("%s, none with 503", run.text())
		return
	case queue && run.workers > run.full:
		j.refute("%d attempts were refused for want of a worker (all circuits open, or unhealthy), and %d because of a full queue", run.workers, run.full)
		return
	case !queue && window.all > 0 && 2*(window.tooMany+window.unavailable) < window.all && (run.told() || r.serverErrors() > 0):
		j.open(0.1, "the statuses and messages of the attempts that failed, in the journal of the run")
		j.con("%s in the stall: most are failures of the servers, and not refusals of what they do not want", window.text())
		return
	case !r.refusedNow() && !r.stormPassed():
		r.judgePastRefusals(j, queue)
		return
	case queue && queued.ok() && queued.max == 0 && unavailable == 0:
		j.refute("router_queued 0, %s, and no call was refused with status 503", r.gauges.under)
		return
	case queue && window.full == 0 && r.routerRoom():
		j.refute("router_queued 0 and router_in_flight below %d for %s: the router has room, and what refuses is something else", routerQueueLeast, secs(recentFor))
		return
	case !queue && r.routerFull() && 2*unavailable > window.all:
		j.refute("%s and %s, %s, and most refusals are 503: that is a full router", queued.tell("router_queued"), r.gauges.recent[routerInFlight].tell("router_in_flight"), r.gauges.under)
		return
	case window.all < 2*r.aStorm() || w.CallsCompleted > 0:
		j.open(r.fewRefusals(), "the attempts of the next minutes: do they outnumber the calls, or does the backoff space them out?")
	case queue && !queued.ok() && 2*unavailable < len(r.calls):
		j.open(0.3, "router_queued, and the statuses: is it 503?")
	case queue && r.behindPins():
		j.beside = "the router is full and refuses what comes on top: " + window.text() + " in the stall"
		// The router is full of what does not move: that is the cause, and the refusals come of it.
		j.support(stormScore - 0.12)
		j.con("%s still behind entries that are pinned in prefill: the router is full for that", does(r.stuck(), "call", "stands", "stand"))
	case queue:
		j.support(stormScore)
		if queued.ok() {
			j.pro("%s, %s", queued.tell("router_queued"), r.gauges.under)
		}
	default:
		j.support(stormScore - 0.01) // the queue at the router says more, where there is one
	}
	if queue {
		j.pro("the latest failure of %s was status 503", count(r.latest503(), "call"))
	}
	j.pro("%s during the stall, with %s in flight and %s completed", window.text(), count(len(r.calls), "call"), count(w.CallsCompleted, "call"))
	r.backoffObservations(j)
}

// routerFull says whether the router was seen to hold requests back, or to have as many all the time as
// a limit may be.
func (r *reading) routerFull() bool {
	g := &r.gauges.recent
	return g[routerQueued].max >= 1 || g[routerInFlight].min >= routerQueueLeast
}

// routerRoom says whether the router's gauges were seen lately, and it was far from full. Readings that
// were taken while every call waited to try again count here: a router that has nothing refuses nobody
// for want of room.
func (r *reading) routerRoom() bool {
	seen := false
	for i := range r.samples {
		x := &r.samples[i]
		if x.At > r.now.At || age(r.now.At, x.At) > recentFor {
			continue
		}
		queued, okQueued := valueOf(x, harness.GaugeRouterQueued)
		flight, okFlight := valueOf(x, harness.GaugeRouterInFlight)
		if queued > 0 || flight >= routerQueueLeast {
			return false
		}
		seen = seen || okQueued && okFlight
	}
	return seen
}

// atOnceMax is how many requests the agents can have out at once; 0: not known.
func (r *reading) atOnceMax() int {
	n := r.now.Setup.Workers
	if slots := r.now.Setup.Slots; slots > 0 {
		n = min(n, slots)
	}
	return max(0, n)
}

// tooFewForAQueue says whether the agents cannot ask for enough at once to fill the queue of a router.
func (r *reading) tooFewForAQueue() bool {
	n := r.atOnceMax()
	return n > 0 && n < routerQueueLeast
}

// fewRefusals is the score of refusals that are no storm so far: more if they are all that happens.
func (r *reading) fewRefusals() float64 {
	if r.now.Window.CallsCompleted > 0 {
		return 0.1
	}
	return max(0.1, 0.4*r.share(r.n[fateBackoff]))
}

// judgePastRefusals judges refusals that do not hold up the calls in flight: they count by the agents
// that failed of them.
func (r *reading) judgePastRefusals(j *judgement, queue bool) {
	t := &r.now.Totals
	run := refusalsOf(t)
	again, begun := r.retried()
	share := float64(r.agents.Failed) / float64(max(1, r.agents.Total))
	switch {
	case t.CallsRefused <= 0 || r.agents.Failed == 0:
		j.refute("%s in this run, but %d of %s in flight have had an attempt refused, and no agent failed of it", run.text(), again, count(begun, "call"))
		return
	case !queue && 2*run.unavailable > run.all && !r.tooFewForAQueue():
		j.refute("%s: that is a full queue, and %d of %s in flight have had an attempt refused", run.text(), again, count(begun, "call"))
		return
	case queue && run.unavailable > 0:
		j.support(stormScore * share)
		if 2*share >= 1 { // then what holds up the others is the lesser part
			j.support(stormScore)
		}
		j.outcome = Failed
	default:
		j.open(0.3*share, "the statuses and messages of the attempts that failed, in the journal of the run")
	}
	j.pro("%s since the start of the run, and %s", run.text(), r.givenUp())
	j.con("%d of %s in flight have had an attempt refused: it is not what holds up those", again, count(begun, "call"))
}

// backoffObservations adds how long calls wait before they try again.
func (r *reading) backoffObservations(j *judgement) {
	w := &r.now.Window
	if w.Backoffs > 0 {
		j.pro("%s before another attempt began in the stall, %s long on average", count(w.Backoffs, "wait"), secs(r.meanBackoff()))
	}
	if w.RetryAfters > 0 {
		j.pro("%s how long to wait (Retry-After), the longest for %s", does(w.RetryAfters, "refusal", "said", "said"), secs(w.RetryAfterMax))
	}
}

// meanBackoff is the mean of the waits before another attempt that began in the stall.
func (r *reading) meanBackoff() time.Duration {
	w := &r.now.Window
	return max(0, w.BackoffWait) / time.Duration(max(1, w.Backoffs))
}

// refusalAdvice says what to do about refusals and the waits that they lead to.
func (r *reading) refusalAdvice() []string {
	var out []string
	w := &r.now.Window
	if w.AttemptsStatus > 0 {
		out = append(out, "ask for less, so that nothing is refused: a lower pacer.requests_per_second or pacer.tokens_per_second, or fewer slots (pacer.slots)")
	}
	if w.RetryAfters > 0 {
		out = append(out, fmt.Sprintf("policy.retry_after_max caps the waits that servers ask for (Retry-After, up to %s here), and policy.retry_after_over says what to do beyond", secs(w.RetryAfterMax)))
	} else if w.Backoffs > 0 {
		out = append(out, fmt.Sprintf("policy.backoff_max caps the waits before another attempt, which are %s long on average", secs(r.meanBackoff())))
	}
	return out
}

// backoffText says what calls in backoff wait for.
func (r *reading) backoffText() string {
	w := &r.now.Window
	text := fmt.Sprintf("%s before another attempt, for up to %s so far", does(r.n[fateBackoff], "call", "waits", "wait"), secs(r.oldest(fateBackoff)))
	if w.Backoffs > 0 {
		text += fmt.Sprintf("; such waits are %s long on average", secs(r.meanBackoff()))
	}
	if w.RetryAfters > 0 {
		text += fmt.Sprintf(", since the servers ask for it (Retry-After, up to %s)", secs(w.RetryAfterMax))
	}
	return text
}
