package pacer

import (
	"context"
	"errors"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/adaptive"
	"example.com/wedge/pacer/admission"
)

// errLost is the end of an attempt against which another one of its call has won.
var errLost = errors.New("pacer: another attempt of the call was faster")

// race is a round of attempts of one call, the first of which the call's own process plays. Guarded
// by the monitor.
type race struct {
	c     *call
	ctx   context.Context
	req   *openai.ChatCompletionRequest
	tries []*try // begun, in this order
	procs []*sim.Process
	timer *sim.Timer // of the next one to join; nil: none will
	won   bool       // it is decided which of them goes on
	over  bool       // none of them is alive

	// Of the attempt that decided: the one that won, or the last to fail.
	next Decision
	err  error
}

// raceAttempts makes one attempt, and others beside it as the policy's hedge says. It returns what attempt
// does. All its processes have ended by then.
func (c *call) raceAttempts(ctx context.Context, req *openai.ChatCompletionRequest) (Decision, error) {
	kept := *req // so that requests of calls that are not raced stay on the stack
	r := &race{c: c, ctx: ctx, req: &kept}
	c.race, c.raced = r, true
	r.play(ctx, &c.own)
	for i := 0; r.wait(ctx, i); i++ {
	}
	c.p.w.Lock()
	defer c.p.w.Unlock()
	c.race = nil
	return r.next, r.err
}

// wait waits for the end of process i, and says whether there was one.
func (r *race) wait(ctx context.Context, i int) bool {
	r.c.p.w.Lock()
	if i == len(r.procs) {
		r.c.p.w.Unlock()
		return false
	}
	other := r.procs[i]
	r.c.p.w.Unlock()
	if other.Wait(ctx) != nil {
		// Cancelled. So are the others, whose context descends from ctx: they end soon, and must
		// have ended before the call does.
		_ = other.Wait(context.WithoutCancel(ctx)) // fails only if the world has stopped
	}
	return true
}

// joins takes note of an attempt that begins, and sets the timer for the next, unless it comes too
// late. The monitor is held.
func (r *race) joins(t *try, now sim.Instant) bool {
	if r == nil {
		return true
	}
	k, h := r.c.p.controls, &r.c.p.policy.Hedge
	if t.hedge && (r.won || r.over || sim.Cause(r.ctx) != nil) {
		k.hedges--
		k.budget.GiveBack(now, t.pass.cost)
		return false
	}
	if t.hedge {
		r.c.joined++
		k.budget.Sent(now, admission.Hedge)
	}
	r.tries = append(r.tries, t)
	t.phase.stage = StageConnect
	r.c.state.Beside = r.alive() - 1
	r.await(now, k, h)
	return true
}

// await sets the timer for the next attempt to join, or makes it at once. The monitor is held.
func (r *race) await(now sim.Instant, k *controls, h *Hedge) {
	if len(r.tries) > max(1, h.Max) {
		return
	}
	if h.Tied {
		r.launch()
		return
	}
	if wait, ok := k.hedgeAfter(now, h); ok {
		r.timer = r.c.p.w.AfterFunc(wait, r.launch)
	}
}

// launch starts a process that makes another attempt, if that may be. The monitor is held.
func (r *race) launch() {
	r.timer = nil
	p := r.c.p
	if r.won || r.over {
		return
	}
	cost, ok := p.controls.mayHedge(p.w.Now(), &p.policy.Hedge, r.c.state.Attempts)
	if !ok || !r.c.rateFor(r.req) {
		p.controls.budget.GiveBack(p.w.Now(), cost)
		return
	}
	p.controls.hedges++
	t := &try{c: r.c, hedge: true, armed: sim.Never, pass: pass{kind: admission.Hedge, cost: cost}}
	r.procs = append(r.procs, p.w.Spawn(r.ctx, "hedge of "+r.c.state.ID, func(ctx context.Context) { r.play(ctx, t) }))
}

// play makes an attempt. What it comes to is kept in the race.
func (r *race) play(ctx context.Context, t *try) {
	if t.hedge {
		if t.proc = sim.ProcessOf(ctx); t.proc != nil {
			t.proc.SetLabels(t.labels)
		}
	}
	inner, ok := t.begin(ctx, r.req)
	if !ok {
		return // it is decided already
	}
	err := t.exchange(inner, r.req)
	_, _ = t.settle(ctx, err)
}

