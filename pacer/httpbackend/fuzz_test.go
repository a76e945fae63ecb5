package httpbackend

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// play runs a response body through a stream, as Open would have it, and returns what comes out.
func play(t *testing.T, body io.Reader) (text string, p pacer.Progress, err error) {
	t.Helper()
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body), Request: r}, nil
	})
	client, err := New(sim.NewWall(sim.WallOptions{}), Config{BaseURL: "http://host/v1", APIKey: "sk-secret", HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := client.Open(t.Context(), &pacer.Attempt{ID: "a", Connected: func() {}}, openai.ChatCompletionRequest{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	var b strings.Builder
	for {
		chunk, err := s.Recv()
		if err != nil {
			return b.String(), s.Progress(), err
		}
		for _, c := range chunk.Choices {
			b.WriteString(c.Delta.Content)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// FuzzStream plays what a mad server might send. It ends, says why in one line without the key, and
// how the network cuts the bytes into pieces makes no difference.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		"", "data: [DONE]\n\n", ": hi\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n",
		"data: {\"error\":{\"message\":\"sk-secret\",\"code\":503}}\n\n", "data: {\"error\":null,\"choices\":[]}\r\n\r\ndata:[DONE]", "data: {'error': 1}\n",
		"data:\n\ndata: \n\n", "data: x\n", "event: ping\nretry: 5\nid\n", "data: {\"object\":\"error\",\"message\":[1]}\n", "data: {\"choices\":[{\"delta\":{\"reasoning\":\"x\"},\"finish_reason\":\"stop\"}]}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		text, p, err := play(t, bytes.NewReader(body))
		slowly, q, slowErr := play(t, iotest.OneByteReader(bytes.NewReader(body)))
		if text != slowly || p.Events != q.Events || p.Tokens != q.Tokens || err.Error() != slowErr.Error() {
			t.Errorf("at once: %q %+v %v\none by one: %q %+v %v", text, p, err, slowly, q, slowErr)
		}
		if message := err.Error(); strings.ContainsAny(message, "\n\r\x1b") || strings.Contains(message, "sk-secret") || len(message) > messageMax+100 {
			t.Errorf("error: %q", message)
		}
		var status *pacer.StatusError
		if errors.As(err, &status) && (!status.InStream || status.Status != 0 && (status.Status < 400 || status.Status > 599)) {
			t.Errorf("status: %+v", status)
		}
	})
}

func TestRedact(t *testing.T) {
	redact := newRedactor(Config{APIKey: "sk-1", Header: http.Header{"A": {"Bearer sk-1-longer"}, "B": {"1"}}})
	for in, want := range map[string]string{
		"":                                     "",
		"nothing 1":                            "nothing 1",
		"sk-1":                                 "[redacted]",
		"xsk-1-longery":                        "x[redacted]y",
		"Bearer sk-1-longer, Bearer sk-1":      "[redacted], Bearer [redacted]",
		"see http://u:p@host/x?y=a@b":          "see http://[redacted]@host/x?y=a@b",
		`Get "https://a@b@c": x, http://d e@f`: `Get "https://[redacted]@c": x, http://d e@f`,
		"://@":                                 "://[redacted]@",
	} {
		if got := redact(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "",
		" a\r\n\tb ":                   "a b",
		"\x1b[31mred\x07":              "[31mred",
		"a\xffb\u202ec":                "a\uFFFDb c",
		strings.Repeat("x", 501):       strings.Repeat("x", 500) + "…",
		"x" + strings.Repeat("ä", 300): "x" + strings.Repeat("ä", 249) + "…",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// BenchmarkStream measures what receiving costs, a chunk of one token.
func BenchmarkStream(b *testing.B) {
	chunk, _ := json.Marshal(openai.ChatCompletionStreamResponse{ID: "r", Object: "chat.completion.chunk", Model: "m",
		Choices: []openai.ChatCompletionStreamChoice{{Delta: openai.ChatCompletionStreamChoiceDelta{Content: " word"}}}})
	event := "data: " + string(chunk) + "\n\n"
	b.ReportAllocs()
	b.SetBytes(int64(len(event)))
	body := strings.NewReader(strings.Repeat(event, b.N) + "data: [DONE]\n\n")
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body), Request: r}, nil
	})
	client, err := New(sim.NewWall(sim.WallOptions{}), Config{BaseURL: "http://host/v1", HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		b.Fatal(err)
	}
	s, err := client.Open(b.Context(), &pacer.Attempt{ID: "a", Connected: func() {}}, openai.ChatCompletionRequest{Model: "m"})
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for err == nil {
		_, err = s.Recv()
	}
	if err != io.EOF {
		b.Fatal(err)
	}
}
