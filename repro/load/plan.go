package load

import (
	"fmt"
	"math"
	"time"

	"example.com/wedge/agents/workload"
)

// Plan is one measurement. The zero value is refused; start from [DefaultPlan]. All lengths of time
// are on the run's own clock.
type Plan struct {
	// Clients is how many clients send at once. In a closed loop each sends a request as soon as it has
	// the answer to the one before; in an open loop they are at most so many (0: 10,000), and a request
	// that finds none free waits, which its latency shows.
	Clients int
	// Rate is how many requests a second arrive: an open loop. 0: a closed loop. With Rounds above 1
	// they are conversations.
	Rate     float64
	Arrivals Arrivals // of an open loop

	// Requests is how many requests are sent. 0: as many as Duration has room for.
	Requests int
	// Duration is for how long requests are sent; those under way at its end are cut off. 0: until all
	// Requests are done.
	Duration time.Duration

	// Timeout ends an attempt, from its start to the last byte; the client then sends the next one at
	// once. 0: none.
	Timeout time.Duration
	// Backoff is the pause of a client after a request that failed otherwise. It must be more than 0 in
	// a closed loop: refusals cost no time, and a client would do nothing but be refused.
	Backoff time.Duration

	PromptTokens workload.Tokens // that each round adds to the conversation
	MaxTokens    int             // that an answer may have; 0: the server decides
	Rounds       int             // of a conversation; each round sends all that was said before
	Stream       bool
	IgnoreEOS    bool // asks for answers of exactly MaxTokens, where the server knows the option

	// Abandon is the share of requests whose client leaves in the middle of the answer, AbortAfter
	// after its first output.
	Abandon    float64
	AbortAfter time.Duration

	// SampleEvery is how often gauges are read.
	SampleEvery time.Duration
}

// Arrivals says how the requests of an open loop are spread.
type Arrivals string

// The ways to arrive.
const (
	Poisson  Arrivals = "poisson"  // independent of each other
	Constant Arrivals = "constant" // at equal distances
)

// DefaultPlan returns the load of I-7 for half a minute: 16 clients in a closed loop, answers of 128
// tokens, no time limit.
func DefaultPlan() Plan {
	prompt, _ := workload.Constant(200) // in range
	return Plan{
		Clients: 16, Arrivals: Poisson, Duration: 30 * time.Second, Backoff: 100 * time.Millisecond,
		PromptTokens: prompt, MaxTokens: 128, Rounds: 1, Stream: true,
		AbortAfter: time.Second, SampleEvery: 500 * time.Millisecond,
	}
}

// Bounds of what is taken for meant.
const (
	clientsLimit  = 100_000
	requestsLimit = 1_000_000_000
	tokensLimit   = 10_000_000
	roundsLimit   = 10_000
	rateLimit     = 1_000_000
	timeLimit     = 1000 * time.Hour

	// openClientsDefault bounds an open loop that names no bound.
	openClientsDefault = 10_000
)

// FieldError says what is wrong with a field of a plan.
type FieldError struct {
	Field string // in the spelling of the command's flags, such as "max-tokens"
	Msg   string // what was found and what is allowed
}

func (e *FieldError) Error() string { return "load: " + e.Field + ": " + e.Msg }

// Validate says what is wrong with the plan as a *FieldError, or returns nil.
func (p *Plan) Validate() error {
	open := p.Rate != 0
	clientsMin, backoffMin := 1, time.Nanosecond
	if open {
		clientsMin, backoffMin = 0, 0
	}
	for _, n := range []struct {
		field             string
		value, least, max int
	}{
		{"concurrency", p.Clients, clientsMin, clientsLimit},
		{"requests", p.Requests, 0, requestsLimit},
		{"max-tokens", p.MaxTokens, 0, tokensLimit},
		{"rounds", p.Rounds, 1, roundsLimit},
	} {
		if n.value < n.least || n.value > n.max {
			return &FieldError{n.field, fmt.Sprintf("found %d, want a whole number from %d to %d", n.value, n.least, n.max)}
		}
	}
	for _, d := range []struct {
		field        string
		value, least time.Duration
	}{
		{"duration", p.Duration, 0},
		{"timeout", p.Timeout, 0},
		{"backoff", p.Backoff, backoffMin},
		{"abort-after", p.AbortAfter, 0},
		{"sample", p.SampleEvery, time.Millisecond},
	} {
		if d.value < d.least || d.value > timeLimit {
			return &FieldError{d.field, fmt.Sprintf("found %v, want a duration from %v to %v", d.value, d.least, timeLimit)}
		}
	}
	switch {
	case math.IsNaN(p.Rate) || p.Rate < 0 || p.Rate > rateLimit:
		return &FieldError{"rate", fmt.Sprintf("found %v, want requests a second, more than 0 and at most %d", p.Rate, rateLimit)}
	case p.Arrivals != Poisson && p.Arrivals != Constant:
		return &FieldError{"arrivals", fmt.Sprintf("found %q, want %s or %s", p.Arrivals, Poisson, Constant)}
	case math.IsNaN(p.Abandon) || p.Abandon < 0 || p.Abandon > 1:
		return &FieldError{"abandon", fmt.Sprintf("found %v, want a share from 0 to 1", p.Abandon)}
	case p.Abandon > 0 && !p.Stream:
		return &FieldError{"abandon", "found it without streaming, want --stream: an answer in one piece has no middle to leave in"}
	case p.Requests == 0 && p.Duration == 0:
		return &FieldError{"duration", "found 0s and no number of requests, want one of them: nothing else ends the run"}
	}
	return nil
}

// clientsMax is how many clients there may be at once.
func (p *Plan) clientsMax() int {
	if p.Clients == 0 {
		return openClientsDefault
	}
	return p.Clients
}
