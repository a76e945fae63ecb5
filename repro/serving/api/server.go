package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// Server is an HTTP front of simulated servers. It is an http.Handler that any HTTP/1.1 server may
// use; [Server.Listen] runs one of its own. It is safe for concurrent use. Make one with [New].
type Server struct {
	w       *sim.Wall
	stack   *serving.Stack
	cfg     Config
	model   string        // the only one
	since   sim.Instant   // when it was made
	hold    time.Duration // the flush interval on the world's clock
	metrics *metrics
	ids     sim.Stream    // of the ids that are made up; never advanced
	idsMade atomic.Uint64 // number of these
	buffers sync.Pool     // of *[]byte: answers in the making
	bodies  sync.Pool     // of *bytes.Buffer: bodies of requests

	listening
}

var _ http.Handler = (*Server)(nil)

// New returns the front of a stack of w. It does not listen yet.
func New(w *sim.Wall, stack *serving.Stack, cfg Config) (*Server, error) {
	if w == nil || stack == nil {
		return nil, errors.New("api: New: want a wall world and its servers")
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("api: New: %w", err)
	}
	s := &Server{
		w: w, stack: stack, cfg: cfg,
		model:   stack.Config().Model.ID,
		since:   w.Now(),
		hold:    cfg.hold(w.Scale()),
		ids:     w.Stream("api", "request ids"),
		metrics: newMetrics(stack),
	}
	s.life, s.cut = context.WithCancelCause(context.Background())
	return s, nil
}

// exchange is a request and the answer to it.
type exchange struct {
	*Server
	out     http.ResponseWriter
	in      *http.Request
	id      string
	arrived sim.Instant
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	x := &exchange{Server: s, out: out, in: in, arrived: s.w.Now()}
	to := route(in.URL.Path)
	s.metrics.requests.WithLabelValues(methodLabel(in.Method), to.label).Inc()
	x.id = s.requestID(in.Header, to.idPrefix)
	header := out.Header()
	header["X-Request-Id"] = []string{x.id}
	// Of the run's clock, since a Retry-After that is a date is too.
	header["Date"] = []string{x.arrived.Time().Format(http.TimeFormat)}
	switch {
	case to.serve == nil:
		x.fail(flat(http.StatusNotFound, "Not Found"))
	case in.Method != to.method && (in.Method != http.MethodHead || to.method != http.MethodGet):
		header["Allow"] = []string{to.method}
		x.fail(flat(http.StatusMethodNotAllowed, "Method Not Allowed"))
	default:
		to.serve(x)
	}
}

// destination is where requests with a path go.
type destination struct {
	serve    func(*exchange) // nil: nowhere
	method   string
	label    string // stands for the path in the metrics
	idPrefix string // of a request without an id
}

const modelsPath = "/v1/models"

func route(path string) destination {
	const get, post = http.MethodGet, http.MethodPost
	switch path {
	case "/v1/chat/completions":
		return destination{(*exchange).chat, post, path, "chatcmpl-"}
	case modelsPath:
		return destination{(*exchange).models, get, path, "req-"}
	case "/health", "/health_generate":
		return destination{(*exchange).health, get, path, "req-"}
	case "/metrics":
		return destination{(*exchange).showMetrics, get, path, "req-"}
	}
	if strings.HasPrefix(path, modelsPath+"/") {
		return destination{(*exchange).oneModel, get, modelsPath + "/{id}", "req-"}
	}
	return destination{label: "other", idPrefix: "req-"}
}

// methodLabel bounds the number of series that requests can make.
func methodLabel(method string) string {
	switch method {
	case "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS":
		return method
	}
	return "OTHER"
}

// idHeaders are where the router looks for the id of a request, in this order.
var idHeaders = [...]string{"X-Request-Id", "X-Correlation-Id", "X-Trace-Id", "Request-Id"}

// idBytesMax is how long an id may be. A longer one is passed over, since it would go into the log.
const idBytesMax = 256

// requestID returns the id that the client has given, or makes one up. Ids that are made up are the
// same in every run, in the order in which requests arrive.
func (s *Server) requestID(h http.Header, prefix string) string {
	for _, name := range idHeaders {
		if id := h.Get(name); id != "" && len(id) <= idBytesMax {
			return id
		}
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	draws := s.ids.At(int(s.idsMade.Add(1)))
	id := make([]byte, 0, 40)
	id = append(id, prefix...)
	for range 24 {
		id = append(id, letters[draws.IntN(len(letters))])
	}
	return string(id)
}

// buffer returns an empty buffer, to be given back.
func (s *Server) buffer() *[]byte {
	if b, ok := s.buffers.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, 2048)
	return &b
}

// bufferBytesMax bounds the buffers that are kept.
const bufferBytesMax = 64 << 10

func (s *Server) giveBack(b *[]byte) {
	if cap(*b) <= bufferBytesMax {
		*b = (*b)[:0]
		s.buffers.Put(b)
	}
}
