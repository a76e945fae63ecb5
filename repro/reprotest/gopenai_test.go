package reprotest_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/repro/reprotest"
)

func TestGoOpenAI(t *testing.T) { both(t, "gopenai", writeWithGoOpenAI) }

// writeWithGoOpenAI is a harness on top of github.com/sashabaranov/go-openai.
func writeWithGoOpenAI(ctx context.Context, k *reprotest.Kit, idle time.Duration) (string, error) {
	config := openai.DefaultConfig("no key")
	config.BaseURL, config.HTTPClient = k.BaseURL, k.Client
	client := openai.NewClientWithConfig(config)
	return again(ctx, func(ctx context.Context) (string, error) {
		ctx, moved, done := limited(ctx, idle)
		defer done()
		stream, err := client.CreateChatCompletionStream(ctx, openai.ChatCompletionRequest{
			Model: k.Model, Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Write the article."}},
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
