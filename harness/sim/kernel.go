package sim

import (
	"context"
	"io"
	"runtime/debug"
	"strconv"
)

// VirtualOptions are the settings of a virtual world. The zero value is usable: seed 0, no shuffling,
// no tape, no trace.
type VirtualOptions struct {
	Seed uint64 // of every random stream

	// Shuffle lets the scheduler choose among the processes that are runnable at one instant,
	// instead of taking the one that became runnable first.
	Shuffle bool

	Record bool // keep the tape of choices, to be read with Tape
	Replay Tape // take the choices from this tape; nil means from the seed

	// Trace, if not nil, gets one line for each step of the kernel: instant in nanoseconds, "process"
	// or "timer", number of the process or of the timer's arming, name of the process in quotes,
	// running hash in hex. An error of writing it ends the run.
	Trace io.Writer

	// StepsPerInstantMax bounds the steps while time stands still; 0 means ten million.
	StepsPerInstantMax int
}

// Virtual is a world in virtual time. Make one with [NewVirtual]. Its methods are for its own
// processes and timers' functions, and for one goroutine before and after Run.
type Virtual struct {
	opts    VirtualOptions
	now     Instant
	seq     uint64
	heap    eventHeap
	ready   ring
	current *Process // the one that runs; nil while the kernel or a timer's function does
	locked  bool     // the monitor is held

	procs   procList
	objects []object
	chooser *chooser

	hash     uint64
	steps    uint64
	still    int // steps since time last moved
	unpolled int // steps since outer was looked at
	line     []byte
	failure  error
	stopping bool
	started  bool
	slow     bool // each sleep goes through the heap, as if the fast path did not exist
	root     *cancelContext
	outer    context.Context // the one given to Run: polled, since it is cancelled from outside
}

var _ World = (*Virtual)(nil)

// NewVirtual returns a virtual world at instant 0.
func NewVirtual(opts VirtualOptions) *Virtual {
	if opts.StepsPerInstantMax <= 0 {
		opts.StepsPerInstantMax = 10_000_000
	}
	return &Virtual{opts: opts, hash: fnvOffset, chooser: newChooser(opts.Seed, opts.Replay, opts.Record)}
}

// Now implements World.
func (k *Virtual) Now() Instant { return k.now }

// Virtual implements World.
func (k *Virtual) Virtual() bool { return true }

// Lock implements World. Only one process runs, so there is nothing to wait for; but what would hang
// on the wall panics here: to lock twice, and to wait with the monitor held.
func (k *Virtual) Lock() {
	if k.locked {
		panic("sim: Lock: the monitor is held already, and is not reentrant")
	}
	k.locked = true
}

// Unlock implements World.
func (k *Virtual) Unlock() {
	if !k.locked {
		panic("sim: Unlock: the monitor is not held")
	}
	k.locked = false
}

// Stream implements World.
func (k *Virtual) Stream(entity, purpose string) Stream {
	return NewStream(k.opts.Seed, entity, purpose)
}

// Choose implements World.
func (k *Virtual) Choose(label string, n int) int { return k.chooser.choose(label, n) }

// Tape returns a copy of the choices recorded so far.
func (k *Virtual) Tape() Tape { return append(Tape(nil), k.chooser.tape...) }

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

func (k *Virtual) register(o object) { k.objects = append(k.objects, o) }

// Objects implements World.
func (k *Virtual) Objects() []ObjectState {
	k.Lock()
	defer k.Unlock()
	return states(k.objects)
}

// Processes implements World.
func (k *Virtual) Processes() []ProcessState { return k.procs.states() }

// Run implements World. Cancelling ctx is noticed within a thousand steps.
func (k *Virtual) Run(ctx context.Context, main func(ctx context.Context)) (err error) {
	if k.started {
		panic("sim: Virtual.Run: a world runs once")
	}
	k.started = true
	k.outer = ctx
	k.root = &cancelContext{k: k, parent: context.WithoutCancel(ctx)}
	k.poll()
	defer func() {
		k.stopAll()
		if k.failure != nil { // also if a process panicked on its way out
			err = k.failure
		}
	}()
	m := k.Spawn(k.root, "main", main)
	for m.phase != ended && k.failure == nil {
		k.step()
	}
	return k.root.cause
}

