package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/api"
)

// thinking keeps back all events of a stream until its answer is complete, so that what is written
// does not depend on how fast the machine is.
var thinking = []fault.Fault{{ID: "thinking", Where: fault.Stream, What: fault.Reasoning, Delay: 1000 * time.Hour}}

const (
	sayHello = `{"model":"simulated","stream":%t,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"Hello"}]}`
	writeOne = `{"model":"simulated","stream":%t,"messages":[{"role":"user","content":[{"type":"text","text":"Steps: write."}]}],` +
		`"tools":[{"type":"function","function":{"name":"write","parameters":{"type":"object"}}}]}`
)

// TestBytes shows every byte of an answer, for a human to read and for a change to be noticed.
func TestBytes(t *testing.T) {
	for _, test := range []struct{ name, body string }{
		{"stream", fmt.Sprintf(sayHello, true)},
		{"stream-call", fmt.Sprintf(writeOne, true)},
		{"stream-usage", strings.Replace(fmt.Sprintf(writeOne, true), `"stream"`, `"stream_options":{"continuous_usage_stats":true},"stream"`, 1)},
		{"whole", fmt.Sprintf(sayHello, false)},
		{"whole-call", fmt.Sprintf(writeOne, false)},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := setup{faults: thinking}.start(t)
			golden(t, test.name+".golden", p.exchange("POST", chatPath, test.body))
		})
	}
}

// TestPieces reads a stream as it comes: what its pieces say together does not depend on where they
// are cut.
func TestPieces(t *testing.T) {
	for _, interval := range []time.Duration{time.Nanosecond, time.Millisecond, time.Hour} {
		t.Run(interval.String(), func(t *testing.T) {
			su := setup{api: api.Config{FlushInterval: interval}, stack: func(c *serving.Config) { c.Model.OutputTokens = 2000 }}
			p := su.start(t)
			status, body := p.body(p.exchange("POST", chatPath, fmt.Sprintf(writeOne, true)))
			events := strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n")
			if status != 200 || events[len(events)-1] != "data: [DONE]" {
				t.Fatalf("seed %d: status %d, body %s", seed, status, body)
			}
			var got seen
			for _, event := range events[:len(events)-1] {
				got.add(chunkOf(t, event))
			}
			if n := len(got.reasoning)/4 + len(got.content)/4 + len(got.arguments)/4; n < 1990 || n > 2000 || got.tool != "write" || got.calls != 1 || !json.Valid([]byte(got.arguments)) {
				t.Errorf("seed %d: %d tokens, tool %q in %d pieces, arguments %.80s", seed, n, got.tool, got.calls, got.arguments)
			}
			// Role, what was due at first, the rest of each kind of text, finish, [DONE].
			if interval == time.Hour && len(events) > 1+2+2+1+1 {
				t.Errorf("seed %d: %d events although the interval is an hour", seed, len(events))
			}
		})
	}
}

// TestLongAnswer writes an answer that is due at once in pieces of a bounded size.
func TestLongAnswer(t *testing.T) {
	p := setup{faults: thinking, scale: 1e6, stack: func(c *serving.Config) {
		c.Model.OutputTokens, c.Model.ReasoningTokens, c.Router.RequestTimeout = 200_000, 150_000, 0
	}}.start(t)
	_, body := p.body(p.exchange("POST", chatPath, fmt.Sprintf(sayHello, true)))
	var got seen
	for event := range strings.SplitSeq(strings.TrimSuffix(body, "\n\ndata: [DONE]\n\n"), "\n\n") {
		got.add(chunkOf(t, event))
	}
	if len(got.reasoning) != 600_000 || len(got.content) != 200_000 || got.usage == nil || got.usage.CompletionTokens != 200_000 {
		t.Errorf("seed %d: %d bytes of reasoning, %d of content, usage %+v", seed, len(got.reasoning), len(got.content), got.usage)
	}
}

func TestRequestIDs(t *testing.T) {
	p := setup{}.start(t)
	ids := []string{}
	for _, headers := range [][]string{
		{"X-Request-Id", "a", "X-Correlation-Id", "b"},
		{"X-Correlation-Id", "b", "X-Trace-Id", "c"},
		{"X-Trace-Id", "c"},
		{"Request-Id", `d"` + "\u00e9"},
		{"X-Request-Id", strings.Repeat("x", 300)},
		{},
	} {
		answer := p.exchange("POST", chatPath, fmt.Sprintf(sayHello, false), headers...)
		_, rest, _ := strings.Cut(answer, "X-Request-Id: ")
		id, _, _ := strings.Cut(rest, "\r\n")
		ids = append(ids, id)
		var body struct{ ID string }
		// The engine knows nothing of the router's id, nor the router of the engine's.
		if _, text := p.body(answer); json.Unmarshal([]byte(text), &body) != nil || len(body.ID) != 32 || strings.Contains(p.logText(), body.ID) {
			t.Errorf("seed %d: header %q, body %s", seed, id, text)
		}
		if !strings.Contains(p.logText(), fmt.Sprintf("request_id=%q", id)) {
			t.Errorf("seed %d: no line for %q in the log", seed, id)
		}
	}
	want := []string{"a", "b", "c", `d"` + "\u00e9", "chatcmpl-OSvacqBfNdBm5ggi1l8W2JCW", "chatcmpl-JrPjfvrckPJh36fGE0d1qe8a"}
	if fmt.Sprint(ids) != fmt.Sprint(want) {
		t.Errorf("seed %d: ids %q, want %q", seed, ids, want)
	}
}
