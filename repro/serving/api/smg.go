package api

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// routerOwn is how many requests the router has and has not passed on. The original has no gauge for
// that, so this one does not bear its name.
const routerOwn = "wedge_router_queued_requests"

// smgSamples returns the series of the router, but for those of HTTP: see httpCounts. Those that only
// its gRPC form has are left out.
func (s *Server) smgSamples(v *serving.RouterView) []sample {
	const limiting = "Rate limiting decisions by result"
	all := []sample{
		gauge("smg_http_connections_active", "Currently active HTTP connections", float64(v.Connections)),
		gauge(routerOwn, "Requests that the simulated router has and has not passed on", float64(v.Queued)),
		counter("smg_http_rate_limit_total", limiting, v.RateAllowed, pair{"result", "allowed"}),
		counter("smg_http_rate_limit_total", limiting, v.RateRejected, pair{"result", "rejected"}),
	}
	all = append(all, ages(v.Waiting)...)
	all = append(all, s.requestSamples()...)
	for _, r := range v.Upstream {
		all = append(all, counter("smg_router_upstream_responses_total", "Responses of workers by status_code and error_code", r.Count,
			pair{"router_type", "http"}, pair{"status_code", strconv.Itoa(r.Status)}, pair{"error_code", r.ErrorCode}))
	}
	for _, b := range v.Backoffs {
		all = append(all, sample{name: "smg_worker_retry_backoff_seconds", help: "Time waited before a retry, by attempt",
			tally:  &tally{n: uint64(b.Count), sum: b.Sum.Seconds()},
			labels: []pair{{"attempt", strconv.Itoa(b.Attempt)}}})
	}
	for i := range v.Workers {
		all = append(all, s.workerSamples(&v.Workers[i])...)
	}
	return append(all, s.poolSamples(v)...)
}

func gauge(name, help string, value float64, labels ...pair) sample {
	return sample{name: name, help: help, kind: prometheus.GaugeValue, value: value, labels: labels}
}

func counter(name, help string, value int64, labels ...pair) sample {
	return sample{name: name, help: help, kind: prometheus.CounterValue, value: float64(value), labels: labels}
}

// requestSamples is what it counts of requests to the engines.
func (s *Server) requestSamples() []sample {
	s.w.Lock()
	defer s.w.Unlock()
	backend := "regular"
	if s.stack.Config().Mode == engine.PD {
		backend = "pd"
	}
	labels := []pair{{"router_type", "http"}, {"backend_type", backend}, {"connection_mode", "http"}, {"model", s.model}, {"endpoint", chatPath}}
	b := s.metrics.books
	var all []sample
	for i, stream := range [...]string{"false", "true"} {
		p := &b.router[i]
		all = append(all, counter("smg_router_requests_total", "Requests of the router", p.requests, append(slices.Clip(labels), pair{"streaming", stream})...),
			sample{name: "smg_router_request_duration_seconds", help: "Duration of requests until their headers", tally: p.seconds.copy(),
				labels: append(slices.Clip(labels), pair{"streaming", stream})})
	}
	for _, code := range slices.Sorted(maps.Keys(b.errors)) {
		all = append(all, counter("smg_router_request_errors_total", "Errors of the router by error_type", b.errors[code],
			append(slices.Clip(labels), pair{"error_type", code})...))
	}
	return all
}

