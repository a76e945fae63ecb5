package serving

import (
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// worker is an engine as the router knows it.
type worker struct {
	s      *Stack
	engine *engine.Worker
	active int // requests that count into its load
	homes  int // conversations that a policy has put there

	unhealthy            bool
	misses, hits         int // health checks, in a row
	checksOK, checksLost int64

	breaker                             BreakerState
	openedAt                            sim.Instant
	failuresInARow                      int
	successesInARow                     int
	transitions                         [3][3]int64
	successes, failures                 int64
	selections, retries, refusedAnswers int64
}

// available says whether the router may choose the worker.
func (w *worker) available() bool { return !w.unhealthy && w.breakerState() != BreakerOpen }

// breakerState returns the state of the breaker now: an open one is half open after a while.
func (w *worker) breakerState() BreakerState {
	if w.breaker == BreakerOpen && w.s.now() >= w.openedAt.Add(w.s.cfg.Router.Breaker.Open) {
		w.turn(BreakerHalfOpen)
	}
	return w.breaker
}

func (w *worker) turn(to BreakerState) {
	w.transitions[w.breaker][to]++
	w.breaker = to
	w.failuresInARow, w.successesInARow = 0, 0
}

// answered notes what the worker has answered; nil: a success. An error of the client's is one too.
func (w *worker) answered(f *engine.Failure) {
	status := 200
	if f != nil {
		status = f.Status
		w.refusedAnswers++
	}
	w.s.counts.upstream.add(status, "")
	if w.s.cfg.Router.Breaker.Failures == 0 {
		return
	}
	state := w.breakerState()
	if status >= 500 {
		w.failures++
		w.successesInARow = 0
		w.failuresInARow++
		if state == BreakerHalfOpen || state == BreakerClosed && w.failuresInARow >= w.s.cfg.Router.Breaker.Failures {
			w.turn(BreakerOpen)
			w.openedAt = w.s.now()
		}
		return
	}
	w.successes++
	w.failuresInARow = 0
	w.successesInARow++
	if state == BreakerHalfOpen && w.successesInARow >= w.s.cfg.Router.Breaker.Successes {
		w.turn(BreakerClosed)
	}
}

// checked notes the result of n health checks.
func (w *worker) checked(n int64, ok bool) {
	c := &w.s.cfg.Router.Health
	if ok {
		w.checksOK += n
		w.misses = 0
		if w.hits = int(min(int64(w.hits)+n, int64(c.Hits))); w.hits >= c.Hits {
			w.unhealthy = false
		}
		return
	}
	w.checksLost += n
	w.hits = 0
	if w.misses = int(min(int64(w.misses)+n, int64(c.Misses))); w.misses >= c.Misses {
		w.unhealthy = true
	}
}

// checkHealth does the health checks that are due. While the router has requests, or the engines have
// something to do for clients that have left, there is a timer for each; those that were due while there
// was nothing are done when somebody looks, since all that could have changed in between is there to be
// seen: a world in which nothing is to do has nothing to wait for.
func (s *Stack) checkHealth() {
	c := &s.cfg.Router.Health
	if c.Every == 0 {
		return
	}
	due := int64(s.now()) / int64(c.Every)
	n := due - s.probed
	if n <= 0 {
		return
	}
	s.probed = due
	for _, all := range [...][]*worker{s.prefills.all, s.decodes.all} {
		for _, w := range all {
			ok, after := w.engine.Healthy()
			w.checked(n, ok && after <= c.Timeout)
		}
	}
}

// healthCheck is a health check at its time.
func (s *Stack) healthCheck() {
	s.checkHealth()
	if s.inFlight > 0 || s.engines.Next() < sim.Never {
		s.armHealthCheck()
	}
}

func (s *Stack) armHealthCheck() {
	every := s.cfg.Router.Health.Every
	if every == 0 || s.probe.Scheduled() {
		return
	}
	s.engines.Schedule(sim.Instant(int64(every)*(int64(s.now())/int64(every)+1)), &s.probe)
}

// seconds is a length of time given in seconds, rounded up to a nanosecond. What is longer than a year is
// a year.
func seconds(x float64) time.Duration {
	const year = 365 * 24 * time.Hour
	return time.Duration(min(x, year.Seconds())*1e9) + 1
}
