package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/httpbackend"
	"example.com/wedge/repro/serving"
)

// seen is what a client of the pacer's kind makes of a stream.
type seen struct {
	reasoning, content, tool, arguments, callID string
	calls                                       int // pieces that name a tool
	finish                                      openai.FinishReason
	usage                                       *openai.Usage
	err                                         error
}

// chat asks through go-openai and reads to the end.
func (p *play) chat(id string, req openai.ChatCompletionRequest) (out seen) {
	client, err := httpbackend.New(p.w, httpbackend.Config{BaseURL: p.url + "/v1"})
	if err != nil {
		p.t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	st, err := client.Open(ctx, &pacer.Attempt{ID: id, Connected: func() {}}, req)
	if err != nil {
		out.err = err
		return out
	}
	defer st.Close()
	for {
		chunk, err := st.Recv()
		if err == io.EOF {
			return out
		}
		if err != nil {
			out.err = err
			return out
		}
		out.add(&chunk)
	}
}

func (s *seen) add(chunk *openai.ChatCompletionStreamResponse) {
	if chunk.Usage != nil {
		s.usage = chunk.Usage
	}
	for _, c := range chunk.Choices {
		s.reasoning += c.Delta.ReasoningContent
		s.content += c.Delta.Content
		for _, call := range c.Delta.ToolCalls {
			s.tool += call.Function.Name
			s.arguments += call.Function.Arguments
			s.callID += call.ID
			if call.Function.Name != "" {
				s.calls++
			}
		}
		if c.FinishReason != "" {
			s.finish = c.FinishReason
		}
	}
}

// conversation is a request that asks for a step of a workflow.
func conversation(steps string, results int) openai.ChatCompletionRequest {
	req := openai.ChatCompletionRequest{
		Model:         "simulated",
		StreamOptions: &openai.StreamOptions{IncludeUsage: true},
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: "You write <articles> & \"more\"."},
			{Role: openai.ChatMessageRoleUser, Content: "Go on.\nSteps: " + steps + "."},
		},
	}
	for _, name := range []string{"read_message", "write", "append", "save"} {
		req.Tools = append(req.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: name, Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}})
	}
	for range results {
		req.Messages = append(req.Messages,
			openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, ToolCalls: []openai.ToolCall{
				{ID: "call_1", Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: "save", Arguments: "{}"}}}},
			openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, ToolCallID: "call_1", Content: `{"in_range":true}`})
	}
	return req
}

func TestClientSeesStream(t *testing.T) {
	plain := conversation("", 0)
	short := conversation("write", 0)
	short.MaxCompletionTokens = 10
	for _, test := range []struct {
		name              string
		req               openai.ChatCompletionRequest
		tool              string
		finish            openai.FinishReason
		tokens, reasoning int
	}{
		{"plain", plain, "", openai.FinishReasonStop, 40, 16},
		{"first step", conversation("read_message, write", 0), "read_message", openai.FinishReasonToolCalls, 40, 16},
		{"third step", conversation("read_message, write, append", 2), "append", openai.FinishReasonToolCalls, 40, 16},
		{"cut", short, "", openai.FinishReasonLength, 10, 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := setup{}.start(t)
			got := p.chat("agent-7", test.req)
			if got.err != nil {
				t.Fatalf("seed %d: %v", seed, got.err)
			}
			if got.tool != test.tool || got.finish != test.finish {
				t.Errorf("seed %d: tool %q, finish %q, want %q, %q", seed, got.tool, got.finish, test.tool, test.finish)
			}
			if test.tool != "" && (got.calls != 1 || !strings.HasPrefix(got.callID, "call_") || !json.Valid([]byte(got.arguments))) {
				t.Errorf("seed %d: %d calls, id %q, arguments %s", seed, got.calls, got.callID, got.arguments)
			}
			if len(got.reasoning) != test.reasoning*pacer.BytesPerToken {
				t.Errorf("seed %d: %d bytes of reasoning, want %d tokens of them", seed, len(got.reasoning), test.reasoning)
			}
			if u := got.usage; u == nil || u.CompletionTokens != test.tokens || u.PromptTokens == 0 || u.TotalTokens != u.PromptTokens+u.CompletionTokens {
				t.Errorf("seed %d: usage %+v, want %d tokens of output", seed, u, test.tokens)
			}
		})
	}
}

// TestSameAsInMemory holds the front against the client in memory: an agent must not be able to tell.
func TestSameAsInMemory(t *testing.T) {
	p := setup{}.start(t)
	for results, tool := range []string{"read_message", "write", "append", "save"} {
		req := conversation("read_message, write, append, save", results)
		over := p.chat("a", req)
		var in seen
		st, err := serving.NewClient(p.stack, serving.ClientConfig{}).Open(t.Context(), &pacer.Attempt{ID: "a"}, req)
		for err == nil {
			var chunk openai.ChatCompletionStreamResponse
			if chunk, err = st.Recv(); err == nil {
				in.add(&chunk)
			}
		}
		if err != io.EOF || over.err != nil {
			t.Fatalf("seed %d: %v, %v", seed, err, over.err)
		}
		if over.tool != tool || over.tool != in.tool || over.arguments != in.arguments || over.reasoning != in.reasoning || over.content != in.content ||
			over.finish != in.finish || over.usage.TotalTokens != in.usage.TotalTokens {
			t.Errorf("seed %d: over HTTP\n%+v\nin memory\n%+v", seed, over, in)
		}
	}
}

func TestClientSeesRefusal(t *testing.T) {
	p := setup{faults: []fault.Fault{{ID: "busy", Where: fault.Router, What: fault.Status, StatusCode: 429, RetryAfter: "7"}}}.start(t)
	var refused *pacer.StatusError
	err := p.chat("a", conversation("write", 0)).err
	if !errors.As(err, &refused) || refused.Status != 429 || !refused.HasRetryAfter || refused.RetryAfter != 7*time.Second {
		t.Errorf("seed %d: got %+v, want status 429 with Retry-After 7 s", seed, err)
	}
}

func TestClientSeesModels(t *testing.T) {
	p := setup{}.start(t)
	client, err := httpbackend.New(p.w, httpbackend.Config{BaseURL: p.url + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	ids, err := client.Models(t.Context())
	if err != nil || !slices.Equal(ids, []string{"simulated"}) {
		t.Errorf("got %q, %v", ids, err)
	}
}

// chunkOf reads an event.
func chunkOf(t *testing.T, event string) *openai.ChatCompletionStreamResponse {
	t.Helper()
	data, ok := strings.CutPrefix(event, "data: ")
	var chunk openai.ChatCompletionStreamResponse
	if err := json.Unmarshal([]byte(data), &chunk); !ok || err != nil {
		t.Fatalf("seed %d: %v in event %q", seed, err, event)
	}
	return &chunk
}
