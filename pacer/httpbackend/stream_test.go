package httpbackend_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/httpbackend"
)

const done = "data: [DONE]\n\n"

func choice(delta string) string {
	return `data: {"id":"r","model":"m","choices":[{"index":0,"delta":` + delta + `}]}` + "\n\n"
}

func TestAnswers(t *testing.T) {
	finish := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	usage := `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":9,"total_tokens":12}}` + "\n\n"
	for _, tc := range []struct{ name, body, want string }{
		{"as SGLang sends it", choice(`{"role":"assistant","content":"","reasoning_content":null}`) + choice(`{"reasoning_content":"so "}`) + choice(`{"reasoning_content":"then"}`) +
			choice(`{"content":"he"}`) + choice(`{"content":"llo"}`) + finish + usage + done, "hello [so then] stop 9"},
		{"reasoning under its other name", choice(`{"reasoning":"so "}`) + choice(`{"reasoning":"then"}`) + choice(`{"content":"hello"}`) + done, "hello [so then]  0"},
		{"line breaks, comments, pings and fields of other kinds", ": hi\r\n\r\nevent: message\r\nid: 7\r\n" + strings.ReplaceAll(choice(`{"content":"he"}`), "\n", "\r\n") +
			strings.Repeat(": keepalive\n\n", 400) + "event: ping\ndata:\n\n" + "data:{\"choices\":[{\"delta\":{\"content\":\"llo\"}}]}\n\n" + finish + done, "hello [] stop 0"},
		{"no [DONE] after a finished answer", choice(`{"content":"hello"}`) + finish, "hello [] stop 0"},
		{"no line break at the end", choice(`{"content":"hello"}`) + finish + "data: [DONE]", "hello [] stop 0"},
		{"text that mentions an error", choice(`{"content":"{\"error\": 1} 'error'"}`) + finish + done, `{"error": 1} 'error' [] stop 0`},
		{"an error field that is null", `data: {"error":null,"choices":[{"delta":{"content":"hello"}}]}` + "\n\n" + finish + done, "hello [] stop 0"},
		{"a long line", choice(`{"content":"`+strings.Repeat("x", 100_000)+`"}`) + finish + done, strings.Repeat("x", 100_000) + " [] stop 0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := serve(t, events(tc.body)).Chat(t.Context(), identity("agent", 1), request())
			if err != nil {
				t.Fatal(err)
			}
			c := r.Choices[0]
			if got := fmt.Sprintf("%s [%s] %s %d", c.Message.Content, c.Message.ReasoningContent, c.FinishReason, r.Usage.CompletionTokens); got != tc.want {
				t.Errorf("got %.200q, want %.200q", got, tc.want)
			}
		})
	}
}

func TestToolCalls(t *testing.T) {
	body := choice(`{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"write","arguments":""}}]}`) +
		choice(`{"tool_calls":[{"index":0,"id":null,"function":{"name":null,"arguments":"{\"text\":"}}]}`) +
		choice(`{"tool_calls":[{"index":0,"id":null,"function":{"name":null,"arguments":"\"hi\"}"}}]}`) +
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n" + done
	r, err := serve(t, events(body)).Chat(t.Context(), identity("agent", 1), request())
	if err != nil {
		t.Fatal(err)
	}
	want := openai.ToolCall{ID: "c1", Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: "write", Arguments: `{"text":"hi"}`}}
	if got := r.Choices[0].Message.ToolCalls; len(got) != 1 || got[0] != want || r.Choices[0].FinishReason != openai.FinishReasonToolCalls {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A server that does not stream gives its answer in one piece.
func TestNotStreamed(t *testing.T) {
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, `{"id":"r","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"completion_tokens":2}}`)
	})
	r, err := p.Chat(t.Context(), identity("agent", 1), request())
	if err != nil || r.Choices[0].Message.Content != "hello" || r.Usage.CompletionTokens != 2 || r.Choices[0].FinishReason != "stop" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestRequest(t *testing.T) {
	var got *http.Request
	var body openai.ChatCompletionRequest
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Clone(t.Context())
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		events(choice(`{"content":"x"}`)+done)(w, r)
	})
	if _, err := p.Chat(t.Context(), identity("agent-07", 12), request()); err != nil {
		t.Fatal(err)
	}
	if got.Method != "POST" || got.URL.Path != "/v1/chat/completions" {
		t.Errorf("%s %s", got.Method, got.URL)
	}
	for name, want := range map[string]string{"X-Request-Id": "agent-07-c012-a1", "Authorization": "Bearer " + key, "Accept": "text/event-stream", "Accept-Encoding": ""} {
		if value := got.Header.Get(name); value != want {
			t.Errorf("%s: %q, want %q", name, value, want)
		}
	}
	if !body.Stream || body.StreamOptions == nil || !body.StreamOptions.IncludeUsage || body.Messages[0].Content != "hello" {
		t.Errorf("body: %+v", body)
	}
}

