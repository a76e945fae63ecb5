package serving

import (
	"errors"
	"time"

	"example.com/wedge/harness/fault"
)

// ErrReset is what a client gets whose connection is reset.
var ErrReset = errors.New("serving: connection reset by peer")

// ErrClosed is what a client gets whose connection the server closed as idle just when the request was
// on its way: there is no answer at all.
var ErrClosed = errors.New("serving: server closed the idle connection")

// Connection is what the faults of the connection do to a request and to its answer. The zero value is
// nothing.
type Connection struct {
	Delay     time.Duration // before the request arrives
	Break     error         // [ErrReset] or [ErrClosed]; nil: it holds
	Dead      bool          // half open: what is sent from now on vanishes, both ways
	Blackhole bool          // as Dead, and so it is for all else on the same connection, and for what will be sent over it
	Buffer    bool          // a proxy holds the answer back, headers and all, until BufferFor after the request, or until it is complete
	BufferFor time.Duration // 0: until complete
}

// Connect asks the faults of the connection about a request that is about to be sent.
func (s *Stack) Connect(q *Request) Connection {
	s.w.Lock()
	defer s.w.Unlock()
	return s.connectLocked(q)
}

func (s *Stack) connectLocked(q *Request) (c Connection) {
	o := s.occasion(q, s.w.Now())
	fires := func(what fault.What) *fault.Fault { return s.faults.Fires(fault.Connection, what, o) }
	if fires(fault.Reset) != nil {
		c.Break = ErrReset
	} else if fires(fault.KeepAliveRace) != nil {
		c.Break = ErrClosed
	}
	if f := fires(fault.Latency); f != nil {
		c.Delay = f.Delay
	}
	c.Dead = fires(fault.Hang) != nil
	c.Blackhole = fires(fault.Blackhole) != nil
	if f := fires(fault.Buffer); f != nil {
		c.Buffer, c.BufferFor = true, f.Delay
	}
	return c
}
