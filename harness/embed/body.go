package embed

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"example.com/wedge/pacer"
)

const (
	// errorTextMax is how much of an error's body is kept.
	errorTextMax = 2 << 10
	// eventMax is how much of one line of an event stream is looked at.
	eventMax = 64 << 10
)

// body notes what is read of an answer.
type body struct {
	io.ReadCloser
	c      *call
	resp   *http.Response
	ctx    context.Context
	events bool // an event stream

	// For the goroutine that reads.
	line []byte // of an event stream: the line that has begun
	text []byte // of an error: the beginning
	done bool   // the stream has said that it is complete
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	tokens := b.scan(p[:n])
	if n > 0 || err != nil {
		b.note(n, tokens, err)
	}
	return n, err
}

// Close implements io.Closer. An answer that is not an event stream may be closed before its end is
// read, by decoders that know where it is.
func (b *body) Close() error {
	err := b.ReadCloser.Close()
	w := b.c.agent.dog.w
	w.Lock()
	defer w.Unlock()
	switch {
	case b.done, !b.events && b.c.state.Bytes > 0 && b.ctx.Err() == nil, b.resp.StatusCode >= http.StatusBadRequest:
		b.c.attemptEnded(complete(b.resp, b.text))
	default:
		b.c.attemptEnded(resultOf(b.ctx, errClosedEarly))
	}
	return err
}

// errClosedEarly is the end of an answer that the program has closed before it was complete.
var errClosedEarly = errors.New("embed: the answer was closed before its end")

// note notes a read. tokens is how many of its events have content.
func (b *body) note(n, tokens int, err error) {
	w := b.c.agent.dog.w
	w.Lock()
	defer w.Unlock()
	s := &b.c.state
	if !b.c.out || b.c.ended {
		return
	}
	if n > 0 {
		s.Bytes += int64(n)
		s.LastByte = w.Now()
		if !b.events && b.resp.StatusCode < http.StatusBadRequest {
			tokens = max(1, n/bytesPerToken)
		}
	}
	if tokens > 0 {
		s.Events++
		s.LastToken = s.LastByte
		if s.Tokens == 0 {
			s.FirstToken = s.LastByte
		}
		s.Tokens += tokens
		b.c.stage(pacer.StageStream)
	}
	switch {
	case err == nil:
	case err == io.EOF && b.events && !b.done && b.resp.StatusCode < http.StatusBadRequest && s.Tokens == 0:
		b.c.attemptEnded(pacer.AttemptResult{Outcome: pacer.AttemptNetwork, Err: io.ErrUnexpectedEOF})
	case err == io.EOF:
		b.c.attemptEnded(complete(b.resp, b.text))
	default:
		b.c.attemptEnded(resultOf(b.ctx, err))
	}
}

// scan looks at what has come and returns how many events with content there were.
func (b *body) scan(p []byte) int {
	if b.resp.StatusCode >= http.StatusBadRequest {
		b.text = append(b.text, p[:min(len(p), errorTextMax-len(b.text))]...)
		return 0
	}
	if !b.events {
		return 0
	}
	tokens := 0
	for len(p) > 0 {
		line, rest, whole := bytes.Cut(p, []byte("\n"))
		p = rest
		if len(b.line) > 0 || !whole {
			b.line = append(b.line, line[:min(len(line), eventMax-len(b.line))]...)
			line = b.line
		}
		if !whole {
			break
		}
		if b.event(line) {
			tokens++
		}
		b.line = b.line[:0]
	}
	return tokens
}

var (
	dataPrefix = []byte("data:")
	doneText   = []byte("[DONE]")
	// contents are the fields of a chunk that carry output, in the forms of chat completions, of
	// completions and of the others that stream deltas.
	contents = [][]byte{
		[]byte(`"content":"`), []byte(`"reasoning_content":"`), []byte(`"reasoning":"`), []byte(`"arguments":"`),
		[]byte(`"text":"`), []byte(`"thinking":"`), []byte(`"partial_json":"`), []byte(`"delta":"`), []byte(`"tool_calls":[{`),
	}
)

// event reports whether the line is an event with content, and notes the end of the stream. Servers
// write JSON with or without blanks after colons.
func (b *body) event(line []byte) bool {
	data, ok := bytes.CutPrefix(line, dataPrefix)
	if !ok {
		return false
	}
	data = bytes.TrimSpace(data)
	if bytes.Equal(data, doneText) || bytes.Contains(data, []byte(`"message_stop"`)) || bytes.Contains(data, []byte(`"response.completed"`)) {
		b.done = true
		return false
	}
	if bytes.Contains(data, []byte(`": `)) {
		data = bytes.ReplaceAll(data, []byte(`": `), []byte(`":`))
	}
	for _, field := range contents {
		i := bytes.Index(data, field)
		if i >= 0 && i+len(field) < len(data) && data[i+len(field)] != '"' {
			return true
		}
	}
	return false
}
