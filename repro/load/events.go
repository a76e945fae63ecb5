package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"example.com/wedge/harness/sim"
)

// lineMax is the longest line of a stream, in bytes.
const lineMax = 16 << 20

// bufferMin is how much room there is for what arrives in one read.
const bufferMin = 16 << 10

// events reads server-sent events. A client uses one for all its answers.
type events struct {
	w     sim.World
	shape shape
	room  []byte // what has been read of a line that is not complete stands at its start
}

// read receives a stream to its end, which is [DONE] or the end of the body, and notes on the receipt
// what arrives. All that one read brings has arrived together.
func (e *events) read(body io.Reader, keep bool, r *receipt) error {
	if e.room == nil {
		e.room = make([]byte, bufferMin)
	}
	e.shape.head = 0
	filled, searched := 0, 0 // bytes; there is no line break among the searched ones
	for {
		if filled == len(e.room) {
			if filled >= lineMax {
				return &malformedError{fmt.Sprintf("a line of the stream is longer than %d bytes", lineMax)}
			}
			e.room = append(e.room, make([]byte, len(e.room))...)
		}
		n, err := body.Read(e.room[filled:])
		filled += n
		rest, failed := e.lines(e.room[:filled], searched, keep, r)
		if failed != nil || r.done {
			return failed
		}
		if len(rest) < filled {
			filled = copy(e.room, rest)
		}
		searched = filled
		switch {
		case err == nil:
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return e.end(e.room[:filled], keep, r)
		default:
			return err
		}
	}
}

// end looks at a last line that lacks its line break, and says whether the answer is complete. Some
// servers leave [DONE] out, which is no harm once the answer is finished.
func (e *events) end(rest []byte, keep bool, r *receipt) error {
	if len(rest) > 0 {
		if _, err := e.lines(append(rest, '\n'), 0, keep, r); err != nil {
			return err
		}
	}
	if !r.done && !r.finished {
		return fmt.Errorf("the stream ended without [DONE] and before the answer was finished: %w", io.ErrUnexpectedEOF)
	}
	return nil
}

// lines reads all complete lines of text, of which the start has been searched for a line break
// before, and returns what is left.
func (e *events) lines(text []byte, searched int, keep bool, r *receipt) (rest []byte, err error) {
	output := false
	for !r.done {
		end := bytes.IndexByte(text[searched:], '\n')
		if end < 0 {
			break
		}
		end, searched = searched+end, 0
		got, failed := e.line(text[:end], keep, r)
		output = output || got
		if failed != nil {
			err = failed
			break
		}
		text = text[end+1:]
	}
	if output {
		r.arrived(e.w.Now())
	}
	return text, err
}

// line reads one line, of which those with data matter:
//
//	data: {…}      an event
//	data: [DONE]   the end
//	: anything     a comment, which some send to keep a connection alive
func (e *events) line(line []byte, keep bool, r *receipt) (output bool, err error) {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		if len(line) > 0 && line[0] == ':' {
			r.comments++
		}
		return false, nil
	}
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0: // some pings come as an empty event
		return false, nil
	case string(data) == "[DONE]":
		r.done = true
		return false, nil
	}
	return e.shape.read(data, keep, r)
}
