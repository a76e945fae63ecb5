package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/wedge/repro/serving/api"
)

// TestErrors shows the answer to every bad request, and that the server goes on after each.
func TestErrors(t *testing.T) {
	p := setup{api: api.Config{BodyBytesMax: 4096}}.start(t)
	var out strings.Builder
	chat := func(body string) [3]string { return [3]string{"POST", chatPath, body} }
	messages := func(list string) [3]string { return chat(`{"messages":` + list + `}`) }
	for _, test := range [][3]string{
		chat(``),
		chat(`{"messages":[`),
		chat(`{"messages":[]} {}`),
		chat(`[]`),
		chat(`null`),
		chat(`{}`),
		chat("{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}"),
		chat(`{"model":"other","messages":[{"role":"user","content":"a"}]}`),
		chat(`{"model":7,"messages":[{"role":"user","content":"a"}]}`),
		messages(`"a"`),
		messages(`[{"content":"a"}]`),
		messages(`[{"role":"` + strings.Repeat("king", 30) + `"}]`),
		messages(`[{"role":"user","content":7}]`),
		messages(`[{"role":"user","content":["a"]}]`),
		messages(`[{"role":"user","content":[{"type":"text"}]}]`),
		messages(`[{"role":["user"]}]`),
		chat(`{"max_tokens":-1,"messages":[{"role":"user","content":"a"}]}`),
		chat(`{"max_completion_tokens":-5,"messages":[{"role":"user","content":"a"}]}`),
		chat(`{"max_tokens":1e400,"messages":[{"role":"user","content":"a"}]}`),
		chat(`{"max_tokens":"many","messages":[{"role":"user","content":"a"}]}`),
		chat(`{"max_tokens":1000000000,"messages":[{"role":"user","content":"a"}]}`),
		chat(`{"max_tokens":262144,"messages":[{"role":"user","content":"a"}]}`),
		chat(`{"temperature":-1,"messages":[{"role":"user","content":"a"}]}`),
		chat(`{"temperature":"hot","messages":[{"role":"user","content":"a"}]}`),
		chat(`{"top_p":0,"messages":[{"role":"user","content":"a"}]}`),
		chat(`{"min_p":2,"messages":[{"role":"user","content":"a"}]}`),
		chat(`{"top_k":0,"messages":[{"role":"user","content":"a"}]}`),
		chat(`{"frequency_penalty":3,"messages":[{"role":"user","content":"a"}]}`),
		chat(`{"presence_penalty":-3,"messages":[{"role":"user","content":"a"}]}`),
		chat(`{"repetition_penalty":0,"messages":[{"role":"user","content":"a"}]}`),
		chat(`{"stream":"yes","messages":[{"role":"user","content":"a"}]}`),
		chat(`{"n":2,"messages":[{"role":"user","content":"a"}]}`),
		chat(`{"tool_choice":"required","messages":[{"role":"user","content":"a"}]}`),
		chat(`{"user":"` + strings.Repeat("u", 600) + `","messages":[{"role":"user","content":"a"}]}`),
		chat(strings.Repeat(`[`, 4000)),
		chat(strings.Repeat(` `, 5000)),
		{"GET", chatPath, ""},
		{"DELETE", "/v1/models", ""},
		{"BREW", "/metrics", ""},
		{"POST", "/v1/completions", "{}"},
		{"GET", "/v1/models/other", ""},
		{"GET", "/v1/chat/completions/", ""},
		{"GET", "/../etc/passwd", ""},
		{"POST", "/abort_request", "{"},
		{"POST", "/abort_request", `{"rid":7}`},
		{"GET", "/v1/loads?include=core,secrets", ""},
	} {
		method, path, body := test[0], test[1], test[2]
		status, answer := p.body(p.exchange(method, path, body))
		if len(body) > 120 {
			body = fmt.Sprintf("%s… (%d bytes)", body[:40], len(body))
		}
		fmt.Fprintf(&out, "%s %s %q\n\t%d %s\n", method, path, body, status, answer)
		if status, _ := p.body(p.exchange("GET", "/health", "")); status != 200 {
			t.Fatalf("seed %d: status %d of /health after %v", seed, status, test)
		}
	}
	golden(t, "errors.golden", out.String())
}

