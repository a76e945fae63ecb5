package engine

import (
	"fmt"
	"io"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// Engines is all engines together, and the agenda of what is due at them and at their owner. It is
// guarded by the owner's monitor: every method wants it held. Make one with [New].
type Engines struct {
	cfg    Config
	faults *fault.Set
	now    sim.Instant
	agenda heap

	prefills, decodes, unified []*Worker

	boundary node     // of the faults of engines as a whole
	dirty    *rank    // those that may be able to go on, by nextDirty
	news     []notice // that owners are to be told of
	told     int      // of them
	busy     bool     // settling
}

// notice is something that an owner is to be told of.
type notice struct {
	what noticeKind
	leg  *Leg
}

type noticeKind uint8

const (
	noticeFirst noticeKind = iota
	noticeMark
	noticeEnd
)

// New returns engines at rest. faults may be nil. log returns where the log of an engine goes, by its
// name, such as "prefill-0", a line a Write; nil, or a nil writer: no log. The error is that of
// [Config.Validate].
func New(cfg Config, faults *fault.Set, log func(worker string) io.Writer) (*Engines, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	e := &Engines{cfg: cfg, faults: faults}
	e.boundary.act = actBoundary
	if cfg.Mode == Unified {
		e.unified = e.newWorkers(KindUnified, "engine", cfg.Decode.Workers, cfg.Decode.Ranks, cfg.Decode.LoadBalance, log)
	} else {
		e.prefills = e.newWorkers(KindPrefill, "prefill", cfg.Prefill.Workers, cfg.Prefill.Ranks, cfg.Prefill.LoadBalance, log)
		e.decodes = e.newWorkers(KindDecode, "decode", cfg.Decode.Workers, cfg.Decode.Ranks, cfg.Decode.LoadBalance, log)
	}
	e.schedule(faults.NextBoundary(-1), &e.boundary)
	return e, nil
}

func (e *Engines) newWorkers(kind Kind, name string, n, ranks int, balance Balance, log func(string) io.Writer) []*Worker {
	var all []*Worker
	for i := range n {
		w := &Worker{Name: fmt.Sprintf("%s-%d", name, i), Kind: kind, e: e, balance: balance}
		if log != nil {
			w.log = log(w.Name)
		}
		for r := range ranks {
			w.ranks = append(w.ranks, newRank(w, r))
		}
		all = append(all, w)
	}
	return all
}

// Config returns what the engines are like.
func (e *Engines) Config() *Config { return &e.cfg }

// Now returns the instant up to which all has been done.
func (e *Engines) Now() sim.Instant { return e.now }

// Advance does what is due up to an instant, each at its own.
func (e *Engines) Advance(to sim.Instant) {
	for {
		at, n := e.agenda.first()
		if n == nil || sim.Instant(at) > to {
			break
		}
		n.remove()
		e.now = sim.Instant(at)
		e.act(n)
		e.settle()
	}
	e.now = max(e.now, to)
}

// Next returns when something is due next, or sim.Never.
func (e *Engines) Next() sim.Instant {
	at, n := e.agenda.first()
	if n == nil {
		return sim.Never
	}
	return sim.Instant(at)
}

func (e *Engines) act(n *node) {
	switch n.act {
	case actOwner:
		n.own.Do()
	case actChunk:
		n.rank.touch()
		n.rank.chunkDone()
	case actChunkStart:
		n.rank.touch()
	case actTransfer:
		n.leg.rank.touch()
		n.leg.rank.transferred(n.leg)
	case actUnpin:
		n.leg.rank.touch()
		n.leg.rank.dropInflight(n.leg)
	case actBatchStop:
		n.rank.touch()
		n.rank.batchStop()
	case actBootTimeout:
		n.rank.touch()
		n.rank.bootTimeout()
	case actWaitTimeout:
		n.rank.touch()
		n.rank.waitTimeout()
	case actPeerLost:
		n.leg.rank.touch()
		n.leg.rank.fail(n.leg, transferFailure(n.leg, "Lost connection with prefill instance"))
	case actLeave:
		n.leg.rank.touch()
		n.leg.rank.drop(n.leg)
	case actBoundary:
		e.Refresh()
	case actLog:
		n.rank.touch()
	}
}

// settle lets ranks go on wherever there is room now, and tells owners what has come of it.
func (e *Engines) settle() {
	if e.busy {
		return // whoever is at it will see what is new
	}
	e.busy = true
	for {
		switch {
		case e.dirty != nil:
			r := e.dirty
			e.dirty, r.nextDirty, r.isDirty = r.nextDirty, nil, false
			r.proceed()
		case e.told < len(e.news):
			n := e.news[e.told]
			e.told++
			e.tell(n)
		default:
			e.news, e.told = e.news[:0], 0
			e.busy = false
			return
		}
	}
}

func (e *Engines) tell(n notice) {
	o := n.leg.Owner
	if o == nil || n.leg.left {
		return
	}
	switch n.what {
	case noticeFirst:
		o.FirstToken(n.leg)
	case noticeMark:
		o.Marked(n.leg)
	case noticeEnd:
		o.Ended(n.leg)
	}
}

func (e *Engines) notify(what noticeKind, l *Leg) {
	if l.Owner != nil && !l.left {
		e.news = append(e.news, notice{what, l})
	}
}

// Entry is something of the owner's on the agenda. The zero value with Do set is ready for use.
type Entry struct {
	Do   Doer // called at its instant, by Advance
	node node
}

// Doer does what is due.
type Doer interface{ Do() }

// Schedule puts an entry on the agenda, or moves it there; an instant that has passed is now. With
// sim.Never it comes off.
func (e *Engines) Schedule(at sim.Instant, n *Entry) {
	n.node.own = n.Do
	e.schedule(at, &n.node)
}

// Scheduled says whether the entry is on the agenda.
func (n *Entry) Scheduled() bool { return n.node.pos > 0 }

// Prefills, Decodes and Unified return the workers of a kind, in order; none of the kinds that the
// mode does not have. Their names are "prefill-0", "decode-0" or "engine-0", and so on.
func (e *Engines) Prefills() []*Worker { return e.prefills }

// Decodes: see Prefills.
func (e *Engines) Decodes() []*Worker { return e.decodes }

// Unified: see Prefills.
func (e *Engines) Unified() []*Worker { return e.unified }

// Workers returns all workers, those of prefill first.
func (e *Engines) Workers() []*Worker {
	return append(append(append([]*Worker(nil), e.prefills...), e.decodes...), e.unified...)
}

// Refresh is to be called when faults have come or gone.
func (e *Engines) Refresh() {
	for _, w := range e.Workers() {
		for _, r := range w.ranks {
			r.touch()
		}
	}
	e.schedule(e.faults.NextBoundary(e.now), &e.boundary)
	e.settle()
}
