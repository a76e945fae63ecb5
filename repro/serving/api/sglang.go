package api

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// rankView is what there is to be shown of a rank.
type rankView struct {
	load      engine.Load // as it has published it
	published sim.Instant
	pool      pool
	perSecond float64 // tokens that it has made, between the last two times that it has published
}

// workerView is what there is to be shown of a worker, read at one instant.
type workerView struct {
	name    string
	kind    engine.Kind
	model   string
	ranks   []rankView
	account *account
}

// aborted returns how many requests of all ranks have been aborted.
func (v *workerView) aborted() (n uint64) {
	for i := range v.ranks {
		n += uint64(v.ranks[i].load.Aborted)
	}
	return n
}

// Values of the label engine_type.
const (
	enginePrefill = "prefill"
	engineDecode  = "decode"
	engineUnified = "unified"
)

func engineType(k engine.Kind) string {
	switch k {
	case engine.KindPrefill:
		return enginePrefill
	case engine.KindDecode:
		return engineDecode
	}
	return engineUnified
}

// sglangSamples returns the series of an SGLang engine, with the names of 2026. What is never there in
// a simulated engine, such as requests with a grammar, is shown as 0. Series whose values would have to
// be made up are left out: new_token_ratio, is_cuda_graph, pending_prealloc_token_usage, the tokens of
// retracted requests, and the bytes and the speed of transfers.
func sglangSamples(v *workerView) []sample {
	var all []sample
	for i := range v.ranks {
		all = append(all, sglangRank(v, i)...)
	}
	return append(all, sglangRequests(v)...)
}

// rankLabels are those of what a scheduler shows.
func rankLabels(v *workerView, rank int) []pair {
	labels := []pair{{"model_name", v.model}, {"engine_type", engineType(v.kind)}, {"tp_rank", "0"}, {"pp_rank", "0"}, {"moe_ep_rank", "0"}}
	if len(v.ranks) > 1 {
		labels[2].value = strconv.Itoa(rank)
		labels[4].value = labels[2].value
		labels = append(labels, pair{"dp_rank", strconv.Itoa(rank)})
	}
	return labels
}

// sglangRank is what the scheduler of a rank shows. Gauges are as old as its last report; counters are
// of the present.
func sglangRank(v *workerView, rank int) []sample {
	r := &v.ranks[rank]
	l, labels := &r.load, rankLabels(v, rank)
	gauge := func(name, help string, value float64) sample { return gauge("sglang:"+name, help, value, labels...) }
	counter := func(name, help string, value int64, more ...pair) sample {
		return counter("sglang:"+name, help, value, append(slices.Clip(labels), more...)...)
	}
	count := func(name, help string, n int) sample { return gauge(name, help, float64(n)) }
	const realtime = "Total number of tokens processed, by mode, counted at each iteration."
	free := max(0, r.pool.size-r.pool.used)
	return []sample{
		count("num_running_reqs", "The number of running requests.", runningOf(v.kind, l)),
		count("num_queue_reqs", "The number of requests in the waiting queue.", l.PrefillWait+l.DecodeWait),
		count("num_grammar_queue_reqs", "The number of requests in the grammar waiting queue.", 0),
		count("num_prefill_bootstrap_queue_reqs", "The number of requests in the prefill bootstrap queue.", l.Bootstrap),
		count("num_prefill_inflight_queue_reqs", "The number of requests in the prefill inflight queue.", l.Inflight),
		count("num_decode_prealloc_queue_reqs", "The number of requests in the decode prealloc queue.", l.Prealloc),
		count("num_decode_transfer_queue_reqs", "The number of requests in the decode transfer queue.", l.Transfer),
		count("num_retracted_reqs", "The number of retracted requests.", l.Retracted),
		count("num_paused_reqs", "The number of paused requests by async weight sync.", 0),
		gauge("token_usage", "The token usage.", r.pool.usage()),
		gauge("full_token_usage", "The token usage for full attention layers.", r.pool.usage()),
		gauge("swa_token_usage", "The token usage for SWA layers.", 0),
		gauge("mamba_usage", "The token usage for Mamba layers.", 0),
		count("num_used_tokens", "The number of used tokens.", r.pool.used),
		count("kv_used_tokens", "The number of used KV tokens.", r.pool.used),
		count("kv_available_tokens", "The number of available KV tokens.", free),
		count("kv_evictable_tokens", "The number of evictable KV tokens.", 0),
		count("max_total_num_tokens", "Maximum total number of tokens in the KV cache pool.", r.pool.size),
		gauge("cache_hit_rate", "The prefix cache hit rate.", 0),
		gauge("gen_throughput", "The generation throughput (token/s).", r.perSecond),
		gauge("utilization", "The utilization.", utilization(v.kind)),
		count("decode_sum_seq_lens", "The sum of all sequence lengths in decode.", l.DecodeKVTokens),
		counter("num_bootstrap_failed_reqs_total", "The number of bootstrap failed requests.", l.BootstrapFailed),
		counter("num_transfer_failed_reqs_total", "The number of transfer failed requests.", l.TransferFailed),
		counter("num_prefill_retries_total", "Total number of prefill retries.", 0),
		counter("num_retracted_requests_total", "Total number of retracted requests.", l.RetractedSum),
		counter("realtime_tokens_total", realtime, l.PrefillTokens, pair{"mode", "prefill_compute"}),
		counter("realtime_tokens_total", realtime, 0, pair{"mode", "prefill_cache"}),
		counter("realtime_tokens_total", realtime, l.DecodeTokens, pair{"mode", "decode"}),
	}
}

