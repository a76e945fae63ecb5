package serving_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/repro/serving"
)

func user(text string) openai.ChatCompletionMessage {
	return openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: text}
}

func offer(names ...string) (tools []openai.Tool) {
	for _, n := range names {
		tools = append(tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: n}})
	}
	return tools
}

// TestReadPrompt checks what is read from a conversation.
func TestReadPrompt(t *testing.T) {
	system := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: "1234567"}
	called := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, ToolCalls: []openai.ToolCall{{Function: openai.FunctionCall{Name: "write", Arguments: `{}`}}}}
	result := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, Content: "done"}
	steps := user("Go on.\nSteps: read_message, write, save.\nThank you.")
	all := offer("read_message", "write", "append", "save")
	for _, row := range []struct {
		name     string
		messages []openai.ChatCompletionMessage
		tools    []openai.Tool
		want     serving.Prompt
	}{
		{"nothing", nil, nil, serving.Prompt{Tokens: 1}},
		{"system only", []openai.ChatCompletionMessage{system}, all, serving.Prompt{Tokens: 2}},
		{"no steps", []openai.ChatCompletionMessage{user("1234")}, all, serving.Prompt{Tokens: 1, Round: 1}},
		{"first step", []openai.ChatCompletionMessage{user("Steps: a.")}, offer("a"), serving.Prompt{Tokens: 3, Round: 1, Tool: "a"}},
		{"third step", []openai.ChatCompletionMessage{steps, called, result, called, result}, all, serving.Prompt{Tokens: 19, Prefix: 17, Calls: 2, Round: 1, Tool: "save"}},
		{"after the last step", []openai.ChatCompletionMessage{steps, called, result, called, result, called, result}, all, serving.Prompt{Tokens: 21, Prefix: 20, Calls: 3, Round: 1}},
		{"second round", []openai.ChatCompletionMessage{steps, called, result, steps}, all, serving.Prompt{Tokens: 29, Prefix: 14, Calls: 1, Round: 2, Tool: "read_message"}},
		{"not offered", []openai.ChatCompletionMessage{steps}, offer("write"), serving.Prompt{Tokens: 13, Round: 1}},
		{"no tools", []openai.ChatCompletionMessage{steps}, nil, serving.Prompt{Tokens: 13, Round: 1}},
		{"mark within a line", []openai.ChatCompletionMessage{user("My Steps: a.\nSteps: b")}, offer("a", "b"), serving.Prompt{Tokens: 6, Round: 1, Tool: "b"}},
		{"empty step", []openai.ChatCompletionMessage{user("Steps: , b")}, offer("", "b"), serving.Prompt{Tokens: 3, Round: 1}},
		{"in parts", []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, MultiContent: []openai.ChatMessagePart{{Text: "Go on."}, {Text: "Steps: a, b."}}}}, offer("a"), serving.Prompt{Tokens: 5, Round: 1, Tool: "a"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := serving.ReadPrompt(&openai.ChatCompletionRequest{Messages: row.messages, Tools: row.tools})
			if got != row.want {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
}

// TestNewRequest checks which limit counts.
func TestNewRequest(t *testing.T) {
	for body, want := range map[string]serving.Request{
		`{}`:                          {ID: "id"},
		`{"max_tokens":5}`:            {ID: "id", OutputTokensMax: 5},
		`{"max_completion_tokens":6}`: {ID: "id", OutputTokensMax: 6},
		`{"max_tokens":5,"max_completion_tokens":6}`: {ID: "id", OutputTokensMax: 6},
		`{"max_tokens":-5,"user":"u","stream":true}`: {ID: "id", User: "u", Stream: true},
	} {
		var c openai.ChatCompletionRequest
		if err := json.Unmarshal([]byte(body), &c); err != nil {
			t.Fatal(err)
		}
		want.Prompt.Tokens = 1
		if got := serving.NewRequest("id", &c); !reflect.DeepEqual(got, want) {
			t.Errorf("%s gives %+v, want %+v", body, got, want)
		}
	}
}

// FuzzReadPrompt gives any text as the last user message: the tool must be one that is offered and
// stands in the text.
func FuzzReadPrompt(f *testing.F) {
	f.Add("Steps: read_message, write.", 1)
	f.Add("Steps:", 0)
	f.Add("a\nSteps:,,,`x`\r\nSteps: y", 3)
	f.Add("Steps: Steps: Steps:", 0)
	names := []string{"read_message", "write", "x", "y", ""}
	f.Fuzz(func(t *testing.T, text string, results int) {
		messages := []openai.ChatCompletionMessage{user(text)}
		for range min(max(results, 0), 100) {
			messages = append(messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool})
		}
		p := serving.ReadPrompt(&openai.ChatCompletionRequest{Messages: messages, Tools: offer(names...)})
		if p.Tokens < 1 || p.Round != 1 || p.Calls != 0 {
			t.Errorf("got %+v", p)
		}
		if p.Tool != "" && (!slices.Contains(names, p.Tool) || !strings.Contains(text, p.Tool) || !strings.Contains(text, "Steps:")) {
			t.Errorf("tool %q out of %q", p.Tool, text)
		}
	})
}
