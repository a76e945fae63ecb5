package load

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// piece is an event with text, as SGLang sends it.
func piece(text string) string {
	return `data: {"id":"a","choices":[{"index":0,"delta":{"reasoning_content":null,"content":"` + text + `"},"finish_reason":null}]}` + "\n\n"
}

const (
	roleEvent   = `data: {"id":"a","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
	finishEvent = `data: {"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	usageEvent  = `data: {"id":"a","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":7}}` + "\n\n"
	doneEvent   = "data: [DONE]\n\n"
)

// told sums a receipt up in one line.
func told(r *receipt) string {
	return fmt.Sprintf("%d tokens (exact %v), %d outputs, %d prompt tokens, %d comments, finished %v, done %v, %q",
		r.outputTokens(), r.exact, r.outputs, r.promptTokens, r.comments, r.finished, r.done, r.text)
}

// receive reads a stream as a client does.
func receive(body io.Reader) (*receipt, error) {
	w := sim.NewWall(sim.WallOptions{})
	r := &receipt{w: w, rec: &recorder{plan: &Plan{Stream: true}}}
	r.begin(nil)
	return r, (&events{w: w}).read(body, true, r)
}

func TestEvents(t *testing.T) {
	whole := "7 tokens (exact true), 2 outputs, 12 prompt tokens, 0 comments, finished true, done true, \"one two\""
	for _, c := range []struct{ name, body, want, err string }{
		{"whole", roleEvent + piece("one ") + piece("two") + finishEvent + usageEvent + doneEvent, whole, ""},
		{"carriage returns", strings.ReplaceAll(roleEvent+piece("one ")+piece("two")+finishEvent+usageEvent+doneEvent, "\n", "\r\n"), whole, ""},
		{"other line ends", "event: x\nid: 3\nretry: 5\n" + piece("one ") + piece("two") + finishEvent + usageEvent + doneEvent, whole, ""},
		{"no space", strings.ReplaceAll(piece("one ")+piece("two")+finishEvent+usageEvent+doneEvent, "data: ", "data:"), whole, ""},
		{"comments and pings", ": hello\n\n:\n\ndata:\n\n" + piece("x") + ": again\n" + finishEvent + doneEvent, "1 tokens (exact false), 1 outputs, 0 prompt tokens, 3 comments, finished true, done true, \"x\"", ""},
		{"without [DONE]", piece("one ") + piece("two") + finishEvent, "2 tokens (exact false), 2 outputs, 0 prompt tokens, 0 comments, finished true, done false, \"one two\"", ""},
		{"last line open", piece("x") + strings.TrimRight(finishEvent, "\n"), "1 tokens (exact false), 1 outputs, 0 prompt tokens, 0 comments, finished true, done false, \"x\"", ""},
		{"after [DONE]", piece("x") + doneEvent + "data: {broken\n\n", "1 tokens (exact false), 1 outputs, 0 prompt tokens, 0 comments, finished false, done true, \"x\"", ""},
		{"reasoning and tools", `data: {"choices":[{"delta":{"reasoning_content":"abcd"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"reasoning_content":"efgh"}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"reasoning":"ijkl"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"save","arguments":"{}"}}]}}]}` + "\n\n" + doneEvent,
			"5 tokens (exact false), 4 outputs, 0 prompt tokens, 0 comments, finished false, done true, \"\"", ""},
		{"escapes", piece("one ") + piece(`a\"b\n`) + piece("two") + doneEvent, "3 tokens (exact false), 3 outputs, 0 prompt tokens, 0 comments, finished false, done true, \"one a\\\"b\\ntwo\"", ""},
		{"empty text", piece("one ") + piece("") + doneEvent, "1 tokens (exact false), 1 outputs, 0 prompt tokens, 0 comments, finished false, done true, \"one \"", ""},
		{"cut", piece("one ") + piece("two"), "2 tokens (exact false), 2 outputs, 0 prompt tokens, 0 comments, finished false, done false, \"one two\"", "the stream ended without [DONE] and before the answer was finished: unexpected EOF"},
		{"nothing", "", "0 tokens (exact false), 0 outputs, 0 prompt tokens, 0 comments, finished false, done false, \"\"", "the stream ended without [DONE] and before the answer was finished: unexpected EOF"},
		{"malformed", piece("one ") + "data: {\"choices\":[{\n\n" + doneEvent, "1 tokens (exact false), 1 outputs, 0 prompt tokens, 0 comments, finished false, done false, \"one \"", `not a chunk (unexpected end of JSON input): {"choices":[{`},
		{"cut in the shape", piece("one ") + piece("two")[:len(piece("two"))-10] + "\n\n" + doneEvent, "1 tokens (exact false), 1 outputs, 0 prompt tokens, 0 comments, finished false, done false, \"one \"", "not a chunk (unexpected end of JSON input)"},
		{"quote within the shape", piece("one ") + piece(`t"wo`) + doneEvent, "1 tokens (exact false), 1 outputs, 0 prompt tokens, 0 comments, finished false, done false, \"one \"", "not a chunk (invalid character 'w' after object key:value pair)"},
		{"error, nested", piece("one ") + `data: {"error":{"message":"out of memory","code":503}}` + "\n\n" + doneEvent, "1 tokens (exact false), 1 outputs, 0 prompt tokens, 0 comments, finished false, done false, \"one \"", "pacer: error event in stream (code 503): out of memory"},
		{"error, flat", `data: {"object":"error","message":"no","code":"500"}` + "\n\n", "0 tokens (exact false), 0 outputs, 0 prompt tokens, 0 comments, finished false, done false, \"\"", "pacer: error event in stream (code 500): no"},
		{"error, text", `data: {"error":"busy"}` + "\n\n", "0 tokens (exact false), 0 outputs, 0 prompt tokens, 0 comments, finished false, done false, \"\"", "pacer: error event in stream (code 0): busy"},
		{"error, Python", "data: {'error': 'gone'}\n\n", "0 tokens (exact false), 0 outputs, 0 prompt tokens, 0 comments, finished false, done false, \"\"", "pacer: error event in stream (code 0): {'error': 'gone'}"},
		{"null error", `data: {"error":null,"choices":[{"delta":{"content":"x"}}]}` + "\n\n" + doneEvent, "1 tokens (exact false), 1 outputs, 0 prompt tokens, 0 comments, finished false, done true, \"x\"", ""},
		{"long line", ":" + strings.Repeat("x", 5*bufferMin) + "\n" + piece("x") + doneEvent, "1 tokens (exact false), 1 outputs, 0 prompt tokens, 1 comments, finished false, done true, \"x\"", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, body := range map[string]io.Reader{"at once": strings.NewReader(c.body), "by the byte": iotest.OneByteReader(strings.NewReader(c.body))} {
				r, err := receive(body)
				if got := told(r); got != c.want || !strings.HasPrefix(text(err), c.err) || c.err == "" && err != nil {
					t.Errorf("%s:\ngot  %s, %v\nwant %s, %s", how, got, err, c.want, c.err)
				}
			}
		})
	}
}

