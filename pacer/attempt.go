package pacer

import (
	"context"
	"io"
	"strconv"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/adaptive"
)

// try is an attempt under way. One process plays it, and changes it with the monitor held where others
// look. A call keeps one for its attempts, which is used again and again; more are made only for
// attempts that join another one.
type try struct {
	c      *call
	proc   *sim.Process // may be nil: a goroutine that the world did not start
	a      *Attempt     // as the backend knows it; nil: none so far
	limits *limits
	phase  phase
	stream Stream                  // nil: none yet
	cancel context.CancelCauseFunc // nil: nothing but the caller can end it
	timer  *sim.Timer              // of its limits; nil: not needed so far
	armed  sim.Instant             // when the timer fires
	hit    *LimitError             // the limit that fired; nil: none
	hedge  bool                    // it has joined another one
	lost   bool                    // another one has won against it
	pass   pass
	answer answer
}

// attempt makes one attempt. If it fails for good, the error is that of the call; if the decision is
// to go on, it does not matter.
func (c *call) attempt(ctx context.Context, req *openai.ChatCompletionRequest) (Decision, error) {
	t := &c.own
	inner, _ := t.begin(ctx, req) // alone, it never comes too late
	return t.settle(ctx, t.exchange(inner, req))
}

// begin starts the clock of a new attempt, unless another one has won already. Its context is the
// caller's own if nothing else can end it.
func (t *try) begin(ctx context.Context, req *openai.ChatCompletionRequest) (inner context.Context, ok bool) {
	c := t.c
	inner = ctx
	if c.p.cancels {
		inner, t.cancel = c.p.w.WithCancel(ctx)
	}
	c.p.w.Lock()
	defer t.relabel() // runs after Unlock
	defer c.p.w.Unlock()
	now := c.p.w.Now()
	if !c.race.joins(t, now) {
		t.cancel(errLost)
		return inner, false
	}
	if c.state.Attempts > 0 { // else all is fresh
		t.answer, t.hit, t.lost = answer{}, nil, false
	}
	if c.kept.text != "" {
		t.answer.seed(c.kept.text)
	}
	if c.p.controls != nil && !t.hedge {
		t.pass = c.pass
	}
	t.limits = c.limitsNow(now, tokensMax(req))
	c.count()
	a := &Attempt{ID: c.state.AttemptID, Number: c.state.Attempts, Of: c.id}
	if c.p.policy.PropagateDeadline {
		a.Remaining = c.remaining(now, t.limits)
	}
	if t.limits.dial > 0 {
		a.Dialing = func() { t.dialing(a) }
	}
	a.Connected = func() { t.connected(a) }
	t.a = a
	t.phase = phase{stage: StageConnect, began: now}
	c.shown = t
	t.reach(StageConnect, now)
	return inner, true
}

// count makes the next attempt the one that the state is about. The monitor is held.
func (c *call) count() {
	s := &c.state
	s.Attempts++
	s.Behind = 0
	if s.Attempts > 1 {
		s.AttemptID = s.ID + "-a" + strconv.Itoa(s.Attempts)
	}
	s.Tokens, s.Bytes, s.Events, s.LastByte, s.LastToken = 0, 0, 0, 0, 0
	s.Sent, s.Headers, s.FirstToken = 0, 0, 0
}

// tokensMax returns how many output tokens a request allows; 0: any number.
func tokensMax(req *openai.ChatCompletionRequest) int {
	//lint:ignore SA1019 what most servers still take
	return max(req.MaxTokens, req.MaxCompletionTokens, 0)
}

// exchange sends the request and receives the answer.
func (t *try) exchange(ctx context.Context, req *openai.ChatCompletionRequest) error {
	stream, err := t.c.p.backend.Open(ctx, t.a, *req)
	if err != nil {
		return err
	}
	t.opened(stream)
	t.passed(HoldStart)
	for {
		chunk, err := stream.Recv()
		if err == io.EOF {
			return t.answer.check()
		}
		if err != nil {
			return err
		}
		output, err := t.answer.add(&chunk)
		if err != nil {
			return err
		}
		if output && t.phase.stage == StageFirstToken {
			t.flows()
			t.passed(HoldFirstToken)
		}
	}
}

