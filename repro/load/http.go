package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// overHTTP is a server behind an OpenAI-compatible API.
type overHTTP struct {
	w      sim.World
	url    *url.URL // of chat completions
	model  string
	key    string // API key; in nothing that is shown
	client *http.Client
	spare  []*exchange // guarded by the monitor
}

var _ target = (*overHTTP)(nil)

func newHTTP(w sim.World, base, model, key string) (*overHTTP, error) {
	u, err := url.Parse(strings.TrimRight(base, "/") + "/chat/completions")
	if err != nil {
		return nil, err
	}
	return &overHTTP{w: w, url: u, model: model, key: key, client: &http.Client{
		Transport: newTransport(),
		// A redirect would take the load, and the key, to another place than the one that was named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// newTransport returns a transport without limits of its own: a connection for each client that has a
// request out, and all of them are kept.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: clientsLimit,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true, // a compressor would hold chunks back
		ReadBufferSize:      bufferMin,
	}
}

// send implements target.
func (t *overHTTP) send(ctx context.Context, c *call, r *receipt) error {
	x := t.take()
	ctx, cancel := t.w.WithCancel(ctx)
	defer cancel(context.Canceled)
	x.body = t.appendBody(x.body[:0], c)
	defer t.giveBack(x)
	resp, err := t.client.Do(t.request(ctx, c, x))
	if err != nil {
		return t.cleaned(err)
	}
	err = t.receive(resp, c, x, r)
	if err == nil {
		t.drain(resp.Body, cancel)
	}
	_ = resp.Body.Close() // all that counts has arrived, or the error is there
	if err != nil {
		return t.cleaned(err)
	}
	return nil
}

func (t *overHTTP) request(ctx context.Context, c *call, x *exchange) *http.Request {
	req := &http.Request{
		Method: http.MethodPost, URL: t.url, Host: t.url.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"Content-Type": {"application/json"},
			"X-Request-Id": {c.id},
		},
		Body: x.reader(), ContentLength: int64(len(x.body)),
		// So that a request can be sent again on another connection when a kept one turns out to be dead
		// before anything was received.
		GetBody: func() (io.ReadCloser, error) { return x.reader(), nil },
	}
	if c.plan.Stream {
		req.Header["Accept"] = []string{"text/event-stream"}
	}
	if t.key != "" {
		req.Header["Authorization"] = []string{"Bearer " + t.key}
	}
	return req.WithContext(ctx)
}

// bodyMax is the longest answer, in bytes, that is taken in one piece.
const bodyMax = 64 << 20

// receive reads an answer.
func (t *overHTTP) receive(resp *http.Response, c *call, x *exchange, r *receipt) error {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return refusal(resp)
	}
	if c.plan.Stream && !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		return x.events.read(resp.Body, c.keepText(), r)
	}
	// An answer in one piece, as it was asked for; or although it was not, and then it may be an error.
	text, err := readAll(x.events.room, resp.Body)
	x.events.room = text[:cap(text)]
	if err != nil {
		return err
	}
	output, err := (&shape{}).read(bytes.TrimSpace(text), c.keepText(), r)
	if err != nil {
		return err
	}
	if !output && !r.finished {
		return &malformedError{fmt.Sprintf("an answer without choices: %s", text)}
	}
	r.arrived(t.w.Now())
	return nil
}

// readAll reads a body into the room there is, or more.
func readAll(room []byte, body io.Reader) ([]byte, error) {
	if cap(room) == 0 {
		room = make([]byte, bufferMin)
	}
	text := room[:0]
	for {
		if len(text) == cap(text) {
			if len(text) >= bodyMax {
				return text, &malformedError{fmt.Sprintf("the answer is longer than %d bytes", bodyMax)}
			}
			text = append(text, 0)[:len(text)]
		}
		n, err := body.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return text, err
		}
	}
}

// drainMax bounds the wait for the end of a body after [DONE].
const drainMax = time.Second

// drain reads what is left of a body, which mostly is nothing but its end: without that the
// connection could not be used again.
func (t *overHTTP) drain(body io.Reader, cancel context.CancelCauseFunc) {
	timer := t.w.AfterFunc(drainMax, func() { cancel(context.Canceled) })
	_, _ = io.CopyN(io.Discard, body, 4096) // if there is more, the connection is given up
	timer.Stop()
}

// errorMax is how much of an error body is read, in bytes.
const errorMax = 64 << 10

// refusal reads a response with an error status.
func refusal(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, errorMax)) // what there is of it will do
	e := &pacer.StatusError{Status: resp.StatusCode}
	var c chunk
	if json.Unmarshal(text, &c) == nil {
		e.Message, _ = c.failure(text)
	} else {
		e.Message = string(text)
	}
	if location := resp.Header.Get("Location"); location != "" && resp.StatusCode < 400 {
		e.Message = "redirects to " + location + ", which is not followed"
	}
	if strings.TrimSpace(e.Message) == "" {
		e.Message = http.StatusText(resp.StatusCode)
	}
	return e
}

// cleaned makes an error fit to be shown: what a server or the network says becomes one line of sane
// length, without the API key.
func (t *overHTTP) cleaned(err error) error {
	var status *pacer.StatusError
	var malformed *malformedError
	var failed *url.Error
	switch {
	case errors.As(err, &status):
		status.Message = t.shown(status.Message)
		return status
	case errors.As(err, &malformed):
		return &malformedError{t.shown(malformed.text)}
	case errors.As(err, &failed):
		err = failed.Err // the rest is known
	}
	return errors.New(t.shown(err.Error()))
}

// shownMax is the longest text, in bytes, that is taken over from a server.
const shownMax = 200

func (t *overHTTP) shown(text string) string {
	if t.key != "" {
		for _, form := range [...]string{t.key, url.QueryEscape(t.key), strings.Trim(strconv.Quote(t.key), `"`)} {
			text = strings.ReplaceAll(text, form, "[redacted]")
		}
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if len(text) <= shownMax {
		return text
	}
	return strings.ToValidUTF8(text[:shownMax], "") + "…"
}
