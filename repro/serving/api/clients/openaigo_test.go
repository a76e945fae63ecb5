//go:build integration

package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"
)

// official is the official client for Go.
func official(t *testing.T) client {
	return client{name: "openai-go " + moduleVersion(t, "github.com/openai/openai-go/v3"), run: runOfficial}
}

func runOfficial(t *testing.T, baseURL, name string, patience time.Duration) []turn {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	transport := newCounting(t)
	c := &officialPlay{ctx: ctx, transport: transport, client: openai.NewClient(
		option.WithBaseURL(baseURL), option.WithAPIKey("none"), option.WithHTTPClient(&http.Client{Transport: transport}))}
	switch name {
	case callStream:
		c.stream(sayOfficial(saying))
	case callTool:
		c.stream(stepOfficial())
	case callLoop:
		c.loop(stepOfficial())
	case callWhole:
		c.whole(sayOfficial(saying))
	case callOtherModel:
		req := sayOfficial(saying)
		req.Model = "other"
		c.whole(req)
	case callNegative:
		req := sayOfficial(saying)
		req.MaxTokens = openai.Int(-1)
		c.whole(req)
	case callModels:
		c.models()
	default:
		t.Fatalf("no call %q", name)
	}
	return c.turns
}

func sayOfficial(text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: modelID, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)}}
}

func stepOfficial() openai.ChatCompletionNewParams {
	req := sayOfficial(stepwise)
	req.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: toolName, Description: openai.String(toolText),
		Parameters: shared.FunctionParameters{"type": "object", "properties": map[string]any{}},
	})}
	return req
}

// officialPlay is a client at work.
type officialPlay struct {
	ctx       context.Context
	client    openai.Client
	transport *counting
	turns     []turn
}

// done adds a turn that has ended with err.
func (c *officialPlay) done(out *turn, err error) {
	out.Requests = c.transport.taken()
	out.end(c.ctx, err, describeOfficial)
	c.turns = append(c.turns, *out)
}

// stream returns the message as the client's accumulator puts it together.
func (c *officialPlay) stream(req openai.ChatCompletionNewParams) openai.ChatCompletionMessage {
	req.StreamOptions.IncludeUsage = openai.Bool(true)
	var out turn
	var all openai.ChatCompletionAccumulator
	st := c.client.Chat.Completions.NewStreaming(c.ctx, req)
	defer st.Close()
	for st.Next() {
		chunk := st.Current()
		addOfficial(&out, &chunk)
		if !all.AddChunk(chunk) {
			out.saw("refused by the accumulator")
		}
	}
	c.done(&out, st.Err())
	if len(all.Choices) == 0 {
		return openai.ChatCompletionMessage{}
	}
	return all.Choices[0].Message
}

func addOfficial(out *turn, chunk *openai.ChatCompletionChunk) {
	for i := range chunk.Choices {
		d := &chunk.Choices[i].Delta
		if d.Role != "" {
			out.saw(kindRole)
		}
		if text := extraText(d.JSON.ExtraFields["reasoning_content"].Raw()); text != "" {
			out.saw(kindReasoning)
			out.Reasoning += text
		}
		if d.Content != "" {
			out.saw(kindText)
			out.Content += d.Content
		}
		for _, p := range d.ToolCalls {
			out.addCall(int(p.Index), call{p.ID, p.Function.Name, p.Function.Arguments})
		}
		if reason := chunk.Choices[i].FinishReason; reason != "" {
			out.saw(kindFinish)
			out.Finish = reason
		}
	}
	if chunk.JSON.Usage.Valid() {
		out.saw(kindUsage)
		out.Usage = usageOfficial(&chunk.Usage)
	}
}

// extraText returns a string that the client's types do not know and leave as JSON.
func extraText(raw string) string {
	var text string
	if json.Unmarshal([]byte(raw), &text) != nil {
		return "" // absent
	}
	return text
}

func usageOfficial(u *openai.CompletionUsage) *usage {
	return &usage{Prompt: int(u.PromptTokens), Completion: int(u.CompletionTokens), Total: int(u.TotalTokens),
		Reasoning: int(u.CompletionTokensDetails.ReasoningTokens)}
}

func (c *officialPlay) loop(req openai.ChatCompletionNewParams) {
	for {
		answer := c.stream(req)
		if last := &c.turns[len(c.turns)-1]; last.Finish != "tool_calls" || last.Error != nil {
			return
		}
		req.Messages = append(req.Messages, answer.ToParam())
		for _, x := range answer.ToolCalls {
			req.Messages = append(req.Messages, openai.ToolMessage(toolResult, x.ID))
		}
	}
}

func (c *officialPlay) whole(req openai.ChatCompletionNewParams) {
	var out turn
	answer, err := c.client.Chat.Completions.New(c.ctx, req)
	if err == nil {
		m := &answer.Choices[0].Message
		out.Reasoning, out.Content, out.Finish = extraText(m.JSON.ExtraFields["reasoning_content"].Raw()), m.Content, answer.Choices[0].FinishReason
		for _, x := range m.ToolCalls {
			out.Calls = append(out.Calls, call{x.ID, x.Function.Name, x.Function.Arguments})
		}
		if answer.JSON.Usage.Valid() {
			out.Usage = usageOfficial(&answer.Usage)
		}
	}
	c.done(&out, err)
}

func (c *officialPlay) models() {
	var out turn
	pages := c.client.Models.ListAutoPaging(c.ctx)
	for pages.Next() {
		out.Content += pages.Current().ID
	}
	c.done(&out, pages.Err())
}

func describeOfficial(err error) *problem {
	out := &problem{Class: fmt.Sprintf("%T", err), Message: err.Error()}
	var api *openai.Error
	var event *ssestream.StreamError
	switch {
	case errors.As(err, &api):
		out.Class, out.Status, out.Code, out.Type, out.Param = "*openai.Error", api.StatusCode, api.Code, api.Type, api.Param
		out.Message += ", message " + fmt.Sprintf("%q", api.Message)
	case errors.As(err, &event):
		out.Class = fmt.Sprintf("%T", event)
	}
	return out
}
