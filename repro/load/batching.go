package load

import (
	"fmt"
	"math"

	"example.com/wedge/repro/serving"
)

// Batching is what the gauges say about the question of I-7: do the servers decode the requests
// together?
type Batching struct {
	Verdict BatchVerdict `json:"verdict"`
	Text    string       `json:"text"` // the verdict in words, with what it rests on
}

// BatchVerdict names the answer.
type BatchVerdict string

// The answers.
const (
	Batches      BatchVerdict = "batches"        // the batch rises to about the number of requests that are out
	Capped       BatchVerdict = "capped"         // to a limit, and the others wait for room in it
	Serialises   BatchVerdict = "serialises"     // one to three, and the others wait for room
	BeforeDecode BatchVerdict = "before_decode"  // something before the decode engine is the limit
	NotAtServers BatchVerdict = "not_at_servers" // the servers do not have the requests
	Unknown      BatchVerdict = "unknown"        // the gauges do not tell, or there was no load to speak of
)

// The shares and counts behind the words.
const (
	aboutAll     = 0.7 // of the requests that are out
	aGoodPart    = 0.3 // of them
	serialMax    = 3   // requests in a batch that is none
	loadMin      = 4   // requests out, below which a small batch says nothing
	outsideShare = 0.5 // of the requests, that the servers do not have

	// briefly is how long answers take, in seconds, that say nothing about batches: a few steps of one.
	briefly = 0.05
)

// before lists the gauges of requests that have not reached the decode engine's queue, each with what
// they wait for. They overlap: a request may be in several.
func before() []struct{ gauge, words string } {
	return []struct{ gauge, words string }{
		{serving.GaugeRouterQueued, "wait at the router"},
		{serving.GaugePrefillBootstrap, "wait in prefill's bootstrap queue, for memory or slots"},
		{serving.GaugePrefillQueue, "wait for their turn at prefill"},
		{serving.GaugePrefillRunning, "are in prefill"},
		{serving.GaugePrefillInflight, "are in flight from prefill to decode"},
		{serving.GaugeDecodePrealloc, "wait for memory at decode"},
		{serving.GaugeDecodeTransfer, "have memory at decode and wait for their KV cache"},
	}
}

// batching judges the samples of a run, whose answers took so long (nil: there were none).
func batching(s *sampler, whole *Quantiles) Batching {
	r := s.best()
	running, known := r.find(serving.GaugeDecodeRunning)
	out := r.out.mean()
	switch {
	case s.from == nil:
		return Batching{Unknown, "no gauges were read: whether decode batches cannot be said (see --metrics-url)"}
	case r.samples == 0 && s.failed > 0:
		return Batching{Unknown, fmt.Sprintf("no gauges could be read: %v", s.err)}
	case r.samples < samplesMin:
		return Batching{Unknown, fmt.Sprintf("only %s taken while requests were out: want a longer run, or --sample of less", count(r.samples, "sample was", "samples were"))}
	case !known:
		return Batching{Unknown, "the servers show no gauge of running requests: whether decode batches cannot be said"}
	case r.out.max < loadMin:
		return Batching{Unknown, fmt.Sprintf("at most %s out: a small batch says nothing, want %d or more", count(int(r.out.max), "request was", "requests were"), loadMin)}
	case running.max >= aboutAll*r.out.max:
		return Batching{Batches, fmt.Sprintf("decode batches: running rises to %.0f while %.0f requests are out", running.max, r.out.max)}
	case whole != nil && whole.P50 < briefly:
		return Batching{Unknown, fmt.Sprintf("half the answers took less than %.2g ms: too little for a batch to be seen, and mostly the way there and back", 1000*whole.P50)}
	}
	return limited(r, running, out)
}

// limited says what keeps the batch smaller than the number of requests that are out.
func limited(r *reading, running spread, out float64) Batching {
	waiting, _ := r.find(serving.GaugeDecodeQueue)
	queue, words := 0.0, ""
	for _, stage := range before() {
		if v, ok := r.find(stage.gauge); ok && v.mean() > queue {
			queue, words = v.mean(), stage.words
		}
	}
	size := fmt.Sprintf("%.0f to %.0f run", running.min, running.max)
	if running.min == running.max {
		size = fmt.Sprintf("%.0f run", running.max)
	}
	switch {
	case waiting.mean() >= aGoodPart*out && waiting.mean() >= queue && running.max <= serialMax:
		return Batching{Serialises, fmt.Sprintf("decode serialises: %s while %.0f requests are out, and %.1f on average wait for room in the batch", size, out, waiting.mean())}
	case waiting.mean() >= aGoodPart*out && waiting.mean() >= queue:
		return Batching{Capped, fmt.Sprintf("decode batches up to a limit: %s while %.0f requests are out, and %.1f on average wait for room in the batch", size, out, waiting.mean())}
	case queue >= aGoodPart*out:
		return Batching{BeforeDecode, fmt.Sprintf("something before decode is the limit: %s while %.0f requests are out, and %.1f on average %s", size, out, queue, words)}
	}
	if at, ok := r.find(serving.GaugeRouterInFlight); ok && at.mean() < (1-outsideShare)*out {
		return Batching{NotAtServers, fmt.Sprintf("the servers do not have the requests: %.1f on average are at the router while %.0f are out", at.mean(), out)}
	}
	return Batching{Unknown, fmt.Sprintf("%s (%.1f on average) while %.0f requests are out, and no gauge says where the others are", size, math.Round(10*running.mean())/10, out)}
}

// count writes a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
