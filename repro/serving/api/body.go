package api

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

// readBody reads the body of the request into a buffer that is to be given back with keepBody. It
// returns a failure instead if the body is too long, too slow, or cut short.
func (x *exchange) readBody() (*bytes.Buffer, *failure) {
	most := x.cfg.BodyBytesMax
	limit := most
	if x.in.ContentLength > most {
		// Not even begun: but net/http must see that the limit is hit, and then it closes the connection
		// in a way that leaves the client time to read the answer.
		limit = 0
	}
	control := http.NewResponseController(x.out)
	// Where a deadline is not supported there is no network either. It has to be taken away again,
	// since net/http goes on reading, to find out whether the client leaves.
	_ = control.SetReadDeadline(time.Now().Add(x.cfg.BodyTimeout))
	defer func() { _ = control.SetReadDeadline(time.Time{}) }()

	b, ok := x.bodies.Get().(*bytes.Buffer)
	if !ok {
		b = new(bytes.Buffer)
	}
	// What a client announces is taken on trust up to a point; one more than the length saves a
	// doubling when the end is found.
	b.Grow(int(max(0, min(x.in.ContentLength, limit, bodyKeptMax-bytes.MinRead))) + bytes.MinRead)
	_, err := b.ReadFrom(http.MaxBytesReader(x.out, x.in.Body, limit))
	if err == nil {
		return b, nil
	}
	x.keepBody(b)
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, tooLarge(most)
	case errors.Is(err, os.ErrDeadlineExceeded):
		x.out.Header().Set("Connection", "close")
		return nil, flat(http.StatusRequestTimeout, "The request body did not arrive in time.")
	}
	return nil, flat(http.StatusBadRequest, "The request body was cut short.")
}

func tooLarge(most int64) *failure {
	return flat(http.StatusRequestEntityTooLarge, fmt.Sprintf("The request body is larger than %d bytes.", most))
}

// bodyKeptMax bounds the buffers that are kept.
const bodyKeptMax = 1 << 20

// keepBody takes a buffer back. Nothing may point into it any more.
func (x *exchange) keepBody(b *bytes.Buffer) {
	if b.Cap() <= bodyKeptMax {
		b.Reset()
		x.bodies.Put(b)
	}
}
