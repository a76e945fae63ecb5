package embed

import (
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"example.com/wedge/pacer"
)

// requestIDHeader is where routers and gateways look for the name under which they log a request.
const requestIDHeader = "X-Request-Id"

// bytesPerToken is about what a token of English text and code takes; it is used where nobody counts.
const bytesPerToken = 4

// Transport returns a RoundTripper that records the stages of each request that base makes: connect
// until there is a connection, headers until the answer begins, first_token until there is content,
// stream until it ends. base nil stands for [http.DefaultTransport]. A request without the header
// X-Request-Id gets one, so that its line in the router's log can be found. Requests and answers are
// otherwise passed on as they are.
//
// A request belongs to the call that its agent has asked a slot for, and is a call by itself if there
// is none. Requests with a context of no agent are calls of nameless agents.
func (d *Watchdog) Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return &transport{dog: d, base: base}
}

type transport struct {
	dog  *Watchdog
	base http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c, id := t.begin(req)
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { c.sent() },
	})
	out := req.Clone(ctx)
	if out.Header == nil {
		out.Header = http.Header{}
	}
	if out.Header.Get(requestIDHeader) == "" {
		out.Header.Set(requestIDHeader, id)
	}
	resp, err := t.base.RoundTrip(out)
	d := t.dog
	d.w.Lock()
	defer d.w.Unlock()
	if err != nil {
		c.attemptEnded(resultOf(req.Context(), err))
		return nil, err
	}
	c.answered()
	if resp.Body == nil || resp.Body == http.NoBody {
		c.attemptEnded(complete(resp, nil))
		return resp, nil
	}
	resp.Body = &body{ReadCloser: resp.Body, c: c, resp: resp, ctx: req.Context(), events: isEventStream(resp)}
	return resp, nil
}

// begin begins an attempt of the call that the request belongs to, and returns its id too.
func (t *transport) begin(req *http.Request) (*call, string) {
	d := t.dog
	a := d.agentOf(req.Context())
	d.w.Lock()
	defer d.w.Unlock()
	if a == nil {
		a = d.nobody()
	}
	c := a.held
	if c == nil || c.out || c.ended {
		c = a.begin()
	}
	return c, c.attempt(req.Header.Get(requestIDHeader), int(max(0, req.ContentLength)/bytesPerToken))
}

// sent says that the request has a connection.
func (c *call) sent() {
	w := c.agent.dog.w
	w.Lock()
	defer w.Unlock()
	if c.out && c.state.Stage == pacer.StageConnect {
		c.state.Sent = w.Now()
		c.stage(pacer.StageHeaders)
	}
}

// answered says that the response headers are there. The monitor is held.
func (c *call) answered() {
	s := &c.state
	if !c.out || c.ended {
		return
	}
	s.Headers = c.agent.dog.w.Now()
	if s.Stage == pacer.StageConnect { // a base that does not trace
		s.Sent = s.Since
		c.stage(pacer.StageHeaders)
	}
	c.stage(pacer.StageFirstToken)
}

func isEventStream(resp *http.Response) bool {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/event-stream")
}

// complete is how an attempt ended whose answer is all there. text is the beginning of an error's body.
func complete(resp *http.Response, text []byte) pacer.AttemptResult {
	if resp.StatusCode < http.StatusBadRequest {
		return pacer.AttemptResult{Outcome: pacer.AttemptOK, Status: resp.StatusCode}
	}
	err := &pacer.StatusError{Status: resp.StatusCode, Message: strings.TrimSpace(string(text))}
	err.RetryAfter, err.HasRetryAfter = pacer.RetryAfter(resp.Header, time.Now)
	return pacer.AttemptResult{Outcome: pacer.AttemptStatus, Status: resp.StatusCode, Err: err}
}
