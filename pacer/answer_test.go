package pacer

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
)

// gather puts chunks together that are given as JSON, one a line.
func gather(t *testing.T, chunks string) (openai.ChatCompletionResponse, error) {
	t.Helper()
	var a answer
	for line := range strings.Lines(chunks) {
		var chunk openai.ChatCompletionStreamResponse
		if err := json.Unmarshal([]byte(line), &chunk); err != nil {
			t.Fatal(err)
		}
		if _, err := a.add(&chunk); err != nil {
			return openai.ChatCompletionResponse{}, err
		}
	}
	return a.response(), a.check()
}

func TestAnswer(t *testing.T) {
	for _, tc := range []struct{ name, chunks, want string }{
		{
			"reasoning, content, usage",
			`{"id":"r1","model":"m","created":5,"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}
{"id":"r1","model":"m","choices":[{"index":0,"delta":{"reasoning_content":"so "}}]}
{"id":"r1","model":"m","choices":[{"index":0,"delta":{"reasoning_content":"then"}}]}
{"id":"r1","model":"m","choices":[{"index":0,"delta":{"content":"a"}}]}
{"id":"r1","model":"m","choices":[{"index":0,"delta":{"content":"b"}}]}
{"id":"r1","model":"m","choices":[{"index":0,"delta":{"content":"c"}}]}
{"id":"r1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
{"id":"r1","model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`,
			`{"id":"r1","created":5,"model":"m","finish":"stop","content":"abc","reasoning":"so then","prompt":3,"completion":4}`,
		},
		{
			"tool calls, interleaved by index",
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"write","arguments":""}}]}}]}
{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"save","arguments":"{\"x\""}}]}}]}
{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"t\":"}},{"index":1,"function":{"arguments":":1}"}}]}}]}
{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"2}"}}]},"finish_reason":"tool_calls"}]}`,
			`{"finish":"tool_calls","tools":["a function write {\"t\":2}","b function save {\"x\":1}"]}`,
		},
		{
			"tool calls without an index",
			`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"write","arguments":"1"}}]}}]}
{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"2"}}]}}]}
{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"save","arguments":"3"}}]},"finish_reason":"tool_calls"}]}`,
			`{"finish":"tool_calls","tools":["a function write 12","b function save 3"]}`,
		},
		{
			"tool calls that all have index 0, and names that are repeated",
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"write","arguments":"1"}}]}}]}
{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"write","arguments":"2"}}]}}]}
{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"save","arguments":"3"}}]},"finish_reason":"tool_calls"}]}`,
			`{"finish":"tool_calls","tools":["a function write 12","b function save 3"]}`,
		},
		{
			"refusal and the deprecated function call",
			`{"choices":[{"delta":{"refusal":"no"}}]}
{"choices":[{"delta":{"function_call":{"name":"f","arguments":"1"}}}]}
{"choices":[{"delta":{"function_call":{"arguments":"2"}},"finish_reason":"function_call"}]}`,
			`{"finish":"function_call","refusal":"no","function":"f 12"}`,
		},
		{
			"an empty answer that says it is finished",
			`{"choices":[{"delta":{"role":"assistant"}}]}
{"choices":[{"delta":{},"finish_reason":"stop"}]}`,
			`{"finish":"stop"}`,
		},
	} {
		r, err := gather(t, tc.chunks)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if got := brief(t, r); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

// brief writes down a response with one choice, without what is empty.
func brief(t *testing.T, r openai.ChatCompletionResponse) string {
	t.Helper()
	if len(r.Choices) != 1 || r.Object != "chat.completion" || r.Choices[0].Message.Role != "assistant" {
		t.Errorf("got %+v, want one choice of the assistant", r)
	}
	m := r.Choices[0].Message
	out := struct {
		ID         string   `json:"id,omitempty"`
		Created    int64    `json:"created,omitempty"`
		Model      string   `json:"model,omitempty"`
		Finish     string   `json:"finish,omitempty"`
		Content    string   `json:"content,omitempty"`
		Reasoning  string   `json:"reasoning,omitempty"`
		Refusal    string   `json:"refusal,omitempty"`
		Tools      []string `json:"tools,omitempty"`
		Function   string   `json:"function,omitempty"`
		Prompt     int      `json:"prompt,omitempty"`
		Completion int      `json:"completion,omitempty"`
	}{
		ID: r.ID, Created: r.Created, Model: r.Model, Finish: string(r.Choices[0].FinishReason), Content: m.Content,
		Reasoning: m.ReasoningContent, Refusal: m.Refusal, Prompt: r.Usage.PromptTokens, Completion: r.Usage.CompletionTokens,
	}
	for _, c := range m.ToolCalls {
		out.Tools = append(out.Tools, c.ID+" "+string(c.Type)+" "+c.Function.Name+" "+c.Function.Arguments)
	}
	if m.FunctionCall != nil {
		out.Function = m.FunctionCall.Name + " " + m.FunctionCall.Arguments
	}
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAnswerOfSeveralChoices(t *testing.T) {
	r, err := gather(t, `{"choices":[{"index":2,"delta":{"content":"c"}}]}
{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}
{"choices":[{"index":2,"delta":{"content":"c"}},{"index":0,"delta":{"content":"a"}}]}
{"choices":[{"index":2,"delta":{"content":"c"}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range r.Choices {
		got = append(got, c.Message.Content)
	}
	if want := []string{"aa", "b", "ccc"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNoAnswer(t *testing.T) {
	for _, chunks := range []string{"", `{"choices":[]}`, `{"choices":[{"delta":{"role":"assistant","content":""}}]}`, `{"usage":{"completion_tokens":0}}`, `{"choices":[{"delta":{},"finish_reason":null}]}`} {
		if _, err := gather(t, chunks); err != errNoAnswer {
			t.Errorf("%q: %v, want %v", chunks, err, errNoAnswer)
		}
	}
}

func TestAnswerBounds(t *testing.T) {
	var choices, calls answer
	var choicesErr, callsErr error
	for i := range 2000 {
		chunk := openai.ChatCompletionStreamResponse{Choices: []openai.ChatCompletionStreamChoice{{Index: i}}}
		if _, err := choices.add(&chunk); err != nil {
			choicesErr = err
		}
		chunk.Choices[0] = openai.ChatCompletionStreamChoice{Delta: openai.ChatCompletionStreamChoiceDelta{ToolCalls: []openai.ToolCall{{Index: &i}}}}
		if _, err := calls.add(&chunk); err != nil {
			callsErr = err
		}
	}
	if choicesErr == nil || callsErr == nil {
		t.Errorf("2000 choices: %v; 2000 tool calls: %v; want errors", choicesErr, callsErr)
	}
	var long answer
	chunk := openai.ChatCompletionStreamResponse{Choices: []openai.ChatCompletionStreamChoice{{Delta: openai.ChatCompletionStreamChoiceDelta{Content: strings.Repeat("x", 1<<20)}}}}
	var err error
	for n := 0; err == nil && n < 100; n++ {
		_, err = long.add(&chunk)
	}
	if err == nil {
		t.Error("100 MiB of text: no error")
	}
}

// FuzzAnswer cuts a message into pieces at will: however it was cut, the same message comes out.
func FuzzAnswer(f *testing.F) {
	f.Add("hello", "think", `{"a":1}`, uint64(0))
	f.Add("", "", "", uint64(7))
	f.Add("äöü€𝄞", "x", `{"text":"long enough to be cut more than once"}`, uint64(0xdeadbeefcafe))
	f.Fuzz(func(t *testing.T, content, reasoning, arguments string, cuts uint64) {
		var a answer
		next := func(rest *string) string {
			n := min(len(*rest), int(cuts%7))
			cuts = cuts*6364136223846793005 + 1442695040888963407
			piece := (*rest)[:n]
			*rest = (*rest)[n:]
			return piece
		}
		c, r, g := content, reasoning, arguments
		for first := true; first || c != "" || r != "" || g != ""; first = false {
			delta := openai.ChatCompletionStreamChoiceDelta{ReasoningContent: next(&r), Content: next(&c)}
			if piece := next(&g); piece != "" {
				delta.ToolCalls = []openai.ToolCall{{Index: new(0), ID: "id", Function: openai.FunctionCall{Name: "save", Arguments: piece}}}
			}
			if _, err := a.add(&openai.ChatCompletionStreamResponse{Choices: []openai.ChatCompletionStreamChoice{{Delta: delta}}}); err != nil {
				t.Fatal(err)
			}
		}
		m := a.response().Choices[0].Message
		if m.Content != content || m.ReasoningContent != reasoning {
			t.Errorf("content %q, reasoning %q, want %q, %q", m.Content, m.ReasoningContent, content, reasoning)
		}
		if arguments != "" && (len(m.ToolCalls) != 1 || m.ToolCalls[0].Function != openai.FunctionCall{Name: "save", Arguments: arguments}) {
			t.Errorf("tool calls %+v, want the arguments %q", m.ToolCalls, arguments)
		}
		if err := a.check(); (err == nil) != (content+reasoning+arguments != "") {
			t.Errorf("check: %v", err)
		}
	})
}

// FuzzChunks feeds chunks as a mad server would send them: nothing may panic, and output is text.
func FuzzChunks(f *testing.F) {
	f.Add(`{"choices":[{"index":0,"delta":{"content":"x"}}]}`)
	f.Add(`{"choices":[{"index":-5,"delta":{"tool_calls":[{"index":-1,"id":"a"},{"index":9223372036854775807},{}]},"finish_reason":"x"}],"usage":{"completion_tokens":-1}}`)
	f.Fuzz(func(t *testing.T, chunks string) {
		var a answer
		for line := range strings.Lines(chunks) {
			var chunk openai.ChatCompletionStreamResponse
			if json.Unmarshal([]byte(line), &chunk) != nil {
				continue
			}
			size := a.size
			output, err := a.add(&chunk)
			if err == nil && output != (a.size > size) {
				t.Errorf("output %v, size %d to %d", output, size, a.size)
			}
		}
		r := a.response()
		for i := range r.Choices {
			if i > 0 && r.Choices[i].Index <= r.Choices[i-1].Index {
				t.Errorf("choices out of order: %+v", r.Choices)
			}
		}
		_ = a.check()
	})
}
