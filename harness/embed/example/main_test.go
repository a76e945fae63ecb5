package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// silent answers each request with some tokens, and then with nothing more.
type silent struct{ after int }

// RoundTrip implements http.RoundTripper.
func (s silent) RoundTrip(req *http.Request) (*http.Response, error) {
	out, in := io.Pipe()
	go func() {
		for range s.after {
			time.Sleep(100 * time.Millisecond)
			fmt.Fprint(in, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n")
		}
		if s.after < 50 {
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
		50: {"6 of 6 agents done, 0 failed; 12 calls completed; 0 stalls"},
		20: {"stall 1: wedged, layer stream, cause silent-stream", "6 streams went quiet part-way", "  try: --set policy.idle=60s", "0 of 6 agents done, 6 failed; 0 calls completed; 1 stalls"},
	} {
		var out bytes.Buffer
		synctest.Test(t, func(t *testing.T) {
			s := settings{agents: 6, rounds: 2, slots: 6, model: "m", stallAfter: time.Minute, limit: time.Hour}
			if err := run(t.Context(), s, silent{after}, &out); err != nil {
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
