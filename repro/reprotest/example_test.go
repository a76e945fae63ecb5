package reprotest_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/repro/reprotest"
)

// A test would give its *testing.T, and do all this in synctest.Test, where it takes a hundredth of the time and
// needs no Scale.
func Example() {
	t := &standIn{}
	kit := reprotest.Start(t, reprotest.Scenario("silent-stream"), reprotest.Scale(300), reprotest.StallAfter(2*time.Minute))
	defer t.end()

	ask := func(client *http.Client, baseURL string) error { // the harness: no limit of its own
		config := openai.DefaultConfig("no key")
		config.HTTPClient, config.BaseURL = client, baseURL
		stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(context.Background(), openai.ChatCompletionRequest{
			Model: kit.Model, Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Write the article."}},
		})
		for err == nil {
			_, err = stream.Recv()
		}
		return err
	}
	fmt.Println(ask(kit.Client, kit.BaseURL))
	verdict, _ := kit.Verdict()
	fmt.Println("failed:", t.failed, verdict.Outcome, verdict.Cause)
	// Output:
	// reprotest: nothing got on, so that the test has failed and its requests were ended
	// failed: true wedged silent-stream
}

// standIn stands for a *testing.T, which an example does not have.
type standIn struct {
	failed bool
	end    func()
}

func (t *standIn) Name() string              { return "Example" }
func (t *standIn) Helper()                   {}
func (t *standIn) Cleanup(f func())          { t.end = f }
func (t *standIn) Logf(string, ...any)       {}
func (t *standIn) Errorf(string, ...any)     { t.failed = true } // with the verdict, stages and goroutines
func (t *standIn) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
