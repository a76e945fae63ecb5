package sim

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
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

	// Start is the instant from which the run's clock goes: that at which an earlier world broke off. 0: the start.
	Start Instant

	Record bool // keep the tape of choices, to be read with Tape
	Replay Tape // take the choices from this tape; nil means from the seed
}

// Wall is a world on the machine's clock. Make one with [NewWall].
type Wall struct {
	opts  WallOptions
	start time.Time
	mu    sync.Mutex // the monitor

	started atomic.Bool
	stopped chan struct{} // closed when every wait must end
	failed  chan struct{} // closed when failure is set
	running sync.WaitGroup
	// patience is how long, on the machine's clock, Run waits for the others after a process has
	// panicked. It may have had the monitor, and then they will never come.
	patience time.Duration

	// books guards what follows: Spawn and the making of objects work with and without the monitor.
	// It is taken after the monitor, if both are.
	books   sync.Mutex
	chooser *chooser
	procs   procList
	objects []object
	failure error
	isOver  bool // stopped is closed
	cancel  context.CancelCauseFunc
}

var _ World = (*Wall)(nil)

// NewWall returns a world whose first instant, opts.Start, is now. It panics if the scale is negative or not finite.
func NewWall(opts WallOptions) *Wall {
	if opts.Scale == 0 {
		opts.Scale = 1
	}
	if !(opts.Scale > 0) || math.IsInf(opts.Scale, 0) {
		panic(fmt.Sprintf("sim: NewWall: scale %v, want a positive number", opts.Scale))
	}
	return &Wall{
		opts:     opts,
		start:    time.Now(),
		stopped:  make(chan struct{}),
		failed:   make(chan struct{}),
		patience: 5 * time.Second,
		chooser:  newChooser(opts.Seed, opts.Replay, opts.Record),
	}
}

// Now implements World.
func (x *Wall) Now() Instant {
	return x.opts.Start + Instant(float64(time.Since(x.start))*x.opts.Scale)
}

// real converts a length of the run's clock to one of the machine's, rounded up so that nothing
// comes early.
func (x *Wall) real(d time.Duration) time.Duration {
	f := math.Floor(float64(d) / x.opts.Scale)
	if f > math.MaxInt64/2 {
		return math.MaxInt64 / 2
	}
	if f*x.opts.Scale < float64(d) {
		f++
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
	early := x.failure // of a process that was spawned before
	x.books.Unlock()
	if early != nil {
		cancel(early)
	}
	var cause error
	done := make(chan struct{})
	ended := make(chan struct{})
	x.Spawn(root, "main", func(ctx context.Context) {
		defer close(ended)
		main(ctx)
	})
	go func() {
		defer close(done)
		<-ended
		cause = context.Cause(root)
		x.mu.Lock() // no timer's function is under way, and none will start
		x.stop()
		x.mu.Unlock()
		cancel(ErrStopped)
		x.running.Wait()
	}()
	select {
	case <-done:
	case <-x.failed:
		select {
		case <-done:
		case <-time.After(x.patience):
		}
	}
	x.books.Lock()
	failure := x.failure
	x.books.Unlock()
	if failure == errGoexit {
		runtime.Goexit() // as iter.Pull does for a virtual world
	}
	if failure != nil {
		return failure
	}
	return cause
}

// stop ends every wait, and lets no further process start.
func (x *Wall) stop() {
	x.books.Lock()
	defer x.books.Unlock()
	if !x.isOver {
		x.isOver = true
		close(x.stopped)
	}
}

func (x *Wall) isStopped() bool {
	select {
	case <-x.stopped:
		return true
	default:
		return false
	}
}
func (x *Wall) register(o object) {
	x.books.Lock()
	defer x.books.Unlock()
	x.objects = append(x.objects, o)
}

func (x *Wall) retire(o object) {
	x.books.Lock()
	defer x.books.Unlock()
	x.objects = without(x.objects, o)
}

// Objects implements World.
func (x *Wall) Objects() []ObjectState {
	x.books.Lock()
	objects := slices.Clone(x.objects)
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
