package serving

import (
	"encoding/json"
	"strings"
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

// TestRest checks that the rest of an answer, together with what the client has of it, is the answer.
func TestRest(t *testing.T) {
	var texts texts
	for _, p := range []Prompt{{}, {Tool: "save"}} {
		for _, tokens := range []int{40, fillerTokens + 40} {
			a := texts.plan(&p, tokens, 10, tokens)
			for _, begun := range []int{1, 7, a.content - 1, a.content, a.content + 5} {
				rest := p
				rest.Begun = begun
				b := texts.plan(&rest, tokens, 10, tokens)
				has := min(begun, a.content)
				if b.reasoning != 0 || b.arguments != a.arguments || b.tokens != max(1, a.tokens-a.reasoning-has) {
					t.Errorf("tool %q, %d tokens, %d begun: %+v of %+v", p.Tool, tokens, begun, b, a)
				}
				if want := content(&a)[has*pacer.BytesPerToken:]; want != "" && content(&b) != want {
					t.Errorf("tool %q, %d tokens, %d begun: the texts do not fit", p.Tool, tokens, begun)
				}
			}
		}
	}
}

// content returns the text of an answer, without its reasoning.
func content(a *reply) string {
	var b strings.Builder
	for at := 0; at < a.callFrom(); {
		p := a.part(at, a.callFrom())
		b.WriteString(p.Content)
		at += p.Tokens
	}
	return b.String()
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
