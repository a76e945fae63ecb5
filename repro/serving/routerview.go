package serving

import (
	"cmp"
	"slices"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// RouterView is what the router shows in its metrics. Counters count since the start of the run.
type RouterView struct {
	At          sim.Instant
	Connections int             // requests that it has and has not answered in full
	Waiting     []time.Duration // ages of those of them without response headers, the oldest first
	Queued      int             // those that it has not passed on: they wait for a token, or a fault holds them

	RateAllowed, RateRejected int64
	Responses                 []ResponseCount // by status and error code, in that order
	Upstream                  []ResponseCount // what the engines answered with
	Backoffs                  []BackoffCount  // by attempt
	Exhausted                 int64           // requests whose last attempt failed too
	Workers                   []WorkerView    // prefill engines first
}

// ResponseCount is how many answers had a status and an error code.
type ResponseCount struct {
	Status    int
	ErrorCode string // of the header X-SMG-Error-Code; empty: none
	Count     int64
}

// BackoffCount is how often the router has waited before an attempt.
type BackoffCount struct {
	Attempt int // 1 for the first retry
	Count   int64
	Sum     time.Duration
}

// BreakerState is the state of a circuit breaker, with the values of smg_worker_cb_state.
type BreakerState uint8

// The states of a breaker.
const (
	BreakerClosed BreakerState = iota
	BreakerOpen
	BreakerHalfOpen
)

var breakerNames = [...]string{"closed", "open", "half_open"}

// String returns the state's name as it stands in metrics.
func (s BreakerState) String() string { return breakerNames[s] }

// WorkerView is what the router knows of a worker.
type WorkerView struct {
	Name    string
	Kind    engine.Kind
	Policy  Policy
	Active  int // requests that count into its load: streams only from their response headers on
	Healthy bool

	Breaker              BreakerState
	ConsecutiveFailures  int
	ConsecutiveSuccesses int
	Transitions          [3][3]int64 // of the breaker, by from and to
	Successes, Failures  int64       // outcomes that the breaker has counted

	Selections               int64
	Retries                  int64 // attempts after the first that it was chosen for
	Errors                   int64 // answers that were no success
	ChecksPassed, ChecksLost int64 // health checks
}

// Router returns what the router shows.
func (s *Stack) Router() RouterView {
	s.w.Lock()
	defer s.w.Unlock()
	s.enter()
	s.checkHealth()
	v := RouterView{
		At: s.now(), Connections: s.inFlight, Queued: s.queued,
		RateAllowed: s.counts.rateAllowed, RateRejected: s.counts.rateRejected,
		Responses: slices.Clone(s.counts.responses), Upstream: slices.Clone(s.counts.upstream),
		Backoffs: slices.Clone(s.counts.backoffs), Exhausted: s.counts.exhausted,
	}
	for r := s.oldest; r != nil; r = r.younger {
		if r.status == 0 {
			v.Waiting = append(v.Waiting, s.now().Sub(r.arrived))
		}
	}
	for _, p := range [...]*pool{&s.prefills, &s.decodes} {
		for _, w := range p.all {
			v.Workers = append(v.Workers, w.view(p.policy))
		}
	}
	return v
}

func (w *worker) view(policy Policy) WorkerView {
	return WorkerView{
		Name: w.engine.Name, Kind: w.engine.Kind, Policy: policy, Active: w.active, Healthy: !w.unhealthy,
		Breaker: w.breakerState(), ConsecutiveFailures: w.failuresInARow, ConsecutiveSuccesses: w.successesInARow,
		Transitions: w.transitions, Successes: w.successes, Failures: w.failures,
		Selections: w.selections, Retries: w.retries, Errors: w.refusedAnswers, ChecksPassed: w.checksOK, ChecksLost: w.checksLost,
	}
}

// counts is what the router counts.
type counts struct {
	responses, upstream       responseCounts
	rateAllowed, rateRejected int64
	backoffs                  []BackoffCount
	retries, exhausted        int64
}

// backoff counts a wait after the n-th attempt.
func (c *counts) backoff(n int, d time.Duration) {
	for len(c.backoffs) < n {
		c.backoffs = append(c.backoffs, BackoffCount{Attempt: len(c.backoffs) + 1})
	}
	c.backoffs[n-1].Count++
	c.backoffs[n-1].Sum += d
	c.retries++
}

// responseCounts is sorted by status and error code.
type responseCounts []ResponseCount

func (c *responseCounts) add(status int, code string) {
	i, found := slices.BinarySearchFunc(*c, ResponseCount{Status: status, ErrorCode: code}, func(a, b ResponseCount) int {
		return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.ErrorCode, b.ErrorCode))
	})
	if !found {
		*c = slices.Insert(*c, i, ResponseCount{Status: status, ErrorCode: code})
	}
	(*c)[i].Count++
}
