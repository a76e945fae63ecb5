package httpbackend_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/httpbackend"
)

func newServer(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func refuse(status int, header http.Header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestStatusErrors(t *testing.T) {
	after := func(value string) http.Header { return http.Header{"Retry-After": {value}} }
	for _, tc := range []struct {
		name    string
		handler http.HandlerFunc
		want    pacer.StatusError
	}{
		{"nested, as OpenAI", refuse(429, after("20"), `{"error":{"message":"slow down","type":"rate_limit","param":null,"code":"rate_limit_exceeded"}}`),
			pacer.StatusError{Status: 429, Message: "slow down", RetryAfter: 20 * time.Second, HasRetryAfter: true}},
		{"flat, as SGLang", refuse(503, nil, `{"object":"error","message":"The request queue is full.","type":"503","param":null,"code":503}`),
			pacer.StatusError{Status: 503, Message: "The request queue is full."}},
		{"router", refuse(503, after("0"), `{"error":{"type":"Service Unavailable","code":"server_selection_failed","message":"No available servers"}}`),
			pacer.StatusError{Status: 503, Message: "No available servers", HasRetryAfter: true}},
		{"error as a string", refuse(500, nil, `{"error":"boom"}`), pacer.StatusError{Status: 500, Message: "boom"}},
		{"FastAPI", refuse(422, nil, `{"detail":[{"loc":["body"]}]}`), pacer.StatusError{Status: 422, Message: `[{"loc":["body"]}]`}},
		{"several messages", refuse(400, nil, `{"error":{"message":["a","b"]}}`), pacer.StatusError{Status: 400, Message: `["a","b"]`}},
		{"a web page", refuse(502, nil, "<html>\n\t<h1>Bad Gateway\x1b[31m</h1>\n"), pacer.StatusError{Status: 502, Message: "<html> <h1>Bad Gateway [31m</h1>"}},
		{"nothing", refuse(504, after("Sun, 06 Nov 1994 08:49:37 GMT"), ""), pacer.StatusError{Status: 504, Message: "Gateway Timeout", HasRetryAfter: true}},
		{"JSON of another kind", refuse(400, nil, `{"ok":false}`), pacer.StatusError{Status: 400, Message: `{"ok":false}`}},
		{"a novel", refuse(500, nil, strings.Repeat("ä", 1000)), pacer.StatusError{Status: 500, Message: strings.Repeat("ä", 250) + "…"}},
		{"redirect", refuse(308, http.Header{"Location": {"https://u:p@other/v1"}}, "<a>moved</a>"),
			pacer.StatusError{Status: 308, Message: "redirects to https://[redacted]@other/v1, which is not followed: use that as the base URL"}},
		{"in the stream, as SGLang", events(`data: {"error":{"object":"error","message":"The request queue is full.","type":"SERVICE_UNAVAILABLE","param":null,"code":503}}` + "\n\n" + done),
			pacer.StatusError{Status: 503, Message: "The request queue is full.", InStream: true}},
		{"in the stream, after a comment, without a line break", events(": hi\n\ndata: {\"choices\":[]}\n\ndata:{\"error\":{\"message\":\"lost\",\"code\":\"500\"}}"),
			pacer.StatusError{Status: 500, Message: "lost", InStream: true}},
		{"in the stream, flat, a code that is no status", events(`data: {"object":"error","message":"lost","code":7}` + "\n\n"), pacer.StatusError{Message: "lost", InStream: true}},
		{"in the stream, beside choices", events(`data: {"id":"x","error":{"message":"lost","code":502},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}` + "\n\n"),
			pacer.StatusError{Status: 502, Message: "lost", InStream: true}},
		{"in the stream, relayed by the router", events("data: {'error': {'message': 'lost'}}\n"), pacer.StatusError{Message: "{'error': {'message': 'lost'}}", InStream: true}},
		{"with status 200", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"object":"error","message":"full","code":503}`)
		}, pacer.StatusError{Status: 503, Message: "full", InStream: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := serve(t, tc.handler).Chat(t.Context(), identity("agent", 1), request())
			var got *pacer.StatusError
			if !errors.As(err, &got) {
				t.Fatalf("got %v, want a StatusError", err)
			}
			if *got != tc.want {
				t.Errorf("got  %+v\nwant %+v", *got, tc.want)
			}
		})
	}
}

func TestRefusedConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String() + "/v1"
	_ = listener.Close()
	client, err := httpbackend.New(sim.NewWall(sim.WallOptions{}), httpbackend.Config{BaseURL: url, APIKey: key})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Models(t.Context())
	if !errors.Is(err, syscall.ECONNREFUSED) || !strings.Contains(err.Error(), url) {
		t.Errorf("got %v, want a refused connection to %s", err, url)
	}
}

func TestModels(t *testing.T) {
	url := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(404)
		}
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"a"},{"id":"b"}]}`)
	})
	for _, tc := range []struct{ url, want string }{
		{url + "/v1", "[a b] <nil>"},
		{url, `[] pacer: HTTP status 404: {"object":"list","data":[{"id":"a"},{"id":"b"}]}`},
	} {
		client, err := httpbackend.New(sim.NewWall(sim.WallOptions{}), httpbackend.Config{BaseURL: tc.url, APIKey: key})
		if err != nil {
			t.Fatal(err)
		}
		defer client.CloseIdleConnections()
		models, err := client.Models(t.Context())
		if got := fmt.Sprint(models, err); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.url, got, tc.want)
		}
	}
}

