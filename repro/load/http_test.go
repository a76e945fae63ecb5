package load

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/harness/sim"
)

const testKey = "sk-secret-0123456789"

// against runs a plan against a handler on loopback.
func against(t *testing.T, p Plan, handler http.HandlerFunc) *Row {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	row, err := Run(t.Context(), p, Options{Seed: 1, Server: &Server{BaseURL: server.URL + "/v1", Model: "m", APIKey: testKey}})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// stream answers with the given events.
func stream(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, body)
	}
}

func few(requests int) Plan {
	p := DefaultPlan()
	p.Clients, p.Requests, p.Duration, p.Backoff = 2, requests, 0, time.Nanosecond
	return p
}

func TestMisbehavingServers(t *testing.T) {
	ok := roleEvent + piece("one ") + piece("two") + finishEvent + usageEvent + doneEvent
	answer := func(status int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    string // counts, then failures
		notes   string
	}{
		{"well", stream(ok), "6 sent, 6 ok, 42 tokens", ""},
		{"busy", answer(503, "application/json", `{"error":{"message":"full","code":503}}`), "6 sent, 0 ok, 0 tokens; status 503 6 full", ""},
		{"detail", answer(422, "application/json", `{"detail":"no such field"}`), "6 sent, 0 ok, 0 tokens; status 422 6 no such field", ""},
		{"no words", answer(502, "text/html", ""), "6 sent, 0 ok, 0 tokens; status 502 6 Bad Gateway", ""},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "6 sent, 0 ok, 0 tokens; status 302 6 redirects to /elsewhere, which is not followed", ""},
		{"key in the error", answer(401, "application/json", `{"error":{"message":"wrong key `+testKey+`"}}`), "6 sent, 0 ok, 0 tokens; status 401 6 wrong key [redacted]", ""},
		{"in-band error", stream(piece("one ") + `data: {"error":{"message":"oops","code":500}}` + "\n\n" + doneEvent), "6 sent, 0 ok, 6 tokens; event 500 6 oops", ""},
		{"error with status 200", answer(200, "application/json", `{"object":"error","message":"odd","code":400}`), "6 sent, 0 ok, 0 tokens; event 400 6 odd", ""},
		{"malformed", stream(piece("one ") + "data: {\"choices\": [\n\n" + doneEvent), `6 sent, 0 ok, 6 tokens; malformed 6 not a chunk (unexpected end of JSON input): {"choices": [`, ""},
		{"cut", stream(piece("one ") + piece("two")), "6 sent, 0 ok, 12 tokens; network 6 the stream ended without [DONE] and before the answer was finished: unexpected EOF", ""},
		{"no [DONE]", stream(piece("one ") + finishEvent), "6 sent, 6 ok, 6 tokens", "6 complete answers came without [DONE]; 6 answers came without usage: their tokens are estimated from the text"},
		{"comments", stream(": wait\n\n" + ok), "6 sent, 6 ok, 42 tokens", "6 SSE comments arrived"},
		{"in one piece all the same", answer(200, "application/json", `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"completion_tokens":3}}`), "6 sent, 6 ok, 18 tokens", "6 complete answers came without [DONE]"},
		{"reset", func(w http.ResponseWriter, r *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}, "6 sent, 0 ok, 0 tokens; network 6", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := against(t, few(6), c.handler)
			got := fmt.Sprintf("%d sent, %d ok, %d tokens", r.Requests.Sent, r.Requests.OK, r.OutputTokens)
			for _, f := range r.Failures {
				got += fmt.Sprintf("; %s %d %s", f.Name(), f.Count, f.Example)
			}
			if !strings.HasPrefix(got, c.want) || r.Requests.Failed != 6-r.Requests.OK {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if notes := strings.Join(r.Notes, "; "); notes != c.notes {
				t.Errorf("notes %q, want %q", notes, c.notes)
			}
			if r.Stalled() != (r.Requests.OK == 0) || r.AllDone == nil {
				t.Errorf("stalled %v, all done %v", r.Stalled(), r.AllDone)
			}
		})
	}
}

// TestWhatIsSent looks at the requests from the server's side.
func TestWhatIsSent(t *testing.T) {
	var mu sync.Mutex
	ids, firsts := map[string]bool{}, map[string]bool{}
	p := few(12)
	p.Rounds, p.MaxTokens, p.IgnoreEOS = 3, 77, true
	r := against(t, p, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model     string
			Messages  []struct{ Role, Content string }
			MaxTokens int  `json:"max_tokens"`
			IgnoreEOS bool `json:"ignore_eos"`
			Stream    bool
			Options   struct {
				Usage bool `json:"include_usage"`
			} `json:"stream_options"`
		}
		err := json.NewDecoder(r.Body).Decode(&body)
		if err != nil || body.Model != "m" || body.MaxTokens != 77 || !body.IgnoreEOS || !body.Stream || !body.Options.Usage ||
			r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+testKey || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v, %s, %v: %+v", err, r.URL, r.Header, body)
		}
		rounds := len(body.Messages) / 2
		for i, m := range body.Messages {
			if want := [...]string{"user", "assistant"}; i > 0 && m.Role != want[(i-1)%2] || m.Role == "assistant" && m.Content != `said "it"` {
				t.Errorf("message %d of %d: %+v", i, len(body.Messages), m)
			}
		}
		size := 0
		for _, m := range body.Messages {
			if m.Role != "assistant" {
				size += len(m.Content)
			}
		}
		if size != 800*rounds { // 200 tokens a round
			t.Errorf("%d bytes of prompt in round %d", size, rounds)
		}
		mu.Lock()
		defer mu.Unlock()
		id := r.Header.Get("X-Request-Id")
		if ids[id] || rounds == 1 && firsts[body.Messages[0].Content] || !strings.HasPrefix(id, "client-0") {
			t.Errorf("id %s or its conversation comes twice", id)
		}
		ids[id], firsts[body.Messages[0].Content] = true, true
		stream(piece(`said `)+piece(`\"it\"`)+finishEvent+doneEvent)(w, r)
	})
	if r.Requests.OK != 12 || len(firsts) > 6 {
		t.Errorf("%+v, %d conversations", r.Requests, len(firsts))
	}
}

