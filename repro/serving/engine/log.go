package engine

import (
	"fmt"

	"example.com/wedge/harness/sim"
)

// write writes a line of the worker's log, as SGLang's scheduler does.
func (r *rank) write(at sim.Instant, format string, args ...any) {
	rank := ""
	if len(r.w.ranks) > 1 {
		rank = fmt.Sprintf(" DP%d", r.index)
	}
	_, err := fmt.Fprintf(r.w.log, "[%s%s TP0] %s\n", at.Time().Format("2006-01-02 15:04:05"), rank, fmt.Sprintf(format, args...))
	if r.w.logErr == nil {
		r.w.logErr = err
	}
}

// LogErr returns the first error of writing the worker's log, or nil.
func (w *Worker) LogErr() error { return w.logErr }

// perSecond is tokens since the previous line of the log, per second.
func (r *rank) perSecond(at sim.Instant, tokens int64) float64 {
	p := &r.published
	took := at.Sub(p.logged).Seconds()
	rate := float64(tokens-p.loggedTokens) / max(took, 1e-9)
	p.logged, p.loggedTokens = at, tokens
	return rate
}

func (r *rank) logPrefill(legs, tokens int) {
	if r.w.log == nil {
		return
	}
	c := &r.e.cfg
	v := r.load(r.e.now)
	usage := float64(v.PrefillKVTokens) / float64(c.Prefill.KVTokens)
	if r.w.Kind == KindUnified {
		r.write(r.e.now, "Prefill batch, #new-seq: %d, #new-token: %d, #cached-token: 0, token usage: %.2f, #running-req: %d, #queue-req: %d, #pending-token: %d, cuda graph: False, input throughput (token/s): %.2f",
			legs, tokens, float64(v.DecodeKVTokens)/float64(c.Decode.KVTokens), v.Running, v.PrefillWait, v.PendingTokens, r.perSecond(r.e.now, r.prefillTokens))
		return
	}
	r.write(r.e.now, "Prefill batch, #new-seq: %d, #new-token: %d, #cached-token: 0, token usage: %.2f, #running-req: 0, #queue-req: %d, #pending-token: %d, #bootstrap-req: %d, #inflight-req: %d, #optimistic-req: 0, cuda graph: False, input throughput (token/s): %.2f",
		legs, tokens, usage, v.PrefillWait, v.PendingTokens, v.Bootstrap, v.Inflight, r.perSecond(r.e.now, r.prefillTokens))
}

func (r *rank) logDecode(at sim.Instant) {
	if r.w.log == nil {
		return
	}
	c := &r.e.cfg.Decode
	v := r.load(at)
	usage := float64(v.DecodeKVTokens) / float64(c.KVTokens)
	if r.w.Kind == KindUnified {
		r.write(at, "Decode batch, #running-req: %d, #token: %d, token usage: %.2f, cuda graph: True, gen throughput (token/s): %.2f, #queue-req: %d",
			v.Running, v.DecodeKVTokens, usage, r.perSecond(at, v.DecodeTokens), v.PrefillWait)
		return
	}
	r.write(at, "Decode batch, #running-req: %d, #token: %d, token usage: %.2f, pre-allocated usage: %.2f, #prealloc-req: %d, #transfer-req: %d, #retracted-req: %d, cuda graph: True, gen throughput (token/s): %.2f, #queue-req: %d",
		v.Running, v.DecodeKVTokens, usage, float64(r.decodeKV)/float64(c.KVTokens), v.Prealloc, v.Transfer, v.Retracted, r.perSecond(at, v.DecodeTokens), v.DecodeWait)
}

func (r *rank) logRetraction(n, tokens int) {
	if r.w.log != nil {
		r.write(r.e.now, "KV cache pool is full. Retract requests. #retracted_reqs: %d, #new_tokens_gained: %d, #new_token_ratio: 1.0000 -> 1.0000", n, tokens)
	}
}

func (r *rank) logFailure(l *Leg, f *Failure) {
	if r.w.log != nil {
		r.write(r.e.now, "%s", f.Message)
	}
}

// scheduleLog arms the timer for the next line of a running batch, if there is a log: lines come when
// they are due, not when something else happens.
func (r *rank) scheduleLog() {
	g := &r.e.cfg.Gauges
	if r.w.log == nil || g.EverySteps == 0 || r.w.Kind == KindPrefill {
		return
	}
	at := sim.Never
	if r.batch.makers > 0 {
		at = r.batch.endOf((r.published.steps + 1) * int64(g.EverySteps))
	}
	r.e.schedule(at, &r.published.node)
}
