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

	// Shuffle lets the scheduler choose among all that is due or runnable at one instant, instead of
	// running the process that became runnable first, and then taking the event queued first.
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
	due     []entry // events of this instant, taken off the heap; only if shuffled
	dueSeen uint64  // heap.removals when due was last looked through
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

func (k *Virtual) retire(o object) { k.objects = without(k.objects, o) }

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
	if k.opts.Shuffle {
		k.stepShuffled()
		return
	}
	if k.ready.n > 0 {
		k.resume(k.ready.take(0))
		return
	}
	e, ok := k.heap.first()
	if !ok {
		k.deadlock()
		return
	}
	k.heap.pop()
	k.happen(e)
}

func (k *Virtual) deadlock() {
	k.failure = &DeadlockError{At: k.now, Waiting: k.Processes(), Objects: states(k.objects)}
}

// happen makes an event that was taken out of the queue come true.
func (k *Virtual) happen(e entry) {
	if e.at > k.now {
		k.now, k.still = e.at, 0
	}
	if p := e.ev.proc; p != nil {
		p.wt.woken = true
		k.resume(p)
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
