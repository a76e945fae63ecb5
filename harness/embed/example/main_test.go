package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// silent answers each request with some tokens, and then with nothing more: each later than the one before,
// since streams that stop at one instant may as well have an engine that hangs.
type silent struct {
	after int
	asked *atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (s silent) RoundTrip(req *http.Request) (*http.Response, error) {
	out, in := io.Pipe()
	tokens := s.after
	if s.after > 0 {
		tokens += 30 * int(s.asked.Add(1))
	}
	go func() {
		for range tokens {
			time.Sleep(100 * time.Millisecond)
			fmt.Fprint(in, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n")
		}
		if s.after > 0 {
			<-req.Context().Done()
			in.CloseWithError(req.Context().Err())
			return
		}
		fmt.Fprint(in, "data: [DONE]\n\n")
		in.Close()
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: out, Request: req}, nil
}

// TestExample runs the program against servers that are well, and against servers whose streams go
// quiet.
func TestExample(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "http://servers.test/v1")
	t.Setenv("OPENAI_API_KEY", "sk-only-a-test")
	for after, want := range map[int][]string{
		0:  {"6 of 6 agents done, 0 failed; 12 calls completed; 0 stalls"},
		20: {"stall 1: wedged, layer stream, cause silent-stream", "6 streams went quiet part-way", "  try: set an idle limit of about 60 s on streams", "0 of 6 agents done, 6 failed; 0 calls completed; 1 stalls"},
	} {
		var out bytes.Buffer
		synctest.Test(t, func(t *testing.T) {
			s := settings{agents: 6, rounds: 2, slots: 6, model: "m", stallAfter: time.Minute, limit: time.Hour}
			if err := run(t.Context(), s, silent{after, new(atomic.Int64)}, &out); err != nil {
				t.Error(err)
			}
		})
		for _, line := range want {
			if !strings.Contains(out.String(), line) {
				t.Errorf("after %d tokens: no %q in\n%s", after, line, out.String())
			}
		}
	}
}
