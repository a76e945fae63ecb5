package sim

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"time"
)

// VirtualOptions are the settings of a virtual world.
type VirtualOptions struct {
	Seed uint64 // of every random stream

	// Shuffle lets the scheduler choose among the processes that are runnable at one instant,
	// instead of taking the one that became runnable first.
	Shuffle bool

	Record bool // keep the tape of choices, to be read with Tape
	Replay Tape // take the choices from this tape; nil means from the seed

	// Trace, if not nil, gets one line for each step of the kernel: instant in nanoseconds, step,
	// process or timer, running hash.
	Trace io.Writer

	// StepsPerInstantMax bounds the steps while time stands still; 0 means ten million.
	StepsPerInstantMax int
}

// Virtual is a world in virtual time. Make one with [NewVirtual].
type Virtual struct {
	opts    VirtualOptions
	now     Instant
	seq     uint64
	heap    eventHeap
	ready   ring
	current *Process // the one that runs; nil while the kernel or a timer's function does

	procs   procList
	objects []object
	chooser *chooser

	hash     uint64
	steps    uint64
	still    int // steps since time last moved
	failure  error
	stopping bool
	started  bool
	root     *cancelContext
	outer    context.Context // the one given to Run: polled, since it is cancelled from outside
}

var _ World = (*Virtual)(nil)

// NewVirtual returns a virtual world at instant 0.
func NewVirtual(opts VirtualOptions) *Virtual {
	if opts.StepsPerInstantMax == 0 {
		opts.StepsPerInstantMax = 10_000_000
	}
	return &Virtual{opts: opts, hash: fnvOffset, chooser: newChooser(opts.Seed, opts.Replay, opts.Record)}
}

// Now implements World.
func (k *Virtual) Now() Instant { return k.now }

// Virtual implements World.
func (k *Virtual) Virtual() bool { return true }

// Lock implements World. It does nothing: only one process runs.
func (k *Virtual) Lock() {}

// Unlock implements World. It does nothing.
func (k *Virtual) Unlock() {}

// Stream implements World.
func (k *Virtual) Stream(entity, purpose string) Stream {
	return NewStream(k.opts.Seed, entity, purpose)
}

// Choose implements World.
func (k *Virtual) Choose(label string, n int) int { return k.chooser.choose(label, n) }

// Tape returns the choices recorded so far.
func (k *Virtual) Tape() Tape { return k.chooser.tape }

// Steps returns how many events the kernel has handled.
func (k *Virtual) Steps() uint64 { return k.steps }

// Hash returns the running hash over every step and every Note. Two runs that agree in it took the
// same steps in the same order.
func (k *Virtual) Hash() uint64 { return k.hash }

// Note implements World.
func (k *Virtual) Note(b []byte) {
	h := k.hash
	for _, c := range b {
		h = (h ^ uint64(c)) * fnvPrime
	}
	k.hash = h
}

// Run implements World. Cancelling ctx is noticed within a thousand steps.
func (k *Virtual) Run(ctx context.Context, main func(ctx context.Context)) error {
	if k.started {
		panic("sim: Virtual.Run: a world runs once")
	}
	k.started = true
	k.outer = ctx
	k.root = &cancelContext{k: k, parent: context.WithoutCancel(ctx)}
	defer k.stopAll()
	m := k.Spawn(k.root, "main", main)
	for !m.ended && k.failure == nil {
		k.step()
	}
	if k.failure != nil {
		return k.failure
	}
	return k.root.cause
}

// interruptPoll is how many steps may pass before a cancelled outer context is noticed.
const interruptPoll = 1024

// step lets one process run, or takes one event.
func (k *Virtual) step() {
	if k.steps%interruptPoll == 0 && k.root.cause == nil && k.outer.Err() != nil {
		k.root.cancel(context.Cause(k.outer))
	}
	if n := k.ready.len(); n > 0 {
		i := 0
		if k.opts.Shuffle && n > 1 {
			i = k.Choose("runnable", n)
		}
		k.resume(k.ready.take(i))
		return
	}
	if len(k.heap) == 0 {
		k.failure = &DeadlockError{At: k.now, Waiting: k.Processes()}
		return
	}
	e := k.heap.pop()
	k.advance(e.at)
	if e.ev.proc != nil {
		e.ev.proc.wt.woken = true
		k.resume(e.ev.proc)
		return
	}
	k.count(e.seq, "timer", "")
	k.call(e.ev.fn)
}

// call runs a timer's function.
func (k *Virtual) call(f func()) {
	defer k.caught("timer")
	f()
}

// caught, when deferred, turns a panic into the failure of the run; its stack is still there.
func (k *Virtual) caught(process string) {
	v := recover()
	if _, stopped := v.(unwind); v != nil && !stopped && k.failure == nil {
		k.failure = &PanicError{Process: process, Value: v, Stack: debug.Stack()}
	}
}

