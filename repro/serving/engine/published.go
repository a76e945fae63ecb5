package engine

import (
	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// Load is what is at a rank at one instant.
type Load struct {
	Bootstrap, PrefillWait, Prefilling, Inflight           int   // requests
	Prealloc, Transfer, DecodeWait, Running, Retracted     int   // requests
	Pinned                                                 int   // of Inflight: entries whose request has gone
	Zombies                                                int   // of Running: requests whose client has gone
	PrefillSlots, DecodeSlots                              int   // taken
	PrefillKVTokens, DecodeKVTokens                        int   // taken
	PendingTokens                                          int   // of prompts that wait for their turn
	PrefillTokens, DecodeTokens                            int64 // computed and made since the start
	BootstrapFailed, TransferFailed, Aborted, RetractedSum int64 // requests, since the start
}

// Load returns what is at a rank now. It is the truth; see Published for what the rank shows of it.
func (w *Worker) Load(rank int) Load {
	v := w.ranks[rank].load(w.e.now)
	for l := w.ranks[rank].running.head; l != nil; l = l.behind {
		if l.left {
			v.Zombies++
		}
	}
	return v
}

// load returns what is at the rank, with the tokens that there were at an instant since its latest
// change. It does not count zombies.
func (r *rank) load(at sim.Instant) Load {
	v := Load{
		Bootstrap: r.bootstrap.n + r.ready.n, PrefillWait: r.waiting.n, Prefilling: r.computing.n, Inflight: r.inflight.n,
		Prealloc: r.cold.n + r.prealloc.n, Transfer: r.inTransfer(), DecodeWait: r.decodeWait.n, Running: r.batch.size, Retracted: r.retracted.n,
		Pinned: r.pinnedEntries, PrefillSlots: r.prefillSlots, DecodeSlots: r.decodeSlots,
		PrefillKVTokens: r.prefillKV, DecodeKVTokens: r.decodeKV + int(r.batch.contextTokens(at)), PendingTokens: r.pending,
	}
	r.count(&v, at)
	return v
}

// count fills in the counters.
func (r *rank) count(v *Load, at sim.Instant) {
	v.PrefillTokens, v.DecodeTokens = r.prefillTokens, r.decodeTokens+r.batch.tokens(at)
	v.BootstrapFailed, v.TransferFailed, v.Aborted, v.RetractedSum = r.bootstrapFailed, r.transferFailed, r.aborted, r.retractedSum
}

// published is what a rank shows in its gauges. They are brought up to date as in SGLang: after each
// chunk, every so many steps of the batch, and when there is nothing at all to do, every so often. An
// engine in which something is stuck while nothing runs does none of it.
type published struct {
	load  Load
	at    sim.Instant
	steps int64       // of the batch, in units of the interval, at the latest time
	idle  sim.Instant // latest time that it was done for idleness
	node  node        // of the next line of the log

	logged       sim.Instant // see log
	loggedTokens int64
}

// Published returns what a rank shows in its gauges, and when it last brought them up to date. Its
// counters are those of the present: the originals count at each iteration. With GaugesConfig.Exact
// all of it is Load.
func (w *Worker) Published(rank int) (Load, sim.Instant) {
	r := w.ranks[rank]
	if w.e.cfg.Gauges.Exact && !r.frozen() {
		return w.Load(rank), w.e.now
	}
	r.publish()
	v := r.published.load
	r.count(&v, w.e.now)
	return v, r.published.at
}

func (r *rank) frozen() bool {
	return r.e.faults != nil && r.e.faults.Active(fault.Metrics, fault.Freeze, r.w.Name, r.e.now) != nil
}

// publish notes what the rank has shown since its latest change. Nothing but tokens has moved since
// then, so what the latest of the times was, tells all.
func (r *rank) publish() {
	p := &r.published
	g := &r.e.cfg.Gauges
	now := r.e.now
	if g.EverySteps > 0 && r.batch.size > 0 {
		steps, _ := r.batch.at(now)
		if n := steps / int64(g.EverySteps); n > p.steps {
			p.steps = n
			if !r.frozen() {
				p.at = min(now, r.batch.endOf(n*int64(g.EverySteps)))
				p.load = r.load(p.at)
			}
			r.logDecode(p.at)
		}
	}
	if g.IdleEvery > 0 && r.fullyIdle() && (p.idle == 0 && p.at == 0 || now >= p.idle.Add(g.IdleEvery)) {
		p.idle = now
		if !r.frozen() {
			p.at, p.load = now, r.load(now)
		}
	}
}

// publishChunk shows how things are when a chunk has been computed.
func (r *rank) publishChunk(legs, tokens int) {
	if !r.frozen() {
		r.published.at, r.published.load = r.e.now, r.load(r.e.now)
	}
	r.logPrefill(legs, tokens)
}

// fullyIdle says whether there is nothing at the rank, also no pinned entry.
func (r *rank) fullyIdle() bool {
	for _, q := range [...]*fifo{
		&r.bootstrap, &r.ready, &r.waiting, &r.computing, &r.inflight,
		&r.cold, &r.prealloc, &r.idle, &r.sending, &r.landed, &r.decodeWait, &r.retracted,
	} {
		if q.n > 0 {
			return false
		}
	}
	return r.batch.size == 0 && len(r.chunk) == 0
}
