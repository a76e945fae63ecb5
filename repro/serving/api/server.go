package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// Server is an HTTP front of simulated servers. It is an http.Handler, of the router, that any HTTP
// server may use; [Server.Listen] runs one of its own. It is safe for concurrent use. Make one with
// [New].
type Server struct {
	w       *sim.Wall
	stack   *serving.Stack
	cfg     Config
	model   string           // the only one
	vllm    bool             // the flavor
	workers []*engine.Worker // in their order
	since   sim.Instant      // when it was made
	shift   time.Duration    // from the date that instants have in logs to that which clients see
	hold    time.Duration    // the flush interval on the world's clock
	routes  *routes
	types   headerValues
	metrics *metrics
	ids     sim.Stream    // of the ids that are made up; never advanced
	idsMade atomic.Uint64 // number of these
	dates   atomic.Pointer[date]
	buffers sync.Pool // of *[]byte: answers in the making
	readers sync.Pool // of *reader: requests in the reading

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
		vllm:    stack.Config().Flavor == serving.VLLM,
		workers: stack.Workers(),
		since:   w.Now(),
		hold:    cfg.hold(w.Scale()),
		ids:     w.Stream("api", "request ids"),
		routes:  newRoutes(),
		types:   headerValues{[]string{"application/json"}, []string{"text/event-stream"}, []string{"chunked"}},
	}
	if !cfg.Epoch.IsZero() {
		s.shift = cfg.Epoch.Sub(sim.Instant(0).Time())
	}
	s.metrics = newMetrics(s)
	s.life, s.cut = context.WithCancelCause(context.Background())
	return s, nil
}

// exchange is a request and the answer to it.
type exchange struct {
	*Server
	out     http.ResponseWriter
	in      *http.Request
	face    face
	series  *routeSeries // of its path and method
	visitor *visitor     // nil: the connection is not one of the server's own
	id      string
	idGiven bool // by the client
	arrived sim.Instant
	// errorCode is that of the router's errors, for the metrics; empty: none
	errorCode string
	visit     *visit    // nil: nobody watches, or it is no chat request
	values    [2]string // of the headers X-Request-Id and Content-Length, which are slices of it
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	x := &exchange{Server: s, out: out, in: in, arrived: s.w.Now()}
	if x.visitor = visitorOf(in.Context()); x.visitor != nil {
		x.face = x.visitor.gate.face
	}
	to := s.routes.find(x.face, in.URL.Path)
	x.arrive(to)
	header := out.Header()
	if x.face.kind == faceRouter {
		x.id, x.idGiven = s.requestID(in.Header, to.idPrefix())
		x.values[0] = x.id
		header["X-Request-Id"] = x.values[0:1:1]
	}
	// Of the run's clock, since a Retry-After that is a date is too.
	header["Date"] = s.date(x.arrived)
	serve := to.handler(in.Method)
	switch {
	case !s.allowed(in.Header):
		header["Www-Authenticate"] = []string{"Bearer"}
		x.whole(http.StatusUnauthorized, []byte(`{"error":"Unauthorized"}`))
	case to == nil:
		x.fail(flat(http.StatusNotFound, "Not Found"))
	case serve == nil:
		header["Allow"] = []string{to.allow()}
		x.fail(flat(http.StatusMethodNotAllowed, "Method Not Allowed"))
	default:
		serve(x)
	}
}

// headerValues are values of headers that many answers share. Nobody may change them.
type headerValues struct{ json, events, chunked []string }

// date is the value of the header Date, which is good for a second.
type date struct {
	second int64 // of the run's clock
	values []string
}

// calendar returns the date of an instant as clients see it.
func (s *Server) calendar(at sim.Instant) time.Time { return at.Time().Add(s.shift) }

func (s *Server) date(now sim.Instant) []string {
	t := s.calendar(now)
	d := s.dates.Load()
	if d == nil || d.second != t.Unix() { // several may find it so: they make the same
		d = &date{t.Unix(), []string{t.Format(http.TimeFormat)}}
		s.dates.Store(d)
	}
	return slices.Clip(d.values)
}

// idHeaders are where the router looks for the id of a request, in this order.
var idHeaders = [...]string{"X-Request-Id", "X-Correlation-Id", "X-Trace-Id", "Request-Id"}

// idBytesMax is how long an id may be. A longer one is passed over, since it would go into the log.
const idBytesMax = 256

// requestID returns the id that the client has given, or makes one up. Ids that are made up are the
// same in every run, in the order in which requests arrive.
func (s *Server) requestID(h http.Header, prefix string) (id string, given bool) {
	for _, name := range idHeaders {
		if values := h[name]; len(values) > 0 && values[0] != "" && len(values[0]) <= idBytesMax {
			return values[0], true
		}
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	draws := s.ids.At(int(s.idsMade.Add(1)))
	made := make([]byte, 0, 40)
	made = append(made, prefix...)
	for range 24 {
		made = append(made, letters[draws.IntN(len(letters))])
	}
	return string(made), false
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
