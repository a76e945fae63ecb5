package serving

import (
	"strings"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/pacer"
)

// Prompt is what the servers need to know of a conversation: its size, and what the model is asked to
// do next.
type Prompt struct {
	Tokens int // estimated from the text, pacer.BytesPerToken bytes a token; 1 at least
	Prefix int // tokens up to the latest answer, that included: what the servers have seen before
	Calls  int // answers given so far: assistant messages
	// Begun is how many tokens there are of an answer that the conversation ends with, as an assistant
	// message without a tool call: the model is asked for the rest of it. It is not one of Calls.
	Begun int
	Round int    // user messages
	Tool  string // the tool that the next step calls; empty: a plain answer
}

// ReadPrompt reads a conversation, walking over its messages once and copying nothing.
//
// The simulated model plays along with a convention that a real model would understand too: if the
// last user message has a line such as "Steps: read_message, write.", the answer after k tool results
// is a call of the k-th of these tools, provided it is offered. Anything else gets a plain answer.
func ReadPrompt(c *openai.ChatCompletionRequest) Prompt {
	var p Prompt
	textBytes, results := 0, 0
	var asked *openai.ChatCompletionMessage
	for i := range c.Messages {
		m := &c.Messages[i]
		textBytes += pacer.TextBytes(m)
		switch m.Role {
		case openai.ChatMessageRoleUser:
			p.Round++
			results, asked = 0, m
		case openai.ChatMessageRoleAssistant:
			p.Calls++
			p.Prefix = textBytes / pacer.BytesPerToken
		case openai.ChatMessageRoleTool:
			results++
		}
	}
	if n := len(c.Messages); n > 0 && begins(&c.Messages[n-1]) {
		p.Calls--
		p.Begun = (len(c.Messages[n-1].Content) + pacer.BytesPerToken - 1) / pacer.BytesPerToken
	}
	p.Tokens = max(1, (textBytes+pacer.BytesPerToken-1)/pacer.BytesPerToken)
	if asked != nil {
		if tool := nextStep(asked, results); tool != "" && offered(c.Tools, tool) {
			p.Tool = tool
		}
	}
	return p
}

// begins says whether a message, the last one, is the beginning of an answer.
func begins(m *openai.ChatCompletionMessage) bool {
	return m.Role == openai.ChatMessageRoleAssistant && m.Content != "" && len(m.ToolCalls) == 0
}

// nextStep returns the name of step k (counted from 0) that the message asks for, or "".
func nextStep(m *openai.ChatCompletionMessage, k int) string {
	if line, ok := stepsLine(m.Content); ok {
		return stepAt(line, k)
	}
	for i := range m.MultiContent {
		if line, ok := stepsLine(m.MultiContent[i].Text); ok {
			return stepAt(line, k)
		}
	}
	return ""
}

const stepsMark = "Steps:"

// stepsLine returns what follows the mark on the first line that starts with it.
func stepsLine(text string) (line string, ok bool) {
	for at := 0; ; {
		i := strings.Index(text[at:], stepsMark)
		if i < 0 {
			return "", false
		}
		start := at + i
		at = start + len(stepsMark)
		if start == 0 || text[start-1] == '\n' {
			line, _, _ = strings.Cut(text[at:], "\n")
			return line, true
		}
	}
}

// stepAt returns item k of a list such as " read_message, write.", or "".
func stepAt(line string, k int) string {
	for ; k > 0; k-- {
		_, rest, more := strings.Cut(line, ",")
		if !more {
			return ""
		}
		line = rest
	}
	item, _, _ := strings.Cut(line, ",")
	return strings.Trim(item, " \t\r.`")
}

func offered(tools []openai.Tool, name string) bool {
	for i := range tools {
		if f := tools[i].Function; f != nil && f.Name == name {
			return true
		}
	}
	return false
}
