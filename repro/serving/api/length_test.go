package api_test

import (
	"strings"
	"testing"

	"example.com/wedge/repro/serving"
)

// TestLength: an answer is as long as the model wants, unless the client allows less or wants more.
func TestLength(t *testing.T) {
	p := setup{stack: func(c *serving.Config) { c.Model.OutputTokens, c.Model.ReasoningTokens = 40, 0 }}.start(t)
	for _, c := range []struct{ fields, usage, finish string }{
		{``, `"completion_tokens":40`, `"finish_reason":"stop"`},
		{`"max_tokens":30,`, `"completion_tokens":30`, `"finish_reason":"length"`},
		{`"max_tokens":300,`, `"completion_tokens":40`, `"finish_reason":"stop"`},
		{`"max_tokens":300,"ignore_eos":true,`, `"completion_tokens":300`, `"finish_reason":"length"`},
		{`"max_tokens":300,"min_tokens":50,`, `"completion_tokens":50`, `"finish_reason":"stop"`},
		{`"max_tokens":300,"min_tokens":null,"ignore_eos":false,`, `"completion_tokens":40`, `"finish_reason":"stop"`},
	} {
		status, body := p.body(p.exchange("POST", chatPath, `{`+c.fields+`"model":"simulated","messages":[{"role":"user","content":"hello"}]}`))
		if status != 200 || !strings.Contains(body, c.usage) || !strings.Contains(body, c.finish) {
			t.Errorf("%s: %d %.300s, want %s and %s", c.fields, status, body, c.usage, c.finish)
		}
	}
}
