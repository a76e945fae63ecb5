package serving

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// Request is a chat completion that a client asks for.
type Request struct {
	ID     string // x-request-id; stands in the router's log, and is the key of faults before the engines
	User   string // names the conversation to [Model.Output] and to the router's policies
	Prompt Prompt
	// OutputTokensMax is how many tokens the client allows. 0: as many as the context has room for.
	OutputTokensMax int
	// OutputTokensMin is how many tokens the answer has at least, if the model would end it earlier: a
	// client asks for that with min_tokens or ignore_eos.
	OutputTokensMin int
	Agent           string // whose request it is, for faults that are about one agent; empty: not known
	// Remaining is how much time the client has left for the answer when the request arrives. 0: it does
	// not say.
	Remaining time.Duration
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

// Refusal is an answer with an error status, or an error event in a stream that had begun well.
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

// refusal returns an answer as SGLang's engines give it.
func refusal(status int, message string) *Refusal {
	e := &Refusal{Status: status, Message: message, Type: strconv.Itoa(status)}
	switch status {
	case http.StatusBadRequest:
		e.Type = "BadRequest"
	case http.StatusInternalServerError:
		e.Type = "InternalServerError"
	}
	return e
}

// own returns an answer that the router makes itself.
func own(status int, code, message string) *Refusal {
	return &Refusal{Status: status, Message: message, Type: http.StatusText(status), Code: code, Nested: true, ErrorCode: code}
}

// request is the router's side of a request. It is guarded by the monitor.
type request struct {
	Request
	s       *Stack
	reply   reply
	arrived sim.Instant

	phase          phase
	since          sim.Instant // start of the phase
	older, younger *request    // neighbours among those that the router has
	timer          engine.Entry
	behind         *request // in the limiter's queue
	token          bool     // of the limiter; it is to be given back
	lost           bool     // its answer gets lost at the router
	mispaired      bool     // its legs are sent to workers that do not know of each other
	attempts       int
	a              *attempt // at the engines; nil: none is

	view
}

// phase is what the router does with a request.
type phase uint8

const (
	phaseDelay   phase = iota // a fault holds it up
	phaseLimit                // waits for a token of the limiter
	phaseBackoff              // waits for its next attempt
	phaseEngines              // an attempt is at the engines
	phaseDone                 // answered in full
	phaseAborted              // refused, cut off, or its client has left
	phaseUnknown              // forgotten
)

// enter moves r to a phase.
func (r *request) enter(p phase) { r.phase, r.since = p, r.s.now() }

// over says whether the router has nothing to do with r any more.
func (p phase) over() bool { return p >= phaseDone }
