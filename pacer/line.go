package pacer

import (
	"context"
	"fmt"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/concurrency"
	"example.com/wedge/pacer/queue"
)

// ShedError is the cause of an attempt that was not made, since the pacer's queue for slots has turned
// the call away.
type ShedError struct {
	Reason queue.Reason
	Waited time.Duration // for a slot
}

func (e *ShedError) Error() string {
	switch e.Reason {
	case queue.Full:
		return "pacer: no slot, and as many wait for one as may (queue.max)"
	case queue.Rejected:
		return "pacer: no slot, and too many wait for one (queue.reject_from)"
	case queue.TooLong:
		return fmt.Sprintf("pacer: no slot within %v (queue.wait)", e.Waited)
	case queue.Delayed:
		return fmt.Sprintf("pacer: no slot after %v, and waits are too long (queue.codel)", e.Waited)
	}
	return fmt.Sprintf("pacer: a slot after %v, too late for the deadline (queue.drop_dead)", e.Waited)
}

// line is where calls wait for a slot if the configuration says how: it has a limit that moves, or an
// order. Without either, a semaphore is all that a pacer needs. It is used with the monitor held.
type line struct {
	w       sim.World
	gate    *sim.Gate
	limiter *concurrency.Limiter // nil: the number of slots stays
	queue   *queue.Queue
	waiting map[uint64]*sim.Visitor // those in the queue
	last    uint64                  // id of the latest to come
	timer   *sim.Timer              // turns away those that wait for too long; nil: not needed so far
	armed   sim.Instant             // when it fires
	shed    []queue.Shed            // room for the next ones
	draws   sim.Stream              // by call and attempt

	moved sim.Instant // when the limit last did
	slots float64     // times seconds, up to then
}

// newLine returns the line of a configuration, or nil if it has none.
func newLine(w sim.World, c Config) *line {
	if c.Limit.Rule == "" && c.Queue == (queue.Config{}) {
		return nil
	}
	l := &line{
		w: w, queue: queue.New(c.Queue), waiting: map[uint64]*sim.Visitor{}, armed: sim.Never,
		draws: w.Stream("pacer", "slots"), moved: w.Now(),
	}
	slots := c.Slots
	if c.Limit.Rule != "" {
		first := l.draws.At(0)
		l.limiter = concurrency.New(c.Limit, c.Slots, first.Float64())
		slots = l.limiter.Limit()
	}
	l.gate = sim.NewGate(w, "pacer.slots", slots)
	return l
}

// free says whether a call may have a slot at once. Nobody waits then: every change serves the queue.
func (l *line) free() bool { return l.gate.InUseLocked() < l.gate.CapacityLocked() }

// enter takes a slot, and waits for one if none is free. The error is a *ShedError or the cause of ctx.
func (l *line) enter(ctx context.Context, w queue.Waiter, who sim.Party, draw float64) (sim.Pass, error) {
	if err := sim.Cause(ctx); err != nil {
		return sim.Pass{}, err
	}
	if l.free() {
		return l.gate.EnterLocked(who), nil
	}
	l.last++
	w.ID = l.last
	if reason, ok := l.queue.Push(l.w.Now(), w, l.gate.CapacityLocked(), draw); !ok {
		return sim.Pass{}, &ShedError{Reason: reason}
	}
	l.arm()
	v := &sim.Visitor{Who: who}
	l.waiting[w.ID] = v
	defer l.forget(w.ID) // also when the process is unwound
	pass, err := l.gate.WaitLocked(ctx, v)
	if cause := sim.Cause(ctx); err == nil && cause != nil {
		l.leave(pass) // let in and cancelled at the same instant
		return sim.Pass{}, cause
	}
	return pass, err
}

func (l *line) forget(id uint64) {
	if l.waiting[id] != nil {
		delete(l.waiting, id)
		l.queue.Remove(l.w.Now(), id)
	}
}

// leave gives a slot back.
func (l *line) leave(pass sim.Pass) {
	if err := pass.LeaveLocked(); err != nil {
		panic(err) // each pass is kept in one place, and taken out of it to come here
	}
	l.serve()
}

// ended tells the limit of an attempt.
func (l *line) ended(s concurrency.Sample) {
	if l.limiter == nil {
		return
	}
	s.Full = !l.free()
	now := l.w.Now()
	l.limiter.Ended(now, s)
	if limit := l.limiter.Limit(); limit != l.gate.CapacityLocked() {
		l.slots, l.moved = l.slotSeconds(now), now
		l.gate.SetCapacityLocked(limit)
	}
	l.serve()
}

