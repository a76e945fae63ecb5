package goroutine

import (
	"bytes"
	"io"
	"runtime"
	"runtime/pprof"
)

const (
	// captureBytesMin is the least room; goroutines of the runtime that
	// NumGoroutine does not count fit in.
	captureBytesMin = 64 << 10
	// captureStackBytes is the room for one goroutine while nothing is known
	// about this process: a blocked HTTP call with labels takes about 2 KiB.
	captureStackBytes = 3 << 10
	// captureBytesMax bounds the buffer.
	captureBytesMax = 1 << 30
)

// A Capturer takes the stacks of its own process. Every take stops the world for
// its whole length (about 12 ms for 1,000 goroutines), so it sizes the buffer in
// advance and normally takes once, where pprof's debug=2 tries sizes in turn and
// cuts at 64 MiB. The zero value is ready. A Capturer keeps its buffer; it is for
// use by one goroutine at a time.
type Capturer struct {
	buf        []byte
	stackBytes int // a goroutine's share of the last text, 0 before the first
	takes      int
}

// Text returns the stacks of all goroutines as runtime.Stack prints them, the
// caller's first. It is valid until the next call. truncated says that the text
// ends early, since it would have been larger than 1 GiB.
func (c *Capturer) Text() (text []byte, truncated bool) {
	stackBytes := max(c.stackBytes, captureStackBytes)
	want := captureBytesMin + runtime.NumGoroutine()*stackBytes*5/4
	for {
		want = min(want, captureBytesMax)
		if len(c.buf) < want {
			c.buf = make([]byte, want)
		}
		n := runtime.Stack(c.buf, true)
		c.takes++
		text = c.buf[:n]
		count := 1 + bytes.Count(text, []byte("\n\ngoroutine "))
		c.stackBytes = n / count
		// A text that fills the buffer to the last byte is taken for cut.
		if n < len(c.buf) {
			return text, false
		}
		if len(c.buf) >= captureBytesMax {
			return text, true
		}
		// What came first may have been the smaller stacks.
		want = max(2*len(c.buf), captureBytesMin+runtime.NumGoroutine()*c.stackBytes*2)
	}
}

// Takes is how often Text has stopped the world; with the number of calls it
// tells how well the buffer was sized.
func (c *Capturer) Takes() int { return c.takes }

// WriteProfile writes the goroutine profile in pprof's format, gzipped: counts
// by stack and labels, without states, in a fraction of the time that text takes.
func WriteProfile(w io.Writer) error {
	return pprof.Lookup("goroutine").WriteTo(w, 0)
}

// WriteLeakProfile writes the profile of goroutines that are blocked for good
// on something unreachable, in the same format. It runs a garbage collection.
// supported is false, and nothing is written, where the runtime does not have it:
// before Go 1.26, and in 1.26 without GOEXPERIMENT=goroutineleakprofile.
func WriteLeakProfile(w io.Writer) (supported bool, err error) {
	p := pprof.Lookup("goroutineleak")
	if p == nil {
		return false, nil
	}
	return true, p.WriteTo(w, 0)
}
