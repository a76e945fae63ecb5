package reprotest

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// pipeBytesMax is how much one direction of a connection holds that nobody has read, about as much as a
// socket on loopback does. net.Pipe holds nothing, and so a client that does not read would stop its server at
// the first byte.
const pipeBytesMax = 256 << 10

// half is one direction of a connection. Who waits in it is durably blocked, as synctest has it.
type half struct {
	mu     sync.Mutex
	moved  sync.Cond // anything below has changed
	data   []byte
	ended  bool  // nothing more will be written
	broken error // both ends have this; nil: it is well

	readBy, writeBy deadline
}

func newHalf() *half {
	h := &half{}
	h.moved.L = &h.mu
	return h
}

// deadline is a time limit that may be moved.
type deadline struct {
	timer *time.Timer // nil: none is set
	over  bool
	set   int // how many times, so that a timer that is late does not end a later one
}

// set moves a deadline of h; the zero time takes it away.
func (h *half) set(d *deadline, t time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.set++
	d.over = false
	if t.IsZero() {
		return
	}
	left := time.Until(t)
	if left <= 0 {
		d.over = true
		h.moved.Broadcast()
		return
	}
	number := d.set
	d.timer = time.AfterFunc(left, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if d.set == number {
			d.over = true
			h.moved.Broadcast()
		}
	})
}

func (h *half) read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.broken != nil:
			return 0, h.broken
		case h.readBy.over:
			return 0, os.ErrDeadlineExceeded
		case len(h.data) > 0:
			n := copy(p, h.data)
			h.data = h.data[n:]
			h.moved.Broadcast()
			return n, nil
		case h.ended:
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		}
		h.moved.Wait()
	}
}

func (h *half) write(p []byte) (n int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.broken != nil:
			return n, h.broken
		case h.ended:
			return n, io.ErrClosedPipe
		case h.writeBy.over:
			return n, os.ErrDeadlineExceeded
		}
		take := min(len(p), pipeBytesMax-len(h.data))
		if take > 0 {
			h.data = append(h.data, p[:take]...)
			p, n = p[take:], n+take
			h.moved.Broadcast()
		}
		if len(p) == 0 {
			return n, nil
		}
		h.moved.Wait()
	}
}

// end says that nothing more will be written; what is there can be read still.
func (h *half) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	h.moved.Broadcast()
}

// fail breaks the direction for both ends, whatever is in it. The first reason stays.
func (h *half) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broken == nil {
		h.broken = err
	}
	h.moved.Broadcast()
}

// pipeConn is one end of a connection in memory.
type pipeConn struct {
	in, out       *half
	local, remote net.Addr

	mu     sync.Mutex
	linger bool // what has been written can be read still after Close, as usual
	closed bool
}

var _ net.Conn = (*pipeConn)(nil)

// newPipe returns the two ends of a connection.
func newPipe(clientAddr, serverAddr net.Addr) (client, server *pipeConn) {
	up, down := newHalf(), newHalf()
	return &pipeConn{in: down, out: up, local: clientAddr, remote: serverAddr, linger: true},
		&pipeConn{in: up, out: down, local: serverAddr, remote: clientAddr, linger: true}
}

// Read implements net.Conn.
func (c *pipeConn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.named("read", err)
}

// Write implements net.Conn.
func (c *pipeConn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	return n, c.named("write", err)
}

// named makes an error like a socket's of it. io.EOF stays what it is.
func (c *pipeConn) named(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return &net.OpError{Op: op, Net: "mem", Source: c.local, Addr: c.remote, Err: err}
}

// Close implements net.Conn. As with a socket, the other end reads what was written before, and cannot write
// any more.
func (c *pipeConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.named("close", net.ErrClosed)
	}
	c.closed = true
	if c.linger {
		c.out.end()
	} else {
		c.out.fail(syscall.ECONNRESET)
	}
	c.in.closeReader()
	c.in.set(&c.in.readBy, time.Time{})
	c.out.set(&c.out.writeBy, time.Time{})
	return nil
}

// closeReader is the end of who reads: writers find the connection broken.
func (h *half) closeReader() {
	h.fail(errors.Join(net.ErrClosed, syscall.EPIPE))
}

// CloseWrite ends what this end writes, as TCP's does.
func (c *pipeConn) CloseWrite() error {
	c.out.end()
	return nil
}

// SetLinger is TCP's: with 0, Close resets the connection, so that the other end loses what it has not read.
func (c *pipeConn) SetLinger(sec int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.linger = sec != 0
	return nil
}

// LocalAddr implements net.Conn.
func (c *pipeConn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements net.Conn.
func (c *pipeConn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements net.Conn.
func (c *pipeConn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *pipeConn) SetReadDeadline(t time.Time) error {
	c.in.set(&c.in.readBy, t)
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *pipeConn) SetWriteDeadline(t time.Time) error {
	c.out.set(&c.out.writeBy, t)
	return nil
}
