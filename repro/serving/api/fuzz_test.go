package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

// instant is servers that take no time, and as many requests as come.
func instant(c *serving.Config) {
	c.Router.QueuedMax = 0
	c.Prefill.RequestsMax, c.Decode.RequestsMax, c.Decode.RunningMax = 0, 0, 4096
	c.Decode.KVTokens = 1_000_000_000
	c.Prefill.ChunkBase, c.Prefill.PerToken, c.Prefill.PerTokenPair = 0, 0, 0
	c.Transfer.Latency, c.Transfer.PerToken = 0, 0
	c.Decode.StepBase, c.Decode.StepPerRequest, c.Decode.StepPerContextToken = 0, 0, 0
}

// FuzzRequest: whatever is sent, the answer is one or an error of the client's, in the right form.
func FuzzRequest(f *testing.F) {
	for _, stream := range []bool{true, false} {
		f.Add(fmt.Appendf(nil, sayHello, stream))
		f.Add(fmt.Appendf(nil, writeOne, stream))
	}
	for _, body := range []string{
		``, `{}`, `null`, `[]`, `{"messages":[{"role":"user","content":"\ud800"}]}`,
		`{"stream":true,"max_tokens":3,"messages":[{"role":"tool","content":[{"type":"text","text":"Steps: a,,b"}]}],"tools":[{"function":{"name":""}},{}]}`,
		`{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":{"a":1e999}}}]}],"tool_choice":{"a":[]}}`,
	} {
		f.Add([]byte(body))
	}
	cfg := serving.Default()
	instant(&cfg)
	w := sim.NewWall(sim.WallOptions{Seed: seed, Scale: 1e6})
	stack, err := serving.New(w, cfg, serving.Model{}, nil, serving.Logs{})
	if err != nil {
		f.Fatal(err)
	}
	s, err := api.New(w, stack, api.Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		out := record(s, http.MethodPost, chatPath, string(body))
		got := out.Body.String()
		switch {
		case out.Code != 200 && out.Code != 400 && out.Code != 404:
			t.Errorf("status %d, %s", out.Code, got)
		case out.Header().Get("Content-Type") == "application/json":
			if !json.Valid([]byte(got)) {
				t.Errorf("not JSON: %s", got)
			}
		case !strings.HasSuffix(got, "data: [DONE]\n\n"):
			t.Errorf("a stream without an end: %s", got)
		default:
			textOf(t, got)
		}
	})
}

// FuzzString holds the hand-made encoding against encoding/json's reading.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "a", "\x00\x1f \"\\/<>&\u2028\n\r\t", "\xff\xc3\x28", "é☃😀", "\ufffd", "\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := api.AppendString(nil, s)
		var back string
		if err := json.Unmarshal(text, &back); err != nil || !utf8.Valid(text) {
			t.Fatalf("%q: %v: %q", s, err, text)
		}
		if want := string([]rune(s)); back != want { // each bad byte by itself becomes U+FFFD
			t.Errorf("%q: came back as %q, want %q", s, back, want)
		}
	})
}
