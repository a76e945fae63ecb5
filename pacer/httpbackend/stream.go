package httpbackend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/pacer"
)

// stream is one attempt's response. Its fields are the calling goroutine's own, except counts.
type stream struct {
	client  *Client
	attempt *pacer.Attempt // nil: not an attempt, but a question about the server
	cancel  context.CancelCauseFunc
	sent    bool // go-openai had no objection

	refused error // the answer was an error status
	body    *body // what go-openai reads from; nil: no response yet
	raw     io.ReadCloser
	chunks  *openai.ChatCompletionStream
	counts  counts

	textSize int  // bytes of output so far
	usage    bool // the exact number of tokens is known
	finished bool // a choice said why it ended
}

// trace tells the attempt how its connection comes about. The dial may go on a goroutine of its own, and
// end after the request has gone out over another connection.
func (s *stream) trace() *httptrace.ClientTrace {
	t := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { s.attempt.Connected() }}
	if dialing := s.attempt.Dialing; dialing != nil {
		t.DNSStart = func(httptrace.DNSStartInfo) { dialing() }
		t.ConnectStart = func(network, addr string) { dialing() }
	}
	return t
}

// received looks at the head of a response, and puts the body that go-openai reads in place.
func (s *stream) received(resp *http.Response) error {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		s.refused = s.client.statusError(resp)
		resp.Body = io.NopCloser(bytes.NewReader(nil)) // it has been read and closed
		return nil
	}
	if s.attempt == nil {
		resp.Body = limitedBody{io.LimitReader(resp.Body, wholeMax), resp.Body}
		return nil
	}
	s.raw = resp.Body
	s.body = newBody(s.client.w, &s.counts, resp.Body)
	if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media == "application/json" {
		if err := s.whole(); err != nil {
			return err
		}
	}
	resp.Body = s.body
	return nil
}

type limitedBody struct {
	io.Reader
	io.Closer
}

// Recv implements pacer.Stream.
func (s *stream) Recv() (openai.ChatCompletionStreamResponse, error) {
	var chunk openai.ChatCompletionStreamResponse
	raw, err := s.chunks.RecvRaw()
	if err != nil {
		return chunk, s.ended(err)
	}
	if err := json.Unmarshal(raw, &chunk); err != nil {
		return chunk, s.client.protocolError("an event that is not a chunk (%v): %s", err, raw)
	}
	otherReasoning(raw, &chunk)
	s.count(&chunk)
	return chunk, nil
}

// count takes note of the output in a chunk.
func (s *stream) count(chunk *openai.ChatCompletionStreamResponse) {
	size := 0
	for i := range chunk.Choices {
		c := &chunk.Choices[i]
		d := &c.Delta
		size += len(d.Content) + len(d.ReasoningContent) + len(d.Refusal)
		for j := range d.ToolCalls {
			size += len(d.ToolCalls[j].Function.Name) + len(d.ToolCalls[j].Function.Arguments)
		}
		if d.FunctionCall != nil {
			size += len(d.FunctionCall.Name) + len(d.FunctionCall.Arguments)
		}
		s.finished = s.finished || c.FinishReason != "" && c.FinishReason != openai.FinishReasonNull
	}
	if size > 0 {
		now := int64(s.client.w.Now())
		if last := s.counts.lastToken.Swap(now); s.textSize > 0 {
			s.counts.gapMax.Store(max(s.counts.gapMax.Load(), now-last))
		}
		s.textSize += size
	}
	if u := chunk.Usage; u != nil && u.CompletionTokens > 0 {
		s.usage = true
		s.counts.tokens.Store(int64(u.CompletionTokens))
	}
	if !s.usage {
		s.counts.tokens.Store(int64((s.textSize + pacer.BytesPerToken - 1) / pacer.BytesPerToken))
	}
}

// errCut is the error of a body that came to its end too early, in good order otherwise.
var errCut = fmt.Errorf("the stream ended without [DONE] and before the answer was finished: %w", io.ErrUnexpectedEOF)

// ended says how the stream came to its end. Some servers leave [DONE] out: that is no harm once the
// answer is finished.
func (s *stream) ended(err error) error {
	switch {
	case s.body.failed != nil:
		return s.client.eventError(s.body.failed)
	case !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return s.client.clean(err)
	case s.body.done || s.finished:
		return io.EOF
	}
	return s.client.clean(errCut)
}

// Progress implements pacer.Stream.
func (s *stream) Progress() pacer.Progress { return s.counts.progress() }

// drainMax bounds the wait for the end of a body after [DONE], on the world's clock.
const drainMax = time.Second

// Close implements pacer.Stream. A connection can be used again only if its response has been read
// to the end, which mostly comes right after [DONE]; otherwise it is closed, which tells the server
// that nobody listens any more.
func (s *stream) Close() error {
	if s.body.done && !s.body.atEnd {
		timer := s.client.w.AfterFunc(drainMax, func() { s.cancel(context.Canceled) })
		_, _ = io.CopyN(io.Discard, s.raw, 4096)
		timer.Stop()
	}
	err := s.raw.Close()
	s.cancel(context.Canceled)
	return err
}

// otherReasoning fills in reasoning that the server sends as "reasoning", as some do (OpenRouter,
// newer vLLM), instead of "reasoning_content". To miss it would make a thinking model look silent.
func otherReasoning(raw []byte, chunk *openai.ChatCompletionStreamResponse) {
	if !bytes.Contains(raw, []byte(`"reasoning":`)) {
		return
	}
	var other struct {
		Choices []struct {
			Delta struct {
				Reasoning string `json:"reasoning"`
			} `json:"delta"`
		} `json:"choices"`
	}
	if json.Unmarshal(raw, &other) != nil {
		return // of another type: not text
	}
	for i := range min(len(other.Choices), len(chunk.Choices)) {
		if d := &chunk.Choices[i].Delta; d.ReasoningContent == "" {
			d.ReasoningContent = other.Choices[i].Delta.Reasoning
		}
	}
}
