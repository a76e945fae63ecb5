package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/sashabaranov/go-openai"
)

// reader is what reads a request. It is used again for others.
type reader struct {
	body bytes.Buffer
	chat chatRequest
	out  openai.ChatCompletionRequest // what chat is turned into
}

// readBody reads the body of the request into a reader that is to be given back with keepReader. It
// returns a failure instead if the body is too long, too slow, or cut short.
func (x *exchange) readBody() (*reader, *failure) {
	control := http.NewResponseController(x.out)
	// Where a deadline is not supported there is no network either. It has to be taken away again,
	// since net/http goes on reading, to find out whether the client leaves.
	_ = control.SetReadDeadline(time.Now().Add(x.cfg.BodyTimeout))
	defer func() { _ = control.SetReadDeadline(time.Time{}) }()

	r, ok := x.readers.Get().(*reader)
	if !ok {
		r = new(reader)
	}
	limit, body := x.limited()
	// What a client announces is taken on trust up to a point; one more than the length saves a
	// doubling when the end is found.
	r.body.Grow(int(max(0, min(x.in.ContentLength, limit, bodyKeptMax-bytes.MinRead))) + bytes.MinRead)
	_, err := r.body.ReadFrom(body)
	if err == nil {
		return r, nil
	}
	x.keepReader(r)
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, tooLarge(x.cfg.BodyBytesMax)
	case errors.Is(err, os.ErrDeadlineExceeded):
		x.out.Header().Set("Connection", "close")
		return nil, flat(http.StatusRequestTimeout, "The request body did not arrive in time.")
	}
	return nil, flat(http.StatusBadRequest, "The request body was cut short.")
}

// limited returns the body of the request, and how much of it there may be.
func (x *exchange) limited() (bytesMax int64, body io.Reader) {
	bytesMax = x.cfg.BodyBytesMax
	switch length := x.in.ContentLength; {
	case length > bytesMax:
		// Not even begun: but net/http must see that the limit is hit, and then it closes the connection
		// in a way that leaves the client time to read the answer.
		bytesMax = 0
	case length >= 0:
		return bytesMax, x.in.Body // net/http gives no more than was announced
	}
	return bytesMax, http.MaxBytesReader(x.out, x.in.Body, bytesMax)
}

func tooLarge(most int64) *failure {
	return flat(http.StatusRequestEntityTooLarge, fmt.Sprintf("The request body is larger than %d bytes.", most))
}

// bodyKeptMax and messagesKeptMax bound what is kept of readers.
const (
	bodyKeptMax     = 1 << 20
	messagesKeptMax = 256
)

// keepReader takes a reader back. Nothing may point into it any more.
func (x *exchange) keepReader(r *reader) {
	if r.body.Cap() > bodyKeptMax || cap(r.out.Messages) > messagesKeptMax || cap(r.chat.Messages) > messagesKeptMax {
		return
	}
	r.body.Reset()
	clear(r.chat.Messages) // they keep texts
	clear(r.out.Messages)
	r.chat = chatRequest{Messages: r.chat.Messages[:0]}
	r.out = openai.ChatCompletionRequest{Messages: r.out.Messages[:0]}
	x.readers.Put(r)
}
