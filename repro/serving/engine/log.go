package engine

import (
	"fmt"

	"example.com/wedge/harness/sim"
)

// log writes a line of the worker's log, as SGLang's scheduler does. There is no expert parallelism
// here, and one tensor-parallel rank that writes.
func (r *rank) log(format string, args ...any) { r.logAt(r.e.now, format, args...) }

func (r *rank) logAt(at sim.Instant, format string, args ...any) {
	w := r.w
	if w.out == nil || w.outErr != nil {
		return
	}
	rank := ""
	if len(w.ranks) > 1 {
		rank = fmt.Sprintf("DP%d ", r.index)
	}
	line := fmt.Appendf(nil, "[%s %sTP0] ", at.Time().Format("2006-01-02 15:04:05"), rank)
	line = append(fmt.Appendf(line, format, args...), '\n')
	_, w.outErr = w.out.Write(line)
}

// LogErr returns the first error of writing the worker's log, after which nothing more is written, or
// nil.
func (w *Worker) LogErr() error { return w.outErr }

// perSecond is a number of tokens per second of the time since the previous line of its kind, which is
// why the first line after a time without work shows so little.
func (r *rank) perSecond(at sim.Instant, tokens int64) float64 {
	s := &r.shown
	took := at.Sub(s.logged).Seconds()
	s.logged = at
	return float64(tokens) / max(took, 1e-9)
}

// usage is a share of the rank's memory.
func (r *rank) usage(tokens int) float64 {
	total := r.e.cfg.Decode.KVTokens
	if r.w.Kind == KindPrefill {
		total = r.e.cfg.Prefill.KVTokens
	}
	return float64(tokens) / float64(total)
}

// logPrefill writes the line of a chunk.
func (r *rank) logPrefill(shares, tokens int) {
	if r.w.out == nil {
		return
	}
	steps, _ := r.batch.at(r.e.now)
	v := r.load(steps)
	between := ""
	if r.w.Kind == KindPrefill {
		between = fmt.Sprintf(" #bootstrap-req: %d, #inflight-req: %d, #optimistic-req: 0,", v.Bootstrap, v.Inflight)
	}
	r.log("Prefill batch, #new-seq: %d, #new-token: %d, #cached-token: 0, token usage: %.2f, #running-req: %d, #queue-req: %d, #pending-token: %d,%s cuda graph: False, input throughput (token/s): %.2f",
		shares, tokens, r.usage(v.PrefillKVTokens+v.DecodeKVTokens+v.StarvedKVTokens), v.Running, r.waiting.n, v.PendingTokens, between, r.perSecond(r.e.now, int64(tokens)))
}

// logDecode writes the line of a running batch.
func (r *rank) logDecode(at sim.Instant, steps int64) {
	if r.w.out == nil {
		return
	}
	v, s := r.load(steps), &r.shown
	made := r.counts.decodeTokens + r.batch.tokens(at)
	rate := r.perSecond(at, made-s.loggedTokens)
	s.loggedTokens = made
	between, queue := "", v.DecodeWait
	if r.w.Kind == KindDecode {
		between = fmt.Sprintf(" pre-allocated usage: %.2f, #prealloc-req: %d, #transfer-req: %d, #retracted-req: %d,",
			r.usage(r.kv), v.Prealloc, v.Transfer, v.Retracted)
	} else {
		queue = r.waiting.n
	}
	r.logAt(at, "Decode batch, #running-req: %d, #token: %d, token usage: %.2f,%s cuda graph: True, gen throughput (token/s): %.2f, #queue-req: %d",
		v.Running, v.DecodeKVTokens, r.usage(v.DecodeKVTokens+v.StarvedKVTokens), between, rate, queue)
}

// logRetraction writes the line of memory that has run out. The ratio is what SGLang takes the answers
// to need of the tokens that they are allowed: of those that stay, what they have and 20 steps more.
func (r *rank) logRetraction(legs, gained int) {
	if r.w.out == nil {
		return
	}
	made, allowed := 0, 1
	for l := r.running.head; l != nil; l = l.behind {
		has, _ := l.Made(r.e.now)
		made += has + 20
		allowed += max(l.Job.TokensMax, l.Job.OutputTokens)
	}
	before, ratio := r.shown.ratio, min(1, float64(made)/float64(allowed))
	r.shown.ratio = ratio
	r.log("KV cache pool is full. Retract requests. #retracted_reqs: %d, #new_tokens_gained: %d, #new_token_ratio: %.4f -> %.4f",
		legs, gained, before, ratio)
}
