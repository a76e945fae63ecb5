package pacer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/httpbackend"
)

// A pacer of its own, in front of any OpenAI-compatible server, on the machine's clock.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("request", r.Header.Get("X-Request-Id"))
		if r.Header.Get("X-Request-Id") == "agent-01-c001-a1" {
			w.Header().Set("Retry-After", "0")
			http.Error(w, `{"error":{"message":"busy"}}`, http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"Hello "}}]}`+"\n\n"+
			`data: {"choices":[{"delta":{"content":"there."},"finish_reason":"stop"}]}`+"\n\n"+
			`data: {"choices":[],"usage":{"completion_tokens":3}}`+"\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()

	world := sim.NewWall(sim.WallOptions{})
	client, err := httpbackend.New(world, httpbackend.Config{BaseURL: server.URL + "/v1", APIKey: "from the environment"})
	if err != nil {
		fmt.Println(err)
		return
	}
	policy := pacer.DefaultPolicy()
	policy.FirstToken = 5 * time.Minute
	policy.Idle = time.Minute
	policy.BackoffFloor = time.Millisecond
	p, err := pacer.New(world, pacer.Config{Slots: 16, Hold: pacer.HoldStream}, policy, client, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := p.Chat(context.Background(), pacer.Identity{Agent: "agent-01", Call: 1}, openai.ChatCompletionRequest{
		Model:    "any",
		Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: "Hello?"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Choices[0].Message.Content, answer.Usage.CompletionTokens, "tokens")
	// Output:
	// request agent-01-c001-a1
	// request agent-01-c001-a2
	// Hello there. 3 tokens
}

// In virtual time, an hour of waiting takes no time at all. Here a stream goes silent, as in the
// incident: without an idle limit, the call would wait for ever.
func ExamplePolicy() {
	world := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	silent := &backend{w: world, play: func(*pacer.Attempt) script {
		return script{headers: 10 * time.Second, chunks: []chunk{say(time.Second, "and then")}, end: errHang}
	}}
	policy := pacer.DefaultPolicy()
	policy.Idle, policy.MaxAttempts = time.Hour, 1
	p, err := pacer.New(world, pacer.DefaultConfig(), policy, silent, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = world.Run(context.Background(), func(ctx context.Context) {
		world.Spawn(ctx, "watch", func(ctx context.Context) {
			_ = world.Sleep(ctx, 30*time.Minute)
			for _, c := range p.Calls() {
				fmt.Printf("%v: %s is in stage %s since %v, last token at %v\n", world.Now(), c.ID, c.Stage, c.Since, c.LastToken)
			}
		})
		_, err := p.Chat(ctx, pacer.Identity{Agent: "agent-01", Call: 1}, openai.ChatCompletionRequest{Model: "any"})
		var limit *pacer.LimitError
		fmt.Printf("%v: %v: %t\n", world.Now(), err, errors.As(err, &limit))
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 30m0s: agent-01-c001 is in stage stream since 11s, last token at 11s
	// 1h0m11s: pacer: call agent-01-c001 failed after 1 attempt: pacer: no progress for 1h0m0s (limit idle): true
}

// The names that `jitter` may have in a policy.
func ExampleJitterRules() {
	fmt.Println(pacer.JitterRules())
	// Output: [none full equal decorrelated minus25 plus25 plusminus20 plusminus50 factor]
}

// What follows a failed attempt is a function of the policy, the failure and a draw.
func ExamplePolicy_Decide() {
	policy := pacer.DefaultPolicy()
	policy.Jitter = "none"
	policy.CallTotal = 5 * time.Minute
	busy := pacer.Failure{Outcome: pacer.AttemptStatus, Status: 503, Attempt: 1, CallTook: time.Minute}
	fmt.Println(policy.Decide(busy, 0.5))
	asked := busy
	asked.RetryAfter, asked.HasRetryAfter = 100*time.Second, true
	fmt.Println(policy.Decide(asked, 0.5))
	asked.CallTook = 4 * time.Minute
	fmt.Println(policy.Decide(asked, 0.5))
	// Output:
	// {true 1s false }
	// {true 1m45s false }
	// {false 0s false call_total}
}
