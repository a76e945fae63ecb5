package api

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// gate is a listener with a limit on the connections at one time.
type gate struct {
	net.Listener
	face         face
	writeTimeout time.Duration // of the connections
	places       chan struct{} // one for each connection
	closed       chan struct{}
	once         sync.Once
}

func newGate(l net.Listener, f face, cfg *Config) *gate {
	return &gate{
		Listener: l, face: f, writeTimeout: cfg.WriteTimeout,
		places: make(chan struct{}, cfg.ConnectionsMax), closed: make(chan struct{}),
	}
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	select {
	case g.places <- struct{}{}:
	case <-g.closed:
		return nil, net.ErrClosed
	}
	conn, err := g.Listener.Accept()
	if err != nil {
		<-g.places
		return nil, err
	}
	return &visitor{Conn: conn, gate: g, writeTimeout: g.writeTimeout}, nil
}

// Close implements net.Listener.
func (g *gate) Close() error {
	g.once.Do(func() { close(g.closed) })
	return g.Listener.Close()
}

// visitor is a connection that has a place. It may die: then nothing goes through it any more, either
// way, and only its end is noticed.
//
// The connection proper is a field and not embedded by its type, so that no method of it, such as
// ReadFrom, goes past Write.
type visitor struct {
	net.Conn
	gate *gate
	once sync.Once
	dead atomic.Bool

	writeTimeout time.Duration // for what has been written; see limit
	limited      atomic.Int64  // when the deadline was set, in nanoseconds since the epoch; 0: it is not
}

// Read implements net.Conn.
func (v *visitor) Read(p []byte) (int, error) {
	for {
		n, err := v.Conn.Read(p)
		if err != nil || !v.dead.Load() {
			return n, err
		}
	}
}

// Write implements net.Conn.
func (v *visitor) Write(p []byte) (int, error) {
	if v.dead.Load() {
		return len(p), nil
	}
	v.limit()
	return v.Conn.Write(p)
}

// limit sees to it that a write that the client does not take fails after the timeout, or half of it:
// a deadline for each write would cost more.
func (v *visitor) limit() {
	now := time.Now()
	if v.limited.Load() < now.Add(-v.writeTimeout/2).UnixNano() {
		v.limited.Store(now.UnixNano())
		_ = v.Conn.SetWriteDeadline(now.Add(v.writeTimeout)) // it fails only if the connection is closed
	}
}

// SetWriteDeadline implements net.Conn. net/http uses it to take deadlines away.
func (v *visitor) SetWriteDeadline(t time.Time) error {
	v.limited.Store(0)
	return v.Conn.SetWriteDeadline(t)
}

// Close implements net.Conn.
func (v *visitor) Close() error {
	defer v.once.Do(func() { <-v.gate.places })
	return v.Conn.Close()
}

// CloseWrite lets net/http end an answer before a request that it does not read to its end.
func (v *visitor) CloseWrite() error {
	if half, ok := v.Conn.(interface{ CloseWrite() error }); ok { // as TCP's
		return half.CloseWrite()
	}
	return nil
}

// reset closes the connection so that the client sees a reset instead of an end.
func (v *visitor) reset() {
	if socket, ok := v.Conn.(interface{ SetLinger(sec int) error }); ok { // as TCP's
		_ = socket.SetLinger(0) // a close without any linger sends RST instead of FIN
	}
	_ = v.Close()
}

type visitorKey struct{}

// withVisitor is net/http's hook for the context of all requests of a connection.
func withVisitor(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, visitorKey{}, conn)
}

// visitorOf returns the connection that a request came by, or nil if it is not one of the server's own
// listeners.
func visitorOf(ctx context.Context) *visitor {
	v, _ := ctx.Value(visitorKey{}).(*visitor)
	return v
}
