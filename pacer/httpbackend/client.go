package httpbackend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Client sends attempts to one server. It is safe for concurrent use. Make one with [New].
type Client struct {
	w   sim.World
	url string

	redact func(string) string // takes secrets out of a text
	// inside is a function because fmt prints whatever it can reach, unexported fields of a struct
	// that happens to hold a Client included. It cannot reach into a function.
	inside func() *innards
}

// innards are the parts of a Client that know secrets.
type innards struct {
	api    *openai.Client
	http   *http.Client
	header http.Header
	open   atomic.Int64 // response bodies
}

var _ pacer.Backend = (*Client)(nil)

// New returns a client in a wall world, from which it takes the instants of what arrives. It opens
// no connection yet. The error names the field that is wrong.
func New(w sim.World, c Config) (*Client, error) {
	if w == nil || w.Virtual() {
		return nil, errors.New("httpbackend: New: want a wall world: sockets know no virtual time")
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("httpbackend: New: %w", err)
	}
	in := &innards{http: c.HTTPClient, header: c.Header.Clone()}
	if in.http == nil {
		in.http = &http.Client{
			Transport: newTransport(c.ConnectionsMax),
			// A redirect would take the request, with its secrets, to another place than the one that
			// was configured. It becomes a status error that says where to.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	client := &Client{w: w, url: c.BaseURL, redact: newRedactor(c), inside: func() *innards { return in }}
	config := openai.DefaultConfig(c.APIKey)
	config.BaseURL = c.BaseURL
	config.HTTPClient = doer{in}
	in.api = openai.NewClientWithConfig(config)
	return client, nil
}

// newTransport returns a transport for thousands of calls at once. Unlike http.DefaultTransport it
// has no limit on the time of anything, and it keeps all its idle connections rather than two, since
// all of them go to the same server.
func newTransport(connectionsMax int) *http.Transport {
	const idleMax = 16_384
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:   true,
		MaxConnsPerHost:     connectionsMax,
		MaxIdleConnsPerHost: idleMax,
		IdleConnTimeout:     90 * time.Second, // of connections that nobody uses
		DisableCompression:  true,             // a compressor would hold chunks back
	}
}

// String returns the base URL.
func (c Client) String() string { return "httpbackend " + c.url }

// Format implements fmt.Formatter, so that no verb looks inside.
func (c Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// CloseIdleConnections closes the connections that are not in use.
func (c *Client) CloseIdleConnections() { c.inside().http.CloseIdleConnections() }

// OpenBodies returns how many bodies of responses have been opened and not closed. Between attempts it is 0: what
// stays holds a connection, and its goroutines, for ever.
func (c *Client) OpenBodies() int64 { return c.inside().open.Load() }

// Open implements pacer.Backend.
func (c *Client) Open(ctx context.Context, a *pacer.Attempt, req openai.ChatCompletionRequest) (pacer.Stream, error) {
	s := &stream{client: c, attempt: a}
	ctx, s.cancel = c.w.WithCancel(ctx)
	ctx = context.WithValue(ctx, streamKey{}, s)
	ctx = httptrace.WithClientTrace(ctx, s.trace())
	chunks, err := c.inside().api.CreateChatCompletionStream(ctx, req)
	if err == nil && s.refused == nil {
		s.chunks = chunks
		return s, nil
	}
	if err == nil {
		_ = chunks.Close() // a status that go-openai takes for success
	}
	s.cancel(context.Canceled)
	switch {
	case s.refused != nil:
		return nil, s.refused
	case !s.sent:
		return nil, fmt.Errorf("httpbackend: %w: %s", pacer.ErrNotSent, oneLine(c.redact(err.Error())))
	}
	return nil, c.clean(err)
}

// Models returns the ids of the models that the server offers. It is a cheap way to find out whether
// anybody answers; give ctx a deadline, since there is no other.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	s := &stream{client: c}
	list, err := c.inside().api.ListModels(context.WithValue(ctx, streamKey{}, s))
	if s.refused != nil {
		return nil, s.refused
	}
	if err != nil {
		return nil, c.clean(err)
	}
	ids := make([]string, len(list.Models))
	for i, m := range list.Models {
		ids[i] = m.ID
	}
	return ids, nil
}

// tellDeadline says how much time is left, if that is to be told: in milliseconds, and with the headers
// in which openai's and anthropic's clients say it in whole seconds, beside the number of retries.
func tellDeadline(h http.Header, a *pacer.Attempt) {
	if a.Remaining <= 0 {
		return
	}
	h.Set("X-Request-Deadline-Ms", strconv.FormatInt(a.Remaining.Milliseconds(), 10))
	h.Set("X-Stainless-Timeout", strconv.FormatInt(int64(a.Remaining/time.Second), 10))
	h.Set("X-Stainless-Retry-Count", strconv.Itoa(a.Number-1))
}

// streamKey is the key of the stream that a request belongs to.
type streamKey struct{}

// doer is go-openai's way to the network. It runs on the goroutine that called Open.
type doer struct{ *innards }

// Do sends a request that go-openai has made, so that it may be changed here.
func (d doer) Do(req *http.Request) (*http.Response, error) {
	s := req.Context().Value(streamKey{}).(*stream)
	for name, values := range d.header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	if s.attempt != nil {
		req.Header.Set("X-Request-Id", s.attempt.ID)
		tellDeadline(req.Header, s.attempt)
	}
	s.sent = true
	resp, err := d.http.Do(req)
	if err != nil {
		return nil, err
	}
	resp.Body = newOpenBody(&d.open, resp.Body)
	if err := s.received(resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}
