package api

import (
	"slices"
	"strconv"
)

// vllmSamples returns the series of a vLLM engine. Its requests are counted for its first rank.
func vllmSamples(v *workerView) []sample {
	var all []sample
	for i := range v.ranks {
		all = append(all, vllmRank(v, i)...)
	}
	return append(all, vllmRequests(v)...)
}

func vllmLabels(v *workerView, rank int) []pair {
	return []pair{{"model_name", v.model}, {"engine", strconv.Itoa(rank)}}
}

func vllmRank(v *workerView, rank int) []sample {
	r, labels := &v.ranks[rank], vllmLabels(v, rank)
	l := &r.load
	gauge := func(name, help string, value float64) sample { return gauge("vllm:"+name, help, value, labels...) }
	counter := func(name, help string, value int64) sample { return counter("vllm:"+name, help, value, labels...) }
	return []sample{
		gauge("num_requests_running", "Number of requests in model execution batches.", float64(runningOf(v.kind, l))),
		gauge("num_requests_waiting", "Number of requests waiting to be processed.", float64(l.PrefillWait+l.DecodeWait+l.Retracted)),
		gauge("kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", r.pool.usage()),
		counter("num_preemptions_total", "Cumulative number of preemption from the engine.", l.RetractedSum),
		counter("prefix_cache_queries_total", "Prefix cache queries, in terms of number of queried tokens.", l.PrefillTokens),
		counter("prefix_cache_hits_total", "Prefix cache hits, in terms of number of cached tokens.", 0),
		counter("prompt_tokens_total", "Number of prefill tokens processed.", l.PrefillTokens),
		counter("generation_tokens_total", "Number of generation tokens processed.", l.DecodeTokens),
	}
}

func vllmRequests(v *workerView) []sample {
	a, labels := v.account, vllmLabels(v, 0)
	histogram := func(name, help string, t *tally) sample {
		return sample{name: "vllm:" + name, help: help, tally: t, labels: labels}
	}
	all := []sample{
		histogram("time_to_first_token_seconds", "Histogram of time to first token in seconds.", &a.first),
		histogram("inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", &a.gaps),
		histogram("e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", &a.whole),
		histogram("request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", &a.queued),
	}
	const finished = "Count of successfully processed requests."
	for _, f := range [...]struct {
		reason string
		n      uint64
	}{{"stop", a.completed}, {"abort", v.aborted()}} {
		all = append(all, counter("vllm:request_success_total", finished, int64(f.n), append(slices.Clip(labels), pair{"finished_reason", f.reason})...))
	}
	return all
}

func vllmBounds() bounds {
	whole := []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	return bounds{
		first:  []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560},
		gaps:   []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80},
		whole:  whole,
		queued: whole,
	}
}
