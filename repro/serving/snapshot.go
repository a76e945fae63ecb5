package serving

import (
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// Snapshot is what the servers have at one instant: settings, lengths of queues, memory. Nothing in it
// is about a single request. Real engines show less, and later: see [Stack.Gauges].
type Snapshot struct {
	At      sim.Instant  `json:"at_ns"`
	Config  Config       `json:"config"`
	Router  RouterState  `json:"router"`
	Prefill PrefillState `json:"prefill"`
	Decode  DecodeState  `json:"decode"`
}

// RouterState is what the router has.
type RouterState struct {
	InFlight int `json:"in_flight"` // requests that it has not answered in full
	Queued   int `json:"queued"`    // those of them that it has not passed on
}

// PrefillState is what the prefill engines have; with mode unified it is their part of the engines.
type PrefillState struct {
	Bootstrap int   `json:"bootstrap"`       // requests that wait for KV memory or slots
	Queue     int   `json:"queue"`           // requests that wait for their turn
	Running   int   `json:"running"`         // requests whose prompt is being computed
	Inflight  int   `json:"inflight"`        // requests whose KV memory is on its way, and pinned entries
	Pinned    int   `json:"pinned"`          // of Inflight: entries whose request has gone
	Requests  int   `json:"requests"`        // slots taken
	KVTokens  int   `json:"kv_tokens"`       // taken
	Tokens    int64 `json:"tokens_computed"` // of prompts, since the start of the run
}

// DecodeState is what the decode engines have; with mode unified it is their part of the engines.
type DecodeState struct {
	Prealloc  int   `json:"prealloc"`    // requests that wait for KV memory or slots
	Transfer  int   `json:"transfer"`    // requests that have memory and wait for their KV
	Queue     int   `json:"queue"`       // requests that wait for room in the running batch
	Running   int   `json:"running"`     // requests in the running batch
	Zombies   int   `json:"zombies"`     // of Running: requests whose client has gone
	Retracted int   `json:"retracted"`   // requests taken out of the running batch for want of memory
	Requests  int   `json:"requests"`    // slots taken
	KVTokens  int   `json:"kv_tokens"`   // taken
	Tokens    int64 `json:"tokens_made"` // of answers, since the start of the run
}

// Snapshot returns what the servers have at the present.
func (s *Stack) Snapshot() Snapshot {
	s.w.Lock()
	defer s.w.Unlock()
	s.enter()
	v := Snapshot{At: s.now(), Config: s.cfg, Router: RouterState{InFlight: s.inFlight, Queued: s.queued}}
	for _, p := range [...]*pool{&s.prefills, &s.decodes} {
		for _, w := range p.all {
			for rank := range w.engine.Ranks() {
				l := w.engine.Load(rank)
				oneQueue(w.engine, &l)
				v.Prefill.add(&l)
				v.Decode.add(&l)
			}
		}
	}
	return v
}

// oneQueue has an engine that does all show its two queues as one, before the batch, as its metrics do.
func oneQueue(w *engine.Worker, l *engine.Load) {
	if w.Kind == engine.KindUnified {
		l.PrefillWait, l.DecodeWait = 0, l.PrefillWait+l.DecodeWait
	}
}

func (v *PrefillState) add(l *engine.Load) {
	v.Bootstrap += l.Bootstrap
	v.Queue += l.PrefillWait
	v.Running += l.Prefilling
	v.Inflight += l.Inflight
	v.Pinned += l.Pinned
	v.Requests += l.PrefillSlots
	v.KVTokens += l.PrefillKVTokens
	v.Tokens += l.PrefillTokens
}

func (v *DecodeState) add(l *engine.Load) {
	v.Prealloc += l.Prealloc
	v.Transfer += l.Transfer
	v.Queue += l.DecodeWait
	v.Running += l.Running
	v.Zombies += l.Zombies
	v.Retracted += l.Retracted
	v.Requests += l.DecodeSlots
	v.KVTokens += l.DecodeKVTokens + l.StarvedKVTokens
	v.Tokens += l.DecodeTokens
}

// Truth is what is known of a request inside. It is there for tests and for scoring a diagnosis,
// never for making one: real servers do not show it.
type Truth struct {
	ID      string
	Stage   Stage
	Since   sim.Instant  // start of the stage
	Tokens  int          // made
	Attempt int          // of the router; 0: none yet
	Prefill engine.Stage // of the leg at the prefill engine
	Decode  engine.Stage // of the leg at the decode engine, or at the one engine
}

// Truth returns all requests that the router has, by arrival.
func (s *Stack) Truth() []Truth {
	s.w.Lock()
	defer s.w.Unlock()
	s.enter()
	all := make([]Truth, 0, s.inFlight)
	for r := s.oldest; r != nil; r = r.younger {
		t := Truth{ID: r.ID, Attempt: r.attempts}
		t.Tokens, _ = r.madeSoFar()
		t.Stage, t.Since = r.stage()
		if r.a != nil {
			t.Prefill, _ = r.a.prefill.Stage()
			t.Decode, _ = r.a.decode.Stage()
		}
		all = append(all, t)
	}
	return all
}

// stage returns where a request is, and since when. Of two legs the one at prefill tells, until it has
// ended.
func (r *request) stage() (Stage, sim.Instant) {
	switch {
	case r.phase == phaseUnknown:
		return StageUnknown, r.since
	case r.phase == phaseAborted:
		return StageAborted, r.since
	case r.phase == phaseDone:
		return StageDone, r.since
	case r.a == nil:
		return StageRouter, r.since
	}
	if stage, since := r.a.prefill.Stage(); stage != engine.StageNone && stage < engine.StageDone {
		return stageOf[stage], since
	}
	stage, since := r.a.decode.Stage()
	return stageOf[stage], since
}
