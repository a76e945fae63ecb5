//go:build integration

package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
)

// goOpenAI is sashabaranov/go-openai.
func goOpenAI(t *testing.T) client {
	return client{name: "go-openai " + moduleVersion(t, "github.com/sashabaranov/go-openai"), run: runGoOpenAI}
}

func runGoOpenAI(t *testing.T, baseURL, name string, patience time.Duration) []turn {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	transport := newCounting(t)
	cfg := openai.DefaultConfig("none")
	cfg.BaseURL, cfg.HTTPClient = baseURL, &http.Client{Transport: transport}
	c := &goOpenAIPlay{ctx: ctx, client: openai.NewClientWithConfig(cfg), transport: transport}
	switch name {
	case callStream:
		c.stream(sayGoOpenAI(saying))
	case callTool:
		c.stream(stepGoOpenAI())
	case callLoop:
		c.loop(stepGoOpenAI())
	case callWhole:
		c.whole(sayGoOpenAI(saying))
	case callOtherModel:
		req := sayGoOpenAI(saying)
		req.Model = "other"
		c.whole(req)
	case callNegative:
		req := sayGoOpenAI(saying)
		//lint:ignore SA1019 all clients send the same
		req.MaxTokens = -1
		c.whole(req)
	case callModels:
		c.models()
	default:
		t.Fatalf("no call %q", name)
	}
	return c.turns
}

func sayGoOpenAI(text string) openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{Model: modelID, Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: text}}}
}

func stepGoOpenAI() openai.ChatCompletionRequest {
	req := sayGoOpenAI(stepwise)
	req.Tools = []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
		Name: toolName, Description: toolText, Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}}}
	return req
}

// goOpenAIPlay is a client at work.
type goOpenAIPlay struct {
	ctx       context.Context
	client    *openai.Client
	transport *counting
	turns     []turn
}

// done adds a turn that has ended with err.
func (c *goOpenAIPlay) done(out *turn, err error) {
	out.Requests = c.transport.taken()
	out.end(c.ctx, err, describeGoOpenAI)
	c.turns = append(c.turns, *out)
}

func (c *goOpenAIPlay) stream(req openai.ChatCompletionRequest) {
	req.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	var out turn
	st, err := c.client.CreateChatCompletionStream(c.ctx, req)
	if err == nil {
		defer st.Close()
		for {
			var chunk openai.ChatCompletionStreamResponse
			if chunk, err = st.Recv(); err != nil {
				break
			}
			addGoOpenAI(&out, &chunk)
		}
		if err == io.EOF {
			err = nil
		}
	}
	c.done(&out, err)
}

func addGoOpenAI(out *turn, chunk *openai.ChatCompletionStreamResponse) {
	for _, choice := range chunk.Choices {
		d := &choice.Delta
		if d.Role != "" {
			out.saw(kindRole)
		}
		if d.ReasoningContent != "" {
			out.saw(kindReasoning)
			out.Reasoning += d.ReasoningContent
		}
		if d.Content != "" {
			out.saw(kindText)
			out.Content += d.Content
		}
		for _, p := range d.ToolCalls {
			index := 0
			if p.Index != nil {
				index = *p.Index
			}
			out.addCall(index, call{p.ID, p.Function.Name, p.Function.Arguments})
		}
		if choice.FinishReason != "" {
			out.saw(kindFinish)
			out.Finish = string(choice.FinishReason)
		}
	}
	if chunk.Usage != nil {
		out.saw(kindUsage)
		out.Usage = usageGoOpenAI(chunk.Usage)
	}
}

func usageGoOpenAI(u *openai.Usage) *usage {
	out := &usage{Prompt: u.PromptTokens, Completion: u.CompletionTokens, Total: u.TotalTokens}
	if d := u.CompletionTokensDetails; d != nil {
		out.Reasoning = d.ReasoningTokens
	}
	return out
}

func (c *goOpenAIPlay) loop(req openai.ChatCompletionRequest) {
	for {
		c.stream(req)
		last := &c.turns[len(c.turns)-1]
		if last.Finish != "tool_calls" || last.Error != nil {
			return
		}
		answer := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: last.Content}
		for _, x := range last.Calls {
			answer.ToolCalls = append(answer.ToolCalls, openai.ToolCall{ID: x.ID, Type: openai.ToolTypeFunction,
				Function: openai.FunctionCall{Name: x.Name, Arguments: x.Arguments}})
		}
		req.Messages = append(req.Messages, answer)
		for _, x := range last.Calls {
			req.Messages = append(req.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, ToolCallID: x.ID, Content: toolResult})
		}
	}
}

func (c *goOpenAIPlay) whole(req openai.ChatCompletionRequest) {
	var out turn
	answer, err := c.client.CreateChatCompletion(c.ctx, req)
	if err == nil {
		m := &answer.Choices[0].Message
		out.Reasoning, out.Content, out.Finish = m.ReasoningContent, m.Content, string(answer.Choices[0].FinishReason)
		for _, x := range m.ToolCalls {
			out.Calls = append(out.Calls, call{x.ID, x.Function.Name, x.Function.Arguments})
		}
		out.Usage = usageGoOpenAI(&answer.Usage)
	}
	c.done(&out, err)
}

func (c *goOpenAIPlay) models() {
	var out turn
	list, err := c.client.ListModels(c.ctx)
	for _, m := range list.Models {
		out.Content += m.ID
	}
	c.done(&out, err)
}

func describeGoOpenAI(err error) *problem {
	out := &problem{Class: fmt.Sprintf("%T", err), Message: err.Error()}
	var api *openai.APIError
	var request *openai.RequestError
	switch {
	case errors.As(err, &api):
		out.Class, out.Status, out.Type, out.Message = fmt.Sprintf("%T", api), api.HTTPStatusCode, api.Type, api.Message
		if api.Code != nil {
			out.Code = fmt.Sprint(api.Code)
		}
		if api.Param != nil {
			out.Param = *api.Param
		}
	case errors.As(err, &request):
		out.Class, out.Status = fmt.Sprintf("%T", request), request.HTTPStatusCode
	}
	return out
}
