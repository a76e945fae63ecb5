package load

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// exchange is what one request after the other needs of memory.
type exchange struct {
	events events
	body   []byte
	open   int // readers of body that the transport has not closed; guarded by the monitor
}

// bodyReader is the body of a request on its way. The transport closes it when it is done with it,
// which may be after the answer has come.
type bodyReader struct {
	bytes.Reader
	x      *exchange
	closed bool // guarded by the monitor
}

func (x *exchange) reader() *bodyReader {
	b := &bodyReader{x: x}
	b.Reset(x.body)
	x.events.w.Lock()
	x.open++
	x.events.w.Unlock()
	return b
}

// Close implements io.Closer. The transport may call it more than once.
func (b *bodyReader) Close() error {
	b.x.events.w.Lock()
	defer b.x.events.w.Unlock()
	if !b.closed {
		b.closed = true
		b.x.open--
	}
	return nil
}

func (t *overHTTP) take() *exchange {
	t.w.Lock()
	defer t.w.Unlock()
	n := len(t.spare)
	if n == 0 {
		return &exchange{events: events{w: t.w}}
	}
	x := t.spare[n-1]
	t.spare = t.spare[:n-1]
	return x
}

// giveBack keeps an exchange for the next request, unless somebody still reads its body.
func (t *overHTTP) giveBack(x *exchange) {
	t.w.Lock()
	defer t.w.Unlock()
	if x.open == 0 {
		t.spare = append(t.spare, x)
	}
}

// appendBody appends the request as JSON.
func (t *overHTTP) appendBody(b []byte, c *call) []byte {
	b = append(b, `{"model":`...)
	b = appendString(b, t.model)
	b = append(b, `,"messages":[`...)
	for i, m := range c.messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"role":"`...)
		b = append(b, m.role...)
		b = append(b, `","content":`...)
		b = appendString(b, m.text)
		b = append(b, '}')
	}
	b = append(b, ']')
	if c.plan.MaxTokens > 0 {
		b = append(b, `,"max_tokens":`...)
		b = strconv.AppendInt(b, int64(c.plan.MaxTokens), 10)
	}
	if c.plan.IgnoreEOS {
		b = append(b, `,"ignore_eos":true`...)
	}
	if c.plan.Stream {
		b = append(b, `,"stream":true,"stream_options":{"include_usage":true}`...)
	}
	return append(b, '}')
}

// appendString appends text as a JSON string.
func appendString(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			quoted, _ := json.Marshal(text) // a string can always be encoded
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"')
}
