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
	v := RouterView{At: s.now, Connections: s.inFlight, Queued: s.held, Responses: append([]ResponseCount(nil), s.counts.responses...)}
	for r := s.oldest; r != nil; r = r.younger {
		if !r.headersOut {
			v.Waiting = append(v.Waiting, s.now.Sub(r.arrived))
		}
	}
	worker := func(name string, kind engine.Kind) WorkerView {
		return WorkerView{Name: name, Kind: kind, Policy: s.cfg.Router.Policy, Active: s.inFlight - s.held, Healthy: true}
	}
	v.Workers = []WorkerView{worker("prefill-0", engine.KindPrefill), worker("decode-0", engine.KindDecode)}
	return v
}

// routerCounts is what the router counts.
type routerCounts struct {
	responses []ResponseCount // sorted
}

// respond counts an answer.
func (c *routerCounts) respond(status int, code string) {
	i, found := slices.BinarySearchFunc(c.responses, ResponseCount{Status: status, ErrorCode: code}, func(a, b ResponseCount) int {
		return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.ErrorCode, b.ErrorCode))
	})
	if !found {
		c.responses = slices.Insert(c.responses, i, ResponseCount{Status: status, ErrorCode: code})
	}
	c.responses[i].Count++
}
