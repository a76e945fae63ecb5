package serving

import "example.com/wedge/harness/sim"

// Snapshot is what the servers show of themselves at one instant, as an endpoint of a real server
// would: settings, lengths of queues, memory. Nothing in it is about a single request.
type Snapshot struct {
	At      sim.Instant  `json:"at_ns"`
	Config  Config       `json:"config"`
	Router  RouterState  `json:"router"`
	Prefill PrefillState `json:"prefill"`
	Decode  DecodeState  `json:"decode"`
}

// RouterState is what the router shows.
type RouterState struct {
	InFlight int `json:"in_flight"` // requests that it has and has not answered in full
	Queued   int `json:"queued"`    // those of them that it has not passed on
}

// PrefillState is what the prefill engine shows.
type PrefillState struct {
	Bootstrap int   `json:"bootstrap"`       // requests that wait for KV memory or slots
	Queue     int   `json:"queue"`           // requests that wait for their turn
	Running   int   `json:"running"`         // requests in the chunk under way
	Inflight  int   `json:"inflight"`        // requests whose KV memory is on its way, and pinned entries
	Requests  int   `json:"requests"`        // slots taken
	KVTokens  int   `json:"kv_tokens"`       // reserved
	Tokens    int64 `json:"tokens_computed"` // of prompts, since the start of the run
}

// DecodeState is what the decode engine shows.
type DecodeState struct {
	Prealloc int   `json:"prealloc"`    // requests that wait for KV memory or slots
	Transfer int   `json:"transfer"`    // requests that have memory and wait for their KV
	Queue    int   `json:"queue"`       // requests that wait for room in the running batch
	Running  int   `json:"running"`     // requests in the running batch
	Requests int   `json:"requests"`    // slots taken
	KVTokens int   `json:"kv_tokens"`   // reserved
	Tokens   int64 `json:"tokens_made"` // of answers, since the start of the run
}

// Snapshot returns what the servers show at the present.
func (s *Stack) Snapshot() Snapshot {
	s.w.Lock()
	defer s.w.Unlock()
	s.enter()
	return s.view()
}

// view is Snapshot with the monitor held and the stack up to date.
func (s *Stack) view() Snapshot {
	p, d := &s.prefill, &s.decode
	v := Snapshot{
		At:     s.now,
		Config: s.cfg,
		Router: RouterState{InFlight: s.inFlight, Queued: s.held},
		Prefill: PrefillState{
			Bootstrap: s.bootstrap.n, Queue: p.waiting.n, Inflight: p.inflight,
			Requests: p.requests, KVTokens: p.kvTokens, Tokens: p.tokens,
		},
		Decode: DecodeState{
			Prealloc: s.bootstrap.n, Transfer: d.transfer, Queue: d.waiting.n, Running: d.batch.size,
			Requests: d.requests, KVTokens: d.kvTokens, Tokens: d.tokens + d.batch.tokens(s.now),
		},
	}
	for i := range p.chunk {
		if p.chunk[i].r != nil {
			v.Prefill.Running++
		}
	}
	return v
}

// Truth is what is known of a request inside. It is there for tests and for scoring a diagnosis,
// never for making one: real servers do not show it.
type Truth struct {
	ID     string
	Stage  Stage
	Since  sim.Instant // start of the stage
	Tokens int         // made
}

// Truth returns all requests that the router has, by arrival.
func (s *Stack) Truth() []Truth {
	s.w.Lock()
	defer s.w.Unlock()
	s.enter()
	all := make([]Truth, 0, s.inFlight)
	for r := s.oldest; r != nil; r = r.younger {
		tokens, _ := s.made(r)
		all = append(all, Truth{ID: r.ID, Stage: r.stage, Since: r.since, Tokens: tokens})
	}
	return all
}
