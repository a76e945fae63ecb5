package reprotest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/repro/reprotest"
)

func TestSurvivesSilentStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kit := reprotest.Start(t, reprotest.Scenario("silent-stream"))
		h := mine{client: kit.Client, baseURL: kit.BaseURL, model: kit.Model, idleMax: time.Minute} // your own
		if _, err := h.write(t.Context(), "the article"); err != nil {
			t.Error(err)
		}
	})
}

func TestGoOpenAI(t *testing.T) { both(t, "gopenai", writeWithGoOpenAI) }

func writeWithGoOpenAI(ctx context.Context, k *reprotest.Kit, idle time.Duration) (string, error) {
	return mine{client: k.Client, baseURL: k.BaseURL, model: k.Model, idleMax: idle}.write(ctx, "the article")
}

// mine is a harness on top of github.com/sashabaranov/go-openai.
type mine struct {
	client         *http.Client
	baseURL, model string
	idleMax        time.Duration // that nothing may come; 0: for ever
}

func (m mine) write(ctx context.Context, what string) (string, error) {
	config := openai.DefaultConfig("no key")
	config.BaseURL, config.HTTPClient = m.baseURL, m.client
	client := openai.NewClientWithConfig(config)
	return again(ctx, func(ctx context.Context) (string, error) {
		ctx, moved, done := limited(ctx, m.idleMax)
		defer done()
		stream, err := client.CreateChatCompletionStream(ctx, openai.ChatCompletionRequest{
			Model: m.model, Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Write " + what + "."}},
		})
		if err != nil {
			return "", err
		}
		defer stream.Close()
		var article strings.Builder
		for {
			chunk, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return article.String(), nil
			}
			if err != nil {
				return "", err
			}
			moved()
			for _, c := range chunk.Choices {
				article.WriteString(c.Delta.Content)
			}
		}
	})
}
