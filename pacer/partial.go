package pacer

import (
	"slices"

	"github.com/sashabaranov/go-openai"
)

// kept is the beginning of an answer, from attempts that failed, which the next one is to continue.
type kept struct {
	text   string
	tokens int // estimated from the text
}

// keep decides what of the attempt's answer the next one goes on from, if there is one. It returns how
// many tokens more are kept than before: fewer if what had been kept is dropped. The monitor is held.
func (t *try) keep(again bool) int {
	c := t.c
	if c.p.policy.Partial != PartialContinue {
		return 0
	}
	if text, ok := t.partial(); again && ok {
		return c.keeps(kept{text, (len(text) + BytesPerToken - 1) / BytesPerToken})
	}
	return c.keeps(kept{})
}

// keeps puts what is kept in the place of what was, and returns how many tokens more it is. The monitor
// is held.
func (c *call) keeps(k kept) int {
	more := k.tokens - c.kept.tokens
	c.kept = k
	c.state.PromptTokens += more
	c.state.Kept = k.tokens
	return more
}

// partial returns the text of the answer so far, what had been kept included, and whether it can be
// continued. The monitor is held.
func (t *try) partial() (text string, ok bool) {
	ahead, isAhead := t.stream.(Ahead)
	if !isAhead || t.phase.stage != StageStream {
		return t.answer.text()
	}
	text, ok = ahead.Arrived()
	return t.c.kept.text + text, ok
}

// continued returns a request for the rest of an answer: the conversation ends with its beginning, as
// the assistant's. What it may still be long is less by that.
func (c *call) continued(req *openai.ChatCompletionRequest) *openai.ChatCompletionRequest {
	if c.kept.text == "" {
		return req
	}
	more := *req
	more.Messages = append(slices.Clone(req.Messages), openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: c.kept.text})
	if more.MaxCompletionTokens > 0 {
		more.MaxCompletionTokens = max(1, more.MaxCompletionTokens-c.kept.tokens)
	}
	//lint:ignore SA1019 what most servers still take
	if most := &more.MaxTokens; *most > 0 {
		*most = max(1, *most-c.kept.tokens)
	}
	return &more
}
