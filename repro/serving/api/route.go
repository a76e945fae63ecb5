package api

import (
	"net/http"
	"strings"
	"sync/atomic"
)

// destination is where requests with a path go. A nil one is nowhere.
type destination struct {
	label  string // stands for the path in the metrics
	prefix string // of a made-up request id; empty: "req-"
	get    func(*exchange)
	post   func(*exchange)
	put    func(*exchange)
	remove func(*exchange)

	series [methods]atomic.Pointer[routeSeries] // those that requests have made, by their method
}

func (d *destination) idPrefix() string {
	if d == nil || d.prefix == "" {
		return "req-"
	}
	return d.prefix
}

// handler returns who answers to a method, or nil. net/http keeps the body of an answer to HEAD back.
func (d *destination) handler(method string) func(*exchange) {
	if d == nil {
		return nil
	}
	switch method {
	case http.MethodGet, http.MethodHead:
		return d.get
	case http.MethodPost:
		return d.post
	case http.MethodPut:
		return d.put
	case http.MethodDelete:
		return d.remove
	}
	return nil
}

// allow returns the value of the header Allow.
func (d *destination) allow() string {
	var methods []string
	for _, m := range [...]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		if d.handler(m) != nil {
			methods = append(methods, m)
		}
	}
	return strings.Join(methods, ", ")
}

const (
	chatPath    = "/v1/chat/completions"
	modelsPath  = "/v1/models"
	faultsPath  = "/wedge/faults"
	statePath   = "/wedge/state"
	metricsPath = "/metrics"
)

// routes is where all requests go. Its maps have the paths with nothing variable in them.
type routes struct {
	router, worker map[string]*destination
	metrics        *destination
	model          *destination // /v1/models/{id}
	fault          *destination // /wedge/faults/{id}
}

func newRoutes() *routes {
	metrics := &destination{label: metricsPath, get: (*exchange).showMetrics}
	abort := &destination{label: "/abort_request", post: (*exchange).abortRequest}
	models := &destination{label: modelsPath, get: (*exchange).models}
	return &routes{
		metrics: metrics,
		model:   &destination{label: modelsPath + "/{id}", get: (*exchange).oneModel},
		fault:   &destination{label: faultsPath + "/{id}", put: (*exchange).putFault, remove: (*exchange).removeFault},
		router: byPath(metrics, models,
			&destination{label: chatPath, prefix: "chatcmpl-", post: (*exchange).chat},
			&destination{label: faultsPath, get: (*exchange).listFaults, remove: (*exchange).removeFaults},
			&destination{label: statePath, get: (*exchange).showState},
			&destination{label: "/health", get: (*exchange).alive},
			&destination{label: "/liveness", get: (*exchange).alive},
			&destination{label: "/health_generate", get: (*exchange).generateHealth},
			&destination{label: "/engine_metrics", get: (*exchange).showEngineMetrics},
			&destination{label: "/v1/loads", get: (*exchange).showAllLoads},
			&destination{label: "/server_info", get: (*exchange).showAllInfo},
			&destination{label: "/get_server_info", get: (*exchange).showAllInfo},
			&destination{label: "/readiness", get: (*exchange).ready},
			&destination{label: "/workers", get: (*exchange).listWorkers},
			abort,
		),
		worker: byPath(metrics, models, abort,
			&destination{label: "/health", get: (*exchange).workerHealth},
			&destination{label: "/health_generate", get: (*exchange).workerHealth},
			&destination{label: "/v1/loads", get: (*exchange).showLoads},
			&destination{label: "/server_info", get: (*exchange).showServerInfo},
			&destination{label: "/get_server_info", get: (*exchange).showServerInfo},
		),
	}
}

func byPath(all ...*destination) map[string]*destination {
	paths := map[string]*destination{}
	for _, d := range all {
		paths[d.label] = d
	}
	return paths
}

// find returns where a request to a face goes, or nil.
func (r *routes) find(f face, path string) *destination {
	switch f.kind {
	case faceMetrics:
		if path == metricsPath {
			return r.metrics
		}
		return nil
	case faceWorker:
		return r.worker[path]
	}
	if d := r.router[path]; d != nil {
		return d
	}
	switch {
	case strings.HasPrefix(path, modelsPath+"/"):
		return r.model
	case strings.HasPrefix(path, faultsPath+"/"):
		return r.fault
	}
	return nil
}