// utilization is what SGLang shows of itself: nothing on a prefill engine.
func utilization(k engine.Kind) float64 {
	if k == engine.KindPrefill {
		return -1
	}
	return 0
}

// sglangRequests is what the HTTP side of a worker shows.
func sglangRequests(v *workerView) []sample {
	a, labels := v.account, []pair{{"model_name", v.model}, {"engine_type", engineType(v.kind)}}
	counter := func(name, help string, value uint64, more ...pair) sample {
		return counter("sglang:"+name, help, int64(value), append(slices.Clip(labels), more...)...)
	}
	histogram := func(name, help string, t *tally) sample {
		return sample{name: "sglang:" + name, help: help, tally: t, labels: labels}
	}
	all := []sample{
		counter("num_aborted_requests_total", "Number of requests aborted.", v.aborted()),
		counter("prompt_tokens_total", "Number of prefill tokens processed.", a.promptTokens),
		counter("generation_tokens_total", "Number of generation tokens processed.", a.generationTokens),
		histogram("time_to_first_token_seconds", "Histogram of time to first token in seconds.", &a.first),
		histogram("e2e_request_latency_seconds", "Histogram of End-to-end request latency in seconds", &a.whole),
		histogram("inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", &a.gaps),
		histogram("queue_time_seconds", "Histogram of queueing time in seconds.", &a.queued),
	}
	for i, stream := range [...]string{"false", "true"} {
		all = append(all, counter("num_requests_total", "Number of requests processed.", a.requests[i], pair{"is_streaming", stream}))
	}
	all = append(all, sglangStages(v, histogram)...)
	return append(all, sglangHTTP(a)...)
}

// sglangStages is how long requests were in the stages that the worker has.
func sglangStages(v *workerView, histogram func(name, help string, t *tally) sample) []sample {
	from, to := 0, stages
	switch v.kind {
	case engine.KindPrefill:
		to = stages / 2
	case engine.KindDecode:
		from = stages / 2
	}
	var all []sample
	for i, name := range stageNames() {
		if i < from || i >= to {
			continue
		}
		s := histogram("per_stage_req_latency_seconds", "The latency of each stage of requests.", &v.account.stages[i])
		s.labels = append(slices.Clip(s.labels), pair{"stage", name})
		all = append(all, s)
	}
	if v.kind == engine.KindPrefill {
		all = append(all,
			histogram("kv_transfer_latency_ms", "The transfer latency of the KV cache in ms.", &v.account.transfer),
			histogram("kv_transfer_bootstrap_ms", "The bootstrap time of the KV transfer in ms.", &v.account.prepared))
	}
	return all
}

// sglangHTTP is what a worker counts of HTTP: the router's requests to it.
func sglangHTTP(a *account) []sample {
	endpoint, method := pair{"endpoint", chatPath}, pair{"method", "POST"}
	all := []sample{counter("sglang:http_requests_total", "Total number of HTTP requests by endpoint and method",
		int64(a.requests[0]+a.requests[1]), endpoint, method)}
	for _, status := range slices.Sorted(maps.Keys(a.responses)) {
		all = append(all, counter("sglang:http_responses_total", "Total number of HTTP responses by endpoint and status code",
			int64(a.responses[status]), endpoint, pair{"status_code", strconv.Itoa(status)}, method))
	}
	return all
}

func sglangBounds() bounds {
	stage := make([]float64, 30)
	for i := range stage {
		stage[i] = .001 * math.Pow(1.62, float64(i))
	}
	first := []float64{.1, .2, .4, .6, .8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400}
	return bounds{
		first: first, stage: stage, transfer: []float64{1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000},
		gaps:  []float64{.002, .004, .006, .008, .010, .015, .020, .025, .030, .035, .040, .060, .080, .1, .2, .4, .6, .8, 1, 2, 4, 6, 8},
		whole: append(slices.Clip(first), 600, 1200, 1800, 2400),
		queued: []float64{0, .001, .005, .01, .05, .1, .2, .5, 1, 2, 3, 4, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100,
			200, 300, 400, 500, 600, 700, 800, 900, 1000, 1200, 1400, 1600, 1800, 2000, 2500, 3000},
	}
}
