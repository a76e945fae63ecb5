package api

import (
	"net"
	"sync"
)

// gate is a listener with a limit on the connections at one time.
type gate struct {
	net.Listener
	places chan struct{} // one for each connection
	closed chan struct{}
	once   sync.Once
}

func newGate(l net.Listener, connectionsMax int) *gate {
	return &gate{Listener: l, places: make(chan struct{}, connectionsMax), closed: make(chan struct{})}
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
	return &visitor{TCPConn: conn.(*net.TCPConn), gate: g}, nil
}

// Close implements net.Listener.
func (g *gate) Close() error {
	g.once.Do(func() { close(g.closed) })
	return g.Listener.Close()
}

// visitor is a connection that has a place.
type visitor struct {
	*net.TCPConn
	gate *gate
	once sync.Once
}

// Close implements net.Conn.
func (v *visitor) Close() error {
	defer v.once.Do(func() { <-v.gate.places })
	return v.TCPConn.Close()
}
