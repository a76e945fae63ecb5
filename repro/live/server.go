package live

import (
	"errors"

	"example.com/wedge/repro/series"
)

// Options say where and what a [Server] serves.
type Options struct {
	// Listen is a host and a port, such as "127.0.0.1:8080". Port 0 stands for any free one. Without a token the host
	// must be a loopback address.
	Listen string
	// Token, if not empty, is what every request but those for /healthz must carry: as "Authorization: Bearer TOKEN", or, from a browser,
	// once as ?token=TOKEN, which becomes a cookie.
	Token string
	View  *View
	// Cumulative returns what is counted of the run, for /metrics. It may be called from any goroutine, and must not
	// wait for the run to get on. nil: /metrics has what the view knows.
	Cumulative func() series.Cumulative
}

// Server serves a view over HTTP. Make one with [Listen].
type Server struct{}

// Listen begins to serve in the background. Close must follow. The error names what is wrong with the address.
func Listen(o Options) (*Server, error) { return nil, errors.New("live: not yet") }

// URL returns where the page is, such as "http://127.0.0.1:8080/".
func (s *Server) URL() string { return "" }

// Close tells those who watch that the run has ended, and ends all connections. When it returns, all goroutines of
// the server have ended.
func (s *Server) Close() error { return nil }
