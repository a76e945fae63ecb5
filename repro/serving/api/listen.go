package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// listening is the part of a server that has to do with its own socket.
type listening struct {
	life context.Context // of all requests; ended by cut
	cut  context.CancelCauseFunc

	mu     sync.Mutex
	http   *http.Server  // nil: it does not listen
	closed bool          // by Close or Shutdown; it will never listen again
	served chan struct{} // closed when nobody is accepted any more
	err    error         // why not, unless it was closed; written before served is closed

	// connections counts those that a goroutine serves. It is added to before served is closed.
	connections sync.WaitGroup
}

// errClosed is why requests end when the server is closed.
var errClosed = errors.New("api: the server is closed")

// Listen begins to serve in the background and returns the base URL for clients, which ends in /v1.
// The address is a host and a port such as "127.0.0.1:30000". The host must be a loopback address,
// port 0 stands for any free one, and "" for 127.0.0.1:0. Close or Shutdown must follow. A server
// listens once.
func (s *Server) Listen(address string) (baseURL string, err error) {
	if address == "" {
		address = "127.0.0.1:0"
	}
	if err := onLoopback(address); err != nil {
		return "", fmt.Errorf("api: Listen: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.http != nil || s.closed {
		return "", errors.New("api: Listen: the server listens already, or is closed")
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("api: Listen: %w", err)
	}
	if err := onLoopback(l.Addr().String()); err != nil { // a name may stand for anything
		return "", errors.Join(fmt.Errorf("api: Listen: %w", err), l.Close())
	}
	s.http = s.newHTTPServer()
	s.served = make(chan struct{})
	go func() {
		defer close(s.served)
		if err := s.http.Serve(newGate(l, s.cfg.ConnectionsMax)); !errors.Is(err, http.ErrServerClosed) {
			s.err = err
		}
	}()
	return "http://" + l.Addr().String() + "/v1", nil
}

// onLoopback refuses an address that others may reach.
func onLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %q: want a host and a port such as 127.0.0.1:0", address)
	}
	ip, err := netip.ParseAddr(host)
	if host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("address %q: want a loopback host such as 127.0.0.1: others must not reach the server", address)
	}
	return nil
}

func (s *Server) newHTTPServer() *http.Server {
	return &http.Server{
		Handler:           s,
		BaseContext:       func(net.Listener) context.Context { return s.life },
		ConnState:         s.count,
		ReadHeaderTimeout: s.cfg.HeaderTimeout,
		// No ReadTimeout: net/http would take a client whose answer takes longer for gone.
		MaxHeaderBytes: headerBytesMax,
		IdleTimeout:    idleTimeout,
		ErrorLog:       s.cfg.ErrorLog,
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
// then returns, and closes the server.
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
		<-s.served
		_ = server.Close() // who was accepted while the first Close ran
		s.connections.Wait()
	}()
	select {
	case <-ended:
		return s.err
	case <-time.After(closeTimeout):
		return fmt.Errorf("api: Close: some connections have not ended within %v", closeTimeout)
	}
}
