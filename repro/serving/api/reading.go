package api

import (
	"math"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"example.com/wedge/repro/serving"
)

// rule says where a gauge is read. Of several rules for one gauge the first one that finds anything
// counts, so that a name and its successor are not added up.
type rule struct {
	gauge  string
	family string
	engine string // of SGLang's label engine_type; empty: any
	mode   string // of the label mode; empty: any
	most   bool   // the largest of several, instead of their sum
	reason string // of the label finished_reason; empty: any
	equal  string // not the values, but how many of them are this one; empty: the values
}

// rules returns all rules, in the order of serving's gauges. Those of the router's requests are apart:
// see routerInFlight.
func rules() []rule {
	return []rule{
		{gauge: serving.GaugeRouterQueued, family: routerOwn},
		{gauge: serving.GaugePrefillBootstrap, family: "sglang:num_prefill_bootstrap_queue_reqs"},
		{gauge: serving.GaugePrefillBootstrap, family: "sglang:num_prefill_prealloc_queue_reqs"}, // until 2026-05
		{gauge: serving.GaugePrefillQueue, family: "sglang:num_queue_reqs", engine: enginePrefill},
		{gauge: serving.GaugePrefillRunning, family: "sglang:num_running_reqs", engine: enginePrefill},
		{gauge: serving.GaugePrefillInflight, family: "sglang:num_prefill_inflight_queue_reqs"},
		{gauge: serving.GaugeDecodePrealloc, family: "sglang:num_decode_prealloc_queue_reqs"},
		{gauge: serving.GaugeDecodeTransfer, family: "sglang:num_decode_transfer_queue_reqs"},
		{gauge: serving.GaugeDecodeQueue, family: "sglang:num_queue_reqs", engine: engineDecode},
		{gauge: serving.GaugeDecodeQueue, family: "vllm:num_requests_waiting"},
		{gauge: serving.GaugeDecodeRunning, family: "sglang:num_running_reqs", engine: engineDecode},
		{gauge: serving.GaugeDecodeRunning, family: "vllm:num_requests_running"},
		{gauge: serving.GaugeDecodeKV, family: "sglang:token_usage", engine: engineDecode, most: true},
		{gauge: serving.GaugeDecodeKV, family: "vllm:kv_cache_usage_perc", most: true},
		{gauge: serving.GaugeDecodeKV, family: "vllm:gpu_cache_usage_perc", most: true}, // older
		// SGLang's own prompt_tokens_total and generation_tokens_total count requests that have ended:
		// they would show no progress while one is under way.
		{gauge: serving.GaugePrefillTokens, family: "sglang:realtime_tokens_total", mode: "prefill_compute"},
		{gauge: serving.GaugePrefillTokens, family: "vllm:prompt_tokens_total"},
		{gauge: serving.GaugeDecodeTokens, family: "sglang:realtime_tokens_total", mode: "decode"},
		{gauge: serving.GaugeDecodeTokens, family: "vllm:generation_tokens_total"},
		{gauge: serving.GaugeDecodeRetracted, family: "sglang:num_retracted_requests_total"},
		{gauge: serving.GaugeDecodeRetracted, family: "vllm:num_preemptions_total"},
		{gauge: serving.GaugeBootstrapFailed, family: "sglang:num_bootstrap_failed_reqs_total"},
		{gauge: serving.GaugeTransferFailed, family: "sglang:num_transfer_failed_reqs_total"},
		{gauge: serving.GaugeEngineAborted, family: "sglang:num_aborted_requests_total"},
		{gauge: serving.GaugeEngineAborted, family: "vllm:request_success_total", reason: "abort"},
		// A retry of a request that is split counts for prefill and for decode.
		{gauge: serving.GaugeRouterRetries, family: "smg_worker_retries_total", most: true},
		{gauge: serving.GaugeRouterRetries, family: "sgl_router_retries_total"},
		{gauge: serving.GaugeUnhealthyWorkers, family: "smg_worker_health", equal: "0"},
		{gauge: serving.GaugeUnhealthyWorkers, family: "sgl_router_worker_health", equal: "0"},
		{gauge: serving.GaugeOpenBreakers, family: "smg_worker_cb_state", equal: "1"},
		{gauge: serving.GaugeOpenBreakers, family: "sgl_router_cb_state", equal: "1"},
	}
}

