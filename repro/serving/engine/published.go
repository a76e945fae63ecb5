package engine

import "example.com/wedge/harness/sim"

// Load is what is at a rank at one instant. At a unified engine slots and memory are those of decode,
// and retracted requests that are to be computed again count as Retracted, not as PrefillWait.
type Load struct {
	Bootstrap, PrefillWait, Prefilling, Inflight           int   // requests
	Prealloc, Transfer, DecodeWait, Running, Retracted     int   // requests
	Pinned                                                 int   // of Inflight: entries whose request has gone
	Zombies                                                int   // of Running: requests whose client has gone
	PrefillSlots, DecodeSlots                              int   // taken
	PrefillKVTokens, DecodeKVTokens                        int   // taken
	StarvedKVTokens                                        int   // of decode's memory, that a fault has taken; not in DecodeKVTokens
	PendingTokens                                          int   // of prompts that wait for their turn
	PrefillTokens, DecodeTokens                            int64 // computed and made since the start
	BootstrapFailed, TransferFailed, Aborted, RetractedSum int64 // requests, since the start
}

// Load returns what is at a rank now. It is the truth; see Published for what the rank shows of it.
func (w *Worker) Load(rank int) Load {
	r := w.ranks[rank]
	steps, _ := r.batch.at(w.e.now)
	return r.load(steps)
}

// load returns what is at the rank now, with the memory that the batch had after so many steps.
func (r *rank) load(steps int64) Load {
	v := Load{
		Bootstrap: r.bootstrap.n + r.ready.n, PrefillWait: r.waiting.n - r.again, Prefilling: r.computing.n, Inflight: r.inflight.n,
		Prealloc: r.cold.n + r.prealloc.n, Transfer: r.sending.n + r.landed.n, DecodeWait: r.decodeWait.n,
		Running: r.batch.size, Retracted: r.retracted.n + r.again, Pinned: r.pinned, Zombies: r.zombies, PendingTokens: r.pending,
	}
	if r.w.Kind == KindPrefill {
		v.PrefillSlots, v.PrefillKVTokens = r.slots, r.kv
	} else {
		v.DecodeSlots, v.DecodeKVTokens = r.slots, r.kv+int(r.batch.kvTokens(steps))
		v.StarvedKVTokens = min(r.w.starved, r.e.cfg.Decode.KVTokens)
	}
	r.count(&v)
	return v
}

// count fills in what is counted since the start.
func (r *rank) count(v *Load) {
	c := &r.counts
	v.PrefillTokens, v.DecodeTokens = c.prefillTokens, c.decodeTokens+r.batch.tokens(r.e.now)
	v.BootstrapFailed, v.TransferFailed, v.Aborted, v.RetractedSum = c.bootstrapFailed, c.transferFailed, c.aborted, c.retractedSum
}

// shown is what a rank shows in its gauges. They are brought up to date as in SGLang: after each chunk,
// every so many steps of the batch, and when there is nothing at all at the rank, every so often. A
// rank in which something is stuck while nothing runs does none of it.
//
// Between two changes at a rank nothing but tokens moves. So it is enough to look before a change
// whether one of these moments has passed since the one before: the gauges are then what they were
// at the latest of them.
type shown struct {
	load      Load
	at        sim.Instant
	nextSteps int64       // of the batch, when it is time again
	nextAt    sim.Instant // when that will be

	node         node        // of the next line of the log
	logged       sim.Instant // instant of the previous line
	loggedTokens int64       // made until the previous line of the batch
	ratio        float64     // see logRetraction
}

// Published returns what a rank shows in its gauges, and when it last brought them up to date. Its
// counters are those of the present: the originals count at each iteration. With GaugesConfig.Exact
// all of it is Load, unless a fault has frozen it.
func (w *Worker) Published(rank int) (Load, sim.Instant) {
	r := w.ranks[rank]
	if w.e.cfg.Gauges.Exact && !w.frozen {
		return w.Load(rank), w.e.now
	}
	r.note()
	v := r.shown.load
	r.count(&v)
	return v, r.shown.at
}

// note brings the gauges up to the latest moment at which the rank has done so.
func (r *rank) note() {
	if r.unseen {
		return
	}
	for r.e.now >= r.shown.nextAt {
		r.noteSteps()
	}
	if r.legs > 0 {
		return
	}
	every := r.e.cfg.Gauges.IdleEvery
	at := max(r.since, r.shown.at.Add(every))
	if at > r.e.now || at == r.shown.at {
		return
	}
	if every > 0 {
		at = at.Add(r.e.now.Sub(at) / every * every)
	}
	r.show(at, 0)
}

// noteSteps shows how things were when it was time after so many steps: the latest time if nobody
// reads a log, else each.
func (r *rank) noteSteps() {
	s, every := &r.shown, int64(r.e.cfg.Gauges.EverySteps)
	if r.w.out == nil {
		steps, _ := r.batch.at(r.e.now)
		s.nextSteps = steps / every * every
	}
	at := r.batch.endOf(s.nextSteps)
	r.show(at, s.nextSteps)
	r.logDecode(at, s.nextSteps)
	s.nextSteps += every
	s.nextAt = r.batch.endOf(s.nextSteps)
}

// scheduleReport looks when the batch will next be at a moment to show something, and if there is a log
// has the line written at that moment, not when something else happens.
func (r *rank) scheduleReport() {
	s := &r.shown
	s.nextAt = sim.Never
	if r.unseen {
		return
	}
	if every := int64(r.e.cfg.Gauges.EverySteps); every > 0 && r.batch.size > 0 {
		s.nextAt = r.batch.endOf(s.nextSteps)
	}
	if r.w.out != nil {
		r.e.schedule(s.nextAt, &s.node)
	}
}

// showChunk shows how things are when a chunk has been computed.
func (r *rank) showChunk(shares, tokens int) {
	if r.unseen {
		return
	}
	steps, _ := r.batch.at(r.e.now)
	r.show(r.e.now, steps)
	if !r.w.frozen {
		r.shown.load.Prefilling = shares
	}
	r.logPrefill(shares, tokens)
}

// show brings the gauges up to date.
func (r *rank) show(at sim.Instant, steps int64) {
	if !r.w.frozen {
		r.shown.at, r.shown.load = at, r.load(steps)
	}
}

// freeze keeps what the gauges show at the beginning of the fault that freezes them.
func (r *rank) freeze() {
	if r.e.cfg.Gauges.Exact {
		steps, _ := r.batch.at(r.e.now)
		r.show(r.e.now, steps)
	}
}
