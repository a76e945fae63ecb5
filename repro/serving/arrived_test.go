package serving_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
)

// TestContinuedAnswers cuts calls off in mid-answer by a total limit: with the rest asked for, the text
// is that of an answer in one piece, and the tokens that arrived are not made twice.
func TestContinuedAnswers(t *testing.T) {
	for _, tc := range []struct {
		partial   pacer.Partial
		total     time.Duration
		reasoning int
		attempts  int // 0: it never ends
	}{
		{pacer.PartialRestart, 0, 0, 1},
		{pacer.PartialRestart, 30 * time.Second, 0, 0},
		{pacer.PartialContinue, 30 * time.Second, 0, 3},
		{pacer.PartialContinue, 30 * time.Second, 500, 3},
		{pacer.PartialContinue, 5 * time.Second, 3749, 0}, // it never gets to the text
	} {
		w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
		cfg := serving.Default()
		cfg.Model.ReasoningTokens = tc.reasoning
		stack, err := serving.New(w, cfg, serving.Model{}, nil, serving.Logs{})
		if err != nil {
			t.Fatal(err)
		}
		policy := pacer.DefaultPolicy()
		policy.Partial, policy.Total, policy.MaxAttempts = tc.partial, tc.total, 6
		obs := &counting{}
		p, err := pacer.New(w, pacer.DefaultConfig(), policy, serving.NewClient(stack, serving.ClientConfig{}), obs, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = w.Run(t.Context(), func(ctx context.Context) {
			resp, err := p.Chat(ctx, pacer.Identity{Agent: "agent", Call: 1}, openai.ChatCompletionRequest{
				Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: strings.Repeat("word", 1000)}},
			})
			if (err == nil) != (tc.attempts > 0) {
				t.Errorf("%+v: %v", tc, err)
			}
			if err != nil {
				return
			}
			const all = 3750
			text := resp.Choices[0].Message.Content
			sentence, _, _ := strings.Cut(text, ". ")
			whole := strings.HasPrefix(strings.Repeat(sentence+". ", len(text)/len(sentence)+1), text)
			if !whole || len(text) != (all-tc.reasoning)*pacer.BytesPerToken {
				t.Errorf("%+v: %d bytes of text, in one piece: %v", tc, len(text), whole)
			}
			if obs.attempts != tc.attempts || obs.tokens-obs.kept > all || obs.tokens-obs.kept < all-tc.reasoning-obs.kept {
				t.Errorf("%+v: %d attempts, %d tokens received, %d kept", tc, obs.attempts, obs.tokens, obs.kept)
			}
			if got := resp.Usage; got.CompletionTokens < all-tc.reasoning || got.CompletionTokens > all || got.PromptTokens != 1000 {
				t.Errorf("%+v: usage %+v", tc, got)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// counting adds up what attempts received, and how much of it the next one went on from.
type counting struct{ attempts, tokens, kept int }

func (c *counting) StageChanged(*pacer.CallState, pacer.Stage) {}
func (c *counting) AttemptEnded(_ *pacer.CallState, r pacer.AttemptResult) {
	c.attempts++
	c.tokens += r.Tokens
	c.kept += r.Kept
}
func (c *counting) CallEnded(*pacer.CallState, int, error) {}
