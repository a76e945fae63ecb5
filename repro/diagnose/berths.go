package diagnose

import "math"

// berth is a server-side stage with the number of requests that the gauges put there.
type berth struct {
	stage  string
	free   int
	unseen int // of a decode batch that stands still: see readings
}

// engineShare is how many requests the gauges put into one of the engines' stages.
type engineShare struct {
	stage string
	n     float64
}

// berthsOf reads from gauges how many requests are in each engine stage, the furthest first. Where the
// engines are split, either side counts a request that both have: the decode side's prealloc queue is
// the prefill side's bootstrap queue, and its transfer queue has what the prefill side queues, computes
// or still sends, and what waits in bootstrap for a slot. If the decode side is known to be up to date
// and shows what waits, the prefill side can only tell more of its transfer queue.
func berthsOf(v func(gaugeIndex) float64, decodeFresh bool) [8]engineShare {
	transfer, prealloc := v(decodeTransfer), v(decodePrealloc)
	left := math.Inf(1)
	if decodeFresh && transfer+prealloc+v(decodeQueue) > 0 {
		left = transfer
	}
	take := func(n float64) float64 {
		n = max(0, min(n, left))
		left -= n
		return n
	}
	inflight, running, queue := take(v(prefillInflight)), take(v(prefillRunning)), take(v(prefillQueue))
	ready := take(v(prefillBootstrap) - prealloc)
	return [...]engineShare{
		{ServerDecode, v(decodeRunning)}, {ServerDecodeWait, v(decodeQueue)},
		{ServerTransfer, max(0, transfer-inflight-running-queue-ready)},
		{ServerInflight, inflight}, {ServerPrealloc, prealloc}, {ServerPrefill, running},
		{ServerPrefillWait, queue}, {ServerBootstrap, ready},
	}
}

// berths reads from the latest gauges how many requests are in each engine stage, less those whose
// tokens arrive.
func (r *reading) berths() []berth {
	g := &r.gauges
	all := berthsOf(func(i gaugeIndex) float64 {
		if g.has(i) {
			return float64(g.count(i))
		}
		return 0
	}, g.recent[decodeTokens].ok() && !g.stands(decodeTokens))
	engines := make([]berth, len(all))
	for i, b := range all {
		engines[i] = berth{stage: b.stage, free: int(b.n)}
		if b.stage == ServerDecode {
			engines[i].free = max(0, int(b.n)-r.n[fateMoving])
			engines[i].unseen = int(g.unseen)
			if engines[i].free >= drainMin && g.grown(decodeRetracted) == 0 {
				engines[i].unseen = engines[i].free
			}
		}
	}
	return engines
}
