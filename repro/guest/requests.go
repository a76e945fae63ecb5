package guest

import (
	"encoding/json"
	"io"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// RequestsLog is the file of a bundle with a line for each request, as it ended.
const RequestsLog = "requests.jsonl"

// requestLine is a line of it. Instants are in seconds of the run's clock; those that did not come are
// absent.
type requestLine struct {
	ID           string   `json:"id"` // of the router, as in router.log
	Call         string   `json:"call"`
	Attempt      int      `json:"attempt"`         // of its call, counted from 1
	Agent        string   `json:"agent,omitempty"` // if the client says whose it is
	ReceivedS    float64  `json:"received_s"`
	HeadersS     *float64 `json:"headers_s,omitempty"`
	FirstTokenS  *float64 `json:"first_token_s,omitempty"`
	LastWriteS   *float64 `json:"last_write_s,omitempty"`
	EndedS       *float64 `json:"ended_s,omitempty"`
	Ended        string   `json:"ended"` // complete, error status, error event, cut off by the server, left by the client, or "open" at the end of the run
	Status       int      `json:"status,omitempty"`
	PromptTokens int      `json:"prompt_tokens"` // estimated from the text
	Tokens       int      `json:"tokens"`        // written to the client
	Bytes        int64    `json:"bytes"`
	Message      string   `json:"message,omitempty"` // of an error
}

// lineOf describes a request that has just ended, or not at all, before its call moves on.
func lineOf(c *call, ended string, at sim.Instant, message string) requestLine {
	l := requestLine{
		ID: c.AttemptID, Call: c.ID, Attempt: c.Attempts, ReceivedS: c.Sent.Seconds(), LastWriteS: secondsAt(c.LastByte), EndedS: secondsAt(at), Ended: ended,
		Status: c.status, PromptTokens: c.PromptTokens, Tokens: c.Tokens, Bytes: c.Bytes, Message: cut(message),
	}
	if c.Task != c.ID {
		l.Agent = c.Task
	}
	if c.Stage == pacer.StageFirstToken || c.Stage == pacer.StageStream {
		l.HeadersS = secondsAt(c.Headers)
	}
	if c.Stage == pacer.StageStream {
		l.FirstTokenS = secondsAt(c.FirstToken)
	}
	return l
}

// secondsAt returns an instant in seconds, nil for one that has not come.
func secondsAt(at sim.Instant) *float64 {
	if at == 0 {
		return nil
	}
	s := at.Seconds()
	return &s
}

// write writes a line. A log keeps its errors.
func (l requestLine) write(to io.Writer) {
	if text, err := json.Marshal(l); err == nil { // there is nothing in it that JSON has no word for
		_, _ = to.Write(append(text, '\n'))
	}
}
