package pacer

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
)

// Pacer sends calls to a backend under one configuration and policy. It is safe for concurrent use.
// Make one with [New].
type Pacer struct {
	w       sim.World
	config  Config
	policy  Policy
	backend Backend
	obs     Observer // may be nil
	faults  *fault.Set
	limits  limits // of attempts, as far as they are the same for all
	limited bool   // whether there is any
	cancels bool   // whether the pacer may end an attempt by itself
	hedges  bool   // whether attempts may be joined by others
	leaky   bool   // whether a fault may leak slots

	slots *sim.Semaphore // nil: no limit, or there is a line
	line  *line          // nil: the slots are all there is
	rates rates

	controls *controls  // nil: the policy has none
	draws    sim.Stream // of backoff, by call and attempt

	// usage asks for the usage chunk. All requests share it; nobody writes it.
	usage *openai.StreamOptions

	began sim.Instant // when the pacer was made

	// Guarded by the monitor.
	oldest, newest *call // in flight, in the order of their start
	inFlight       int
	spare          *call // calls that are over, by newer
	numbered       int   // calls that came without a number of their own
}

// New returns a pacer in world w. Observer and faults may be nil. The error names the field of the
// configuration or policy that is wrong.
func New(w sim.World, config Config, policy Policy, b Backend, obs Observer, faults *fault.Set) (*Pacer, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("pacer: New: config: %w", err)
	}
	if err := policy.Validate(); err != nil {
		return nil, fmt.Errorf("pacer: New: policy: %w", err)
	}
	if w == nil || b == nil {
		return nil, errors.New("pacer: New: world and backend must not be nil")
	}
	p := &Pacer{
		w: w, config: config, policy: policy, backend: b, obs: obs, faults: faults,
		limits:  policy.limits(),
		limited: policy.limited(),
		cancels: policy.limited() || policy.Hedge.enabled(),
		hedges:  policy.Hedge.enabled(),
		leaky:   faults.Has(fault.Pacer, fault.LeakSlot),
		rates:   newRates(config),
		draws:   w.Stream("pacer", "backoff"),
		usage:   &openai.StreamOptions{IncludeUsage: true},
		began:   w.Now(),
	}
	p.controls = newControls(w, &p.policy)
	if p.line = newLine(w, config); p.line == nil && config.Slots > 0 {
		p.slots = sim.NewSemaphore(w, "pacer.slots", config.Slots)
	}
	return p, nil
}

// Chat sends one call and waits for its answer. The request is always streamed, with usage; the
// chunks are put together, so that the answer looks as if it had not been (without log
// probabilities). A zero Identity is allowed: the pacer then numbers the call itself.
//
// If ctx is cancelled, the error is its cause, unchanged. Every other error is a *CallError that
// wraps what the last attempt died of: a *LimitError, a *StatusError, or the backend's own.
func (p *Pacer) Chat(ctx context.Context, id Identity, req openai.ChatCompletionRequest) (openai.ChatCompletionResponse, error) {
	req.Stream, req.StreamOptions = true, p.usage
	c := p.newCall(ctx, id)
	defer c.leave()
	c.state.PromptTokens = promptTokens(&req) // nobody sees it before its first stage
	err := c.run(ctx, &req)
	c.end(err)
	if err != nil {
		return openai.ChatCompletionResponse{}, err
	}
	resp := c.winner.answer.response()
	if resp.Usage.CompletionTokens > 0 { // as if the answer had come in one piece
		resp.Usage.CompletionTokens += c.kept.tokens
		resp.Usage.PromptTokens = max(0, resp.Usage.PromptTokens-c.kept.tokens)
	}
	return resp, nil
}

// Calls returns the calls in flight in the order of their start, with what each has received by now.
// The time of the current stage is not in StageTime yet. The monitor must not be held.
func (p *Pacer) Calls() []CallState {
	p.w.Lock()
	defer p.w.Unlock()
	out := make([]CallState, 0, p.inFlight)
	for c := p.oldest; c != nil; c = c.newer {
		if c.shown != nil {
			c.shown.refresh()
		}
		out = append(out, c.state)
	}
	return out
}

// number returns the id of a call of this identity, and that of its first attempt.
func (p *Pacer) number(id Identity) (call, attempt string) {
	if id.Call == 0 {
		p.w.Lock()
		p.numbered++
		id.Call = p.numbered
		p.w.Unlock()
	}
	if id.Agent == "" {
		id.Agent = "agent"
	}
	var buf [64]byte
	b := append(append(buf[:0], id.Agent...), "-c"...)
	for least := 100; least > 1 && id.Call < least; least /= 10 {
		b = append(b, '0')
	}
	b = strconv.AppendInt(b, int64(id.Call), 10)
	n := len(b)
	attempt = string(append(b, "-a1"...))
	return attempt[:n], attempt
}

// unused returns a call in which nothing is set but the pacer and perhaps a timer.
func (p *Pacer) unused() *call {
	p.w.Lock()
	defer p.w.Unlock()
	c := p.spare
	if c == nil {
		c = &call{p: p}
		c.own.c = c
		return c
	}
	p.spare, c.newer = c.newer, nil
	return c
}

// reuse keeps a call that is over for unused, with its timer, which is at rest. The monitor is held.
func (p *Pacer) reuse(c *call) {
	timer := c.own.timer
	*c = call{}
	c.own.c, c.own.timer = c, timer
	c.p, c.newer = p, p.spare
	p.spare = c
}

// list adds a call to those in flight.
func (p *Pacer) list(c *call) {
	c.listed = true
	c.older = p.newest
	if p.newest != nil {
		p.newest.newer = c
	} else {
		p.oldest = c
	}
	p.newest = c
	p.inFlight++
}

func (p *Pacer) unlist(c *call) {
	if c.older != nil {
		c.older.newer = c.newer
	} else {
		p.oldest = c.newer
	}
	if c.newer != nil {
		c.newer.older = c.older
	} else {
		p.newest = c.older
	}
	c.listed, c.older, c.newer = false, nil, nil
	p.inFlight--
}
