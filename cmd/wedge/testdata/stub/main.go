// Command stub is a small OpenAI-compatible server that shares no code with wedge: tests run it as
// another process, to see the fleet work against somebody else's server. It answers every request
// with the tool call that the last "Steps:" line asks for, and wants the key it finds in STUB_KEY.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
)

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type request struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	Stream   bool      `json:"stream"`
	Tools    []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Addr())
	var served atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		if key := os.Getenv("STUB_KEY"); r.Header.Get("Authorization") != "Bearer "+key {
			// Echoing the header is what a careless server does: the client must not pass it on.
			http.Error(w, `{"error":{"message":"bad key `+r.Header.Get("Authorization")+`","type":"invalid_request_error"}}`, http.StatusUnauthorized)
			return
		}
		var req request
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || !req.Stream || len(req.Tools) == 0 {
			http.Error(w, `{"error":{"message":"want a streamed request with tools"}}`, http.StatusBadRequest)
			return
		}
		answer(w, req, served.Add(1))
	})
	log.Fatal(http.Serve(l, mux))
}

// step returns the tool to call: the k-th of the last Steps line, after k tool results.
func step(messages []message) string {
	var steps []string
	done := 0
	for _, m := range messages {
		if m.Role == "tool" {
			done++
		}
		if _, list, ok := strings.Cut(m.Content, "Steps:"); ok && m.Role == "user" {
			list, _, _ = strings.Cut(list, "\n")
			steps = strings.Split(strings.TrimRight(strings.TrimSpace(list), "."), ", ")
			done = 0
		}
	}
	return steps[done%len(steps)]
}

func answer(w http.ResponseWriter, req request, n int64) {
	// Quoting the key in what the agent will write to a file is careless too.
	args := `{"path":"article.md","text":"a line from the stub ` + os.Getenv("STUB_KEY") + `\n","message":0}`
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta, finish string) {
		fmt.Fprintf(w, `data: {"id":"stub-%d","object":"chat.completion.chunk","model":%q,"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", n, req.Model, delta, finish)
		w.(http.Flusher).Flush()
	}
	send(`{"role":"assistant","content":null}`, "null")
	first, second := args[:20], args[20:]
	call, _ := json.Marshal(map[string]any{"tool_calls": []any{map[string]any{
		"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function",
		"function": map[string]string{"name": step(req.Messages), "arguments": first}}}})
	send(string(call), "null")
	rest, _ := json.Marshal(map[string]any{"tool_calls": []any{map[string]any{"index": 0, "function": map[string]string{"arguments": second}}}})
	send(string(rest), "null")
	send(`{}`, `"tool_calls"`)
	fmt.Fprint(w, `data: {"id":"stub","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}`+"\n\ndata: [DONE]\n\n")
}
