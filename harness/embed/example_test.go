package embed_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"example.com/wedge/harness"
	"example.com/wedge/harness/embed"
	"example.com/wedge/repro/diagnose"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"the article"}}]}`)
	}))
	defer server.Close()

	dog, err := embed.Start(embed.Options{
		Name: "my-harness", Slots: 16,
		Judge:   func(now, before *harness.Evidence) any { return diagnose.Diagnose(now, before) },
		OnStall: func(s embed.Stall) { log.Print(s.Verdict.(diagnose.Verdict).Summary) },
	})
	if err != nil {
		log.Fatal(err)
	}
	client := &http.Client{Transport: dog.Transport(nil)} // for go-openai, openai-go or plain net/http

	work := func(ctx context.Context, name, task string) (err error) {
		ctx, agent := dog.Agent(ctx, name, task)
		defer func() { agent.End(err) }()
		release, err := dog.Acquire(ctx) // instead of a semaphore of your own
		if err != nil {
			return err
		}
		defer release()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if _, err = io.ReadAll(resp.Body); err != nil {
			return err
		}
		returned := agent.Tool("save")
		returned()
		agent.Step() // progress
		return nil
	}
	if err := work(context.Background(), "agent-07", "message 12"); err != nil {
		log.Fatal(err)
	}
	report, err := dog.Close()
	fmt.Println(report.Totals.AgentsDone, report.Totals.CallsCompleted, report.Stalls, err)
	// Output: 1 1 0 <nil>
}
