package api

import (
	"errors"
	"net/http"

	"example.com/wedge/repro/serving"
)

// chat answers POST /v1/chat/completions.
func (x *exchange) chat() {
	q, f := x.question()
	if f != nil {
		x.fail(f)
		return
	}
	ctx := x.in.Context()
	conn := x.stack.Connect(&q.Request)
	err := conn.Break
	if err == nil && conn.Delay > 0 {
		err = x.w.Sleep(ctx, conn.Delay)
	}
	if err != nil {
		x.breakOff(err)
		return
	}
	h := x.stack.Submit(q.Request)
	defer h.Cancel()
	if err := h.WaitHeaders(ctx); err != nil {
		x.breakOff(err)
		return
	}
	if q.Stream {
		x.stream(h, q)
		return
	}
	x.completion(h)
}

func (x *exchange) question() (*question, *failure) {
	body, f := x.readBody()
	if f != nil {
		return nil, f
	}
	defer x.keepBody(body)
	return parse(body.Bytes(), x.id, x.model)
}

// breakOff ends an exchange whose answer will never be complete.
func (x *exchange) breakOff(err error) {
	var r *serving.Refusal
	switch {
	case errors.As(err, &r):
		x.fail(refusal(r))
	case errors.Is(err, serving.ErrReset):
		x.reset()
	default:
		// The client has left, the server is being closed or the world has ended. In the last two cases
		// the client must not take what it has for a complete answer: net/http cuts the connection.
		panic(http.ErrAbortHandler)
	}
}

// reset makes the client see a reset connection. What has been flushed before still reaches it.
func (x *exchange) reset() {
	conn, _, err := http.NewResponseController(x.out).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the next best: the connection is cut
	}
	if tcp, ok := conn.(interface{ SetLinger(sec int) error }); ok {
		_ = tcp.SetLinger(0) // a close without any linger sends RST instead of FIN
	}
	_ = conn.Close()
}
