// Command example is a small agent harness that watches itself: some agents, a limit of calls at once,
// an OpenAI-compatible server, and what to print when nothing moves. Everything that wedge needs of a
// program is marked with "wedge:".
//
//	OPENAI_BASE_URL=http://127.0.0.1:8000/v1 OPENAI_API_KEY=… go run ./harness/embed/example -stall-after 60s
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"example.com/wedge/harness"
	"example.com/wedge/harness/embed"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/probe"
)

// settings are the program's flags.
type settings struct {
	agents, rounds, slots int
	model, evidence       string
	metrics               string
	stallAfter, limit     time.Duration
}

func main() {
	var s settings
	flag.IntVar(&s.agents, "agents", 30, "agents at work at once")
	flag.IntVar(&s.rounds, "rounds", 3, "calls of each")
	flag.IntVar(&s.slots, "slots", 16, "calls under way at once")
	flag.StringVar(&s.model, "model", "wedge-sim", "name of the model")
	flag.StringVar(&s.evidence, "evidence", "", "new directory for the evidence; empty: none is written")
	flag.StringVar(&s.metrics, "metrics", "", "URL of the server's metrics, such as http://127.0.0.1:30000/metrics; empty: they are not read")
	flag.DurationVar(&s.stallAfter, "stall-after", time.Minute, "how long no step may finish")
	flag.DurationVar(&s.limit, "for", time.Hour, "how long to run at most")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, s, http.DefaultTransport, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings, base http.RoundTripper, out io.Writer) error {
	var servers harness.Servers
	if s.metrics != "" { // wedge: what the servers do with the requests
		gauges, err := probe.NewGauges(s.metrics)
		if err != nil {
			return err
		}
		servers = gauges
	}
	// wedge: start the watchdog, say who judges and who is told.
	dog, err := embed.Start(embed.Options{
		Name: "example", Slots: s.slots, Dir: s.evidence, Servers: servers,
		Watchdog: harness.Watchdog{StallAfter: s.stallAfter},
		Secrets:  []string{os.Getenv("OPENAI_API_KEY")},
		Judge:    func(now, before *harness.Evidence) any { return diagnose.Diagnose(now, before) },
		OnStall:  func(stall embed.Stall) { tell(out, stall) },
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	client := openai.NewClient(
		option.WithHTTPClient(&http.Client{Transport: dog.Transport(base)}), // wedge: stages of each request
		option.WithMaxRetries(2),
	)
	var wg sync.WaitGroup
	for i := range s.agents {
		wg.Go(func() { agent(ctx, dog, &client, s, fmt.Sprintf("agent-%02d", i+1)) })
	}
	wg.Wait()
	report, err := dog.Close()
	if err != nil {
		return err
	}
	t := &report.Totals
	fmt.Fprintf(out, "%d of %d agents done, %d failed; %d calls completed; %d stalls\n", t.AgentsDone, s.agents, t.AgentsFailed, t.CallsCompleted, report.Stalls)
	return nil
}

// tell prints what the watchdog has found.
func tell(out io.Writer, stall embed.Stall) {
	v := stall.Verdict.(diagnose.Verdict)
	if stall.Ended() {
		fmt.Fprintf(out, "stall %d is over\n", stall.Evidence.Episode)
		return
	}
	fmt.Fprintf(out, "stall %d: %s, layer %s, cause %s\n%s\n", stall.Evidence.Episode, v.Outcome, v.Layer, v.Cause, v.Summary)
	for _, next := range v.Next {
		fmt.Fprintln(out, "  try:", next)
	}
}

// agent works on its task.
func agent(ctx context.Context, dog *embed.Watchdog, client *openai.Client, s settings, name string) {
	ctx, me := dog.Agent(ctx, name, "task of "+name) // wedge: who this is
	var err error
	defer func() { me.End(err) }()
	for round := range s.rounds {
		me.Round(round + 1)
		var text string
		if text, err = chat(ctx, dog, client, s, round); err != nil {
			return
		}
		returned := me.Tool("save") // wedge: a tool runs
		save(text)
		returned()
		me.Step() // wedge: progress
	}
}

// chat makes one call.
func chat(ctx context.Context, dog *embed.Watchdog, client *openai.Client, s settings, round int) (string, error) {
	release, err := dog.Acquire(ctx) // wedge: instead of a semaphore of one's own
	if err != nil {
		return "", err
	}
	defer release()
	stream := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model:    s.model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(fmt.Sprintf("Write part %d of the article.", round+1))},
	})
	defer stream.Close()
	var text string
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			text += choice.Delta.Content
		}
	}
	return text, stream.Err()
}

// save stands for what a real tool does with the text.
func save(string) {}
