package api

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.com/wedge/repro/serving"
)

// metrics is what /metrics shows. Counters of HTTP are kept here; all else is read from the servers
// at each scrape.
type metrics struct {
	requests  *prometheus.CounterVec // by method and path, as they arrive
	responses *prometheus.CounterVec // by status_code and error_code, as their headers go out
	handler   http.Handler
}

func newMetrics(stack *serving.Stack) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "smg_http_requests_total", Help: "Total HTTP requests by method and path"}, []string{"method", "path"}),
		responses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "smg_http_responses_total", Help: "Total HTTP responses by status_code and error_code"}, []string{"status_code", "error_code"}),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.responses, newCollector(stack))
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

// showMetrics answers GET /metrics.
func (x *exchange) showMetrics() { x.metrics.handler.ServeHTTP(x.out, x.in) }

// Values of the label engine_type.
const (
	enginePrefill = "prefill"
	engineDecode  = "decode"
)

// routerOwn is how many requests the router has and has not passed on. The original has no gauge for
// that, so this one does not bear its name.
const routerOwn = "wedge_router_queued_requests"

// series is one line of /metrics that shows a gauge of the servers.
type series struct {
	name, help string
	gauge      string  // serving's name of its value
	minus      string  // of what is to be taken off the value; empty: nothing
	fixed      float64 // the value if gauge is empty
	labels     []string
	values     []string // of the labels
	counter    bool
}

// shown lists the series. All labels that SGLang puts on a scheduler's series stand there too: each
// engine is of one rank.
func shown(model string) []series {
	model = strings.ToValidUTF8(model, "\ufffd") // Prometheus takes no other text
	engine := func(name, help, engine, gauge string) series {
		return series{name: "sglang:" + name, help: help, gauge: gauge,
			labels: []string{"model_name", "engine_type", "tp_rank", "pp_rank", "moe_ep_rank"},
			values: []string{model, engine, "0", "0", "0"}}
	}
	tokens := func(engineType, mode, gauge string) series {
		s := engine("realtime_tokens_total", "Total number of tokens processed, by mode, counted at each iteration.", engineType, gauge)
		s.labels, s.values, s.counter = append(s.labels, "mode"), append(s.values, mode), true
		return s
	}
	worker := func(url string) series {
		return series{name: "smg_worker_requests_active", help: "Currently running requests per worker",
			gauge: serving.GaugeRouterInFlight, minus: serving.GaugeRouterQueued, labels: []string{"worker"}, values: []string{url}}
	}
	pool := func(workerType string) series {
		return series{name: "smg_worker_pool_size", help: "Current worker pool size by worker_type, connection_mode, model", fixed: 1,
			labels: []string{"worker_type", "connection_mode", "model"}, values: []string{workerType, "http", model}}
	}
	const running, queued = "The number of running requests.", "The number of requests in the waiting queue."
	return []series{
		engine("num_running_reqs", running, enginePrefill, serving.GaugePrefillRunning),
		engine("num_running_reqs", running, engineDecode, serving.GaugeDecodeRunning),
		engine("num_queue_reqs", queued, enginePrefill, serving.GaugePrefillQueue),
		engine("num_queue_reqs", queued, engineDecode, serving.GaugeDecodeQueue),
		engine("num_prefill_bootstrap_queue_reqs", "The number of requests in the prefill bootstrap queue.", enginePrefill, serving.GaugePrefillBootstrap),
		engine("num_prefill_inflight_queue_reqs", "The number of requests in the prefill inflight queue.", enginePrefill, serving.GaugePrefillInflight),
		engine("num_decode_prealloc_queue_reqs", "The number of requests in the decode prealloc queue.", engineDecode, serving.GaugeDecodePrealloc),
		engine("num_decode_transfer_queue_reqs", "The number of requests in the decode transfer queue.", engineDecode, serving.GaugeDecodeTransfer),
		engine("token_usage", "The token usage.", engineDecode, serving.GaugeDecodeKV),
		tokens(enginePrefill, "prefill_compute", serving.GaugePrefillTokens),
		tokens(engineDecode, "decode", serving.GaugeDecodeTokens),
		{name: "smg_http_connections_active", help: "Currently active HTTP connections", gauge: serving.GaugeRouterInFlight},
		pool(enginePrefill),
		pool(engineDecode),
		worker("http://prefill-0"),
		worker("http://decode-0"),
		{name: routerOwn, help: "Requests that the simulated router has and has not passed on", gauge: serving.GaugeRouterQueued},
	}
}

// collector reads the servers at each scrape.
type collector struct {
	stack  *serving.Stack
	series []series
	descs  []*prometheus.Desc // of the series
}

var _ prometheus.Collector = (*collector)(nil)

func newCollector(stack *serving.Stack) *collector {
	c := &collector{stack: stack, series: shown(stack.Config().Model.ID)}
	for i := range c.series {
		s := &c.series[i]
		c.descs = append(c.descs, prometheus.NewDesc(s.name, s.help, s.labels, nil))
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	gauges := c.stack.Gauges() // all of one instant
	for i := range c.series {
		s := &c.series[i]
		value, kind := s.fixed+valueOf(gauges, s.gauge)-valueOf(gauges, s.minus), prometheus.GaugeValue
		if s.counter {
			kind = prometheus.CounterValue
		}
		out <- prometheus.MustNewConstMetric(c.descs[i], kind, value, s.values...)
	}
}

// valueOf returns a gauge's value, 0 if there is none.
func valueOf(gauges []serving.Gauge, name string) float64 {
	for i := range gauges {
		if gauges[i].Name == name {
			return gauges[i].Value
		}
	}
	return 0
}
