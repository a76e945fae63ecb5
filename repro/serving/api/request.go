package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/repro/serving"
)

// chatRequest is what is read of a request body; clients send much more. A number of 0 and a text of
// "" are as good as none, but for N. What may have several types is taken as it comes, and looked at
// later.
type chatRequest struct {
	Model               string          `json:"model"`
	User                string          `json:"user"`
	Stream              bool            `json:"stream"`
	StreamOptions       streamOptions   `json:"stream_options"`
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"` // goes before MaxTokens
	MinTokens           int             `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"` // the answer is as long as it may be
	N                   *int            `json:"n"`
	Messages            []message       `json:"messages"`
	Tools               []tool          `json:"tools"`
	ToolChoice          json.RawMessage `json:"tool_choice"`

	sampling
}

// sampling is what is looked at and then ignored: the simulated model draws no tokens.
type sampling struct {
	Temperature       *float64 `json:"temperature"`
	TopP              *float64 `json:"top_p"`
	MinP              *float64 `json:"min_p"`
	TopK              *int     `json:"top_k"`
	FrequencyPenalty  *float64 `json:"frequency_penalty"`
	PresencePenalty   *float64 `json:"presence_penalty"`
	RepetitionPenalty *float64 `json:"repetition_penalty"`
}

type streamOptions struct {
	IncludeUsage         bool `json:"include_usage"`
	ContinuousUsageStats bool `json:"continuous_usage_stats"`
}

type message struct {
	Role             string     `json:"role"`
	Content          any        `json:"content"` // nil, a string, or a list of parts
	ReasoningContent string     `json:"reasoning_content"`
	ToolCalls        []toolCall `json:"tool_calls"`
}

type toolCall struct {
	Function struct {
		Name      string `json:"name"`
		Arguments any    `json:"arguments"` // mostly a string; an object is taken too
	} `json:"function"`
}

type tool struct {
	Function *toolFunction `json:"function"`
}

type toolFunction struct {
	Name string `json:"name"`
}

// question is a request that can be asked of the servers.
type question struct {
	serving.Request
	usage           bool // a stream is to end with a chunk that has it
	continuousUsage bool // all of its chunks are to have what there is of it
}

// parse reads the body of a chat request. model is the only one there is, or "" if any will do. Nothing of what it returns points into the reader, or keeps
// its messages.
func (r *reader) parse(id, model string, contextTokensMax int) (*question, *failure) {
	body, c := r.body.Bytes(), &r.chat
	if !utf8.Valid(body) {
		return nil, badRequest("The request body is not valid UTF-8.")
	}
	if !scanChat(body, c) {
		*c = chatRequest{}
		if err := json.Unmarshal(body, c); err != nil {
			return nil, badRequest(explain(err))
		}
	}
	if c.Model != "" && model != "" && c.Model != model {
		return nil, unknownModel(c.Model)
	}
	for _, problem := range [...]string{c.refuse(contextTokensMax), c.sampling.refuse()} {
		if problem != "" {
			return nil, badRequest(problem)
		}
	}
	if err := c.convert(&r.out); err != nil {
		return nil, badRequest(err.Error())
	}
	q := &question{
		Request: serving.NewRequest(id, &r.out),
		usage:   c.StreamOptions.IncludeUsage, continuousUsage: c.StreamOptions.ContinuousUsageStats,
	}
	q.OutputTokensMin = max(0, c.MinTokens)
	if c.IgnoreEOS && q.OutputTokensMax > 0 {
		q.OutputTokensMin = q.OutputTokensMax + 1 // never the model's own end
	}
	q.Prompt.Tool = strings.Clone(q.Prompt.Tool) // a slice of a message, which it would keep
	if output := q.OutputTokensMax; output > 0 && output+q.Prompt.Tokens > contextTokensMax {
		return nil, badRequest(fmt.Sprintf("Requested token count exceeds the model's maximum context length of %d tokens. "+
			"You requested a total of %d tokens: %d tokens from the input messages and %d tokens for the completion.",
			contextTokensMax, output+q.Prompt.Tokens, q.Prompt.Tokens, output))
	}
	return q, nil
}

// explain says what is wrong with the JSON, without quoting all of it.
func explain(err error) string {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("The request body is not valid JSON: %v at byte %d.", syntax, syntax.Offset)
	case errors.As(err, &mismatch) && mismatch.Field == "":
		return fmt.Sprintf("The request body is a JSON %s, want an object.", mismatch.Value)
	case errors.As(err, &mismatch):
		return fmt.Sprintf("%s: a JSON %s is not allowed here.", strings.TrimPrefix(mismatch.Field, "sampling."), mismatch.Value)
	}
	return fmt.Sprintf("The request body is not valid JSON: %v.", err)
}

const userBytesMax = 512

