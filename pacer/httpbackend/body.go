package httpbackend

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// counts is what has arrived. One goroutine writes it, anybody may read it: atomics, so that
// receiving does not queue for the monitor at every chunk of thousands of streams.
type counts struct {
	bytes, events, tokens          atomic.Int64
	lastByte, lastEvent, lastToken atomic.Int64 // sim.Instant
	gapMax                         atomic.Int64 // nanoseconds
}

func (c *counts) progress() pacer.Progress {
	return pacer.Progress{
		Bytes: c.bytes.Load(), Events: int(c.events.Load()), Tokens: int(c.tokens.Load()),
		LastByte: sim.Instant(c.lastByte.Load()), LastEvent: sim.Instant(c.lastEvent.Load()), LastToken: sim.Instant(c.lastToken.Load()),
		GapMax: time.Duration(c.gapMax.Load()),
	}
}

// lineMax is the longest line of a stream, in bytes.
const lineMax = 16 << 20

// body is what go-openai reads: the "data:" lines of the response and nothing else. go-openai gives
// up after 300 lines without data, and mixes comments into the error that it is reading; so it gets
// to see neither comments nor errors.
type body struct {
	w      sim.World
	counts *counts
	raw    io.ReadCloser
	lines  *bufio.Reader
	rest   []byte // of the line that is being handed out
	long   []byte // of a line that is longer than the buffer

	failed []byte // an error event; the stream ends with it
	done   bool   // [DONE] has been seen
	atEnd  bool   // so has the end of the response
}

func newBody(w sim.World, c *counts, raw io.ReadCloser) *body {
	b := &body{w: w, counts: c, raw: raw}
	b.lines = bufio.NewReader(counter{b})
	return b
}

// counter counts bytes as they arrive.
type counter struct{ b *body }

func (c counter) Read(p []byte) (int, error) {
	n, err := c.b.raw.Read(p)
	if n > 0 {
		c.b.counts.bytes.Add(int64(n))
		c.b.counts.lastByte.Store(int64(c.b.w.Now()))
	}
	if err == io.EOF {
		c.b.atEnd = true
	}
	return n, err
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if b.failed != nil {
			return 0, io.EOF
		}
		line, err := b.line()
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		if data = bytes.TrimSpace(data); ok && len(data) > 0 { // some pings come as an empty event
			b.take(line, data)
		}
		if err != nil && len(b.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// take looks at a line with data, and hands it on unless it is an error.
func (b *body) take(line, data []byte) {
	b.counts.events.Add(1)
	b.counts.lastEvent.Store(int64(b.w.Now()))
	switch {
	case string(data) == "[DONE]":
		b.done = true
	case isError(data):
		b.failed = bytes.Clone(data)
		return
	}
	b.rest = line
	// go-openai takes whatever begins like this for an error, also {"error":null,"choices":…}.
	if rest, ok := bytes.CutPrefix(data, []byte(`{"error":`)); ok {
		b.rest = append([]byte(`data: { "error":`), append(rest, '\n')...)
	}
}

// line returns the next line with its line break, valid until the next call. The last one may lack
// the break, and comes with io.EOF; since an event in it may have been cut anywhere, it is given out
// only if there was no other error.
func (b *body) line() ([]byte, error) {
	b.long = b.long[:0]
	for {
		part, err := b.lines.ReadSlice('\n')
		if err == nil && len(b.long) == 0 {
			return part, nil
		}
		if len(b.long)+len(part) > lineMax {
			return nil, fmt.Errorf("a line of the stream is longer than %d bytes", lineMax)
		}
		b.long = append(b.long, part...)
		switch {
		case err == nil:
			return b.long, nil
		case err == io.EOF && len(b.long) > 0:
			return append(b.long, '\n'), err
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// Close implements io.Closer.
func (b *body) Close() error { return b.raw.Close() }

// wholeMax is the longest response, in bytes, that is taken without being streamed.
const wholeMax = 16 << 20

// whole handles a response that was not streamed although that was asked for: an error with status
// 200, or the answer in one piece, which is handed on as a stream of one chunk.
func (s *stream) whole() error {
	text, err := io.ReadAll(io.LimitReader(counter{s.body}, wholeMax))
	if err != nil {
		return err
	}
	if isError(text) {
		s.refused = s.client.eventError(text)
		return s.refused
	}
	var answer openai.ChatCompletionResponse
	if err := json.Unmarshal(text, &answer); err != nil {
		s.refused = s.client.protocolError("the response is neither a stream nor an answer (%v): %s", err, text)
		return s.refused
	}
	chunk := openai.ChatCompletionStreamResponse{ID: answer.ID, Model: answer.Model, Created: answer.Created, Usage: &answer.Usage}
	for _, c := range answer.Choices {
		m := c.Message
		chunk.Choices = append(chunk.Choices, openai.ChatCompletionStreamChoice{Index: c.Index, FinishReason: c.FinishReason,
			Delta: openai.ChatCompletionStreamChoiceDelta{Role: m.Role, Content: m.Content, Refusal: m.Refusal,
				ReasoningContent: m.ReasoningContent, ToolCalls: m.ToolCalls, FunctionCall: m.FunctionCall}})
	}
	encoded, err := json.Marshal(chunk)
	if err != nil {
		return err
	}
	s.body.lines.Reset(io.MultiReader(bytes.NewReader([]byte("data: ")), bytes.NewReader(encoded), bytes.NewReader([]byte("\ndata: [DONE]\n"))))
	return nil
}
