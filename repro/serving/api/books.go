package api

import (
	"time"

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

// bounds are those of the histograms of a flavor. All are in seconds, but for transfer.
type bounds struct {
	first, gaps, whole, queued, stage []float64
	transfer                          []float64 // milliseconds
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

// enter counts a request that has ended. It is called with the monitor held.
func (b *books) enter(r *serving.Record) {
	b.pass(r)
	t := &r.Times
	switch {
	case r.Prefill == "" || r.Prefill == r.Decode: // one engine has done both
		if r.Decode != "" {
			b.account(r.Decode).enter(r, leg{tokens: r.OutputTokens, whole: r.Ended.Sub(r.Dispatched), queued: t.PrefillWait + t.DecodeWait})
		}
	default:
		// The prefill engine makes the first token, and is done when its memory has arrived.
		b.account(r.Prefill).enter(r, leg{
			tokens: min(1, r.OutputTokens), whole: t.Bootstrap + t.PrefillWait + t.Prefill + t.Inflight, queued: t.PrefillWait,
		})
		if r.Decode != "" {
			b.account(r.Decode).enter(r, leg{tokens: r.OutputTokens, whole: r.Ended.Sub(r.Dispatched), queued: t.DecodeWait})
		}
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

// leg is a worker's part in a request.
type leg struct {
	tokens        int // that it has made
	whole, queued time.Duration
}

// account is what is counted of a worker.
type account struct {
	requests         [2]uint64 // without stream, and with it
	completed        uint64    // of requests
	promptTokens     uint64
	generationTokens uint64
	responses        map[int]uint64 // by status

	first  tally // from dispatch to the first token
	gaps   tally // between tokens: the mean of its request, for each of them
	whole  tally // from dispatch to the end
	queued tally // in the waiting queue

	stages   [stages]tally
	transfer tally // of the memory, in milliseconds
	prepared tally // for the transfer, in milliseconds
}

// stages is how many stages have a name in SGLang's metrics.
const stages = 8

// stageNames are their names, in the order of stageTimes.
func stageNames() [stages]string {
	return [stages]string{"prefill_bootstrap", "prefill_waiting", "prefill_forward", "prefill_transfer_kv_cache",
		"decode_bootstrap", "decode_transferred", "decode_waiting", "decode_loop"}
}

func stageTimes(t *serving.StageTimes) [stages]time.Duration {
	return [stages]time.Duration{t.Bootstrap, t.PrefillWait, t.Prefill, t.Inflight, t.Prealloc, t.Transfer, t.DecodeWait, t.DecodeLoop}
}

func newAccount(b bounds) *account {
	a := &account{
		responses: map[int]uint64{},
		first:     newTally(b.first), gaps: newTally(b.gaps), whole: newTally(b.whole), queued: newTally(b.queued),
		transfer: newTally(b.transfer), prepared: newTally(b.transfer),
	}
	for i := range a.stages {
		a.stages[i] = newTally(b.stage)
	}
	return a
}

func (a *account) enter(r *serving.Record, l leg) {
	a.requests[streamIndex(r)]++
	a.promptTokens += uint64(r.PromptTokens)
	a.generationTokens += uint64(l.tokens)
	if r.Outcome == serving.Completed {
		a.completed++
	}
	if r.Status != 0 {
		a.responses[r.Status]++
	}
	if r.FirstToken != sim.Never {
		a.first.add(r.FirstToken.Sub(r.Dispatched).Seconds(), 1)
		if gaps := l.tokens - 1; gaps > 0 {
			a.gaps.add(r.Ended.Sub(r.FirstToken).Seconds()/float64(gaps), uint64(gaps))
		}
	}
	a.whole.add(l.whole.Seconds(), 1)
	a.queued.add(l.queued.Seconds(), 1)
	for i, took := range stageTimes(&r.Times) {
		if took > 0 {
			a.stages[i].add(took.Seconds(), 1)
		}
	}
	if r.Times.Inflight > 0 {
		a.transfer.add(r.Times.Inflight.Seconds()*1000, 1)
		a.prepared.add(r.Times.Bootstrap.Seconds()*1000, 1)
	}
}

// copy returns an account of its own, to be read without the monitor.
func (a *account) copy() *account {
	c := *a
	c.responses = make(map[int]uint64, len(a.responses))
	for status, n := range a.responses {
		c.responses[status] = n
	}
	for _, t := range []*tally{&c.first, &c.gaps, &c.whole, &c.queued, &c.transfer, &c.prepared} {
		*t = *t.copy()
	}
	for i := range c.stages {
		c.stages[i] = *c.stages[i].copy()
	}
	return &c
}
