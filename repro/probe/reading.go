package probe

import (
	"context"
	"sync"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

// reading is one look at all servers.
type reading struct {
	at      sim.Instant
	gauges  []harness.Gauge
	counts  counts
	errs    []error // by target; nil: it was read
	read    int     // servers that were read
	asked   int
	perRole map[Role]bool // roles of which a server was read
}

// counts are counters of the servers that say how many requests came and went. Each is -1 where no
// server shows it.
type counts struct {
	arrived  float64 // POST requests at the router
	finished float64 // requests that engines are done with
	refused  refused
}

// refused counts the router's responses by status.
type refused struct {
	busy429, busy503     float64
	errors4xx, errors5xx float64 // those of 400 to 499 but for 429, and of 500 and more but for 503
}

// readingOf puts together what the pages of one instant show.
func readingOf(at sim.Instant, targets []Target, got []found) *reading {
	r := &reading{at: at, errs: make([]error, len(got)), perRole: map[Role]bool{}}
	var pages []*api.Page
	r.counts = counts{arrived: -1, finished: -1, refused: refused{-1, -1, -1, -1}}
	for i := range got {
		if !targets[i].Role.Server() {
			continue
		}
		r.asked++
		if r.errs[i] = got[i].err; got[i].page == nil {
			continue
		}
		r.read++
		r.perRole[targets[i].Role] = true
		pages = append(pages, got[i].page)
		r.counts.add(targets[i].Role, got[i].page)
	}
	for _, g := range api.GaugesOf(pages...) {
		r.gauges = append(r.gauges, harness.Gauge(g))
	}
	return r
}

var _ = harness.Gauge(serving.Gauge{}) // the same fields in the same order

// add takes the counters of one page.
func (c *counts) add(role Role, p *api.Page) {
	plus := func(to *float64, family string, accept func(func(string) string) bool) {
		if v, ok := p.Sum(family, accept); ok {
			*to = max(*to, 0) + v
		}
	}
	if role != RoleRouter {
		if role == RolePrefill {
			return // what it is done with goes on at decode
		}
		plus(&c.finished, "sglang:num_requests_total", nil)
		plus(&c.finished, "vllm:request_success_total", nil)
		return
	}
	// What it passes on of engines that are not read themselves.
	plus(&c.finished, "sglang:num_requests_total", func(label func(string) string) bool { return label("engine_type") != "prefill" })
	plus(&c.arrived, "smg_http_requests_total", func(label func(string) string) bool { return label("method") == "POST" })
	if _, ok := p.Sum("smg_http_responses_total", nil); ok {
		for _, to := range [...]*float64{&c.refused.busy429, &c.refused.busy503, &c.refused.errors4xx, &c.refused.errors5xx} {
			*to = max(*to, 0)
		}
	}
	status := func(wanted func(string) bool) func(func(string) string) bool {
		return func(label func(string) string) bool { return wanted(label("status_code")) }
	}
	const responses = "smg_http_responses_total"
	plus(&c.refused.busy429, responses, status(func(s string) bool { return s == "429" }))
	plus(&c.refused.busy503, responses, status(func(s string) bool { return s == "503" }))
	plus(&c.refused.errors4xx, responses, status(func(s string) bool { return len(s) == 3 && s[0] == '4' && s != "429" }))
	plus(&c.refused.errors5xx, responses, status(func(s string) bool { return len(s) == 3 && s[0] == '5' && s != "503" }))
}

// value returns a gauge of a reading.
func (r *reading) value(name string) (float64, bool) {
	for _, g := range r.gauges {
		if g.Name == name {
			return g.Value, true
		}
	}
	return 0, false
}

// readAll reads all servers at once. Those that are not alive are asked too: they may come back.
func (p *prober) readAll(ctx context.Context) *reading {
	got := make([]found, len(p.targets))
	at := p.now()
	var group sync.WaitGroup
	for i, t := range p.targets {
		if t.Role.Server() {
			group.Go(func() { got[i] = p.fetch.metrics(ctx, t, p.places) })
		}
	}
	group.Wait()
	return readingOf(at, p.targets, got)
}

// now is the instant on the servers' clock since the probe began.
func (p *prober) now() sim.Instant {
	return sim.Instant(float64(time.Since(p.start)) * p.o.Scale)
}

// sleepUntil waits for an instant. The error is ctx's cause.
func (p *prober) sleepUntil(ctx context.Context, at sim.Instant) error {
	timer := time.NewTimer(p.o.real(time.Duration(at - p.now())))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
