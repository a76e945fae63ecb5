package load

import (
	"context"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// call is a request that is to be sent. Its messages are the client's own; a target reads them.
type call struct {
	id       string // sent as x-request-id: the client's name, "-c" and a number
	client   string
	number   int
	round    int
	messages []message
	plan     *Plan
}

// keepText says whether the text of the answer is needed: it is sent again in the next round.
func (c *call) keepText() bool { return c.round < c.plan.Rounds }

// target is what is under load. Both implementations are safe for concurrent use.
type target interface {
	// send sends a call and receives its answer, to its end or until ctx ends, and notes what arrives
	// on the receipt. The error is nil for an answer that is complete.
	send(ctx context.Context, c *call, r *receipt) error
}

// receipt is what has arrived of one answer. A client uses its own again and again. Its process
// writes it; in memory so does a timer, and then with the monitor held.
type receipt struct {
	w   sim.World
	rec *recorder

	begun       bool        // output has arrived
	first, last sim.Instant // of output
	onFirst     func()      // called at the first output, without the monitor held; may be nil

	tokens       int  // of output; estimated unless exact
	exact        bool // the server has said how many there are
	promptTokens int  // as the server counts them; 0: it has not said
	textBytes    int  // of output
	outputs      int  // events with output
	comments     int
	finished     bool // the answer gave its finish reason
	done         bool // [DONE] has arrived

	text []byte // of the answer, if that is kept
	gaps []gap  // between arrivals, not yet recorded
}

// gap is the time between two arrivals, which stands for so many of the same length.
type gap struct {
	length time.Duration
	times  uint64
}

// begin readies the receipt for an answer.
func (r *receipt) begin(onFirst func()) {
	*r = receipt{w: r.w, rec: r.rec, onFirst: onFirst, text: r.text[:0], gaps: r.gaps[:0]}
}

// arrived notes that output has come in.
func (r *receipt) arrived(now sim.Instant) {
	if !r.begun {
		r.begun, r.first, r.last = true, now, now
		if r.onFirst != nil {
			r.onFirst()
		}
		return
	}
	r.gap(now.Sub(r.last), 1)
	r.last = now
}

// gapsMax is how many gaps a receipt keeps before it gives them to the recorder.
const gapsMax = 256

func (r *receipt) gap(length time.Duration, times uint64) {
	r.gaps = append(r.gaps, gap{length, times})
	if len(r.gaps) == gapsMax {
		r.w.Lock()
		r.flushLocked()
		r.w.Unlock()
	}
}

// flushLocked gives the gaps to the recorder. The monitor is held.
func (r *receipt) flushLocked() {
	r.rec.gapsLocked(r.gaps)
	r.gaps = r.gaps[:0]
}

// outputTokens returns how many tokens have arrived, as well as that is known.
func (r *receipt) outputTokens() int {
	if r.exact {
		return r.tokens
	}
	return max(r.tokens, r.outputs, (r.textBytes+pacer.BytesPerToken-1)/pacer.BytesPerToken)
}