// dialing notes that a connection is being made for an attempt. A backend may say so late or twice.
func (t *try) dialing(a *Attempt) {
	w := t.c.p.w
	w.Lock()
	defer w.Unlock()
	if t.a != a || t.phase.stage != StageConnect || t.phase.dials {
		return
	}
	now := w.Now()
	t.phase.dials, t.phase.dialled = true, now
	at, _ := t.limits.due(t.phase, Progress{})
	t.arm(at, now)
}

// connected notes that an attempt has its connection. A backend may say so late or twice.
func (t *try) connected(a *Attempt) {
	w := t.c.p.w
	w.Lock()
	if t.a != a || t.phase.stage != StageConnect {
		w.Unlock()
		return
	}
	defer t.relabel() // runs after Unlock
	defer w.Unlock()
	now := w.Now()
	t.phase.connected = now
	t.reach(StageHeaders, now)
}

// opened notes that the response headers are in.
func (t *try) opened(stream Stream) {
	w := t.c.p.w
	w.Lock()
	defer t.relabel() // runs after Unlock
	defer w.Unlock()
	now := w.Now()
	if t.phase.stage == StageConnect {
		t.phase.connected = now // the backend did not say
	}
	t.stream = stream
	t.phase.headers = now
	t.reach(StageFirstToken, now)
	if t.c.p.controls != nil {
		t.learn(adaptive.LimitResponseHeader, now.Sub(t.phase.connected), false)
		t.arrived(HedgeOnHeaders, now)
	}
}

// flows notes the first output.
func (t *try) flows() {
	w := t.c.p.w
	w.Lock()
	defer t.relabel() // runs after Unlock
	defer w.Unlock()
	now := w.Now()
	t.phase.content = now
	t.reach(StageStream, now)
	if t.c.p.controls != nil {
		t.learn(adaptive.LimitFirstToken, now.Sub(t.phase.connected), false)
		t.judgeFirst(now)
		t.arrived(HedgeOnFirstToken, now)
	}
	t.sampleFirst(now)
}

// reach moves the attempt into its next stage, and the call with it if that shows this attempt. The
// monitor is held.
func (t *try) reach(stage Stage, now sim.Instant) {
	t.phase.stage = stage
	var pr Progress
	if stage == StageStream || t.c.p.limited {
		pr = t.refresh()
	}
	if t.c.shown == t {
		s := &t.c.state
		s.Sent, s.Headers, s.FirstToken = t.phase.connected, t.phase.headers, t.phase.content
		t.c.enter(stage, now)
	}
	if t.c.p.limited {
		at, _ := t.limits.due(t.phase, pr)
		t.arm(at, now)
	}
}

// refresh brings what has been received up to date. The monitor is held.
func (t *try) refresh() Progress {
	if t.stream == nil {
		return Progress{}
	}
	pr := t.stream.Progress()
	if t.c.shown == t {
		s := &t.c.state
		s.Tokens, s.Bytes, s.Events, s.LastByte, s.LastToken = pr.Tokens, pr.Bytes, pr.Events, pr.LastByte, pr.LastToken
	}
	return pr
}

// arm makes sure that the timer fires no later than the next limit is due. A limit that has moved
// away leaves the timer as it is: it looks again when it fires. The monitor is held.
func (t *try) arm(at, now sim.Instant) {
	if at >= t.armed {
		return
	}
	t.armed = at
	if t.timer == nil {
		t.timer = t.c.p.w.AfterFunc(at.Sub(now), t.look)
	} else {
		t.timer.Reset(at.Sub(now))
	}
}

// look is the timer's function: it ends the attempt if a limit is due, or sets the timer to when one
// will be. The monitor is held.
func (t *try) look() {
	now := t.c.p.w.Now()
	t.armed = sim.Never
	at, limit := t.limits.due(t.phase, t.refresh())
	if at > now {
		t.arm(at, now)
		return
	}
	t.hit = &LimitError{Limit: limit, After: t.limits.lengthOf(limit)}
	t.cancel(t.hit)
}

// relabel puts the new stage on the goroutine. The monitor is not held.
func (t *try) relabel() {
	if t.proc != nil {
		t.proc.Relabel()
	}
}