// slotSeconds returns the sum of the limit over time so far.
func (l *line) slotSeconds(now sim.Instant) float64 {
	return l.slots + float64(l.gate.CapacityLocked())*now.Sub(l.moved).Seconds()
}

// serve lets in whoever there is a slot for.
func (l *line) serve() {
	now := l.w.Now()
	for l.free() {
		id, shed, ok := l.queue.Next(now, l.shed[:0])
		l.turnAway(shed)
		if !ok {
			break
		}
		v := l.waiting[id]
		delete(l.waiting, id)
		l.gate.AdmitLocked(v)
	}
	l.arm()
}

func (l *line) turnAway(shed []queue.Shed) {
	for _, s := range shed {
		v := l.waiting[s.ID]
		delete(l.waiting, s.ID)
		l.gate.RefuseLocked(v, &ShedError{Reason: s.Reason, Waited: s.Waited})
	}
	l.shed = shed[:0]
}

// arm makes sure that the timer fires no later than the queue wants to be asked. If that has moved
// away, the timer finds nothing to do, and looks again.
func (l *line) arm() {
	at := l.queue.NextWake()
	if at >= l.armed {
		return
	}
	l.armed = at
	if in := at.Sub(l.w.Now()); l.timer == nil {
		l.timer = l.w.AfterFunc(in, l.look)
	} else {
		l.timer.Reset(in)
	}
}

// look is the timer's function. The monitor is held.
func (l *line) look() {
	l.armed = sim.Never
	l.turnAway(l.queue.Expire(l.w.Now(), l.shed[:0]))
	l.arm()
}

// takeInLine is takeSlot by way of the line.
func (c *call) takeInLine(ctx context.Context) error {
	l, s := c.p.line, &c.state
	c.sampled = false
	if s.HoldsSlot || c.held != nil && c.useHeld() {
		return nil // as many are in flight as were
	}
	c.p.w.Lock()
	defer c.p.w.Unlock()
	if !l.free() {
		c.enter(StageSlot, c.p.w.Now())
		c.p.w.Unlock()
		c.relabel()
		c.p.w.Lock()
	}
	w := queue.Waiter{Agent: s.Agent, Retry: s.Attempts > 0, Deadline: deadlineOf(ctx)}
	if c.over != nil {
		w.Deadline = min(w.Deadline, s.Started.Add(c.over.After))
	}
	pass, err := l.enter(ctx, w, sim.Party{Name: s.Agent, What: s.ID}, c.drawOf(l.draws, 1))
	if err != nil {
		return err
	}
	c.inflight = l.gate.InUseLocked()
	c.keep(permit{pass: pass})
	return nil
}

// noSlot ends an attempt that could not have a slot. The error is that of the call.
func (c *call) noSlot(err error) (Decision, error) {
	if _, ok := err.(*ShedError); ok {
		return c.turnedAway(StageSlot, AttemptShed, err)
	}
	return Decision{}, err
}

// sample tells the limit how the attempt ended: of several that the call has made at once, the one that
// decided. The monitor is held.
func (t *try) sample(now sim.Instant, r *AttemptResult) {
	c := t.c
	if c.p.line == nil || c.sampled || r.Beside {
		return
	}
	c.sampled = true
	s := t.reading(now)
	s.Tokens = r.Tokens
	switch r.Outcome {
	case AttemptOK:
	case AttemptTimeout, AttemptNetwork:
		s.Dropped = true
	case AttemptStatus:
		s.Dropped = r.Status == 0 || r.Status == statusTooMany || r.Status >= statusServer
		s.Canceled = !s.Dropped // a request that is refused for what it is
	default:
		s.Canceled = true
	}
	c.p.line.ended(s)
}

// Statuses of a server that has too much to do: from statusServer on, and this one.
const (
	statusTooMany = 429
	statusServer  = 500
)

// sampleFirst tells the limit of the first output, if that is what it wants to know. The monitor is
// held.
func (t *try) sampleFirst(now sim.Instant) {
	c := t.c
	l := c.p.line
	if l == nil || l.limiter == nil || l.limiter.Signal() != concurrency.FirstToken || c.sampled {
		return
	}
	c.sampled = true
	l.ended(t.reading(now))
}

func (t *try) reading(now sim.Instant) concurrency.Sample {
	s := concurrency.Sample{Latency: now.Sub(t.phase.began), Inflight: t.c.inflight, Draw: t.c.drawOf(t.c.p.line.draws, 0)}
	if t.phase.content > 0 {
		s.Began, s.FirstToken = true, t.phase.content.Sub(t.phase.began)
	}
	return s
}
