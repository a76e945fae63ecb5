package api

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// stream is an answer that is being streamed.
type stream struct {
	*exchange
	h       *serving.Handle
	chunks  chunks
	usage   bool // is to be sent
	defects serving.Defects
	flushed bool        // the headers have been
	unsent  int         // tokens that are in no write so far
	due     sim.Instant // when what is sent next was to be; 0: it is for the end to say
}

// ended says whether nothing comes after a part.
func ended(p *serving.Part) bool { return p.Finish != "" || p.Error != nil || p.Cut }

// run sends the answer event by event. Its headers are due.
func (st *stream) run(ctx context.Context) {
	header := st.out.Header()
	header["Content-Type"] = st.types.events
	if st.in.ProtoMajor == 1 {
		// Otherwise net/http would give an answer that is complete at once a Content-Length.
		header["Transfer-Encoding"] = st.types.chunked
	}
	st.begin(http.StatusOK)
	st.due = st.instantOf(st.h)
	for {
		looked := st.w.Now()
		more, done, err := st.send(ctx)
		if done {
			return
		}
		if err == nil {
			st.due = max(more, looked.Add(st.hold))
			// The end of the answer ends the wait too.
			err = st.h.Wait(ctx, st.due)
		}
		if err != nil {
			st.breakOff(err)
			return
		}
	}
}

// writeBytesMax is about how much is put into one write, so that a client that reads slowly does not
// make the server keep a long answer.
const writeBytesMax = 32 << 10

// send writes all that is due, in one piece unless it is long. It returns when more will be due, and
// whether the answer has been sent to its end. An error means that it will not be.
func (st *stream) send(ctx context.Context) (more sim.Instant, done bool, err error) {
	part, more, err := st.h.Take()
	// Not before: many streams may be due at the same instant, and wait for each other in Take.
	b := st.buffer()
	defer st.giveBack(b)
	for {
		*b = st.appendPart(*b, &part)
		st.unsent += part.Tokens
		if ended(&part) {
			st.watchPart(&part)
			st.end(ctx, *b)
			return more, true, nil
		}
		last := err != nil || part.Tokens == 0 || more > st.w.Now()
		if last || len(*b) >= writeBytesMax {
			if failed := st.flush(*b); failed != nil && err == nil {
				err = failed
			}
			if last || err != nil {
				return more, false, err
			}
			*b = (*b)[:0]
		}
		part, more, err = st.h.Take()
	}
}

// comment is what keeps a connection alive without saying anything.
const comment = ": keep-alive\n\n"

// appendPart appends all events of a part.
func (st *stream) appendPart(b []byte, p *serving.Part) []byte {
	for range p.Comments {
		b = append(b, comment...)
	}
	begun := len(b)
	if p.Tokens > 0 {
		b = st.chunks.append(b, p)
	}
	if p.Malformed {
		b = spoil(b, begun)
	}
	switch {
	case p.Error != nil:
		f := st.refusal(p.Error)
		if p.Error.Type == "" {
			f.kind = inBand(f.status)
		}
		event, relayed := f.appendEvent(b, st.vllm)
		if relayed || st.defects.NoDone {
			return event
		}
		return append(event, streamEnd...)
	case p.Finish != "":
		b = st.chunks.finish(b, p.Finish)
		if st.usage && !st.defects.NoUsage {
			usage := st.h.Usage()
			b = st.chunks.usage(b, &usage)
		}
		if !st.defects.NoDone {
			b = append(b, streamEnd...)
		}
	}
	return b
}

// spoil cuts the last of the events from an offset on short, so that it is an event still, but no JSON.
func spoil(b []byte, from int) []byte {
	if from == len(b) {
		return append(b, `data: {"id":`+"\n\n"...)
	}
	start := from + max(0, bytes.LastIndex(b[from:], []byte("data: ")))
	return append(b[:start+(len(b)-start)/2], "\n\n"...)
}

// end writes the last events. net/http flushes them, and ends the body, when the handler returns.
func (st *stream) end(ctx context.Context, b []byte) {
	if !st.defects.OpenAfterDone {
		_, _ = st.out.Write(b) // an error means that the client has gone
		st.wrote(len(b))
		return
	}
	if st.flush(b) == nil {
		st.waitForClient(ctx)
	}
}

// flush writes b, and the headers if they have not been.
func (st *stream) flush(b []byte) error {
	if len(b) == 0 && st.flushed {
		return nil
	}
	st.flushed = true
	control := http.NewResponseController(st.out)
	if st.in.ProtoMajor > 1 {
		// A client may take bytes off the connection and yet give the stream no room. With HTTP/1 there is
		// the connection alone, which has a limit of its own: see visitor.
		_ = control.SetWriteDeadline(time.Now().Add(st.cfg.WriteTimeout))
	}
	if _, err := st.out.Write(b); err != nil {
		return err
	}
	if err := control.Flush(); err != nil {
		return err
	}
	st.wrote(len(b))
	return nil
}

// watchPart notes how the answer ends, by its last part.
func (st *stream) watchPart(p *serving.Part) {
	switch {
	case p.Error != nil:
		st.watchHow(EndError, p.Error.Message)
	case p.Cut:
		st.watchHow(EndCut, "")
	default:
		st.watchHow(EndComplete, "")
	}
}

// wrote notes how late the piece was that has just been written, of so many bytes. One that came before
// it was due is the end of the answer, whose instant is not known.
func (st *stream) wrote(bytes int) {
	st.watchWrite(st.unsent, bytes)
	st.unsent = 0
	if now := st.w.Now(); st.due > 0 && now >= st.due {
		st.metrics.lag.add(time.Duration(float64(now.Sub(st.due)) / st.w.Scale()))
	}
	st.due = 0
}
