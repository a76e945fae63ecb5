package load

import (
	"context"
	"fmt"

	"example.com/wedge/harness/sim"
)

// client sends requests one after the other.
type client struct {
	g       *generator
	name    string
	talk    conversation
	receipt receipt
}

func newClient(g *generator, number int) *client {
	return &client{g: g, name: fmt.Sprintf("client-%02d", number), receipt: receipt{w: g.w, rec: &g.rec}}
}

// closedLoop sends requests as long as there are any.
func (c *client) closedLoop(ctx context.Context) {
	for {
		number, ok := c.g.takeNumber()
		if !ok {
			return
		}
		a := c.request(ctx, number, c.g.w.Now())
		switch {
		case a.outcome == cut:
			return
		case a.outcome != failed:
		case a.failure.Kind != KindTimeout && c.g.w.Sleep(ctx, c.g.plan.Backoff) != nil:
			return
		}
	}
}

// openLoop holds the conversations that arrive. One of which a request fails is over.
func (c *client) openLoop(ctx context.Context) {
	for {
		arrived, err := c.g.arrivals.take(ctx)
		if err != nil {
			return
		}
		c.talk.end()
		rounds := c.g.plan.Rounds
		for round := range rounds {
			if round > 0 {
				arrived.at = c.g.w.Now()
			}
			if c.request(ctx, arrived.number*rounds+round, arrived.at).outcome != answered {
				break
			}
		}
	}
}

// request sends the request of a number, which counts over the run, and receives its answer. It was
// meant to start at the given instant.
func (c *client) request(ctx context.Context, number int, intended sim.Instant) attempt {
	g := c.g
	id := fmt.Sprintf("%s-c%06d", c.name, g.numbersFrom+number+1)
	draw := g.prompts.At(number)
	c.talk.ask(id, g.plan.PromptTokens.Sample(&draw), g.plan.Rounds)
	a := attempt{intended: intended, began: g.w.Now()}
	g.w.Lock()
	g.rec.beganLocked(&a)
	g.w.Unlock()

	p := c.patience(number)
	limited := p.begin(ctx)
	c.receipt.begin(p.onFirst())
	err := g.target.send(limited, &call{
		id: id, client: c.name, number: number + 1, round: c.talk.rounds + 1, messages: c.talk.messages, plan: g.plan,
	}, &c.receipt)
	a.outcome, a.failure = settle(limited, err)
	p.end()

	g.w.Lock()
	a.ended = g.w.Now()
	g.rec.endedLocked(&a, &c.receipt)
	g.w.Unlock()
	switch a.outcome {
	case answered:
		c.talk.hear(string(c.receipt.text))
	case left, cut:
		c.talk.end()
	}
	return a
}

// patience is how long a client waits for an answer. The zero value is without end.
type patience struct {
	w      sim.World
	plan   *Plan
	leaves bool // in the middle of the answer

	cancel         context.CancelCauseFunc // nil: nothing on this side ends the attempt
	timeout, leave *sim.Timer              // nil: does not run
}

func (c *client) patience(number int) *patience {
	p := &patience{w: c.g.w, plan: c.g.plan}
	if p.plan.Abandon > 0 {
		draw := c.g.leavers.At(number)
		p.leaves = draw.Float64() < p.plan.Abandon
	}
	return p
}

// begin returns the context of the attempt.
func (p *patience) begin(ctx context.Context) context.Context {
	if p.plan.Timeout == 0 && !p.leaves {
		return ctx
	}
	ctx, p.cancel = p.w.WithCancel(ctx)
	if p.plan.Timeout > 0 {
		p.timeout = p.w.AfterFunc(p.plan.Timeout, func() { p.cancel(errTimeout) })
	}
	return ctx
}

// onFirst is what happens at the first output; nil: nothing.
func (p *patience) onFirst() func() {
	if !p.leaves {
		return nil
	}
	return func() {
		if p.plan.AbortAfter == 0 {
			p.cancel(errLeft)
			return
		}
		p.leave = p.w.AfterFunc(p.plan.AbortAfter, func() { p.cancel(errLeft) })
	}
}

func (p *patience) end() {
	for _, t := range [...]*sim.Timer{p.timeout, p.leave} {
		if t != nil {
			t.Stop()
		}
	}
	if p.cancel != nil {
		p.cancel(context.Canceled)
	}
}
