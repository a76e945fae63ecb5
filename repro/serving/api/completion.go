package api

import (
	"net/http"
	"strconv"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/repro/serving"
)

// completion sends an answer in one piece. It is complete: the headers were due.
func (x *exchange) completion(h *serving.Handle) {
	var few [4]serving.Part // as most answers have
	parts := few[:0]
	for {
		part, _, err := h.Take()
		if err != nil {
			x.breakOff(err)
			return
		}
		if part.Tokens > 0 {
			parts = append(parts, part)
		}
		switch {
		case part.Error != nil:
			x.fail(x.refusal(part.Error))
			return
		case part.Cut:
			panic(http.ErrAbortHandler) // half of a document is no answer: the connection is cut
		}
		if part.Finish != "" {
			b := x.buffer()
			defer x.giveBack(b)
			*b = x.appendCompletion(*b, h.ResponseID(), parts, part.Finish, h.Usage())
			x.watchHow(EndComplete, "")
			x.whole(http.StatusOK, *b)
			x.watchWrite(h.Usage().CompletionTokens, len(*b))
			return
		}
	}
}

func (x *exchange) appendCompletion(b []byte, id string, parts []serving.Part, finish openai.FinishReason, usage openai.Usage) []byte {
	b = append(b, `{"id":`...)
	b = appendString(b, id)
	b = append(b, `,"object":"chat.completion","created":`...)
	b = strconv.AppendInt(b, x.calendar(x.arrived).Unix(), 10)
	b = append(b, `,"model":`...)
	b = appendString(b, x.model)
	b = append(b, `,"choices":[{"index":0,"message":{"role":"assistant","content":`...)
	b = appendJoined(b, parts, func(p *serving.Part) string { return p.Content })
	b = append(b, `,"reasoning_content":`...)
	b = appendJoined(b, parts, func(p *serving.Part) string { return p.Reasoning })
	b = append(b, `,"tool_calls":`...)
	b = appendCalls(b, id, parts)
	b = append(b, `},"logprobs":null,"finish_reason":`...)
	b = appendString(b, string(finish))
	b = append(b, `,"matched_stop":null}],"usage":`...)
	b = appendUsage(b, tokensOf(&usage))
	return append(b, `,"metadata":{"weight_version":"default"}}`...)
}

// appendJoined appends one of the texts of all parts as one string, or null if there is none.
func appendJoined(b []byte, parts []serving.Part, text func(*serving.Part) string) []byte {
	start := len(b)
	b = append(b, '"')
	for i := range parts {
		b = appendEscaped(b, text(&parts[i]))
	}
	if len(b) == start+1 {
		return append(b[:start], "null"...)
	}
	return append(b, '"')
}

// appendCalls appends the list of tool calls, or null if there is none.
func appendCalls(b []byte, id string, parts []serving.Part) []byte {
	for i := range parts {
		if parts[i].Tool != "" {
			b = append(b, `[{"id":`...)
			b = appendString(b, callID(id))
			b = append(b, `,"index":0,"type":"function","function":{"name":`...)
			b = appendString(b, parts[i].Tool)
			b = append(b, `,"arguments":`...)
			if b = appendJoined(b, parts, func(p *serving.Part) string { return p.Arguments }); b[len(b)-1] != '"' {
				b = append(b[:len(b)-len("null")], `""`...)
			}
			return append(b, `}}]`...)
		}
	}
	return append(b, "null"...)
}

// callID returns the id of the tool call in an answer. It has one at most.
func callID(responseID string) string { return "call_" + responseID }

// appendUsage appends what an answer is charged for.
func appendUsage(b []byte, t tokens) []byte {
	b = append(b, `{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(t.prompt), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(t.prompt+t.completion), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(t.completion), 10)
	b = append(b, `,"prompt_tokens_details":null,"reasoning_tokens":`...)
	b = strconv.AppendInt(b, int64(t.reasoning), 10)
	return append(b, '}')
}

func tokensOf(u *openai.Usage) tokens {
	t := tokens{prompt: u.PromptTokens, completion: u.CompletionTokens}
	if u.CompletionTokensDetails != nil {
		t.reasoning = u.CompletionTokensDetails.ReasoningTokens
	}
	return t
}
