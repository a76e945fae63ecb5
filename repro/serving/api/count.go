package api

import (
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// httpCounts is what is counted of the requests at the router's port, by themselves and not by the
// servers behind it.
type httpCounts struct {
	requests  *prometheus.CounterVec             // by method and path, as they arrive
	durations *prometheus.HistogramVec           // by method and path, until the headers go out, on the run's clock
	responses *prometheus.CounterVec             // by status_code and error_code, as their headers go out
	ok        atomic.Pointer[prometheus.Counter] // of responses: the most frequent one; nil: none yet
	nowhere   destination                        // what leads nowhere
}

func newHTTPCounts() *httpCounts {
	return &httpCounts{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "smg_http_requests_total", Help: "Total HTTP requests by method and path"}, []string{"method", "path"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "smg_http_request_duration_seconds", Help: "HTTP request duration by method and path",
			Buckets: routerSeconds()}, []string{"method", "path"}),
		responses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "smg_http_responses_total", Help: "Total HTTP responses by status_code and error_code"}, []string{"status_code", "error_code"}),
		nowhere: destination{label: "other"},
	}
}

// routeSeries is the series of a path and a method.
type routeSeries struct {
	requests prometheus.Counter
	duration prometheus.Observer
}

// methods is how many labels there are for methods, which bounds the number of series that requests
// can make.
const methods = 8

func methodLabel(method string) (index int, label string) {
	switch method {
	case http.MethodGet:
		return 0, method
	case http.MethodPost:
		return 1, method
	case http.MethodPut:
		return 2, method
	case http.MethodDelete:
		return 3, method
	case http.MethodPatch:
		return 4, method
	case http.MethodHead:
		return 5, method
	case http.MethodOptions:
		return 6, method
	}
	return methods - 1, "OTHER"
}

// arrive counts a request to the router. A worker's are counted where the workers are.
func (x *exchange) arrive(to *destination) {
	if x.face.kind != faceRouter {
		return
	}
	c := x.metrics.http
	if to == nil {
		to = &c.nowhere
	}
	i, method := methodLabel(x.in.Method)
	x.series = to.series[i].Load()
	if x.series == nil { // several may find it so: they make the same
		x.series = &routeSeries{requests: c.requests.WithLabelValues(method, to.label), duration: c.durations.WithLabelValues(method, to.label)}
		to.series[i].Store(x.series)
	}
	x.series.requests.Inc()
}

// begin sends the status and the headers, and counts them.
func (x *exchange) begin(status int) {
	x.watchStatus(status)
	if x.series != nil {
		x.metrics.http.responded(status, x.errorCode)
		x.series.duration.Observe(x.w.Now().Sub(x.arrived).Seconds())
	}
	x.out.WriteHeader(status)
}

func (c *httpCounts) responded(status int, errorCode string) {
	if status != http.StatusOK || errorCode != "" {
		c.responses.WithLabelValues(strconv.Itoa(status), errorCode).Inc()
		return
	}
	ok := c.ok.Load()
	if ok == nil { // several may find it so: they make the same
		made := c.responses.WithLabelValues("200", "")
		ok = &made
		c.ok.Store(ok)
	}
	(*ok).Inc()
}

// routerSeconds is the bounds of all durations that the router shows: nothing above four minutes.
func routerSeconds() []float64 {
	return []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 30, 45, 60, 90, 120, 180, 240}
}
