package api

import (
	"net/http"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// stream sends an answer event by event. Its headers are due.
func (x *exchange) stream(h *serving.Handle, q *question) {
	header := x.out.Header()
	header["Content-Type"] = []string{"text/event-stream"}
	// Otherwise net/http would give an answer that is complete at once a Content-Length.
	header["Transfer-Encoding"] = []string{"chunked"}
	x.begin(http.StatusOK)
	st := stream{exchange: x, h: h, chunks: x.newChunks(), usage: q.usage}
	for {
		looked := x.w.Now()
		more, done, err := st.send()
		if done {
			return
		}
		if err == nil {
			// The end of the answer ends the wait too.
			err = h.Wait(x.in.Context(), max(more, looked.Add(x.hold)))
		}
		if err != nil {
			x.breakOff(err)
			return
		}
	}
}

// stream is an answer that is being streamed.
type stream struct {
	*exchange
	h      *serving.Handle
	chunks chunks
	usage  bool // is to be sent
	shown  bool // the headers have been flushed
}

// writeBytesMax is about how much is put into one write, so that a client that reads slowly does not
// make the server keep a long answer.
const writeBytesMax = 32 << 10

// send writes all that is due, in one piece unless it is long. It returns when more will be due, and
// whether the answer has been sent to its end. An error means that it will not be.
func (st *stream) send() (more sim.Instant, done bool, err error) {
	b := st.buffer()
	defer st.giveBack(b)
	for {
		var part serving.Part
		part, more, err = st.h.Take()
		if part.Tokens > 0 {
			*b = st.chunks.append(*b, &part)
		}
		if part.Finish != "" {
			*b = st.chunks.finish(*b, part.Finish)
			if st.usage {
				usage := st.h.Usage()
				*b = st.chunks.usage(*b, &usage)
			}
			*b = append(*b, streamEnd...)
			_, err = st.out.Write(*b) // net/http flushes at the end
			return more, true, err
		}
		last := err != nil || part.Tokens == 0 || more > st.w.Now()
		if !last && len(*b) < writeBytesMax {
			continue
		}
		if failed := st.flush(*b); failed != nil && err == nil {
			err = failed
		}
		if last || err != nil {
			return more, false, err
		}
		*b = (*b)[:0]
	}
}

// flush writes b, and the headers if they have not been.
func (st *stream) flush(b []byte) error {
	if len(b) == 0 && st.shown {
		return nil
	}
	st.shown = true
	if _, err := st.out.Write(b); err != nil {
		return err
	}
	return http.NewResponseController(st.out).Flush()
}
