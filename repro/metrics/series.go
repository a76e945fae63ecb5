package metrics

// Series are values over time, for plots. Value i of each list is of the stretch from i*EveryS to
// (i+1)*EveryS: a rate is the mean over it, a count is that at its end. All lists are equally long but for
// Gantt. Zombies is also part of ServerRunning.
type Series struct {
	EveryS float64 `json:"every_s"`

	OfferedPerS    []float32 `json:"offered_per_s,omitempty"`        // calls that agents began to want
	AttemptsPerS   []float32 `json:"attempts_per_s,omitempty"`       // begun
	GoodputPerS    []float32 `json:"goodput_tokens_per_s,omitempty"` // tokens of attempts that ended well, spread over the time in which they were sent
	ClientInflight []float32 `json:"client_inflight,omitempty"`      // attempts that the client holds open
	ServerRunning  []float32 `json:"server_running,omitempty"`       // requests in running batches of decode
	Zombies        []float32 `json:"zombies,omitempty"`              // of these: their client has left
	ServerQueue    []float32 `json:"server_queue,omitempty"`         // requests at the servers that no batch has yet
	PacerQueue     []float32 `json:"pacer_queue,omitempty"`          // calls that wait for a slot or for a rate limit
	Backoff        []float32 `json:"backoff,omitempty"`              // calls that wait for their next attempt
	SlotsUseful    []float32 `json:"slots_useful,omitempty"`         // places at decode whose client waits and gets tokens
	SlotsZombie    []float32 `json:"slots_zombie,omitempty"`         // places at decode whose client has left
	SlotsIdle      []float32 `json:"slots_idle,omitempty"`           // places at decode whose client gets nothing more
	SlotsQueued    []float32 `json:"slots_queued,omitempty"`         // requests that wait for a place: equal to ServerQueue

	// How the client's controls stand.
	Limit    []float32 `json:"limit,omitempty"`    // on calls in flight; 0: there is none
	Budget   []float32 `json:"budget,omitempty"`   // room left for retries, in the measure of its rule; -1: there is none
	Throttle []float32 `json:"throttle,omitempty"` // probability that an attempt is turned away
	Breaker  []float32 `json:"breaker,omitempty"`  // 0: closed, 0.5: half-open, 1: open

	// Gantt has the spans of each agent, by agent (in the order of their starts), then by time.
	Gantt []Span `json:"gantt,omitempty"`
}

// Span is what an agent did for a while.
type Span struct {
	Agent string  `json:"agent"`
	Stage string  `json:"stage"` // think, tool, slot, rate, backoff, connect, headers, first_token or stream
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
}
