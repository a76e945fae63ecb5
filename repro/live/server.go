package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"example.com/wedge/repro/series"
	"example.com/wedge/repro/serving/api"
)

// Options say where and what a [Server] serves.
type Options struct {
	// Listen is a host and a port, such as "127.0.0.1:8080". Port 0 stands for any free one. Without a token the host
	// must be a loopback address.
	Listen string
	// Token, if not empty, is what every request but those for /healthz must bear: as "Authorization: Bearer TOKEN",
	// or, from a browser, once as ?token=TOKEN, which becomes a cookie.
	Token string
	View  *View // must be given
	// Cumulative returns what is counted of the run, for /metrics, and whether that is known already. It may be
	// called from any goroutine, by one at a time. nil: /metrics has what the view knows.
	Cumulative func() (series.Cumulative, bool)
}

// Limits of a server. Lengths of time are on the machine's clock.
const (
	clientsMax    = 32               // that follow the events at one time; more are told to come back
	writeWithin   = 5 * time.Second  // of a snapshot: who does not take it in that time is dropped
	headersWithin = 10 * time.Second // of a request
	keepAlive     = 2 * time.Minute
	headerBytes   = 64 << 10
	closeWithin   = 3 * time.Second // of who has been told that the run has ended
)

// Server serves a view over HTTP. Make one with [Listen].
type Server struct {
	o       Options
	host    string // with the port
	handler http.Handler
	http    *http.Server
	over    chan struct{} // closed by Close
	once    sync.Once
	places  chan struct{} // of those that follow the events
	serving sync.WaitGroup
	failed  error // why it has stopped accepting; read after serving
}

// Listen begins to serve in the background. Close must follow. The error says what is wrong with the address.
func Listen(o Options) (*Server, error) {
	if err := api.CheckAddress(o.Listen, o.Token != ""); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, err
	}
	if err := api.CheckAddress(l.Addr().String(), o.Token != ""); err != nil { // a name may stand for anything
		return nil, errors.Join(err, l.Close())
	}
	s := &Server{o: o, host: l.Addr().String(), over: make(chan struct{}), places: make(chan struct{}, clientsMax)}
	s.handler = s.routes()
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: headersWithin, IdleTimeout: keepAlive, MaxHeaderBytes: headerBytes,
		ErrorLog: log.New(io.Discard, "", 0), // a client that leaves is no news
	}
	s.serving.Go(func() {
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.failed = fmt.Errorf("live: %w", err)
		}
	})
	return s, nil
}

// URL returns where the page is, such as "http://127.0.0.1:8080/".
func (s *Server) URL() string { return "http://" + s.host + "/" }

// Close tells those who watch that the run has ended, and ends all connections. When it returns, all goroutines of
// the server have ended, but for those of answers that somebody does not take. The error is why the server had
// stopped accepting before. It may be called more than once.
func (s *Server) Close() error {
	s.once.Do(func() { close(s.over) })
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	if s.http.Shutdown(ctx) != nil { // such as a profile that is being taken
		_ = s.http.Close() // it ends connections; that some are closed already is nobody's business
	}
	s.serving.Wait()
	return s.failed
}
