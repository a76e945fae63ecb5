package api

import (
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.com/wedge/harness/sim"
)

// metrics is what the pages of metrics show. Counters of HTTP are kept here, and those of requests
// that have ended in the books; all else is read from the servers at each scrape. The monitor is held
// only while numbers are copied.
type metrics struct {
	http  *httpCounts
	lag   lag
	books *books
	rates []rate // by worker and rank, in their order; guarded by the monitor

	whole   http.Handler // the router's port: the router and all workers
	router  http.Handler // the router alone
	engines http.Handler // the workers as the router passes them on
	workers []http.Handler
}

func newMetrics(s *Server) *metrics {
	m := &metrics{http: newHTTPCounts(), books: newBooks(s.bounds())}
	for _, w := range s.workers {
		for range w.Ranks() {
			m.rates = append(m.rates, rate{})
		}
	}
	router := []prometheus.Collector{m.http.requests, m.http.durations, m.http.responses, &m.lag, s.routerCollector()}
	m.router = handlerOf(router...)
	m.whole = handlerOf(append(slices.Clip(router), s.workersCollector(false))...)
	m.engines = handlerOf(s.workersCollector(true))
	for i := range s.workers {
		m.workers = append(m.workers, handlerOf(s.workerCollector(i)))
	}
	s.stack.OnEnd(m.books.enter)
	return m
}

// handlerOf returns the handler of a page.
func handlerOf(collectors ...prometheus.Collector) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors...)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// showMetrics answers GET /metrics: at the router's port with the router and all its workers, at the
// port of the router's metrics with the router alone, and at a worker's with that.
func (x *exchange) showMetrics() {
	to := x.metrics.whole
	switch x.face.kind {
	case faceMetrics:
		to = x.metrics.router
	case faceWorker:
		to = x.metrics.workers[slices.Index(x.workers, x.face.worker)]
	}
	to.ServeHTTP(x.out, x.in)
}

// showEngineMetrics answers GET /engine_metrics of the router: the metrics of all workers, each with
// the label worker_addr, and with underscores in their names where they have colons.
func (x *exchange) showEngineMetrics() { x.metrics.engines.ServeHTTP(x.out, x.in) }

// bounds returns those of the histograms of the engines.
func (s *Server) bounds() bounds {
	if s.vllm {
		return vllmBounds()
	}
	return sglangBounds()
}

func (s *Server) routerCollector() collector {
	return func(out chan<- prometheus.Metric) {
		v := s.stack.Router()
		send(out, s.smgSamples(&v), form{})
	}
}

// workersCollector shows all workers as the router passes them on.
func (s *Server) workersCollector(plain bool) collector {
	return func(out chan<- prometheus.Metric) {
		views := s.views()
		for i := range views {
			send(out, s.samples(&views[i]), form{worker: s.urlOf(views[i].name), plain: plain})
		}
	}
}

// views reads what there is to be shown of all workers, at one instant.
func (s *Server) views() []workerView {
	views := make([]workerView, len(s.workers))
	s.w.Lock()
	defer s.w.Unlock()
	for i := range s.workers {
		s.view(i, &views[i])
	}
	return views
}

func (s *Server) workerCollector(i int) collector {
	return func(out chan<- prometheus.Metric) {
		var v workerView
		s.w.Lock()
		s.view(i, &v)
		s.w.Unlock()
		send(out, s.samples(&v), form{})
	}
}

func (s *Server) samples(v *workerView) []sample {
	if s.vllm {
		return vllmSamples(v)
	}
	return sglangSamples(v)
}

func send(out chan<- prometheus.Metric, all []sample, f form) {
	for i := range all {
		out <- all[i].metric(f)
	}
}

// view reads what there is to be shown of a worker, with the monitor held.
func (s *Server) view(i int, v *workerView) {
	w := s.workers[i]
	*v = workerView{name: w.Name, kind: w.Kind, model: s.model, account: s.metrics.books.account(w.Name).copy()}
	rates := s.metrics.rates
	for _, before := range s.workers[:i] {
		rates = rates[before.Ranks():]
	}
	c := s.stack.Config()
	for rank := range w.Ranks() {
		load, at := w.Published(rank)
		v.ranks = append(v.ranks, rankView{
			load: load, published: at, pool: poolOf(c, w.Kind, &load),
			perSecond: rates[rank].update(at, load.DecodeTokens),
		})
	}
}

// rate is how fast a rank has made tokens between the last two of its reports that a scrape has seen.
// A rank that is stuck reports nothing, and so keeps it.
type rate struct {
	at        sim.Instant
	tokens    int64
	perSecond float64
}

func (r *rate) update(at sim.Instant, tokens int64) float64 {
	if at > r.at {
		r.perSecond = float64(tokens-r.tokens) / at.Sub(r.at).Seconds()
		r.at, r.tokens = at, tokens
	}
	return r.perSecond
}