func TestHeaders(t *testing.T) {
	var got http.Header
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		events(choice(`{"content":"x"}`)+done)(w, r)
	})
	header := http.Header{"x-team": {"a", "b"}, "api-key": {"other"}}
	w := sim.NewWall(sim.WallOptions{})
	client, err := httpbackend.New(w, httpbackend.Config{BaseURL: server + "/v1/", Header: header})
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	delete(header, "x-team") // too late to matter
	p, err := pacer.New(w, pacer.DefaultConfig(), pacer.DefaultPolicy(), client, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Chat(t.Context(), pacer.Identity{}, request()); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got["X-Team"], got["Api-Key"], got["Authorization"], got["X-Request-Id"]) != "[a b] [other] [] [agent-c001-a1]" {
		t.Errorf("got %v", got)
	}
}

func TestCutStreams(t *testing.T) {
	for _, tc := range []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"connection lost", func(w http.ResponseWriter, r *http.Request) {
			events(choice(`{"content":"x"}`))(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "unexpected EOF"},
		{"an orderly end in the middle", events(choice(`{"content":"x"}`)), "the stream ended without [DONE] and before the answer was finished"},
		{"nothing at all", events(""), "the stream ended without [DONE]"},
		{"only [DONE]", events(done), "the stream ended without an answer"},
		{"an event cut in the middle", events(`data: {"choices":[{"ind`), "an event that is not a chunk (unexpected end of JSON input)"},
		{"not JSON", events("data: hello\n\n"), "an event that is not a chunk"},
		{"a web page", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>\n<h1>hello</h1>")
		}, "the stream ended without [DONE]"},
		{"JSON of another kind", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `["x"]`)
		}, `neither a stream nor an answer`},
		{"a line without end", func(w http.ResponseWriter, r *http.Request) {
			events("data: "+strings.Repeat("x", 17<<20))(w, r)
		}, "a line of the stream is longer than 16777216 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := serve(t, tc.handler).Chat(t.Context(), identity("agent", 1), request())
			var status *pacer.StatusError
			if err == nil || errors.As(err, &status) || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want an error of the network with %q", err, tc.want)
			}
		})
	}
}

// A request that go-openai refuses is never sent, however many attempts there are.
func TestNotSent(t *testing.T) {
	w := sim.NewWall(sim.WallOptions{})
	client, err := httpbackend.New(w, httpbackend.Config{BaseURL: "http://127.0.0.1:9/v1", APIKey: key})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pacer.New(w, pacer.DefaultConfig(), pacer.DefaultPolicy(), client, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	req := request()
	req.Model, req.Temperature = "o1", 0.5
	_, err = p.Chat(t.Context(), identity("agent", 1), req)
	var call *pacer.CallError
	if !errors.Is(err, pacer.ErrNotSent) || !errors.As(err, &call) || call.Attempts != 1 {
		t.Errorf("got %v, want one attempt that was not sent", err)
	}
}