func TestEventsNeverEnding(t *testing.T) {
	_, err := receive(io.LimitReader(endless{}, 1<<30))
	var malformed *malformedError
	if !errors.As(err, &malformed) || !strings.Contains(err.Error(), "a line of the stream is longer than") {
		t.Errorf("got %v", err)
	}
	r, err := receive(io.MultiReader(strings.NewReader(piece("x")), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if !errors.Is(err, io.ErrUnexpectedEOF) || r.outputs != 1 {
		t.Errorf("got %v, %s", err, told(r))
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// FuzzEvents compares the reader that recognises shapes with one that decodes each event.
func FuzzEvents(f *testing.F) {
	f.Add(roleEvent + piece("one ") + piece("two") + piece(`a\"b`) + piece("") + finishEvent + usageEvent + doneEvent)
	f.Add(piece("one ") + piece("two")[:30] + "\n" + piece("three"))
	f.Add(piece("one ") + `data: {"id":"a","choices":[{"index":0,"delta":{"reasoning_content":null,"content":"x","content":"y"},"finish_reason":null}]}` + "\n")
	f.Add(`data: {"choices":[{"delta":{"content": "one"}}]}` + "\n" + `data: {"choices":[{"delta":{"content": "\u00e9"}}]}` + "\n")
	f.Add(`data: {"content":"a","choices":[{"delta":{"content":"a"}}]}` + "\n" + `data: {"content":"b","choices":[{"delta":{"content":"a"}}]}` + "\n")
	f.Add(piece("one ") + "data: {'error': 1}\n: comment\n" + doneEvent)
	f.Fuzz(func(t *testing.T, body string) {
		r, err := receive(strings.NewReader(body))
		want := &receipt{}
		wantErr := error(nil)
		for line := range strings.Lines(body) {
			data, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data:")
			if data = strings.TrimSpace(data); !ok || data == "" {
				continue
			}
			if data == "[DONE]" {
				want.done = true
				break
			}
			var each shape // learns nothing from the event before
			if _, wantErr = each.read([]byte(data), true, want); wantErr != nil {
				break
			}
		}
		want.comments = r.comments
		if told(r) != told(want) {
			t.Errorf("got  %s (%v)\nwant %s (%v)", told(r), err, told(want), wantErr)
		}
		if wantErr != nil && text(err) != text(wantErr) {
			t.Errorf("got %v, want %v", err, wantErr)
		}
		var status *pacer.StatusError
		if errors.As(err, &status) && !status.InStream {
			t.Errorf("an event makes a status: %v", err)
		}
	})
}
