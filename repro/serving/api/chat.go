package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// chat answers POST /v1/chat/completions.
func (x *exchange) chat() {
	q, f := x.question()
	if f != nil {
		x.fail(f)
		return
	}
	defer x.watchEnd()
	ctx := x.in.Context()
	connection := x.stack.Connect(&q.Request)
	if !x.connect(ctx, &connection) {
		return
	}
	h := x.stack.Submit(q.Request)
	defer h.Cancel()
	h.Hold(connection)
	if err := h.WaitHeaders(ctx); err != nil {
		x.breakOff(err)
		return
	}
	if !q.Stream {
		x.completion(h)
		return
	}
	st := stream{exchange: x, h: h, chunks: x.newChunks(h.ResponseID(), q), usage: q.usage, defects: h.Defects()}
	st.run(ctx)
}

func (x *exchange) question() (*question, *failure) {
	r, f := x.readBody()
	if f != nil {
		return nil, f
	}
	defer x.keepReader(r)
	model := x.model
	if x.cfg.AnyModel {
		model = ""
	}
	q, f := r.parse(x.id, model, x.stack.Config().Model.ContextTokensMax)
	if f != nil {
		return nil, f
	}
	q.Header = x.in.Header.Get
	q.Remaining = remaining(x.in.Header)
	if q.Agent = x.in.Header.Get("X-Wedge-Agent"); q.Agent == "" && x.idGiven {
		q.Agent, _, _ = strings.Cut(x.id, "-c") // of an attempt's id such as agent-07-c012-a1
	}
	x.watchArrival(q, r.body.Bytes())
	return q, nil
}

// connect does what the faults of the connection want, and says whether it is of any use afterwards.
// With HTTP/2 a delay and a half-open connection are about this one stream, all else about the
// connection with everything on it.
func (x *exchange) connect(ctx context.Context, c *serving.Connection) bool {
	if c.Delay > 0 {
		if err := x.w.Sleep(ctx, c.Delay); err != nil {
			x.breakOff(err)
			return false
		}
	}
	switch {
	case c.Break != nil:
		x.disconnect(errors.Is(c.Break, serving.ErrReset))
		return false
	case c.Blackhole, c.Dead && x.in.ProtoMajor == 1:
		if x.visitor != nil {
			x.visitor.dead.Store(true)
		}
		x.waitForClient(ctx)
		return false
	case c.Dead:
		x.waitForClient(ctx)
		return false
	}
	return true
}

// lookEvery is how often, on the run's clock, somebody who waits for the client to leave looks up.
const lookEvery = 1000 * time.Hour

// waitForClient waits until the client leaves, the server is closed, or the world has ended.
func (x *exchange) waitForClient(ctx context.Context) {
	var err error
	for err == nil {
		err = x.w.Sleep(ctx, lookEvery)
	}
	x.breakOff(err)
}

// breakOff ends an exchange whose answer will never be complete.
func (x *exchange) breakOff(err error) {
	var r *serving.Refusal
	switch {
	case errors.As(err, &r):
		x.fail(x.refusal(r))
	case errors.Is(err, serving.ErrReset) && x.in.ProtoMajor == 1:
		x.disconnect(true)
	default:
		// The client has left, the server is being closed or the world has ended. In the last two cases
		// the client must not take what it has for a complete answer: net/http cuts the connection. With
		// HTTP/2 it resets the stream, which is what a reset in the midst of an answer is there.
		panic(http.ErrAbortHandler)
	}
}

// disconnect closes the connection without an answer. What has been flushed before still reaches the
// client. It sees a reset, or an end.
func (x *exchange) disconnect(reset bool) {
	v := x.visitor
	if x.in.ProtoMajor == 1 {
		// So that net/http neither writes an answer nor complains of a closed connection.
		conn, _, err := http.NewResponseController(x.out).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler) // the next best: the connection is cut
		}
		if v == nil {
			_ = conn.Close() // of another server than the own one
			return
		}
	}
	switch {
	case v == nil:
	case reset:
		v.reset()
	default:
		_ = v.Close()
	}
	if x.in.ProtoMajor != 1 {
		panic(http.ErrAbortHandler)
	}
}

// instantOf returns when the latest of the tokens was made that are due by now, with the monitor not
// held.
func (x *exchange) instantOf(h *serving.Handle) sim.Instant {
	x.w.Lock()
	defer x.w.Unlock()
	return h.Progress().LastToken
}
