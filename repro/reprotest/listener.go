package reprotest

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// address is one in memory, as a URL can have it.
type address string

var _ net.Addr = address("")

// Network implements net.Addr.
func (address) Network() string { return "mem" }

// String implements net.Addr.
func (a address) String() string { return string(a) }

// serverAddress is where clients find the simulated servers. No resolver knows the name.
const serverAddress = address("wedge.test:80")

// listener hands connections in memory from who dials to who accepts.
type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once

	mu     sync.Mutex
	dialed int // connections so far, which gives each a name
}

var _ net.Listener = (*listener)(nil)

func newListener() *listener {
	return &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return serverAddress }

// dial connects, whatever the address: there is nobody else.
func (l *listener) dial(ctx context.Context) (net.Conn, error) {
	l.mu.Lock()
	l.dialed++
	name := address(fmt.Sprintf("test:%d", l.dialed))
	l.mu.Unlock()
	client, server := newPipe(name, serverAddress)
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "mem", Addr: serverAddress, Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: "mem", Addr: serverAddress, Err: context.Cause(ctx)}
	}
}