// TestKeyIsNowhere tries every way to get the API key to show up in an error or a print.
func TestKeyIsNowhere(t *testing.T) {
	const key = `sk-sec"ret+/=0123`
	const other = "team-token-xyz"
	config := httpbackend.Config{APIKey: key, Header: http.Header{"X-Token": {"Bearer " + other}}}
	var said []string
	chat := func(handler http.HandlerFunc) {
		c := config
		c.BaseURL = newServer(t, handler)
		w := sim.NewWall(sim.WallOptions{})
		client, err := httpbackend.New(w, c)
		if err != nil {
			t.Fatal(err)
		}
		defer client.CloseIdleConnections()
		policy := pacer.DefaultPolicy()
		policy.MaxAttempts = 1
		p, err := pacer.New(w, pacer.DefaultConfig(), policy, client, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Chat(t.Context(), pacer.Identity{}, request())
		if err == nil {
			t.Error("no error")
		}
		for ; err != nil; err = errors.Unwrap(err) {
			said = append(said, fmt.Sprintf("%v|%+v|%#v", err, err, err))
		}
		for _, v := range []any{c, &c, client, *client, p, struct{ C any }{client}, []httpbackend.Config{c}} {
			said = append(said, fmt.Sprintf("%v|%+v|%#v|%s|%q|%d|%x", v, v, v, v, v, v, v))
		}
		asJSON, _ := json.Marshal(c)
		said = append(said, string(asJSON))
	}
	quoted, _ := json.Marshal("Incorrect API key provided: " + key + ", Bearer " + other)
	chat(refuse(401, nil, `{"error":{"message":`+string(quoted)+`}}`))
	chat(refuse(401, nil, `{"what":`+string(quoted)+`}`))
	chat(refuse(401, nil, `bad key `+key+strings.Repeat("x", 480)+key+other))
	chat(refuse(307, http.Header{"Location": {"http://other/?key=sk-sec%22ret%2B%2F%3D0123&t=" + other}}, ""))
	chat(events(`data: {"error":{"message":` + string(quoted) + `}}` + "\n\n"))
	chat(events("data: no chunk " + key + " " + other + "\n\n"))
	chat(func(w http.ResponseWriter, _ *http.Request) { // a header that net/http refuses and quotes
		conn, _, _ := http.NewResponseController(w).Hijack()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nbad "+key+" "+other+"\r\n\r\n")
		_ = conn.Close()
	})
	for _, text := range said {
		for _, secret := range []string{key, "sk-sec", "ret+/=0123", "ret%2B", other} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is in: %.300s", secret, text)
			}
		}
	}
}

func TestConfig(t *testing.T) {
	wall := sim.NewWall(sim.WallOptions{})
	good := httpbackend.Config{BaseURL: "https://api.example.com/v1/", APIKey: key, ConnectionsMax: 5}
	if _, err := httpbackend.New(wall, good); err != nil {
		t.Error(err)
	}
	with := func(change func(*httpbackend.Config)) httpbackend.Config {
		c := good
		change(&c)
		return c
	}
	url := func(u string) httpbackend.Config { return with(func(c *httpbackend.Config) { c.BaseURL = u }) }
	for _, tc := range []struct {
		config httpbackend.Config
		want   string
	}{
		{httpbackend.Config{}, `base URL: "" is neither http nor https, want one such as http://localhost:30000/v1`},
		{url("localhost:30000"), `base URL: "localhost:30000" is neither http nor https`},
		{url("ftp://host/v1"), `is neither http nor https`},
		{url("http:///v1"), `has no host`},
		{url("http://:80/v1"), `has no host`},
		{url("http://host/v1?x=1"), `has a query or fragment`},
		{url("http://user:hunter2@host/v1"), `base URL: "http://[redacted]@host/v1" has a user or password in it`},
		{url("http://user:hunter2@ho st/v1"), `is not a URL`},
		{url("http://user:hunter2\x01@host/v1"), `is not a URL`},
		{with(func(c *httpbackend.Config) { c.APIKey = "sk-hunter2\n" }), `API key: it has a line break`},
		{with(func(c *httpbackend.Config) { c.Header = http.Header{"x y": {"hunter2"}} }), `header: the name "x y"`},
		{with(func(c *httpbackend.Config) { c.Header = http.Header{"X": {"hunter2\r\nY: z"}} }), `header X: the value has a control character`},
		{with(func(c *httpbackend.Config) { c.ConnectionsMax = -1 }), `connections_max: -1, want 0 (no limit) or more`},
		{with(func(c *httpbackend.Config) { c.HTTPClient = http.DefaultClient }), `connections_max: 5 beside an HTTP client`},
	} {
		_, err := httpbackend.New(wall, tc.config)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want one line with %q and without a secret", err, tc.want)
		}
	}
	if _, err := httpbackend.New(sim.NewVirtual(sim.VirtualOptions{}), good); err == nil {
		t.Error("a virtual world: no error")
	}
}
