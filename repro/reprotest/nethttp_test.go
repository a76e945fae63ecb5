package reprotest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/wedge/repro/reprotest"
)

func TestNetHTTP(t *testing.T) { both(t, "nethttp", writeWithNetHTTP) }

// writeWithNetHTTP is a harness that reads events by itself.
func writeWithNetHTTP(ctx context.Context, k *reprotest.Kit, idle time.Duration) (string, error) {
	return again(ctx, func(ctx context.Context) (string, error) {
		ctx, moved, done := limited(ctx, idle)
		defer done()
		body := fmt.Sprintf(`{"model": %q, "stream": true, "messages": [{"role": "user", "content": "Write the article."}]}`, k.Model)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, k.BaseURL+"/chat/completions", strings.NewReader(body))
		if err != nil {
			return "", err
		}
		resp, err := k.Client.Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return "", fmt.Errorf("status %s", resp.Status)
		}
		return readEvents(resp.Body, moved)
	})
}

// readEvents reads an answer as server-sent events.
func readEvents(from io.Reader, moved func()) (string, error) {
	var article strings.Builder
	for lines := bufio.NewScanner(from); ; {
		if !lines.Scan() {
			if err := lines.Err(); err != nil {
				return "", err
			}
			return "", io.ErrUnexpectedEOF
		}
		data, isData := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !isData {
			continue
		}
		moved()
		if string(data) == "[DONE]" {
			return article.String(), nil
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal(data, &chunk); err != nil {
			return "", err
		}
		for _, c := range chunk.Choices {
			article.WriteString(c.Delta.Content)
		}
	}
}
