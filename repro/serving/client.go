package serving

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// ClientConfig is what a client is like. The zero value has no limit.
type ClientConfig struct {
	ConnectionsMax int // at once; 0: no limit
	// Oracle is how often an oracle looks for requests that are dead, and ends them with ErrDead. It is a
	// bound for comparisons, and nothing that a real client could have. 0: there is none.
	Oracle time.Duration
}

// Client talks to the servers in memory, and so stands for an HTTP client with its connection pool.
// It is safe for concurrent use. Make one with [NewClient].
type Client struct {
	s           *Stack
	connections *sim.Semaphore // nil: no limit
	index       int            // 0: what the index of every tool call points to
	silence     sim.Cond       // of dead connections: nobody ever wakes who waits here

	// Guarded by the monitor.
	spare      *body // those whose streams have been closed, by next
	open       *body // the others, by next and before
	oracle     oracle
	blackholed bool // the one connection that all streams share is dead
}

var _ pacer.Backend = (*Client)(nil)

// NewClient returns a client of the stack, in the stack's world. A pool with a limit is the semaphore
// "connections", whose parties are agents and their attempts.
func NewClient(s *Stack, cfg ClientConfig) *Client {
	c := &Client{s: s, oracle: oracle{every: cfg.Oracle}}
	if cfg.ConnectionsMax > 0 {
		c.connections = sim.NewSemaphore(s.w, "connections", cfg.ConnectionsMax)
	}
	return c
}

// Open implements pacer.Backend.
func (c *Client) Open(ctx context.Context, a *pacer.Attempt, req openai.ChatCompletionRequest) (pacer.Stream, error) {
	q := NewRequest(a.ID, &req)
	q.Stream, q.Agent, q.Remaining = true, a.Of.Agent, a.Remaining
	lease, conn, err := c.connect(ctx, a, &q)
	if err != nil {
		return nil, err
	}
	if a.Connected != nil {
		a.Connected()
	}
	if conn.Dead && c.oracle.every > 0 {
		_ = lease.Release() // it is held, so this cannot fail
		return nil, ErrDead
	}
	if conn.Dead {
		err := c.waitInVain(ctx)
		_ = lease.Release() // it is held, so this cannot fail
		return nil, err
	}
	b := c.unused(ctx)
	b.lease, b.model = lease, req.Model
	b.usage = req.StreamOptions != nil && req.StreamOptions.IncludeUsage
	b.h.submit(c.s, &q)
	b.h.Hold(conn)
	b.created = b.h.r.arrived.Time().Unix()
	st := &stream{b, b.turn}
	if err := st.h.WaitHeaders(b.ctx); err != nil {
		_ = st.Close() // nothing is left that could be lost
		return nil, c.s.statusError(err)
	}
	return st, nil
}

// waitInVain waits for an answer over a dead connection, until the client gives up.
func (c *Client) waitInVain(ctx context.Context) error {
	c.s.w.Lock()
	defer c.s.w.Unlock()
	for {
		if err := c.silence.WaitLocked(ctx, c.s.w, waitsForHeaders); err != nil {
			return err
		}
	}
}

// unused returns a body in which nothing is set but the client, the turn and the context, which descends
// from the given one. It is one of the open ones.
func (c *Client) unused(ctx context.Context) *body {
	c.s.w.Lock()
	defer c.s.w.Unlock()
	b := c.spare
	if b == nil {
		b = &body{c: c}
	} else {
		c.spare = b.next
	}
	b.next, b.before = c.open, nil
	if c.open != nil {
		c.open.before = b
	}
	c.open, b.isOpen = b, true
	b.ctx = c.oversee(ctx, b)
	return b
}

// done takes a body off the open ones. The monitor is held.
func (c *Client) done(b *body) {
	if !b.isOpen {
		return
	}
	if b.before != nil {
		b.before.next = b.next
	} else {
		c.open = b.next
	}
	if b.next != nil {
		b.next.before = b.before
	}
	b.next, b.before, b.isOpen = nil, nil, false
}

// reuse keeps the body of a stream that has been closed for unused, unless the servers will come back
// to its request.
func (c *Client) reuse(b *body) {
	c.s.w.Lock()
	defer c.s.w.Unlock()
	turn := b.turn + 1
	if b.h.severed {
		b.turn = turn
		return
	}
	*b = body{c: c, turn: turn, next: c.spare}
	c.spare = b
}

// connect takes a connection out of the pool, or makes one.
func (c *Client) connect(ctx context.Context, a *pacer.Attempt, q *Request) (sim.Lease, Connection, error) {
	var lease sim.Lease
	if c.connections != nil {
		var err error
		lease, err = c.connections.Acquire(ctx, sim.Party{Name: a.Of.Agent, What: a.ID})
		if err != nil {
			return lease, Connection{}, err
		}
	}
	if a.Dialing != nil {
		a.Dialing()
	}
	conn := c.meet(q)
	err := conn.Break
	if err == nil && conn.Delay > 0 {
		err = c.s.w.Sleep(ctx, conn.Delay)
	}
	if err != nil {
		_ = lease.Release() // it is held, so this cannot fail
	}
	return lease, conn, err
}

// meet asks the faults of the connection. A black hole takes all that the client has open with it, and
// whatever it will send: it goes on using the connection, since nothing tells it that it is dead.
func (c *Client) meet(q *Request) Connection {
	c.s.w.Lock()
	defer c.s.w.Unlock()
	if c.blackholed {
		return Connection{Dead: true}
	}
	conn := c.s.connectLocked(q)
	if conn.Blackhole {
		conn.Dead, c.blackholed = true, true
		for b := c.open; b != nil; b = b.next {
			b.h.sever()
		}
	}
	return conn
}

// statusError turns a refusal into what a pacer knows, and leaves other errors as they are.
func (s *Stack) statusError(err error) error {
	var r *Refusal
	if !errors.As(err, &r) {
		return err
	}
	e := &pacer.StatusError{Status: r.Status, Message: cmp.Or(r.Message, http.StatusText(r.Status))}
	if r.RetryAfter != "" {
		e.RetryAfter, e.HasRetryAfter = pacer.RetryAfter(http.Header{"Retry-After": {r.RetryAfter}}, s.w.Now().Time)
	}
	return e
}
