package engine

import (
	"fmt"
	"io"
	"slices"

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

	all, prefills, decodes, unified []*Worker

	boundary              node       // of the faults of engines as a whole
	firstDirty, lastDirty *rank      // those to look at, by nextDirty
	news                  []notice   // that owners are to be told of
	told                  int        // of them
	busy                  bool       // settling
	onGone                func(*Leg) // told of the end of each leg; nil: nobody is
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
	e.all = slices.Concat(e.prefills, e.decodes, e.unified)
	e.Refresh()
	return e, nil
}

func (e *Engines) newWorkers(kind Kind, name string, n, ranks int, balance Balance, log func(string) io.Writer) []*Worker {
	var all []*Worker
	for i := range n {
		w := &Worker{Name: fmt.Sprintf("%s-%d", name, i), Kind: kind, e: e, balance: balance}
		if log != nil {
			w.out = log(w.Name)
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
	r := n.rank
	if n.leg != nil {
		r = n.leg.rank
	}
	if r != nil {
		r.touch()
	}
	switch n.act {
	case actOwner:
		n.own.Do()
	case actChunk:
		r.chunkDone()
	case actDue:
		r.due(n.leg)
	case actLost:
		r.mateLost(n.leg)
	case actLeave:
		r.noticeLeft(n.leg)
	case actBoundary:
		e.Refresh()
	case actBatch, actChunkStart, actReport: // to touch the rank was all
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
		case e.firstDirty != nil:
			r := e.firstDirty
			e.firstDirty, r.nextDirty, r.dirty = r.nextDirty, nil, false
			if e.firstDirty == nil {
				e.lastDirty = nil
			}
			r.proceed()
		case e.told < len(e.news):
			n := e.news[e.told]
			e.news[e.told].leg = nil
			e.told++
			e.tell(n)
		default:
			e.news, e.told = e.news[:0], 0
			e.busy = false
			return
		}
	}
}

// notify has the owner of a leg told of something, once the ranks have done what they can.
func (e *Engines) notify(what noticeKind, l *Leg) {
	if l.Owner != nil && !l.left {
		l.news++
		e.news = append(e.news, notice{what, l})
	}
}

func (e *Engines) tell(n notice) {
	l := n.leg
	switch {
	case l.mute:
		l.news--
	case n.what == noticeEnd:
		l.news--
		l.Owner.Ended(l) // which may use the leg's memory for another
	default:
		if n.what == noticeFirst {
			l.Owner.FirstToken(l)
		}
		if (n.what == noticeMark || l.MarkTokens == 1 && l.Job.OutputTokens > 1) && !l.mute {
			l.Owner.Marked(l)
		}
		l.moveStop()
		l.news--
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

// Workers returns all workers, those of prefill first. The slice must not be changed.
func (e *Engines) Workers() []*Worker { return e.all }
