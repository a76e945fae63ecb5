package pacer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sashabaranov/go-openai"
)

// errNoAnswer is the error of a stream that came to its regular end without a word.
var errNoAnswer = errors.New("pacer: the stream ended without an answer")

// Bounds of an answer, against a server gone mad. No real one comes near.
const (
	choicesMax   = 128
	toolCallsMax = 1024
	answerMax    = 64 << 20 // bytes of text
)

// answer puts the chunks of a stream together.
type answer struct {
	id, model, fingerprint string
	created                int64
	usage                  *openai.Usage
	choices                []choice
	room                   [1]choice   // for the first of them, which is mostly the only one
	callRoom               [1]toolCall // for the first of its calls
	size                   int         // bytes of text
}

type choice struct {
	index                       int
	role                        string
	content, reasoning, refusal text
	calls                       []toolCall
	function                    *toolCall // the deprecated form of a tool call
	finish                      openai.FinishReason
}

type toolCall struct {
	index     int // -1: the server gave none
	id, name  string
	kind      openai.ToolType
	arguments text
}

// text is a string in pieces. As long as there is one piece, nothing is copied.
type text struct {
	only string
	all  []byte // once there are two
}

func (t *text) add(s string) {
	switch {
	case s == "":
	case t.only == "":
		t.only = s
	case t.all == nil:
		t.all = append(append(make([]byte, 0, 4*(len(t.only)+len(s))), t.only...), s...)
	default:
		t.all = append(t.all, s...)
	}
}

func (t *text) String() string {
	if t.all != nil {
		return string(t.all)
	}
	return t.only
}

// seed begins an answer with text that an earlier attempt has received. It is no output of this one.
func (a *answer) seed(text string) {
	c, _ := a.choice(0) // the first fits
	c.content.add(text)
}

// text returns the text of an answer that can be continued: there is some, and nothing after it.
func (a *answer) text() (text string, ok bool) {
	if len(a.choices) != 1 {
		return "", false
	}
	c := &a.choices[0]
	text = c.content.String()
	return text, text != "" && len(c.calls) == 0 && c.function == nil && c.refusal.String() == "" && c.finish == ""
}

// add takes in a chunk, and says whether there was any output in it.
func (a *answer) add(chunk *openai.ChatCompletionStreamResponse) (output bool, err error) {
	if a.id == "" {
		a.id, a.model, a.created, a.fingerprint = chunk.ID, chunk.Model, chunk.Created, chunk.SystemFingerprint
	}
	if chunk.Usage != nil {
		a.usage = chunk.Usage
	}
	before := a.size
	for i := range chunk.Choices {
		if err := a.addChoice(&chunk.Choices[i]); err != nil {
			return false, err
		}
	}
	if a.size > answerMax {
		return false, fmt.Errorf("pacer: the answer is longer than %d bytes", answerMax)
	}
	return a.size > before, nil
}

func (a *answer) addChoice(from *openai.ChatCompletionStreamChoice) error {
	c, err := a.choice(from.Index)
	if err != nil {
		return err
	}
	d := &from.Delta
	if c.role == "" {
		c.role = d.Role
	}
	c.content.add(d.Content)
	c.reasoning.add(d.ReasoningContent)
	c.refusal.add(d.Refusal)
	a.size += len(d.Content) + len(d.ReasoningContent) + len(d.Refusal)
	for i := range d.ToolCalls {
		t, err := c.call(&d.ToolCalls[i])
		if err != nil {
			return err
		}
		a.size += t.add(&d.ToolCalls[i].Function)
	}
	if d.FunctionCall != nil {
		if c.function == nil {
			c.function = new(toolCall)
		}
		a.size += c.function.add(d.FunctionCall)
	}
	if from.FinishReason != "" && from.FinishReason != openai.FinishReasonNull {
		c.finish = from.FinishReason
	}
	return nil
}

func (a *answer) choice(index int) (*choice, error) {
	for i := range a.choices {
		if a.choices[i].index == index {
			return &a.choices[i], nil
		}
	}
	if len(a.choices) == choicesMax {
		return nil, fmt.Errorf("pacer: the answer has more than %d choices", choicesMax)
	}
	if a.choices == nil {
		a.choices = a.room[:0]
	}
	a.choices = append(a.choices, choice{index: index})
	c := &a.choices[len(a.choices)-1]
	if len(a.choices) == 1 {
		c.calls = a.callRoom[:0]
	}
	return c, nil
}

// call returns the tool call that a delta continues, or a new one. A delta names its call by index.
// Some servers give no index, or the same one to all calls: then a new id begins a new call.
func (c *choice) call(d *openai.ToolCall) (*toolCall, error) {
	index := -1
	if d.Index != nil {
		index = *d.Index
	}
	for i := len(c.calls) - 1; i >= 0; i-- {
		if t := &c.calls[i]; d.Index == nil || t.index == index {
			if d.ID != "" && t.id != "" && d.ID != t.id {
				break
			}
			return t, nil
		}
	}
	if len(c.calls) == toolCallsMax {
		return nil, fmt.Errorf("pacer: the answer has more than %d tool calls", toolCallsMax)
	}
	c.calls = append(c.calls, toolCall{index: index, id: d.ID, kind: d.Type})
	return &c.calls[len(c.calls)-1], nil
}

// add takes in a piece of the call's name and arguments, and returns its size in bytes. The name
// comes whole, and with some servers again and again.
func (t *toolCall) add(d *openai.FunctionCall) int {
	if t.name == "" {
		t.name = d.Name
	}
	t.arguments.add(d.Arguments)
	return len(d.Name) + len(d.Arguments)
}

// check says whether the stream held an answer. An empty one is an answer only if a choice says that
// it is finished: some servers end a stream in good order when they have lost the request.
func (a *answer) check() error {
	if a.size > 0 || slices.ContainsFunc(a.choices, func(c choice) bool { return c.finish != "" }) {
		return nil
	}
	return errNoAnswer
}

// response returns the answer as if it had not been streamed.
func (a *answer) response() openai.ChatCompletionResponse {
	r := openai.ChatCompletionResponse{
		ID: a.id, Object: "chat.completion", Created: a.created, Model: a.model, SystemFingerprint: a.fingerprint,
		Choices: make([]openai.ChatCompletionChoice, len(a.choices)),
	}
	if a.usage != nil {
		r.Usage = *a.usage
	}
	slices.SortStableFunc(a.choices, func(x, y choice) int { return cmp.Compare(x.index, y.index) })
	for i := range a.choices {
		c := &a.choices[i]
		out := &r.Choices[i]
		out.Index, out.FinishReason = c.index, c.finish
		c.message(&out.Message)
	}
	return r
}

func (c *choice) message(m *openai.ChatCompletionMessage) {
	m.Role = c.role
	if m.Role == "" {
		m.Role = openai.ChatMessageRoleAssistant
	}
	m.Content, m.ReasoningContent, m.Refusal = c.content.String(), c.reasoning.String(), c.refusal.String()
	if c.function != nil {
		m.FunctionCall = &openai.FunctionCall{Name: c.function.name, Arguments: c.function.arguments.String()}
	}
	if len(c.calls) == 0 {
		return
	}
	m.ToolCalls = make([]openai.ToolCall, len(c.calls))
	for i := range c.calls {
		t := &c.calls[i]
		m.ToolCalls[i] = openai.ToolCall{ID: t.id, Type: t.kind, Function: openai.FunctionCall{Name: t.name, Arguments: t.arguments.String()}}
		if t.kind == "" {
			m.ToolCalls[i].Type = openai.ToolTypeFunction
		}
	}
}
