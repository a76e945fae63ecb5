package api

import (
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// books is what is counted of requests that have ended, for the metrics. All of it is guarded by the
// monitor.
type books struct {
	bounds  bounds
	workers map[string]*account // by the worker's name; made when they are first needed
	router  [2]passage          // without stream, and with it
	errors  map[string]int64    // of the router, by error code
}

// passage is what the router counts of requests.
type passage struct {
	requests int64
	seconds  tally // from their arrival to the response headers
}

// account is the part of a worker.
type account struct {
	requests         [2]uint64 // without stream, and with it
	completed        uint64    // of requests
	promptTokens     uint64
	generationTokens uint64
	responses        map[int]uint64 // by status

	first  tally // seconds from dispatch to the first token
	gaps   tally // seconds between tokens: the mean of its request, for each of them
	whole  tally // seconds from dispatch to the end
	queued tally // seconds in the waiting queue
}

func newBooks(b bounds) *books {
	return &books{
		bounds: b, workers: map[string]*account{}, errors: map[string]int64{},
		router: [2]passage{{seconds: newTally(routerSeconds())}, {seconds: newTally(routerSeconds())}},
	}
}

// account returns the part of a worker.
func (b *books) account(worker string) *account {
	a := b.workers[worker]
	if a == nil {
		a = newAccount(b.bounds)
		b.workers[worker] = a
	}
	return a
}

// bounds are those of the histograms of a flavor.
type bounds struct{ first, gaps, whole, queued []float64 }

func newAccount(b bounds) *account {
	return &account{
		responses: map[int]uint64{},
		first:     newTally(b.first), gaps: newTally(b.gaps), whole: newTally(b.whole), queued: newTally(b.queued),
	}
}

// enter counts a request that has ended. It is called with the monitor held.
func (b *books) enter(r *serving.Record) {
	b.pass(r)
	if r.Prefill != "" && r.Prefill != r.Decode {
		b.account(r.Prefill).enter(r, 1) // it makes the first token and is done
	}
	if r.Decode != "" {
		b.account(r.Decode).enter(r, r.OutputTokens)
	}
}

// pass counts it for the router.
func (b *books) pass(r *serving.Record) {
	if r.Attempts == 0 && r.Outcome != serving.Failed {
		return
	}
	p := &b.router[streamIndex(r)]
	p.requests++
	if r.Headers != sim.Never {
		p.seconds.add(r.Headers.Sub(r.Arrived).Seconds(), 1)
	}
	if r.Outcome == serving.Failed {
		b.errors[r.ErrorCode]++
	}
}

func streamIndex(r *serving.Record) int {
	if r.Stream {
		return 1
	}
	return 0
}

func (a *account) enter(r *serving.Record, outputTokens int) {
	a.requests[streamIndex(r)]++
	a.promptTokens += uint64(r.PromptTokens)
	a.generationTokens += uint64(min(outputTokens, r.OutputTokens))
	if r.Outcome == serving.Completed {
		a.completed++
	}
	if r.Status != 0 {
		a.responses[r.Status]++
	}
	since := func(t sim.Instant) float64 { return t.Sub(r.Dispatched).Seconds() }
	if r.FirstToken != sim.Never {
		a.first.add(since(r.FirstToken), 1)
		if gaps := outputTokens - 1; gaps > 0 {
			a.gaps.add(r.Ended.Sub(r.FirstToken).Seconds()/float64(gaps), uint64(gaps))
		}
	}
	a.whole.add(since(r.Ended), 1)
	a.queued.add(r.QueueTime().Seconds(), 1)
}

// copy returns an account of its own, to be read without the monitor.
func (a *account) copy() *account {
	c := *a
	c.responses = make(map[int]uint64, len(a.responses))
	for status, n := range a.responses {
		c.responses[status] = n
	}
	c.first, c.gaps, c.whole, c.queued = *a.first.copy(), *a.gaps.copy(), *a.whole.copy(), *a.queued.copy()
	return &c
}