func TestInOnePiece(t *testing.T) {
	p := few(4)
	p.Stream = false
	r := against(t, p, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "stream") {
			t.Errorf("asked for a stream: %s", body)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"`+strings.Repeat("long", 10*bufferMin)+`"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":9}}`)
	})
	if r.Requests.OK != 4 || r.OutputTokens != 36 || r.PromptTokensMean != 5 || r.FirstToken != nil || r.InterToken != nil || len(r.Notes) > 0 {
		t.Errorf("%+v", r)
	}
	r = against(t, p, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"choices":[]}`) })
	if len(r.Failures) != 1 || r.Failures[0].Kind != KindMalformed {
		t.Errorf("%+v", r.Failures)
	}
}

// pipes is a listener whose connections are in memory, for bubbles.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// inBubble runs a plan on the wall against a handler, in a bubble in which time is exact.
func inBubble(t *testing.T, p Plan, handler http.HandlerFunc, check func(t *testing.T, r *Row)) {
	synctest.Test(t, func(t *testing.T) {
		listener := make(pipes)
		server := &http.Server{Handler: handler}
		go func() { _ = server.Serve(listener) }()
		w := sim.NewWall(sim.WallOptions{Seed: 1})
		client, err := newHTTP(w, "http://server/v1", "m", "")
		if err != nil {
			t.Fatal(err)
		}
		client.client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			listener <- theirs
			return ours, nil
		}
		g := &generator{w: w, plan: &p, target: client, sampler: &sampler{}, probeEvery: time.Second}
		r, err := g.play(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // until the server knows of those who have left
		check(t, r)
		client.client.CloseIdleConnections()
		_ = server.Close()
		synctest.Wait()
	})
}

// slow answers with a token a second.
func slow(tokens int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for range tokens {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(time.Second):
			}
			_, _ = io.WriteString(w, piece("word"))
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, finishEvent+doneEvent)
	}
}

func TestLatencies(t *testing.T) {
	inBubble(t, few(6), slow(5), func(t *testing.T, r *Row) {
		if *r.AllDone != 15 || r.FirstToken.Mean != 1 || r.Whole.Max != 5 || r.InterToken.Mean != 1 || r.Gaps.N != 24 || r.Gaps.Max != 1 || r.OwnLag.N != 15 || r.OwnLag.Max != 0 {
			t.Errorf("%+v: %+v %+v %+v %+v", r, r.FirstToken, r.Whole, r.InterToken, r.Gaps)
		}
	})
}

func TestTimeout(t *testing.T) {
	p := few(0)
	p.Duration, p.Timeout = 9900*time.Millisecond, 3500*time.Millisecond
	inBubble(t, p, slow(5), func(t *testing.T, r *Row) {
		if r.Requests.Failed != 4 || r.Requests.Cut != 2 || r.Failures[0].Name() != "timeout" || r.OutputTokensFailed != 12 || r.OutputTokens != 16 || r.AllDone != nil || !r.Stalled() {
			t.Errorf("%+v %+v: %+v", r.Requests, r.Failures, r)
		}
	})
}

func TestAbandon(t *testing.T) {
	var gone atomic.Int64
	p := few(4)
	p.Abandon, p.AbortAfter = 1, 1500*time.Millisecond
	inBubble(t, p, func(w http.ResponseWriter, r *http.Request) {
		slow(5)(w, r)
		if r.Context().Err() != nil {
			gone.Add(1)
		}
	}, func(t *testing.T, r *Row) {
		if r.Requests.Left != 4 || *r.AllDone != 5 || gone.Load() != 4 || r.Stalled() {
			t.Errorf("%+v, done at %v, %d gone", r.Requests, *r.AllDone, gone.Load())
		}
	})
}

// TestOpenAfterDone: the answer is complete although its body does not end.
func TestOpenAfterDone(t *testing.T) {
	inBubble(t, few(2), func(w http.ResponseWriter, r *http.Request) {
		stream(piece("x")+finishEvent+doneEvent)(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, func(t *testing.T, r *Row) {
		if r.Requests.OK != 2 || *r.AllDone > 1 {
			t.Errorf("%+v at %v", r.Requests, *r.AllDone)
		}
	})
}

// TestCoordinatedOmission: a server that stops for ten seconds delays all requests that would have
// come meanwhile, also with one client only, which sends none of them in that time.
func TestCoordinatedOmission(t *testing.T) {
	var mu sync.Mutex
	p := few(20)
	p.Clients, p.Rate, p.Arrivals = 1, 1, Constant
	n := 0
	inBubble(t, p, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if n++; n == 3 {
			time.Sleep(10 * time.Second)
		}
		mu.Unlock()
		stream(piece("x")+finishEvent+doneEvent)(w, r)
	}, func(t *testing.T, r *Row) {
		// Requests 3 to 12 (at 2 s to 11 s) are answered at 12 s: they took 10, 9, ... 1 s.
		if r.Whole.N != 20 || r.Whole.Max != 10 || r.Whole.Mean != 55.0/20 || r.StartLate.Max != 9 || r.StartLate.Mean != 45.0/20 {
			t.Errorf("%+v, late by %+v", r.Whole, r.StartLate)
		}
		if len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "all 1 clients were busy") {
			t.Errorf("notes %q", r.Notes)
		}
	})
}
