package serving

import (
	"encoding/json"
	"testing"

	"example.com/wedge/pacer"
)

// TestTextsAreShared checks that the texts of many answers take bounded memory.
func TestTextsAreShared(t *testing.T) {
	var texts texts
	p := Prompt{Tool: "write"}
	for tokens := 1; tokens < 20_000; tokens += 7 {
		a := texts.plan(&p, tokens, 0, tokens)
		if !json.Valid([]byte(a.arguments)) || tokens > 8 && len(a.arguments) != tokens*pacer.BytesPerToken {
			t.Fatalf("%d tokens: %d bytes of arguments: %.60q", tokens, len(a.arguments), a.arguments)
		}
	}
	if texts.bytes == 0 || texts.bytes > textBytesMax {
		t.Errorf("%d bytes of text are kept, want some and at most %d", texts.bytes, textBytesMax)
	}
	texts.articles, texts.bytes = nil, 0
	for tokens := 3000; tokens < 4500; tokens++ {
		texts.plan(&p, tokens, tokens*3/4, tokens)
	}
	if len(texts.articles) > 32 {
		t.Errorf("%d texts for one range of sizes", len(texts.articles))
	}
}

// TestParts checks that the parts of an answer make up its whole, wherever it is divided.
func TestParts(t *testing.T) {
	var texts texts
	for _, p := range []Prompt{{}, {Tool: "write"}, {Tool: "save"}, {Tool: "read_message", Round: 12345}} {
		for tokens := 1; tokens < 40; tokens++ {
			a := texts.plan(&p, tokens, tokens/3, 35)
			whole := a.part(0, a.tokens)
			for at := 1; at < a.tokens; at++ {
				x, y := a.part(0, at), a.part(at, a.tokens)
				got := Part{
					Tokens: x.Tokens + y.Tokens, Reasoning: x.Reasoning + y.Reasoning, Content: x.Content + y.Content,
					Tool: x.Tool + y.Tool, Arguments: x.Arguments + y.Arguments,
				}
				if got != whole {
					t.Fatalf("tool %q, %d tokens divided at %d: %+v, want %+v", p.Tool, tokens, at, got, whole)
				}
			}
			if whole.Tokens != a.tokens || whole.Arguments != a.arguments {
				t.Fatalf("tool %q, %d tokens: %+v", p.Tool, tokens, whole)
			}
		}
	}
}
