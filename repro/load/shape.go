package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"example.com/wedge/pacer"
)

// shape remembers the latest event of a stream whose text stood in one plain JSON string:
//
//	{"id":…,"choices":[{"delta":{"content":"some text"},…}]}
//	<------------- head ------------------->text<---- tail --->
//
// An event with the same head and tail and plain text between them (no quote, backslash or control
// character) is valid JSON too and says the same besides, so it need not be decoded. Of a stream's
// events nearly all are like that. Any other one is decoded in full.
type shape struct {
	event      []byte // a copy
	head, tail int    // lengths; head 0: there is no such event
	keeps      bool   // the string is the content, not the reasoning
}

// read notes what an event says on the receipt, and reports whether it has output.
func (s *shape) read(event []byte, keep bool, r *receipt) (output bool, err error) {
	if text, ok := s.textOf(event); ok {
		if keep && s.keeps {
			r.text = append(r.text, text...)
		}
		return r.outputOf(len(text)), nil
	}
	s.head = 0
	c, err := decode(event)
	if err != nil {
		return false, err
	}
	if u := c.Usage; u != nil && u.CompletionTokens > 0 {
		r.tokens, r.exact, r.promptTokens = u.CompletionTokens, true, u.PromptTokens
	}
	size := 0
	for i := range c.Choices {
		choice := &c.Choices[i]
		r.finished = r.finished || choice.FinishReason != ""
		for _, d := range [...]*delta{&choice.Delta, &choice.Message} {
			size += d.size()
			if keep {
				r.text = append(r.text, d.Content...)
			}
		}
	}
	// An event that also says something else than text is not a pattern for others.
	if len(c.Choices) == 1 && c.Usage == nil && c.Choices[0].FinishReason == "" {
		s.learn(event, c)
	}
	return r.outputOf(size), nil
}

// textOf returns the text of an event that has the shape.
func (s *shape) textOf(event []byte) ([]byte, bool) {
	if s.head == 0 || len(event) < s.head+s.tail {
		return nil, false
	}
	end := len(event) - s.tail
	if !bytes.Equal(event[:s.head], s.event[:s.head]) || !bytes.Equal(event[end:], s.event[len(s.event)-s.tail:]) {
		return nil, false
	}
	text := event[s.head:end]
	if !plain(text) {
		return nil, false
	}
	return text, true
}

// learn takes an event for the shape of the next ones if its text can be found in it.
func (s *shape) learn(event []byte, c *chunk) {
	d := &c.Choices[0].Delta
	field, text := `"content":`, d.Content
	if text == "" {
		field, text = `"reasoning_content":`, d.ReasoningContent
	}
	if text == "" || !plain([]byte(text)) {
		return
	}
	at := bytes.Index(event, []byte(field))
	if at < 0 {
		return
	}
	at += len(field)
	for at < len(event) && event[at] == ' ' {
		at++
	}
	if !bytes.HasPrefix(event[at:], []byte(`"`+text+`"`)) {
		return
	}
	s.event = append(s.event[:0], event...)
	s.head, s.tail = at+1, len(event)-at-1-len(text)
	s.keeps = field == `"content":`
	if !s.holds() {
		s.head = 0
	}
}

// holds says whether another text in the place of this one is all that changes: the place may be that
// of a key that does not count, and the event may have other text besides.
func (s *shape) holds() bool {
	const other = "another text"
	probe := append(append(append([]byte(nil), s.event[:s.head]...), other...), s.event[len(s.event)-s.tail:]...)
	c, err := decode(probe)
	if err != nil || len(c.Choices) != 1 {
		return false
	}
	d := c.Choices[0].Delta
	if s.keeps && d.Content == other {
		d.Content = ""
	} else if !s.keeps && d.ReasoningContent == other {
		d.ReasoningContent = ""
	}
	return d.size()+c.Choices[0].Message.size() == 0
}

// plain says whether text stands for itself in a JSON string.
func plain(text []byte) bool {
	ascii := true
	for _, b := range text {
		if b < ' ' || b == '"' || b == '\\' {
			return false
		}
		ascii = ascii && b < utf8.RuneSelf
	}
	return ascii || utf8.Valid(text)
}

// outputOf counts the output of an event.
func (r *receipt) outputOf(size int) bool {
	if size == 0 {
		return false
	}
	r.textBytes += size
	r.outputs++
	return true
}

// chunk is what is read of an event, or of an answer in one piece.
type chunk struct {
	Object  string          `json:"object"`
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"` // of errors that are not nested
	Code    json.RawMessage `json:"code"`
	Detail  json.RawMessage `json:"detail"`
	Choices []struct {
		Delta        delta  `json:"delta"`
		Message      delta  `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
}

// delta is a piece of an answer.
type delta struct {
	Content          string `json:"content"`
	ReasoningContent string `json:"reasoning_content"`
	Reasoning        string `json:"reasoning"` // what some servers call it
	Refusal          string `json:"refusal"`
	ToolCalls        []struct {
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// size returns how many bytes of output it has.
func (d *delta) size() int {
	n := len(d.Content) + max(len(d.ReasoningContent), len(d.Reasoning)) + len(d.Refusal)
	for i := range d.ToolCalls {
		n += len(d.ToolCalls[i].Function.Name) + len(d.ToolCalls[i].Function.Arguments)
	}
	return n
}

// decode decodes an event. An error event is a *pacer.StatusError.
func decode(event []byte) (*chunk, error) {
	var c chunk
	if bytes.HasPrefix(event, []byte("{'error'")) { // an SGLang router relays an engine's error in Python's notation
		return nil, &pacer.StatusError{Message: string(event), InStream: true}
	}
	if err := json.Unmarshal(event, &c); err != nil {
		return nil, &malformedError{fmt.Sprintf("not a chunk (%v): %s", err, event)}
	}
	if c.Object == "error" || given(c.Error) {
		message, code := c.failure(event)
		return nil, &pacer.StatusError{Status: code, Message: message, InStream: true}
	}
	return &c, nil
}

// failure returns the message and the code of an error in one of the shapes in use:
//
//	{"error":{"message":"…","type":"…","code":503}}          OpenAI, vLLM, SGLang in a stream
//	{"object":"error","message":"…","type":"…","code":503}   SGLang
//	{"error":"…"}                                            Ollama, Hugging Face
//	{"detail":"…"}                                           FastAPI
//
// What has none of them is its own message.
func (c *chunk) failure(text []byte) (message string, code int) {
	if given(c.Error) {
		var inner chunk
		if json.Unmarshal(c.Error, &inner) != nil || !given(inner.Message) {
			return unquoted(c.Error), 0
		}
		return unquoted(inner.Message), statusOf(inner.Code)
	}
	for _, m := range [...]json.RawMessage{c.Message, c.Detail} {
		if given(m) {
			return unquoted(m), statusOf(c.Code)
		}
	}
	return string(text), 0
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// unquoted returns a JSON string's text, or other JSON as it is.
func unquoted(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// statusOf returns a code, given as a number or in a string, if it is an HTTP error status, else 0.
func statusOf(raw json.RawMessage) int {
	code, err := strconv.Atoi(unquoted(raw))
	if err != nil || code < 400 || code > 599 {
		return 0
	}
	return code
}
