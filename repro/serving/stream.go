package serving

import (
	"context"
	"io"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// stream is the answer to a client in memory. It hands out few chunks. The first one comes when the
// first token does, and has all of the answer's first section, mostly its reasoning: a receiver that
// puts texts together then has nothing to copy. So the text runs ahead of the tokens, but never
// beyond what will arrive in the end; Progress is exact. The rest comes when the answer is complete.
type stream struct {
	ctx   context.Context // of Open, which ends Recv too
	c     *Client
	h     Handle
	lease sim.Lease
	model string
	usage bool // a chunk with it is wanted
	state streamState
	given int // tokens handed out as text

	choices [3]openai.ChatCompletionStreamChoice // those of the chunks handed out
	used    int
}

// streamState is what the stream hands out next.
type streamState uint8

const (
	streamFirst  streamState = iota // the first token
	streamRest                      // what is left of the text
	streamFinish                    // the chunk with the finish reason
	streamUsage                     // the chunk with the usage, if it is wanted
	streamEnd
)

var _ pacer.Stream = (*stream)(nil)

// Recv implements pacer.Stream.
func (st *stream) Recv() (openai.ChatCompletionStreamResponse, error) {
	chunk, err := st.next()
	if err != nil {
		_ = st.Close() // as net/http does with a body that has ended
	}
	return chunk, err
}

func (st *stream) next() (openai.ChatCompletionStreamResponse, error) {
	if st.state == streamFirst {
		return st.first()
	}
	if st.state == streamRest {
		if err := st.h.waitEnd(st.ctx); err != nil {
			return openai.ChatCompletionStreamResponse{}, err
		}
		if st.given < st.h.r.reply.tokens {
			return st.text(st.h.r.reply.tokens), nil
		}
		st.state = streamFinish
	}
	switch st.state {
	case streamFinish:
		st.state = streamUsage
		choice := st.choice()
		choice[0].FinishReason = st.h.r.reply.finish
		return st.chunk(choice), nil
	case streamUsage:
		st.state = streamEnd
		if st.usage {
			chunk := st.chunk([]openai.ChatCompletionStreamChoice{})
			usage := st.h.Usage()
			chunk.Usage = &usage
			return chunk, nil
		}
	}
	return openai.ChatCompletionStreamResponse{}, io.EOF
}

// first waits for the first token.
func (st *stream) first() (openai.ChatCompletionStreamResponse, error) {
	tokens, err := st.h.waitFirst(st.ctx)
	if err != nil {
		return openai.ChatCompletionStreamResponse{}, err
	}
	st.state = streamRest
	chunk := st.text(tokens)
	chunk.Choices[0].Delta.Role = openai.ChatMessageRoleAssistant
	return chunk, nil
}

// text makes a chunk of the text up to the given number of tokens, or of the first of it.
func (st *stream) text(tokens int) openai.ChatCompletionStreamResponse {
	part := st.h.r.reply.part(st.given, tokens)
	st.given += part.Tokens
	choice := st.choice()
	d := &choice[0].Delta
	d.ReasoningContent, d.Content = part.Reasoning, part.Content
	if part.Arguments != "" {
		d.ToolCalls = []openai.ToolCall{{
			Index:    &st.c.index,
			ID:       st.h.r.ID,
			Type:     openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: part.Tool, Arguments: part.Arguments},
		}}
	}
	return st.chunk(choice)
}

// choice returns room for a choice. The first few are part of the stream, and none is used twice.
func (st *stream) choice() []openai.ChatCompletionStreamChoice {
	if st.used == len(st.choices) {
		return make([]openai.ChatCompletionStreamChoice, 1)
	}
	st.used++
	return st.choices[st.used-1 : st.used : st.used]
}

func (st *stream) chunk(choices []openai.ChatCompletionStreamChoice) openai.ChatCompletionStreamResponse {
	return openai.ChatCompletionStreamResponse{
		ID:      st.h.r.ID,
		Object:  "chat.completion.chunk",
		Created: st.h.r.arrived.Time().Unix(),
		Model:   st.model,
		Choices: choices,
	}
}

// Progress implements pacer.Stream.
func (st *stream) Progress() pacer.Progress { return st.h.Progress() }

// Close implements pacer.Stream. It may be called more than once.
func (st *stream) Close() error {
	st.h.Cancel()
	lease := st.lease
	st.lease = sim.Lease{}
	return lease.Release()
}
