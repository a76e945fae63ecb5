package serving_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
)

// A client in memory sends a request and reads the answer, in virtual time.
func ExampleClient() {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	stack, err := serving.New(w, serving.Default(), serving.Model{}, nil, serving.Logs{Router: os.Stdout})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := serving.NewClient(stack, serving.ClientConfig{})
	err = w.Run(context.Background(), func(ctx context.Context) {
		stream, err := client.Open(ctx, &pacer.Attempt{ID: "agent-01-c001-a1"}, openai.ChatCompletionRequest{
			Messages:      []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: strings.Repeat("word", 20_000)}},
			StreamOptions: &openai.StreamOptions{IncludeUsage: true},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer stream.Close()
		fmt.Println("headers after", w.Now())
		for {
			chunk, err := stream.Recv()
			if err == io.EOF {
				fmt.Println("complete after", w.Now())
				return
			}
			if err != nil {
				fmt.Println(err)
				return
			}
			if chunk.Usage != nil {
				fmt.Println(chunk.Usage.PromptTokens, "tokens in,", chunk.Usage.CompletionTokens, "tokens out")
			}
		}
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 2026-01-01 00:00:00  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="agent-01-c001-a1"}: smg::request: src/middleware.rs:352: started processing request
	// 2026-01-01 00:00:03  INFO http_request{method=POST uri=/v1/chat/completions version=HTTP/1.1 module="smg" request_id="agent-01-c001-a1" status_code=200 latency=3650000}: smg::response: src/middleware.rs:406: finished processing request
	// headers after 3.65s
	// 20000 tokens in, 3750 tokens out
	// complete after 1m22.85231125s
}

// An HTTP front takes what has become due, writes it, and waits for more.
func ExampleHandle() {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	stack, err := serving.New(w, serving.Default(), serving.Model{}, nil, serving.Logs{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = w.Run(context.Background(), func(ctx context.Context) {
		h := stack.Submit(serving.Request{ID: "chatcmpl-1", Prompt: serving.Prompt{Tokens: 100}, OutputTokensMax: 120, Stream: true})
		defer h.Cancel()
		if err := h.WaitHeaders(ctx); err != nil {
			fmt.Println(err)
			return
		}
		for {
			part, more, err := h.Take()
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Printf("%v: %d tokens, %d bytes\n", w.Now().Sub(0).Round(time.Millisecond), part.Tokens, len(part.Reasoning))
			if part.Finish != "" {
				fmt.Println("finish:", part.Finish)
				return
			}
			const together = time.Second // write at most once in this time
			if err := h.Wait(ctx, max(more, w.Now().Add(together))); err != nil {
				fmt.Println(err)
				return
			}
		}
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 67ms: 1 tokens, 4 bytes
	// 1.067s: 48 tokens, 192 bytes
	// 2.067s: 49 tokens, 196 bytes
	// 2.503s: 22 tokens, 88 bytes
	// finish: length
}
