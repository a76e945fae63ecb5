// Command harness is a small harness such as people have: agents that make a few rounds of streamed calls
// with the official client, so many at once. It knows nothing of wedge, and finds its server as that
// client does. An agent whose call fails tries again at once, and gives up after so many times.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"
	"sync/atomic"

	"github.com/openai/openai-go/v3"
)

var (
	agents = flag.Int("agents", 30, "number of agents")
	rounds = flag.Int("rounds", 3, "calls of each, one after the other")
	limit  = flag.Int("limit", 16, "calls at once")
	tries  = flag.Int("tries", 3, "how often a call is tried, besides the client's own retries")
	total  = flag.Duration("timeout", 0, "time limit of a call; 0: none")
	pprof  = flag.String("pprof", "", "address for net/http/pprof")
)

func main() {
	flag.Parse()
	if *pprof != "" {
		go http.ListenAndServe(*pprof, nil)
	}
	h := &harness{client: openai.NewClient(), slots: make(chan struct{}, *limit)}
	var all sync.WaitGroup
	for i := range *agents {
		all.Go(func() { h.agent(i) })
	}
	all.Wait()
	fmt.Printf("%d of %d agents done\n", h.done.Load(), *agents)
	if int(h.done.Load()) < *agents {
		os.Exit(1)
	}
}

type harness struct {
	client openai.Client
	slots  chan struct{}
	done   atomic.Int64
}

func (h *harness) agent(i int) {
	history := []openai.ChatCompletionMessageParamUnion{openai.UserMessage(fmt.Sprintf("You are agent %d. Write an article.", i))}
	for round := range *rounds {
		text, err := h.call(history)
		for try := 1; err != nil && try < *tries; try++ {
			text, err = h.call(history)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "agent %d: round %d: %v\n", i, round+1, err)
			return
		}
		history = append(history, openai.AssistantMessage(text), openai.UserMessage("Go on."))
	}
	h.done.Add(1)
}

// call streams an answer while it has a slot.
func (h *harness) call(history []openai.ChatCompletionMessageParamUnion) (string, error) {
	h.slots <- struct{}{}
	defer func() { <-h.slots }()
	ctx := context.Background()
	if *total > 0 {
		limited, cancel := context.WithTimeout(ctx, *total)
		defer cancel()
		ctx = limited
	}
	stream := h.client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{Model: "my-model", Messages: history})
	defer stream.Close()
	var answer openai.ChatCompletionAccumulator
	for stream.Next() {
		answer.AddChunk(stream.Current())
	}
	if err := stream.Err(); err != nil {
		return "", err
	}
	if len(answer.Choices) == 0 {
		return "", fmt.Errorf("no answer")
	}
	return answer.Choices[0].Message.Content, nil
}
