package httpbackend

import (
	"io"
	"sync/atomic"
)

// openBody is the body of a response as it came, which is counted until it is closed.
type openBody struct {
	io.ReadCloser
	open   *atomic.Int64
	closed atomic.Bool // some close twice, and from two goroutines
}

func newOpenBody(open *atomic.Int64, raw io.ReadCloser) *openBody {
	open.Add(1)
	return &openBody{ReadCloser: raw, open: open}
}

// Close implements io.Closer.
func (b *openBody) Close() error {
	if !b.closed.Swap(true) {
		b.open.Add(-1)
	}
	return b.ReadCloser.Close()
}
