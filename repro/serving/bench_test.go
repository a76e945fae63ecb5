package serving_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
)

// BenchmarkRun is one default run of the servers alone: 600 requests of 3,750 tokens each, 16 at a time.
func BenchmarkRun(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
		s, err := serving.New(w, serving.Default(), serving.Model{}, nil, io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		client := serving.NewClient(s, serving.ClientConfig{})
		err = w.Run(context.Background(), func(ctx context.Context) {
			all := make([]*sim.Process, 16)
			for i := range all {
				all[i] = w.Spawn(ctx, "client", func(ctx context.Context) {
					for range 600 / len(all) {
						exchange(ctx, b, client, &pacer.Attempt{ID: "attempt"}, longChat)
					}
				})
			}
			for _, p := range all {
				_ = p.Wait(ctx)
			}
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

var longChat = openai.ChatCompletionRequest{Messages: []openai.ChatCompletionMessage{
	{Role: openai.ChatMessageRoleSystem, Content: strings.Repeat("text", 20_000)},
	{Role: openai.ChatMessageRoleUser, Content: "Go on.\nSteps: write."},
}, Tools: []openai.Tool{{Function: &openai.FunctionDefinition{Name: "write"}}}}

// exchange sends a request and reads the answer to its end.
func exchange(ctx context.Context, tb testing.TB, client *serving.Client, a *pacer.Attempt, req openai.ChatCompletionRequest) {
	st, err := client.Open(ctx, a, req)
	if err != nil {
		tb.Error(err)
		return
	}
	for err == nil {
		_, err = st.Recv()
	}
	if err != io.EOF {
		tb.Error(err)
	}
}