// workerSamples is what the router knows of a worker.
func (s *Server) workerSamples(w *serving.WorkerView) []sample {
	url := pair{"worker", s.urlOf(w.Name)}
	const outcomes = "Outcomes that the circuit breaker has seen"
	all := []sample{
		gauge("smg_worker_requests_active", "Currently running requests per worker", float64(w.Active), url),
		gauge("smg_worker_health", "Worker health status (1=healthy, 0=unhealthy)", oneIf(w.Healthy), url),
		gauge("smg_worker_cb_state", "Circuit breaker state (0=closed, 1=open, 2=half-open)", float64(w.Breaker), url),
		gauge("smg_worker_cb_consecutive_failures", "Failures in a row", float64(w.ConsecutiveFailures), url),
		gauge("smg_worker_cb_consecutive_successes", "Successes in a row", float64(w.ConsecutiveSuccesses), url),
		counter("smg_worker_cb_outcomes_total", outcomes, w.Successes, url, pair{"outcome", "success"}),
		counter("smg_worker_cb_outcomes_total", outcomes, w.Failures, url, pair{"outcome", "failure"}),
	}
	for from, row := range w.Transitions {
		for to, n := range row {
			if n > 0 {
				all = append(all, counter("smg_worker_cb_transitions_total", "Changes of the circuit breaker's state", n, url,
					pair{"from", serving.BreakerState(from).String()}, pair{"to", serving.BreakerState(to).String()}))
			}
		}
	}
	return all
}

// kindTotals is what the router counts of all workers of one kind together.
type kindTotals struct {
	kind, policy                      string
	size                              int
	retries, errors, selected, ok, ko int64
}

// poolSamples is what the router counts by the kind of worker.
func (s *Server) poolSamples(v *serving.RouterView) []sample {
	const checks = "Health checks by result"
	var all []sample
	for _, k := range totals(v) {
		kind, http, model := pair{"worker_type", k.kind}, pair{"connection_mode", "http"}, pair{"model", s.model}
		path := pair{"endpoint", chatPath}
		all = append(all,
			gauge("smg_worker_pool_size", "Current worker pool size by worker_type, connection_mode, model", float64(k.size), kind, http, model),
			counter("smg_worker_retries_total", "Retries by worker_type and endpoint", k.retries, kind, path),
			counter("smg_worker_retries_exhausted_total", "Requests whose last retry failed", v.Exhausted, kind, path),
			counter("smg_worker_errors_total", "Errors of workers", k.errors, kind, http, pair{"error_type", "upstream"}),
			counter("smg_worker_selection_total", "Choices of a worker by policy", k.selected, kind, http, model, pair{"policy", k.policy}),
			counter("smg_worker_health_checks_total", checks, k.ok, kind, pair{"result", "success"}),
			counter("smg_worker_health_checks_total", checks, k.ko, kind, pair{"result", "failure"}),
		)
	}
	return all
}

func totals(v *serving.RouterView) []kindTotals {
	var all []kindTotals
	for i := range v.Workers {
		w := &v.Workers[i]
		if kind := workerType(w.Kind); len(all) == 0 || all[len(all)-1].kind != kind { // prefill engines come first
			all = append(all, kindTotals{kind: kind, policy: string(w.Policy)})
		}
		k := &all[len(all)-1]
		k.size++
		k.retries += w.Retries
		k.errors += w.Errors
		k.selected += w.Selections
		k.ok += w.ChecksPassed
		k.ko += w.ChecksLost
	}
	return all
}

// ages counts requests by how long they have been in flight. Unlike in a histogram each one counts in
// one bucket only: that of the first bound that it is not above.
func ages(all []time.Duration) []sample {
	bounds := [...]time.Duration{30 * time.Second, time.Minute, 3 * time.Minute, 5 * time.Minute, 10 * time.Minute, 20 * time.Minute,
		time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 12 * time.Hour, 24 * time.Hour}
	var counts [len(bounds) + 1]int
	for _, age := range all {
		i := 0
		for i < len(bounds) && age > bounds[i] {
			i++
		}
		counts[i]++
	}
	out := make([]sample, len(counts))
	lower := "0"
	for i, n := range counts {
		upper := "+Inf"
		if i < len(bounds) {
			upper = fmt.Sprint(bounds[i].Seconds())
		}
		out[i] = gauge("smg_http_inflight_request_age_count", "In-flight HTTP requests by age, each in one bucket only", float64(n),
			pair{"gt", lower}, pair{"le", upper})
		lower = upper
	}
	return out
}
