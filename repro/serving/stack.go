package serving

import (
	"fmt"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// Stack is the servers: a router and its engines. Make one with [New]. It is safe for concurrent use;
// its methods must be called without the monitor held where they do not say otherwise.
//
// Inside, time is an argument. The engines keep an agenda of what is due, at them and at the router;
// whoever touches the stack first brings it up to date, event by event at the very instants that they
// were due at, so that a late timer on the wall shifts nothing. What clients do at an instant comes
// after what the servers do at it.
type Stack struct {
	w       sim.World
	cfg     Config
	model   Model
	faults  *fault.Set
	log     routerLog
	texts   texts
	onEnd   []func(*Record)
	witness Witness
	record  Record
	engines *engine.Engines

	timer   *sim.Timer  // armed for what is due first
	armedAt sim.Instant // sim.Never: it is not

	inFlight       int      // requests that the router has
	queued         int      // those of them that it has not passed on
	aborts         int      // clients that have left early
	oldest, newest *request // those that the router has, by arrival

	prefills, decodes pool // the one engine of a request is in decodes if they are unified
	limiter           limiter
	calls             calls
	probed            int64 // health checks so far
	probe             engine.Entry
	counts            counts
	dispatched        int // requests to the engines
}

// New returns servers at rest. The configuration must be valid; so must be the model, of which the
// zero value will do. faults may be nil.
func New(w sim.World, cfg Config, model Model, faults *fault.Set, logs Logs) (*Stack, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("serving: %w", err)
	}
	s := &Stack{w: w, cfg: cfg, model: model, faults: faults, armedAt: sim.Never}
	s.log = routerLog{out: logs.Router, cfg: &s.cfg.Router}
	var err error
	if s.engines, err = engine.New(cfg.engines(), faults, logs.Engine); err != nil {
		return nil, fmt.Errorf("serving: %w", err)
	}
	if faults != nil {
		faults.OnChange(s.refresh)
	}
	r := &s.cfg.Router
	s.prefills = newPool(s, s.engines.Prefills(), r.PrefillPolicy)
	s.decodes = newPool(s, append(s.engines.Decodes(), s.engines.Unified()...), r.DecodePolicy)
	s.limiter.start(s)
	s.calls.start(s)
	s.probe.Do = doFunc(s.healthCheck)
	return s, nil
}

// doFunc is a function that is on the agenda.
type doFunc func()

// Do implements engine.Doer.
func (f doFunc) Do() { f() }

// Config returns what the servers are like.
func (s *Stack) Config() Config { return s.cfg }

// Faults returns the faults of the run; nil if there are none. They must be changed with the monitor
// held, and are asked from then on.
func (s *Stack) Faults() *fault.Set { return s.faults }

// Workers returns the engines, prefill engines first. To look at them wants the monitor held.
func (s *Stack) Workers() []*engine.Worker { return s.engines.Workers() }

// AbortRequests is the endpoint /abort_request of a worker: it aborts all requests there whose ids, of
// the worker's own, begin with the prefix, and returns how many. An unknown worker has none.
func (s *Stack) AbortRequests(worker, prefix string) (n int) {
	s.w.Lock()
	defer s.w.Unlock()
	s.enter()
	for _, w := range s.engines.Workers() {
		if w.Name == worker {
			n += w.AbortMatching(prefix)
		}
	}
	s.leave()
	return n
}

// refresh follows a change of the faults.
func (s *Stack) refresh() {
	s.enter()
	s.engines.Refresh()
	s.leave()
}

// now returns the instant up to which all has been done.
func (s *Stack) now() sim.Instant { return s.engines.Now() }

// enter brings the stack up to the present. The monitor is held. Every entry from outside begins with
// it, and those that change something end with leave. To look only needs no leave: the timer is
// armed for the first of the agenda or earlier, and what enter itself adds comes later than what it
// takes.
func (s *Stack) enter() { s.engines.Advance(s.w.Now()) }

// leave does what has become due at once, and arms the timer for what is due next.
func (s *Stack) leave() {
	s.engines.Advance(s.now())
	next := s.engines.Next()
	if next == s.armedAt {
		return
	}
	s.armedAt = next
	switch {
	case next == sim.Never:
		s.timer.Stop()
	case s.timer == nil:
		s.timer = s.w.AfterFunc(next.Sub(s.now()), s.tick)
	default:
		s.timer.Reset(next.Sub(s.now()))
	}
}

func (s *Stack) tick() {
	s.armedAt = sim.Never
	s.enter()
	s.leave()
}
