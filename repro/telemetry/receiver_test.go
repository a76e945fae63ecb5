package telemetry

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics1 "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver takes spans and metrics as a collector does.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	spans    []*trace1.Span
	resource map[string]any
	metrics  map[string]*metrics1.Metric // as they came last
	requests int
	headers  http.Header // of the latest request
	gate     func()      // called for each request; nil: nothing holds it
}

func receive(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{metrics: map[string]*metrics1.Metric{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if r.gate != nil {
		r.gate()
	}
	body := io.Reader(req.Body)
	if req.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	r.headers = req.Header
	switch req.URL.Path {
	case "/v1/traces":
		var all collectortrace.ExportTraceServiceRequest
		err = proto.Unmarshal(text, &all)
		for _, of := range all.ResourceSpans {
			r.resource = attributes(of.Resource.Attributes)
			for _, scope := range of.ScopeSpans {
				r.spans = append(r.spans, scope.Spans...)
			}
		}
	case "/v1/metrics":
		var all collectormetrics.ExportMetricsServiceRequest
		err = proto.Unmarshal(text, &all)
		for _, of := range all.ResourceMetrics {
			for _, scope := range of.ScopeMetrics {
				for _, m := range scope.Metrics {
					r.metrics[m.Name] = m
				}
			}
		}
	default:
		http.NotFound(w, req)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// attributes returns attributes as plain values.
func attributes(list []*common.KeyValue) map[string]any {
	out := map[string]any{}
	for _, kv := range list {
		switch v := kv.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			out[kv.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			out[kv.Key] = v.IntValue
		case *common.AnyValue_DoubleValue:
			out[kv.Key] = v.DoubleValue
		case *common.AnyValue_BoolValue:
			out[kv.Key] = v.BoolValue
		}
	}
	return out
}
