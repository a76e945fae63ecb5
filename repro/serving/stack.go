package serving

import (
	"fmt"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// Stack is the servers: a router, a prefill engine and a decode engine. Make one with [New]. It is
// safe for concurrent use; its methods must be called without the monitor held where they do not say
// otherwise.
//
// Inside, time is an argument. The stack keeps an agenda of what is due; whoever touches it first
// brings it up to date, event by event at the very instants that they were due at, so that a late
// timer on the wall shifts nothing. What clients do at an instant comes after what the servers do at
// it.
type Stack struct {
	w      sim.World
	cfg    Config
	model  Model
	faults *fault.Set
	log    routerLog
	texts  texts

	now     sim.Instant
	agenda  heap
	timer   *sim.Timer  // armed for the first of the agenda
	armedAt sim.Instant // sim.Never: it is not

	onEnd  []func(*Record)
	counts routerCounts
	aborts int // clients that have left early

	inFlight       int      // requests that the router has
	held           int      // those of them in StageRouter
	oldest, newest *request // all of them, by arrival

	bootstrap fifo // also the decode engine's prealloc queue
	prefill   prefill
	decode    decode
}

// action is what an entry of the agenda stands for.
type action uint8

const (
	actDispatch  action = iota // the router passes a request on
	actChunk                   // a chunk is computed
	actTransfer                // KV memory has arrived
	actUnpin                   // a pinned entry is released
	actBatchStop               // a stop in the running batch
)

// New returns servers at rest. The configuration must be valid; so must be the model, of which the
// zero value will do. faults may be nil.
func New(w sim.World, cfg Config, model Model, faults *fault.Set, logs Logs) (*Stack, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("serving: %w", err)
	}
	s := &Stack{w: w, cfg: cfg, model: model, faults: faults, armedAt: sim.Never}
	s.log.out, s.log.milliseconds = logs.Router, cfg.Router.LogMilliseconds
	s.prefill.due.do = actChunk
	s.decode.batch = newBatch(&cfg.Decode)
	s.decode.due.do, s.decode.dueAt = actBatchStop, sim.Never
	return s, nil
}

// Config returns what the servers are like.
func (s *Stack) Config() Config { return s.cfg }

// Faults returns the faults of the run; nil if there are none. They must be changed with the monitor
// held, and are asked from then on.
func (s *Stack) Faults() *fault.Set { return s.faults }

// Workers returns the engines, prefill engines first. To look at them wants the monitor held.
func (s *Stack) Workers() []*engine.Worker { return nil }

// AbortRequests is the endpoint /abort_request of a worker: it aborts all requests there whose ids
// begin with the prefix, and returns how many. An unknown worker has none.
func (s *Stack) AbortRequests(worker, prefix string) int { return 0 }

// enter brings the stack up to the present. The monitor is held. Every entry from outside begins with
// it, and those that change something end with leave. To look only needs no leave: the timer is
// armed for the first of the agenda or earlier, and what enter itself adds comes later than what it
// takes.
func (s *Stack) enter() { s.advance(s.w.Now()) }

// leave does what has become due at once, and arms the timer for what is due next.
func (s *Stack) leave() {
	s.advance(s.now)
	next := sim.Never
	if at, n := s.agenda.first(); n != nil {
		next = sim.Instant(at)
	}
	if next == s.armedAt {
		return
	}
	s.armedAt = next
	switch {
	case next == sim.Never:
		s.timer.Stop()
	case s.timer == nil:
		s.timer = s.w.AfterFunc(next.Sub(s.now), s.tick)
	default:
		s.timer.Reset(next.Sub(s.now))
	}
}

// advance takes what is due up to an instant off the agenda, each at its own instant.
func (s *Stack) advance(to sim.Instant) {
	for {
		at, n := s.agenda.first()
		if n == nil || sim.Instant(at) > to {
			break
		}
		n.remove()
		s.now = sim.Instant(at)
		s.act(n)
		s.proceed()
	}
	s.now = to
}

func (s *Stack) tick() {
	s.armedAt = sim.Never
	s.enter()
	s.leave()
}

// schedule puts n on the agenda, or moves it there. An instant that never comes takes it off.
func (s *Stack) schedule(at sim.Instant, n *node) {
	if at == sim.Never {
		n.remove()
		return
	}
	s.agenda.put(int64(at), n)
}

func (s *Stack) act(n *node) {
	switch n.do {
	case actDispatch:
		s.dispatch(n.of)
	case actChunk:
		s.chunkDone()
	case actTransfer:
		s.transferred(n.of)
	case actUnpin:
		s.dropInflight(n.of)
	case actBatchStop:
		s.batchStop()
	}
}

// proceed lets requests go on wherever there is room now. It follows every change.
func (s *Stack) proceed() {
	s.joinBatch() // first: a request of one token ends there, and makes room
	s.preallocate()
	s.startChunk()
	s.scheduleStop()
}