// wins makes t the one that goes on, and ends the others, if that has not been decided yet. The
// monitor is held.
func (r *race) wins(t *try, now sim.Instant) {
	if r.won || t.lost {
		return
	}
	r.won = true
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	for _, other := range r.tries {
		if other != t && other.phase.stage != StageDone {
			other.lost = true
			other.cancel(errLost)
			if k := r.c.p.controls; k.hedge != nil { // it would have taken longer
				k.hedge.Observe(now, now.Sub(other.phase.began), adaptive.Outcome{Censored: true})
			}
		}
	}
	r.c.state.Beside = r.alive() - 1
	r.show(t, now)
}

// alive returns how many attempts are under way and have not lost. The monitor is held.
func (r *race) alive() int {
	n := 0
	for _, t := range r.tries {
		if t.phase.stage != StageDone && !t.lost {
			n++
		}
	}
	return n
}

// goesOn takes note that an attempt ends, and says whether the call goes on with others that are under
// way. The monitor is held.
func (r *race) goesOn(t *try) bool {
	if r == nil {
		return false
	}
	if t.lost {
		return true
	}
	r.over = r.alive() == 1
	return !r.over
}

// ended keeps what was decided at the end of an attempt, and shows another one if that was shown. The
// monitor is held.
func (r *race) ended(t *try, now sim.Instant, next Decision, err error) {
	if r == nil {
		return
	}
	r.c.state.Beside = max(0, r.alive()-1)
	if t.lost {
		return
	}
	if r.over {
		r.next, r.err = next, err
		if r.timer != nil {
			r.timer.Stop()
			r.timer = nil
		}
		return
	}
	if sim.Cause(r.ctx) != nil {
		return // all end at this instant
	}
	for _, other := range r.tries {
		if r.c.shown == t && other.phase.stage != StageDone && !other.lost {
			r.show(other, now)
		}
	}
}

// show makes the call's state that of attempt t. The monitor is held.
func (r *race) show(t *try, now sim.Instant) {
	c := r.c
	if c.shown == t {
		return
	}
	c.shown = t
	s := t.view()
	c.state.Behind, c.state.AttemptID = s.Behind, s.AttemptID
	c.state.Sent, c.state.Headers, c.state.FirstToken = s.Sent, s.Headers, s.FirstToken
	c.state.Tokens, c.state.Bytes, c.state.Events, c.state.LastByte, c.state.LastToken = 0, 0, 0, 0, 0
	t.refresh()
	c.state.Resumed = true
	c.enter(t.phase.stage, now)
	c.state.Resumed = false
}

// view returns the call's state as if it were about attempt t.
func (t *try) view() CallState {
	s := t.c.state
	s.Stage, s.Behind, s.AttemptID = t.phase.stage, s.Attempts-t.a.Number, t.a.ID
	s.Sent, s.Headers, s.FirstToken = t.phase.connected, t.phase.headers, t.phase.content
	s.Tokens, s.Bytes, s.Events, s.LastByte, s.LastToken = 0, 0, 0, 0, 0
	if t.stream != nil {
		pr := t.stream.Progress()
		s.Tokens, s.Bytes, s.Events, s.LastByte, s.LastToken = pr.Tokens, pr.Bytes, pr.Events, pr.LastByte, pr.LastToken
	}
	return s
}

// labels are those of the process that plays an attempt which has joined another.
func (t *try) labels() []string {
	w := t.c.p.w
	w.Lock()
	defer w.Unlock()
	id := ""
	if t.a != nil {
		id = t.a.ID
	}
	s := &t.c.state
	return []string{"agent", s.Agent, "task", s.Task, "call", s.ID, "attempt", id, "stage", t.phase.stage.String()}
}

// rateFor says whether the rates allow another attempt at once, and takes its place in them. The
// monitor is held.
func (c *call) rateFor(req *openai.ChatCompletionRequest) bool {
	if c.p.rates == (rates{}) {
		return true
	}
	now := c.p.w.Now().Time()
	res, wait := c.p.rates.reserve(now, c.state.PromptTokens+tokensMax(req))
	if wait > 0 {
		res.cancel(now)
	}
	return wait <= 0
}

// arrived takes note that an attempt has come to a point at which it may win. The monitor is held.
func (t *try) arrived(at HedgeOn, now sim.Instant) {
	c := t.c
	if c.race == nil || t.lost || c.p.policy.Hedge.on() != at {
		return
	}
	if k := c.p.controls; k.hedge != nil {
		k.hedge.Observe(now, now.Sub(t.phase.began), adaptive.Outcome{})
	}
	c.race.wins(t, now)
}
