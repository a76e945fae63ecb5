package reprotest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"example.com/wedge/repro/reprotest"
)

func TestOpenAIGo(t *testing.T) { both(t, "openaigo", writeWithOpenAIGo) }

// writeWithOpenAIGo is a harness on top of github.com/openai/openai-go.
func writeWithOpenAIGo(ctx context.Context, k *reprotest.Kit, idle time.Duration) (string, error) {
	client := openai.NewClient(option.WithBaseURL(k.BaseURL), option.WithHTTPClient(k.Client), option.WithAPIKey("no key"))
	return again(ctx, func(ctx context.Context) (string, error) {
		ctx, moved, done := limited(ctx, idle)
		defer done()
		stream := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
			Model: k.Model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Write the article.")},
		})
		defer stream.Close()
		var article strings.Builder
		for stream.Next() {
			moved()
			for _, c := range stream.Current().Choices {
				article.WriteString(c.Delta.Content)
			}
		}
		return article.String(), stream.Err()
	})
}