// gaugesOf translates what pages show.
func gaugesOf(pages []page) []serving.Gauge {
	var out []serving.Gauge
	if value, ok := routerInFlight(pages); ok {
		out = append(out, serving.Gauge{Name: serving.GaugeRouterInFlight, Value: value})
	}
	for _, r := range rules() {
		if len(out) > 0 && out[len(out)-1].Name == r.gauge {
			continue // an earlier rule has found it
		}
		if value, ok := r.read(pages); ok {
			out = append(out, serving.Gauge{Name: r.gauge, Value: value})
		}
	}
	return out
}

// read applies the rule. It returns false if there is nothing to be found.
func (r *rule) read(pages []page) (value float64, ok bool) {
	for _, p := range pages {
		if v, found := r.readPage(p); found {
			if !ok || r.most {
				value = max(value, v) // usages are not negative
			} else {
				value += v
			}
			ok = true
		}
	}
	return value, ok
}

// readPage applies the rule to the series of one page. The ranks of one engine that work on the same
// requests may each have a series with the same number: only the largest of them counts.
func (r *rule) readPage(p page) (value float64, ok bool) {
	var engines []string
	var values []float64
	for _, m := range p.series(r.family) {
		v, isNumber := number(m)
		if !isNumber || !r.covers(m) {
			continue
		}
		if r.equal != "" {
			v = oneIf(strconv.FormatFloat(v, 'g', -1, 64) == r.equal)
		}
		engine := engineKey(m)
		i := slices.Index(engines, engine)
		if i < 0 {
			engines, values = append(engines, engine), append(values, v)
			continue
		}
		values[i] = max(values[i], v)
	}
	for _, v := range values {
		if r.most {
			value = max(value, v)
		} else {
			value += v
		}
	}
	return value, len(values) > 0
}

// covers says whether the rule is about a series. An engine that is neither prefill nor decode does
// both, and counts as decode.
func (r *rule) covers(m *dto.Metric) bool {
	isPrefill := label(m, "engine_type") == enginePrefill
	switch {
	case r.engine == enginePrefill && !isPrefill, r.engine == engineDecode && isPrefill:
		return false
	case r.mode != "" && label(m, "mode") != r.mode, r.reason != "" && label(m, "finished_reason") != r.reason:
		return false
	}
	return label(m, "priority") == "" // SGLang's total; the others are parts of it
}

// engineKey returns what the series of ranks that work on the same requests have in common. Ranks of
// data parallelism do not: they have requests of their own.
func engineKey(m *dto.Metric) string {
	var pairs []string
	for _, l := range m.GetLabel() {
		switch l.GetName() {
		case "tp_rank", "pp_rank", "moe_ep_rank":
		default:
			pairs = append(pairs, l.GetName()+"="+strconv.Quote(l.GetValue()))
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, ",")
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// number returns the value of a gauge, a counter, or a series without a type.
func number(m *dto.Metric) (float64, bool) {
	var v float64
	switch {
	case m.Gauge != nil:
		v = m.Gauge.GetValue()
	case m.Counter != nil:
		v = m.Counter.GetValue()
	case m.Untyped != nil:
		v = m.Untyped.GetValue()
	default:
		return 0, false
	}
	return v, !math.IsNaN(v) && !math.IsInf(v, 0)
}

// routerInFlight returns how many requests a router has. Routers differ in what they count:
//
//	smg_http_connections_active   newer ones: until the end of the answer; older ones: until its headers
//	smg_worker_requests_active    by worker: streams from their headers on, all else from the dispatch
//	sgl_router_running_requests   its name in 2025
//
// In neither of them is a request missing all the time, so the larger one is taken. A request that is
// split between prefill and decode counts at a worker of each.
func routerInFlight(pages []page) (value float64, ok bool) {
	split := splits(pages)
	for _, family := range [...]string{"smg_http_connections_active", "smg_worker_requests_active", "sgl_router_running_requests"} {
		r := rule{family: family}
		v, found := r.read(pages)
		if !found {
			continue
		}
		if split && family != "smg_http_connections_active" {
			v /= 2
		}
		value, ok = max(value, v), true
	}
	return value, ok
}

// splits says whether the router that the pages are of has separate workers for prefill and decode.
func splits(pages []page) bool {
	for _, p := range pages {
		for _, m := range p.series("smg_worker_pool_size") {
			if v, ok := number(m); ok && v > 0 && label(m, "worker_type") == enginePrefill {
				return true
			}
		}
		for _, m := range p.series("sgl_router_pd_requests_total") {
			if v, ok := number(m); ok && v > 0 {
				return true
			}
		}
	}
	return false
}
