package serving

import (
	"fmt"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// Request is a chat completion that a client asks for.
type Request struct {
	ID     string // x-request-id; stands in the router's log, and is the key of faults
	User   string // names the conversation to [Model.Output]
	Prompt Prompt
	// OutputTokensMax is how many tokens the client allows. 0: as many as the context has room for.
	OutputTokensMax int
	Agent           string // whose request it is, for faults that are about one agent; empty: not known
	// Header returns a header of the HTTP request, "" if it is absent. nil: there is none.
	Header func(name string) string
	// Stream asks for the answer piece by piece. Otherwise the headers come with the whole answer.
	Stream bool
}

// NewRequest returns the request that c asks for, under the given id. It keeps nothing of c but
// strings.
func NewRequest(id string, c *openai.ChatCompletionRequest) Request {
	tokensMax := c.MaxCompletionTokens
	if tokensMax == 0 {
		//lint:ignore SA1019 clients go on sending it
		tokensMax = c.MaxTokens
	}
	return Request{ID: id, User: c.User, Prompt: ReadPrompt(c), OutputTokensMax: max(0, tokensMax), Stream: c.Stream}
}

// occasion is the moment of a request at which a fault may fire.
func (s *Stack) occasion(q *Request, now sim.Instant) fault.Occasion {
	return fault.Occasion{
		Key: q.ID, At: now, Round: q.Prompt.Round, ContextTokens: q.Prompt.Tokens,
		Agent: q.Agent, Concurrency: s.inFlight, Aborts: s.aborts, Header: q.Header,
	}
}

// Refusal is an answer with an error status.
type Refusal struct {
	Status     int
	Message    string
	RetryAfter string // the header's value; empty: absent
	Type       string // the field "type" of the body
	Code       string // the field "code" of a nested body; a flat one has the status there
	Nested     bool   // the body has OpenAI's shape, under "error", and not SGLang's flat one
	ErrorCode  string // header X-SMG-Error-Code; empty: absent
	Empty      bool   // there is no body
}

func (e *Refusal) Error() string {
	return fmt.Sprintf("serving: HTTP status %d: %s", e.Status, e.Message)
}

// request is the servers' side of a request. It is guarded by the monitor.
type request struct {
	Request
	reply   reply
	stage   Stage
	since   sim.Instant // start of the stage
	arrived sim.Instant

	queue           *fifo // the one it waits in
	ahead, behind   *request
	older, younger  *request // neighbours among those that the router has
	timed           node     // in the agenda
	stop            node     // in the batch
	holdsPrefill    bool     // a request slot of the prefill engine
	prefillKVTokens int      // reserved
	holdsDecode     bool     // a request slot of the decode engine
	decodeKVTokens  int      // reserved
	prefilledTokens int      // of the prompt
	hung            bool     // a fault keeps it where it is
	startStep       int64    // steps the batch had finished when it joined

	// What the client sees.
	changed    sim.Cond    // headers, or the end
	headersOut bool        // response headers are out
	firstAt    sim.Instant // the first token was made
	heldUntil  sim.Instant // nothing made before this instant is shown before it
	silentAt   int         // tokens after which nothing more is shown; -1: never
	silentFrom sim.Instant // when the last token that is shown was made; meaningful once silenced
	silenced   bool
	resetAt    int   // tokens after which the connection is reset; -1: never
	failure    error // a *Refusal, ErrReset or errLeft
	status     int   // answered with; 0: not yet
	endTokens  int   // made when it ended
	endLast    sim.Instant
}

// enter moves r to a stage.
func (r *request) enter(stage Stage, now sim.Instant) { r.stage, r.since = stage, now }

// ended says whether the servers are done with r.
func (r *request) ended() bool { return r.stage >= StageDone }

// over says whether the client has, or could have, all that it will ever get, and knows it.
func (r *request) over() bool { return r.failure != nil || r.stage == StageDone && !r.silenced }

// lastShown returns how many tokens will reach the client if it stays to the end.
func (r *request) lastShown() int {
	n := r.reply.tokens
	for _, limit := range [...]int{r.silentAt, r.resetAt} {
		if limit != never {
			n = min(n, limit)
		}
	}
	return n
}