// TestGoodOddities: what clients send besides, and real servers take.
func TestGoodOddities(t *testing.T) {
	p := setup{}.start(t)
	for _, body := range []string{
		`{"messages":[{"role":"user","content":"a"}]}`,
		`{"model":null,"user":null,"stream":null,"stream_options":null,"max_tokens":null,"n":null,"tools":null,"messages":[{"role":"user","content":null}]}`,
		`{"model":"","max_tokens":0,"n":1,"stop":"a","temperature":0.5,"top_p":1,"top_k":-1,"logprobs":true,"top_logprobs":5,"seed":-1,"unknown":{"a":[1]},"response_format":{"type":"json_object"},"messages":[{"role":"developer","content":[]}]}`,
		`{"tool_choice":{"type":"function"},"tools":[{"type":"web_search"}],"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]}`,
		`{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"a","arguments":{"b":[1]}}},{"function":{"name":"a","arguments":null}}]},{"role":"tool","content":"c"}]}`,
	} {
		if status, answer := p.body(p.exchange("POST", chatPath, body)); status != 200 {
			t.Errorf("seed %d: %s: status %d, %s", seed, body, status, answer)
		}
	}
}

// TestNoToolChoice: a client that offers tools and forbids them gets a plain answer.
func TestNoToolChoice(t *testing.T) {
	p := setup{}.start(t)
	body := strings.Replace(fmt.Sprintf(writeOne, false), `"tools"`, `"tool_choice":"none","tools"`, 1)
	if status, answer := p.body(p.exchange("POST", chatPath, body)); status != 200 || !strings.Contains(answer, `"tool_calls":null`) {
		t.Errorf("seed %d: status %d, %s", seed, status, answer)
	}
}

// TestSlowClients: who does not send what it has begun to send is not waited for.
func TestSlowClients(t *testing.T) {
	for _, test := range []struct {
		cfg    api.Config
		sent   string
		status int
	}{
		{api.Config{BodyTimeout: time.Millisecond}, "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{", 408},
		{api.Config{HeaderTimeout: time.Millisecond}, "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n", 0},
	} {
		t.Run(fmt.Sprint(test.status), func(t *testing.T) {
			p := setup{api: test.cfg}.start(t)
			conn := p.dial()
			if _, err := conn.Write([]byte(test.sent)); err != nil {
				t.Fatal(err)
			}
			if got := p.statusOf(conn); got != test.status {
				t.Errorf("seed %d: status %d after %q, want %d (0: the connection is closed)", seed, got, test.sent, test.status)
			}
		})
	}
}

func TestCutBody(t *testing.T) {
	p := setup{}.start(t)
	conn := p.dial()
	if _, err := conn.Write([]byte("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{")); err != nil {
		t.Fatal(err)
	}
	if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got := p.statusOf(conn); got != http.StatusBadRequest {
		t.Errorf("seed %d: status %d, want 400", seed, got)
	}
}

func TestTooLongWithoutLength(t *testing.T) {
	p := setup{api: api.Config{BodyBytesMax: 10}}.start(t)
	conn := p.dial()
	if _, err := conn.Write([]byte("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n01234567890123456789\r\n")); err != nil {
		t.Fatal(err)
	}
	if got := p.statusOf(conn); got != http.StatusRequestEntityTooLarge {
		t.Errorf("seed %d: status %d, want 413", seed, got)
	}
}

func TestEndpoints(t *testing.T) {
	p := setup{}.start(t)
	var out strings.Builder
	for _, path := range []string{"/v1/models", "/v1/models/simulated", "/health", "/health_generate"} {
		for _, method := range []string{"GET", "HEAD"} {
			status, body := p.body(strings.Replace(p.exchange(method, path, ""), "Content-Length: ", "Length: ", 1))
			fmt.Fprintf(&out, "%s %s\n\t%d %s\n", method, path, status, body)
		}
	}
	golden(t, "endpoints.golden", out.String())
}