func (k *Virtual) advance(to Instant) {
	if to > k.now {
		k.now, k.still = to, 0
	}
}

// count mixes a step into the hash and checks the bound.
func (k *Virtual) count(id uint64, kind, name string) {
	k.steps++
	k.still++
	k.hash = ((k.hash^uint64(k.now))*fnvPrime ^ id) * fnvPrime
	if k.still > k.opts.StepsPerInstantMax && k.failure == nil {
		k.failure = &LivelockError{At: k.now, Steps: k.still, Last: name}
	}
	if k.opts.Trace != nil {
		fmt.Fprintf(k.opts.Trace, "%d %s %d %s %016x\n", int64(k.now), kind, id, strconv.Quote(name), k.hash)
	}
}

// resume switches to p until it parks or ends.
func (k *Virtual) resume(p *Process) {
	k.count(p.id, "process", p.name)
	p.queued = false
	k.current = p
	p.next()
	k.current = nil
}

// Sleep implements World.
func (k *Virtual) Sleep(ctx context.Context, d time.Duration) error {
	if err := k.errBefore(ctx); err != nil || d <= 0 {
		return err
	}
	p := k.running("Sleep")
	until := k.now.Add(d)
	if k.aloneUntil(until) {
		// Nobody else can run before this sleep ends, so the switch to the kernel and back is left
		// out. The step is counted as ever: the trace cannot tell the difference.
		k.seq++
		k.advance(until)
		k.count(p.id, "process", p.name)
		return nil
	}
	p.waitsFor, p.since = "sleep", k.now
	k.schedule(&p.ev, until)
	err := k.park(ctx, k.waiterFor(ctx))
	k.heap.remove(&p.ev)
	return err
}

// aloneUntil says whether the running process is the only one that can act up to and including t.
func (k *Virtual) aloneUntil(t Instant) bool {
	return k.ready.len() == 0 && (len(k.heap) == 0 || k.heap[0].at > t) &&
		!k.stopping && k.failure == nil && (k.steps+1)%interruptPoll != 0
}

func (k *Virtual) schedule(ev *event, at Instant) {
	k.seq++
	k.heap.push(entry{at: at, seq: k.seq, ev: ev})
}

// running returns the process that called op.
func (k *Virtual) running(op string) *Process {
	if k.current == nil {
		panic("sim: " + op + " outside a process: the function of a timer must not wait")
	}
	return k.current
}

// errBefore is the check of ctx at the start of a wait.
func (k *Virtual) errBefore(ctx context.Context) error {
	if c := cancelContextOf(ctx); c != nil {
		return c.cause
	}
	if ctx.Done() != nil {
		panic("sim: a virtual world was given a cancellable context that is not its own")
	}
	return nil
}

func (k *Virtual) waiterFor(context.Context) *waiter {
	p := k.running("a wait")
	p.wt = waiter{proc: p}
	return &p.wt
}

func (k *Virtual) park(ctx context.Context, wt *waiter) error {
	if err := k.errBefore(ctx); err != nil {
		return err
	}
	p := k.running("a wait")
	c := cancelContextOf(ctx)
	if c != nil {
		c.attach(p)
	}
	p.parked = true
	p.switchOut()
	p.parked = false
	if c != nil {
		c.detach(p)
	}
	if wt.woken {
		return nil
	}
	return c.cause
}

func (k *Virtual) wake(wt *waiter) {
	if !wt.woken {
		wt.woken = true
		k.makeReady(wt.proc)
	}
}

// makeReady queues a parked process once.
func (k *Virtual) makeReady(p *Process) {
	if p.queued || p.ended || k.stopping {
		return
	}
	p.queued = true
	k.heap.remove(&p.ev)
	k.ready.put(p)
}

func (k *Virtual) register(o object) { k.objects = append(k.objects, o) }

// Objects implements World.
func (k *Virtual) Objects() []ObjectState { return states(k.objects) }

// Processes implements World.
func (k *Virtual) Processes() []ProcessState { return k.procs.states() }

// RefreshLabels implements World.
func (k *Virtual) RefreshLabels() {
	caller := k.current
	for p := k.procs.head; p != nil; p = p.later {
		if p == caller {
			p.putOnLabels()
		} else if p.entered && !p.ended && p.labels != nil {
			p.relabel = true
			k.current = p
			p.next()
			p.relabel = false
		}
	}
	k.current = caller
}

// stopAll unwinds every process that is left, newest first, so that children end before parents.
func (k *Virtual) stopAll() {
	k.stopping = true
	for p := k.procs.tail; p != nil; p = k.procs.tail {
		k.current = p
		p.stop()
		k.current = nil
		p.end()
	}
}
