package probe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Reply is what became of the one request that was sent end to end. Times are on the servers' clock.
type Reply struct {
	URL       string  `json:"url"`
	Model     string  `json:"model"`
	MaxTokens int     `json:"max_tokens"`
	LimitS    float64 `json:"limit_s"`
	SentAtS   float64 `json:"sent_at_s"` // since the probe began
	Status    int     `json:"status"`    // 0: no response headers came
	// HeadersS, FirstTokenS and EndS count from the sending; nil: it did not come.
	HeadersS    *float64 `json:"headers_s"`
	FirstTokenS *float64 `json:"first_token_s"`
	EndS        *float64 `json:"end_s"`
	Events      int      `json:"events"` // with output: about one a token
	TookS       float64  `json:"took_s"` // until its end, or until it was given up
	TimedOut    bool     `json:"timed_out"`
	Error       string   `json:"error,omitempty"` // on one line
}

// Answered says whether the answer came in full.
func (r *Reply) Answered() bool { return r != nil && r.EndS != nil && r.Error == "" }

// Text says in a sentence what became of it.
func (r *Reply) Text() string {
	what := fmt.Sprintf("one request of at most %s", plural(r.MaxTokens, "token"))
	switch {
	case r.Answered():
		return fmt.Sprintf("%s was answered in %s (first token after %s)", what, secondsText(*r.EndS), optional(r.FirstTokenS))
	case r.TimedOut && r.HeadersS == nil:
		return fmt.Sprintf("%s had no response headers after %s, and was given up", what, secondsText(r.TookS))
	case r.TimedOut && r.FirstTokenS == nil:
		return fmt.Sprintf("%s had its response headers after %s and no token until %s, and was given up", what, optional(r.HeadersS), secondsText(r.TookS))
	case r.TimedOut:
		return fmt.Sprintf("%s had its first token after %s, %s in all, and no end until %s, and was given up", what, optional(r.FirstTokenS), plural(r.Events, "event"), secondsText(r.TookS))
	case r.Status >= 300:
		return fmt.Sprintf("%s was refused with HTTP status %d after %s: %s", what, r.Status, secondsText(r.TookS), strings.TrimRight(r.Error, ". "))
	}
	return fmt.Sprintf("%s failed after %s: %s", what, secondsText(r.TookS), r.Error)
}

func optional(s *float64) string {
	if s == nil {
		return "none"
	}
	return secondsText(*s)
}

// prompt is what the request asks. It is short, so that it says nothing of long contexts.
const prompt = "Count from one to twenty."

// models asks for the first model that a server lists.
func (f *fetcher) models(ctx context.Context, t Target) (string, error) {
	a, err := f.get(ctx, t, pathModels, smallBytesMax, answerTimeMax)
	if err != nil {
		return "", err
	}
	if a.status == http.StatusUnauthorized || a.status == http.StatusForbidden {
		return "", fmt.Errorf("HTTP status %d: want its key in the environment", a.status)
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if a.status != http.StatusOK || json.Unmarshal(a.body, &list) != nil || len(list.Data) == 0 || list.Data[0].ID == "" {
		return "", fmt.Errorf("GET %s (HTTP status %d) lists no model: want --model NAME", pathModels, a.status)
	}
	return list.Data[0].ID, nil
}

// ask sends the request and waits for its end or its limit.
func (f *fetcher) ask(ctx context.Context, t Target, o *Options, model string) *Reply {
	r := &Reply{URL: t.at(pathChat), Model: model, MaxTokens: o.MaxTokens, LimitS: o.Limit.Seconds()}
	f.count(t, http.MethodPost, pathChat)
	start := time.Now()
	since := func() float64 { return round(time.Since(start).Seconds() * o.Scale) }
	limited, cancel := context.WithTimeout(ctx, o.real(o.Limit))
	defer cancel()
	err := f.stream(limited, t, r, since)
	r.TookS = since()
	switch {
	case err == nil:
	case context.Cause(ctx) != nil:
		r.Error = "interrupted"
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		r.TimedOut, r.Error = true, fmt.Sprintf("no end within the limit of %v", o.Limit)
	default:
		r.Error = f.plain(ctx, err, o.Limit).Error()
	}
	return r
}

// stream sends the request and reads its answer.
func (f *fetcher) stream(ctx context.Context, t Target, r *Reply, since func() float64) error {
	body, err := json.Marshal(map[string]any{
		"model": r.Model, "max_tokens": r.MaxTokens, "stream": true,
		"messages": []map[string]string{{"role": "user", "content": prompt}},
	})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("X-Request-Id", "wedge-probe")
	f.authorize(req)
	resp, err := f.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	headers := since()
	r.Status, r.HeadersS = resp.StatusCode, &headers
	limited := io.LimitReader(resp.Body, smallBytesMax)
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(limited) // what there is of it will do
		return errors.New(f.refusal(text, resp.StatusCode))
	}
	return r.events(limited, since)
}

// refusal finds the message in the body of an error.
func (f *fetcher) refusal(text []byte, status int) string {
	var body struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	message := string(text)
	if json.Unmarshal(text, &body) == nil {
		var inner struct {
			Message string `json:"message"`
		}
		switch {
		case json.Unmarshal(body.Error, &inner) == nil && inner.Message != "":
			message = inner.Message
		case body.Message != "":
			message = body.Message
		}
	}
	if message = cut(f.hide(message)); message == "" {
		return http.StatusText(status)
	}
	return message
}

// events reads the events of an answer to its end.
func (r *Reply) events(body io.Reader, since func() float64) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 4096), smallBytesMax)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue // a comment, or a blank line
		}
		if data = strings.TrimSpace(data); data == "[DONE]" {
			at := since()
			r.EndS = &at
			return nil
		}
		if hasOutput([]byte(data)) {
			if r.Events++; r.FirstTokenS == nil {
				at := since()
				r.FirstTokenS = &at
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return errors.New("the stream ended without [DONE]")
}

// hasOutput says whether an event brings content, reasoning or a tool call.
func hasOutput(data []byte) bool {
	var chunk struct {
		Choices []struct {
			Delta struct {
				Content   string            `json:"content"`
				Reasoning string            `json:"reasoning_content"`
				Other     string            `json:"reasoning"`
				ToolCalls []json.RawMessage `json:"tool_calls"`
			} `json:"delta"`
		} `json:"choices"`
	}
	if json.Unmarshal(data, &chunk) != nil {
		return false
	}
	for _, c := range chunk.Choices {
		if c.Delta.Content != "" || c.Delta.Reasoning != "" || c.Delta.Other != "" || len(c.Delta.ToolCalls) > 0 {
			return true
		}
	}
	return false
}
