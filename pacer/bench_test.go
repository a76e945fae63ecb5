package pacer_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// memory is a backend that answers at once, so that what is measured is the pacer.
type memory struct{}

type memoryStream struct{ sent int }

func (memory) Open(_ context.Context, a *pacer.Attempt, _ openai.ChatCompletionRequest) (pacer.Stream, error) {
	a.Connected()
	return &memoryStream{}, nil
}

var memoryChunks = [...]openai.ChatCompletionStreamResponse{
	{Choices: []openai.ChatCompletionStreamChoice{{Delta: openai.ChatCompletionStreamChoiceDelta{Content: "hello"}}}},
	{Usage: &openai.Usage{CompletionTokens: 1}},
}

func (s *memoryStream) Recv() (openai.ChatCompletionStreamResponse, error) {
	if s.sent == len(memoryChunks) {
		return openai.ChatCompletionStreamResponse{}, io.EOF
	}
	s.sent++
	return memoryChunks[s.sent-1], nil
}

func (s *memoryStream) Progress() pacer.Progress { return pacer.Progress{Tokens: s.sent} }

func (s *memoryStream) Close() error { return nil }

type deaf struct{}

func (deaf) StageChanged(*pacer.CallState, pacer.Stage)          {}
func (deaf) AttemptEnded(*pacer.CallState, pacer.AttemptResult)  {}
func (deaf) CallEnded(s *pacer.CallState, tokens int, err error) {}

// BenchmarkChat measures one call through a backend in memory: with and without limits, and with 30
// agents for 16 slots, where most calls wait.
func BenchmarkChat(b *testing.B) {
	limits := pacer.DefaultPolicy()
	limits.Idle, limits.Total = time.Minute, time.Hour
	for _, bench := range []struct {
		name   string
		agents int
		policy pacer.Policy
	}{{"plain", 1, pacer.DefaultPolicy()}, {"limits", 1, limits}, {"agents=30", 30, pacer.DefaultPolicy()}, {"agents=30/limits", 30, limits}} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
			p, err := pacer.New(w, pacer.DefaultConfig(), bench.policy, memory{}, deaf{}, nil)
			if err != nil {
				b.Fatal(err)
			}
			req := request()
			each := b.N/bench.agents + 1
			err = w.Run(context.Background(), func(ctx context.Context) {
				all := make([]*sim.Process, bench.agents)
				for i := range all {
					agent := fmt.Sprintf("agent-%02d", i)
					all[i] = w.Spawn(ctx, agent, func(ctx context.Context) {
						for n := range each {
							if _, err := p.Chat(ctx, identity(agent, n+1), req); err != nil {
								b.Error(err)
							}
						}
					})
				}
				for _, a := range all {
					_ = a.Wait(ctx)
				}
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
