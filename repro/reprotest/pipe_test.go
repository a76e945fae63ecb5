package reprotest

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/nettest"
)

// TestPipe: the connections behave as net.Conn wants it.
func TestPipe(t *testing.T) {
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		a, b := pair()
		return a, b, func() { _ = a.Close(); _ = b.Close() }, nil
	})
}

func pair() (a, b *pipeConn) { return newPipe(address("a:1"), address("b:2")) }

// TestPipeHolds: a writer is ahead of its reader by so much and no more, and waits as a bubble has it.
func TestPipeHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pair()
		written := 0
		go func() {
			for {
				n, err := a.Write(make([]byte, 1000))
				written += n
				if err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		if written < pipeBytesMax-1000 || written > pipeBytesMax {
			t.Errorf("%d bytes are written, want %d or a little less", written, pipeBytesMax)
		}
		_ = b.Close()
		synctest.Wait()
		if _, err := a.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("to who has left: %v, want EPIPE", err)
		}
	})
}

// TestPipeEnds: what an end leaves behind for the other.
func TestPipeEnds(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(c *pipeConn)
		text string // that can be read still
		want error
	}{
		{"close", func(c *pipeConn) { _ = c.Close() }, "last words", io.EOF},
		{"close of one direction", func(c *pipeConn) { _ = c.CloseWrite() }, "last words", io.EOF},
		{"reset", func(c *pipeConn) { _ = c.SetLinger(0); _ = c.Close() }, "", syscall.ECONNRESET},
	} {
		a, b := pair()
		if _, err := a.Write([]byte("last words")); err != nil {
			t.Fatal(err)
		}
		test.end(a)
		text := make([]byte, 100)
		n, err := b.Read(text)
		if err == nil {
			_, err = b.Read(text[n:])
		}
		if string(text[:n]) != test.text || !errors.Is(err, test.want) {
			t.Errorf("%s: read %q, %v, want %q, %v", test.name, text[:n], err, test.text, test.want)
		}
	}
}

// TestPipeDeadline: a deadline that is put off does not come, and one that is over may be taken away.
func TestPipeDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pair()
		start := time.Now()
		_ = a.SetReadDeadline(start.Add(time.Minute))
		_ = a.SetReadDeadline(start.Add(time.Hour))
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Hour {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		_ = a.SetReadDeadline(time.Time{})
		_, _ = b.Write([]byte("x"))
		if n, err := a.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("read %d, %v", n, err)
		}
	})
}