// refuse says what is wrong with the values, or returns "".
func (c *chatRequest) refuse(contextTokensMax int) string {
	output := cmp.Or(c.MaxCompletionTokens, c.MaxTokens)
	switch {
	case len(c.Messages) == 0:
		return "Messages cannot be empty."
	case c.MaxCompletionTokens < 0:
		return fmt.Sprintf("max_completion_tokens must be at least 0, got %d.", c.MaxCompletionTokens)
	case c.MaxTokens < 0:
		return fmt.Sprintf("max_tokens must be at least 0, got %d.", c.MaxTokens)
	case output > contextTokensMax:
		return fmt.Sprintf("max_completion_tokens is too large: %d. This model supports at most %d completion tokens.", output, contextTokensMax)
	case c.N != nil && *c.N != 1:
		return fmt.Sprintf("n must be 1, got %d: the simulated model gives one answer.", *c.N)
	case len(c.User) > userBytesMax: // it is kept as long as the request is there
		return fmt.Sprintf("user must have at most %d bytes, got %d.", userBytesMax, len(c.User))
	case len(c.Tools) == 0 && string(c.ToolChoice) == `"required"`:
		return "Tools cannot be empty if tool choice is set to required."
	}
	return ""
}

// refuse says what is wrong with the values, or returns "".
func (p *sampling) refuse() string {
	switch {
	case p.Temperature != nil && *p.Temperature < 0:
		return fmt.Sprintf("temperature must be a non-negative finite number, got %v.", *p.Temperature)
	case p.TopP != nil && (*p.TopP <= 0 || *p.TopP > 1):
		return fmt.Sprintf("top_p must be in (0, 1], got %v.", *p.TopP)
	case p.MinP != nil && (*p.MinP < 0 || *p.MinP > 1):
		return fmt.Sprintf("min_p must be in [0, 1], got %v.", *p.MinP)
	case p.TopK != nil && *p.TopK < 1 && *p.TopK != -1:
		return fmt.Sprintf("top_k must be -1 (disable) or at least 1, got %d.", *p.TopK)
	case p.FrequencyPenalty != nil && (*p.FrequencyPenalty < -2 || *p.FrequencyPenalty > 2):
		return fmt.Sprintf("frequency_penalty must be in [-2, 2], got %v.", *p.FrequencyPenalty)
	case p.PresencePenalty != nil && (*p.PresencePenalty < -2 || *p.PresencePenalty > 2):
		return fmt.Sprintf("presence_penalty must be in [-2, 2], got %v.", *p.PresencePenalty)
	case p.RepetitionPenalty != nil && (*p.RepetitionPenalty <= 0 || *p.RepetitionPenalty > 2):
		return fmt.Sprintf("repetition_penalty must be in (0, 2] (1.0 = no penalty), got %v.", *p.RepetitionPenalty)
	}
	return ""
}

// convert turns the request into the form that serving reads: out, which has nothing in it but room
// for messages.
func (c *chatRequest) convert(out *openai.ChatCompletionRequest) error {
	out.User, out.Stream = c.User, c.Stream
	out.MaxCompletionTokens = cmp.Or(c.MaxCompletionTokens, c.MaxTokens)
	out.Messages = slices.Grow(out.Messages, len(c.Messages))[:len(c.Messages)]
	for i := range c.Messages {
		if err := c.Messages[i].convert(&out.Messages[i]); err != nil {
			return fmt.Errorf("messages.%d.%w", i, err)
		}
	}
	if string(c.ToolChoice) == `"none"` {
		return nil
	}
	for i := range c.Tools {
		if f := c.Tools[i].Function; f != nil {
			out.Tools = append(out.Tools, openai.Tool{Function: &openai.FunctionDefinition{Name: f.Name}})
		}
	}
	return nil
}

func (m *message) convert(out *openai.ChatCompletionMessage) error {
	switch m.Role {
	case "system", "developer", "user", "assistant", "tool", "function":
		out.Role = m.Role
	default:
		return fmt.Errorf("role: %.40q, want system, developer, user, assistant or tool", m.Role)
	}
	switch content := m.Content.(type) {
	case nil:
	case string:
		out.Content = content
	case []any:
		out.MultiContent = make([]openai.ChatMessagePart, len(content))
		for i, part := range content {
			fields, ok := part.(map[string]any)
			if !ok {
				return fmt.Errorf("content.%d: want an object with a type", i)
			}
			if out.MultiContent[i].Text, ok = fields["text"].(string); !ok && fields["type"] == "text" {
				return fmt.Errorf("content.%d.text: missing or not a string", i)
			}
		}
	default:
		return errors.New("content: want a string or a list of parts")
	}
	out.ReasoningContent = m.ReasoningContent
	for i := range m.ToolCalls {
		f := &m.ToolCalls[i].Function
		arguments, ok := f.Arguments.(string)
		if !ok && f.Arguments != nil {
			text, err := json.Marshal(f.Arguments)
			if err != nil { // cannot be: it has been unmarshalled
				return fmt.Errorf("tool_calls.%d.function.arguments: %w", i, err)
			}
			arguments = string(text)
		}
		out.ToolCalls = append(out.ToolCalls, openai.ToolCall{Function: openai.FunctionCall{Name: f.Name, Arguments: arguments}})
	}
	return nil
}
