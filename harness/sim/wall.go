package sim

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// WallOptions are the settings of a world on the machine's clock.
type WallOptions struct {
	Seed uint64 // of every random stream

	// Scale is how much faster the run's clock goes than the machine's: at 60 a real second is a
	// minute of the run. 0 means 1.
	Scale float64

	Record bool // keep the tape of choices, to be read with Tape
	Replay Tape // take the choices from this tape; nil means from the seed
}

// Wall is a world on the machine's clock. Make one with [NewWall].
type Wall struct {
	opts  WallOptions
	start time.Time
	mu    sync.Mutex // the monitor

	stopped chan struct{}
	started atomic.Bool
	running sync.WaitGroup

	// books guards what follows: Spawn and the making of objects work with and without the monitor.
	books   sync.Mutex
	chooser *chooser
	procs   procList
	objects []object
	failure error
	cancel  context.CancelCauseFunc
}

var _ World = (*Wall)(nil)

// NewWall returns a world whose instant 0 is now. It panics if the scale is negative or not finite.
func NewWall(opts WallOptions) *Wall {
	if opts.Scale == 0 {
		opts.Scale = 1
	}
	if !(opts.Scale > 0) || math.IsInf(opts.Scale, 0) {
		panic(fmt.Sprintf("sim: NewWall: scale %v, want a positive number", opts.Scale))
	}
	return &Wall{opts: opts, start: time.Now(), stopped: make(chan struct{}), chooser: newChooser(opts.Seed, opts.Replay, opts.Record), cancel: func(error) {}}
}

// Now implements World.
func (x *Wall) Now() Instant {
	return Instant(float64(time.Since(x.start)) * x.opts.Scale)
}

// real converts a length of the run's clock to one of the machine's, rounded up so that nothing
// comes early.
func (x *Wall) real(d time.Duration) time.Duration {
	f := math.Ceil(float64(d) / x.opts.Scale)
	if f > math.MaxInt64/2 {
		return math.MaxInt64 / 2
	}
	return time.Duration(f)
}

// Virtual implements World.
func (x *Wall) Virtual() bool { return false }

// Scale returns how much faster the run's clock goes than the machine's.
func (x *Wall) Scale() float64 { return x.opts.Scale }

// Lock implements World.
func (x *Wall) Lock() { x.mu.Lock() }

// Unlock implements World.
func (x *Wall) Unlock() { x.mu.Unlock() }

// Stream implements World.
func (x *Wall) Stream(entity, purpose string) Stream { return NewStream(x.opts.Seed, entity, purpose) }

// Choose implements World.
func (x *Wall) Choose(label string, n int) int {
	x.books.Lock()
	defer x.books.Unlock()
	return x.chooser.choose(label, n)
}

// Tape returns the choices recorded so far.
func (x *Wall) Tape() Tape {
	x.books.Lock()
	defer x.books.Unlock()
	return append(Tape(nil), x.chooser.tape...)
}

// Note implements World.
func (x *Wall) Note([]byte) {}

// Run implements World. It returns once every process has: a body that waits for something else than
// this world must heed its context.
func (x *Wall) Run(ctx context.Context, main func(ctx context.Context)) error {
	if x.started.Swap(true) {
		panic("sim: Wall.Run: a world runs once")
	}
	root, cancel := context.WithCancelCause(ctx)
	x.books.Lock()
	x.cancel = cancel
	x.books.Unlock()
	ended := make(chan struct{})
	x.Spawn(root, "main", func(ctx context.Context) {
		defer close(ended)
		main(ctx)
	})
	<-ended
	cause := context.Cause(root)
	x.mu.Lock() // no timer's function is under way, and none will start
	close(x.stopped)
	x.mu.Unlock()
	cancel(ErrStopped)
	x.running.Wait()
	x.books.Lock()
	defer x.books.Unlock()
	if x.failure != nil {
		return x.failure
	}
	return cause
}

func (x *Wall) isStopped() bool {
	select {
	case <-x.stopped:
		return true
	default:
		return false
	}
}

// Spawn implements World.
func (x *Wall) Spawn(ctx context.Context, name string, body func(ctx context.Context)) *Process {
	p := &Process{name: name, w: x}
	p.ctx = processContext{Context: ctx, p: p}
	x.books.Lock()
	x.procs.add(p)
	x.books.Unlock()
	x.running.Go(func() {
		defer x.finish(p)
		defer x.caught(name)
		body(&p.ctx)
	})
	return p
}

// caught, when deferred, turns a panic into the failure of the run.
func (x *Wall) caught(process string) {
	v := recover()
	if v == nil {
		return
	}
	x.books.Lock()
	defer x.books.Unlock()
	if x.failure == nil {
		x.failure = &PanicError{Process: process, Value: v, Stack: debug.Stack()}
		x.cancel(x.failure)
	}
}

// finish runs when a body has returned or panicked.
func (x *Wall) finish(p *Process) {
	x.books.Lock()
	x.procs.remove(p)
	x.books.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	p.ended = true
	p.joiners.wakeAll(x)
}

// Sleep implements World.
func (x *Wall) Sleep(ctx context.Context, d time.Duration) error {
	if err := Cause(ctx); err != nil || d <= 0 {
		return err
	}
	if p := ProcessOf(ctx); p != nil {
		x.mu.Lock()
		p.waitsFor, p.since = "sleep", x.Now()
		x.mu.Unlock()
	}
	t := time.NewTimer(x.real(d))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-x.stopped:
		return ErrStopped
	}
}

// WithCancel implements World.
func (x *Wall) WithCancel(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	return context.WithCancelCause(ctx)
}

func (x *Wall) waiterFor(ctx context.Context) *waiter {
	return &waiter{proc: ProcessOf(ctx), ready: make(chan struct{})}
}

func (x *Wall) park(ctx context.Context, wt *waiter) error {
	x.mu.Unlock()
	select {
	case <-wt.ready:
	case <-ctx.Done():
	case <-x.stopped:
	}
	x.mu.Lock()
	switch {
	case wt.woken:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return ErrStopped
}

func (x *Wall) wake(wt *waiter) {
	if !wt.woken {
		wt.woken = true
		close(wt.ready)
	}
}

func (x *Wall) register(o object) {
	x.books.Lock()
	defer x.books.Unlock()
	x.objects = append(x.objects, o)
}

// Objects implements World.
func (x *Wall) Objects() []ObjectState {
	x.books.Lock()
	objects := x.objects[:len(x.objects):len(x.objects)]
	x.books.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	return states(objects)
}

// Processes implements World.
func (x *Wall) Processes() []ProcessState {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.books.Lock()
	defer x.books.Unlock()
	return x.procs.states()
}

// RefreshLabels implements World. On the wall, processes put their labels on themselves.
func (x *Wall) RefreshLabels() {}
