package api

import (
	"strconv"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
)

// chunks makes the events of a stream, byte for byte as SGLang does:
//
//	data: {"id":…,"object":"chat.completion.chunk","created":…,"model":…,"choices":[{"index":0,"delta":{…},…}]}
//
// The first delta has the role. Those with text have reasoning_content, null or not. Those of a tool
// call have all fields of a delta, and the usage: SGLang encodes them in another way. Then come a
// chunk with the finish reason and, if it is wanted, one with the usage and no choices. With
// continuous_usage_stats the usage so far stands in all of them.
type chunks struct {
	head   []byte // of each event, up to the choices
	callID string
	begun  bool // the role is out
	called bool // so is the name of the tool

	running *tokens // what each event says of the usage so far; nil: nothing
}

// tokens is what an answer is charged for.
type tokens struct{ prompt, completion, reasoning int }

func (x *exchange) newChunks(id string, q *question) chunks {
	head := make([]byte, 0, 192)
	head = append(head, `data: {"id":`...)
	head = appendString(head, id)
	head = append(head, `,"object":"chat.completion.chunk","created":`...)
	head = strconv.AppendInt(head, x.calendar(x.arrived).Unix(), 10)
	head = append(head, `,"model":`...)
	head = appendString(head, x.model)
	head = append(head, `,"choices":[`...)
	c := chunks{head: head, callID: callID(id)}
	if q.continuousUsage {
		c.running = &tokens{prompt: q.Prompt.Tokens}
	}
	return c
}

const (
	choiceHead = `{"index":0,"delta":{`
	choiceTail = `},"logprobs":null,"finish_reason":null,"matched_stop":null}]`
	eventEnd   = "}\n\n"
	streamEnd  = "data: [DONE]\n\n"
)

// append appends the events of a part with tokens: one for each kind of text in it.
func (c *chunks) append(b []byte, p *serving.Part) []byte {
	if c.running != nil {
		c.running.completion += p.Tokens
		c.running.reasoning += len(p.Reasoning) / pacer.BytesPerToken
	}
	if !c.begun {
		c.begun = true
		b = c.delta(b, `"reasoning_content":null,"role":"assistant","content":""`)
	}
	if p.Reasoning != "" {
		b = c.text(b, `"reasoning_content":`, p.Reasoning)
	}
	if p.Content != "" {
		b = c.text(b, `"reasoning_content":null,"content":`, p.Content)
	}
	if p.Tool != "" || p.Arguments != "" {
		b = c.call(b, p)
	}
	return b
}

func (c *chunks) delta(b []byte, fields string) []byte {
	b = append(b, c.head...)
	b = append(b, choiceHead...)
	b = append(b, fields...)
	return c.close(append(b, choiceTail...))
}

// close ends an event after its choices.
func (c *chunks) close(b []byte) []byte {
	if c.running != nil {
		b = appendUsage(append(b, `,"usage":`...), *c.running)
	}
	return append(b, eventEnd...)
}

func (c *chunks) text(b []byte, field, text string) []byte {
	b = append(b, c.head...)
	b = append(b, choiceHead...)
	b = append(b, field...)
	b = appendString(b, text)
	return c.close(append(b, choiceTail...))
}

// call appends a piece of a tool call. Only the first one has its id and name.
func (c *chunks) call(b []byte, p *serving.Part) []byte {
	b = append(b, c.head...)
	b = append(b, choiceHead+`"role":null,"content":null,"reasoning_content":null,"tool_calls":[{"id":`...)
	if c.called {
		b = append(b, `null,"index":0,"type":"function","function":{"name":null`...)
	} else {
		c.called = true
		b = appendString(b, c.callID)
		b = append(b, `,"index":0,"type":"function","function":{"name":`...)
		b = appendString(b, p.Tool)
	}
	b = append(b, `,"arguments":`...)
	b = appendString(b, p.Arguments)
	b = append(b, `}}]`+choiceTail...)
	if c.running == nil {
		b = append(b, `,"usage":null`...)
	}
	return c.close(b)
}

// finish appends the chunk that says why the answer has ended.
func (c *chunks) finish(b []byte, reason openai.FinishReason) []byte {
	b = append(b, c.head...)
	b = append(b, choiceHead+`"reasoning_content":null},"logprobs":null,"finish_reason":`...)
	b = appendString(b, string(reason))
	return c.close(append(b, `,"matched_stop":null}]`...))
}

// usage appends the chunk with the usage.
func (c *chunks) usage(b []byte, u *openai.Usage) []byte {
	b = append(b, c.head...)
	b = append(b, `],"usage":`...)
	b = appendUsage(b, tokensOf(u))
	return append(b, eventEnd...)
}