// interruptPoll is how many steps may pass before a cancelled outer context is noticed.
const interruptPoll = 1024

// poll passes on that the outer context was cancelled.
func (k *Virtual) poll() {
	if k.root.cause == nil && k.outer.Err() != nil {
		k.root.cancelAs(context.Cause(k.outer), k.outer.Err())
	}
}

// step lets one process run, or takes one event.
func (k *Virtual) step() {
	if n := k.ready.n; n > 0 {
		i := 0
		if k.opts.Shuffle && n > 1 {
			i = k.Choose("runnable", n)
		}
		k.resume(k.ready.take(i))
		return
	}
	e, ok := k.heap.first()
	if !ok {
		k.failure = &DeadlockError{At: k.now, Waiting: k.Processes(), Objects: states(k.objects)}
		return
	}
	k.heap.pop()
	k.advance(e.at)
	if e.ev.proc != nil {
		e.ev.proc.wt.woken = true
		k.resume(e.ev.proc)
		return
	}
	k.count(stepTimer, e.seq, "")
	k.call(e.ev.fn)
}

// resume switches to p until it parks or ends.
func (k *Virtual) resume(p *Process) {
	p.phase = running
	k.count(stepProcess, p.id, p.name)
	if p.next == nil {
		p.start()
	}
	k.current = p
	p.next()
	k.current = nil
}

// call runs a timer's function, with the monitor held.
func (k *Virtual) call(f func()) {
	defer k.caught("timer")
	k.locked = true
	f()
	k.locked = false
}

// caught, when deferred, turns a panic into the failure of the run; its stack is still there.
func (k *Virtual) caught(process string) {
	v := recover()
	if v == nil {
		return
	}
	k.locked = false // as if every Unlock were deferred
	if _, stopped := v.(unwind); !stopped && k.failure == nil {
		k.failure = &PanicError{Process: process, Value: v, Stack: debug.Stack()}
	}
}

func (k *Virtual) advance(to Instant) {
	if to > k.now {
		k.now, k.still = to, 0
	}
}

// count mixes a step into the hash, writes it to the trace, and checks what bounds a run.
func (k *Virtual) count(kind stepKind, id uint64, name string) {
	k.steps++
	h := (k.hash ^ uint64(k.now)) * fnvPrime
	k.hash = (h ^ (id<<1 | uint64(kind))) * fnvPrime
	if k.opts.Trace != nil {
		k.trace(kind, id, name)
	}
	k.stand(name)
}

// stand counts one more thing done while time stands still.
func (k *Virtual) stand(name string) {
	k.still++
	if k.still > k.opts.StepsPerInstantMax && k.failure == nil {
		k.failure = &LivelockError{At: k.now, Steps: k.still, Last: name}
	}
	k.unpolled++
	if k.unpolled == interruptPoll {
		k.unpolled = 0
		k.poll()
	}
}

// stepKind is what the kernel does in a step. Its values are part of the hash.
type stepKind uint64

const (
	stepProcess stepKind = iota
	stepTimer
)

func (s stepKind) String() string {
	if s == stepTimer {
		return "timer"
	}
	return "process"
}

func (k *Virtual) trace(kind stepKind, id uint64, name string) {
	b := strconv.AppendInt(k.line[:0], int64(k.now), 10)
	b = append(append(append(b, ' '), kind.String()...), ' ')
	b = append(strconv.AppendUint(b, id, 10), ' ')
	b = append(strconv.AppendQuote(b, name), ' ')
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[k.hash>>shift&15])
	}
	k.line = append(b, '\n')
	if _, err := k.opts.Trace.Write(k.line); err != nil && k.failure == nil {
		k.failure = traceError(err)
	}
}
