package pacer

import (
	"context"
	"fmt"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
)

// BytesPerToken is how many bytes of text stand for a token where nobody counts exactly: the usual
// rule of thumb for English text and GPT-like vocabularies.
const BytesPerToken = 4

// Backend opens attempts: go-openai over HTTP, or the simulated servers in memory.
type Backend interface {
	// Open sends a request and returns once the response headers are in. It calls a.Connected when
	// it has a connection, just before the request goes out. Cancelling ctx ends Open, and the Recv
	// calls of the stream that it returned. An answer with an error status is a *StatusError, and a
	// request that cannot be sent at all is ErrNotSent; whatever else fails is taken for the network.
	// The request is the backend's to read, not to change.
	Open(ctx context.Context, a *Attempt, req openai.ChatCompletionRequest) (Stream, error)
}

// Attempt is one HTTP request of a call. Only Dialing and Connected are ever called; the rest is for the backend to
// tell the server.
type Attempt struct {
	ID     string   // unique in the run; sent as x-request-id, so that it stands in router logs
	Number int      // 1 for the first attempt of the call
	Of     Identity // the call it belongs to

	// Remaining is how much time the server has to answer. 0: it is not to be told.
	Remaining time.Duration

	// Dialing is called by the backend when there is room for the attempt's connection, and it begins
	// to make one, on any goroutine and without the monitor held. nil: nobody asks. A connection that
	// exists already need not be told.
	Dialing func()

	// Connected is called by the backend when the attempt has got its connection, on the goroutine
	// that called Open and without the monitor held. The backend may call it more than once; only the
	// first counts. If it never does, the attempt counts as connected when Open returns.
	Connected func()
}

// Stream is a response that is being received. Its methods are called by one process, except
// Progress.
type Stream interface {
	// Recv waits for the next chunk. io.EOF is the regular end, after [DONE]. The slices of a chunk
	// belong to the stream and hold until Close; texts and usage may be kept.
	Recv() (openai.ChatCompletionStreamResponse, error)

	// Progress says what has arrived so far, at the instant of the call and with the monitor held.
	// Between two Recv it may be ahead of the chunks handed out: a simulated stream computes it in
	// closed form and delivers content in few chunks.
	Progress() Progress

	// Close ends the stream; the server sees the client leave unless it had been read to its end.
	Close() error
}

// Ahead is what a Stream has if the chunks that it hands out run ahead of what has arrived.
type Ahead interface {
	// Arrived returns the text of the answer (no reasoning) that has arrived. ok says whether there is
	// any and it can be continued: no tool call has begun. It is called with the monitor held.
	Arrived() (text string, ok bool)
}

// Progress is what a stream has received.
type Progress struct {
	Bytes     int64       // of the response body, SSE framing included
	Events    int         // SSE events with data
	Tokens    int         // output tokens, reasoning included; estimated from the text until usage arrives
	LastByte  sim.Instant // 0 if none has arrived
	LastEvent sim.Instant // 0 if none has arrived
	LastToken sim.Instant // 0 if none has arrived
	// GapMax is the longest silence between two pieces of output. 0: there was none, or the backend
	// does not keep it.
	GapMax time.Duration
}

// StatusError is an answer with an error status, or an error event inside a stream.
type StatusError struct {
	Status     int           // HTTP status; for an error event the code it carries, or 0
	Message    string        // the server's text, cut to a sane length
	RetryAfter time.Duration // what the server asked for; meaningful if HasRetryAfter
	// HasRetryAfter tells an absent header from one that says 0.
	HasRetryAfter bool
	// ShouldRetry is what the header x-should-retry said; meaningful if HasShouldRetry.
	ShouldRetry, HasShouldRetry bool
	InStream                    bool // arrived as an event after a 200
}

func (e *StatusError) Error() string {
	if e.InStream {
		return fmt.Sprintf("pacer: error event in stream (code %d): %s", e.Status, e.Message)
	}
	return fmt.Sprintf("pacer: HTTP status %d: %s", e.Status, e.Message)
}
