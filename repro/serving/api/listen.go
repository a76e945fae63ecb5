package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// listening is the part of a server that has to do with its own sockets.
type listening struct {
	life context.Context // of all requests; ended by cut
	cut  context.CancelCauseFunc

	mu        sync.Mutex
	http      *http.Server // nil: it does not listen
	closed    bool         // by Close or Shutdown; it will never listen again
	addresses Addresses

	accepting sync.WaitGroup // those who accept
	failed    error          // why one of them has stopped, unless it was closed; guarded by mu
	// connections counts those that a goroutine serves. It is added to by those who accept.
	connections sync.WaitGroup
}

// Addresses is where a server listens: base URLs such as "http://127.0.0.1:30000", without /v1.
type Addresses struct {
	Router  string          `json:"router"`
	Metrics string          `json:"metrics,omitempty"` // of the router alone; empty: nowhere but at the router's port
	Workers []WorkerAddress `json:"workers,omitempty"`
}

// WorkerAddress is where an engine listens.
type WorkerAddress struct {
	Name string `json:"name"` // such as "prefill-0"
	URL  string `json:"url"`
}

// errClosed is why requests end when the server is closed.
var errClosed = errors.New("api: the server is closed")

// Listen begins to serve in the background and returns the router's base URL for clients, which ends
// in /v1. The address is a host and a port such as "127.0.0.1:30000". Port 0 stands for any free one,
// and "" for 127.0.0.1:0. The host must be a loopback address, unless the configuration says
// otherwise. The workers listen on ports of their own at the same host: see [Server.Addresses]. Close
// or Shutdown must follow. A server listens once.
func (s *Server) Listen(address string) (baseURL string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.http != nil || s.closed {
		return "", errors.New("api: Listen: the server listens already, or is closed")
	}
	gates, err := s.open(address)
	if err != nil {
		for _, g := range gates {
			_ = g.Close() // it has no visitors yet
		}
		return "", fmt.Errorf("api: Listen: %w", err)
	}
	return s.begin(gates), nil
}

// ListenOn is Listen for a listener that is there already, such as one in memory. Its address stands in the base
// URL. Whoever gives it has decided who may reach it. It is the router's alone: workers and metrics have no ports
// of their own. The server closes it.
func (s *Server) ListenOn(l net.Listener) (baseURL string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.http != nil || s.closed {
		return "", errors.New("api: ListenOn: the server listens already, or is closed")
	}
	router := newGate(l, face{}, &s.cfg)
	s.addresses = Addresses{Router: urlOf(router)}
	return s.begin([]*gate{router}), nil
}

// begin accepts at the gates, and returns the router's base URL. mu is held.
func (s *Server) begin(gates []*gate) (baseURL string) {
	s.http = s.newHTTPServer()
	for _, g := range gates {
		s.accepting.Go(func() { s.accept(g) })
	}
	return s.addresses.Router + "/v1"
}

// Addresses returns where the server listens. It is zero before Listen.
func (s *Server) Addresses() Addresses {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addresses
}

// open opens all ports: the router's first. It returns those that are open in any case.
func (s *Server) open(address string) (gates []*gate, err error) {
	if address == "" {
		address = "127.0.0.1:0"
	}
	router, err := s.openOne(address, face{})
	if err != nil {
		return nil, err
	}
	gates = append(gates, router)
	s.addresses = Addresses{Router: urlOf(router)}
	host, _, err := net.SplitHostPort(router.Addr().String())
	if err != nil { // cannot be: it is an address of TCP
		return gates, err
	}
	for i, w := range s.workers {
		port := 0
		if s.cfg.WorkerPort > 0 {
			port = s.cfg.WorkerPort + i
		}
		g, err := s.openOne(net.JoinHostPort(host, fmt.Sprint(port)), face{kind: faceWorker, worker: w})
		if err != nil {
			return gates, fmt.Errorf("worker %s: %w", w.Name, err)
		}
		gates = append(gates, g)
		s.addresses.Workers = append(s.addresses.Workers, WorkerAddress{Name: w.Name, URL: urlOf(g)})
	}
	if s.cfg.MetricsAddress != "" {
		g, err := s.openOne(s.cfg.MetricsAddress, face{kind: faceMetrics})
		if err != nil {
			return gates, fmt.Errorf("metrics: %w", err)
		}
		gates = append(gates, g)
		s.addresses.Metrics = urlOf(g)
	}
	return gates, nil
}

func urlOf(g *gate) string { return "http://" + g.Addr().String() }

func (s *Server) openOne(address string, f face) (*gate, error) {
	if err := s.reachable(address); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	if err := s.reachable(l.Addr().String()); err != nil { // a name may stand for anything
		return nil, errors.Join(err, l.Close())
	}
	return newGate(l, f, &s.cfg), nil
}

// reachable refuses an address that others may reach, unless they are meant to.
func (s *Server) reachable(address string) error { return CheckAddress(address, s.cfg.Anywhere) }

func (s *Server) newHTTPServer() *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(s.cfg.HTTP2)
	return &http.Server{
		Handler:           s,
		Protocols:         protocols,
		BaseContext:       func(net.Listener) context.Context { return s.life },
		ConnContext:       withVisitor,
		ConnState:         s.count,
		ReadHeaderTimeout: s.cfg.HeaderTimeout,
		// No ReadTimeout: net/http would take a client whose answer takes longer for gone.
		MaxHeaderBytes: headerBytesMax,
		IdleTimeout:    idleTimeout,
		ErrorLog:       s.cfg.ErrorLog,
	}
}

// accept serves the visitors of a gate until it is closed.
func (s *Server) accept(g *gate) {
	if err := s.http.Serve(g); !errors.Is(err, http.ErrServerClosed) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failed = errors.Join(s.failed, err)
	}
}

// count is net/http's hook. It runs on the goroutine that accepts for a new connection, and on the
// connection's own at its end.
func (s *Server) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.connections.Add(1)
	case http.StateClosed, http.StateHijacked: // each connection gets one of them, once
		s.connections.Done()
	}
}

// Shutdown stops accepting, waits until all answers under way have ended or ctx has, whose cause it
// then returns, and closes the server. An answer that a fault keeps open never ends by itself.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	server := s.http
	s.mu.Unlock()
	var err error
	if server != nil && server.Shutdown(ctx) != nil {
		err = context.Cause(ctx)
	}
	return errors.Join(err, s.Close())
}

// closeTimeout is how long Close waits. Connections end at once, unless somebody keeps the monitor.
const closeTimeout = 5 * time.Second

// Close ends the server: nobody is accepted any more and answers under way are cut off. When it
// returns, all its goroutines have ended, or an error says that they do not, or why the server had
// stopped accepting before. It may be called more than once, and when the server never listened.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	server := s.http
	s.mu.Unlock()
	s.cut(errClosed)
	if server == nil {
		return nil
	}
	_ = server.Close() // the errors of closing sockets are nobody's business
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.accepting.Wait()
		_ = server.Close() // who was accepted while the first Close ran
		s.connections.Wait()
	}()
	select {
	case <-ended:
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.failed
	case <-time.After(closeTimeout):
		return fmt.Errorf("api: Close: some connections have not ended within %v", closeTimeout)
	}
}
