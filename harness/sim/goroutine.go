package sim

import (
	"context"
	"errors"
	"runtime/debug"
	"time"
)

// errGoexit is the cause that the others see when a process has left by runtime.Goexit.
var errGoexit = errors.New("sim: a process called runtime.Goexit")

// Spawn implements World.
func (x *Wall) Spawn(ctx context.Context, name string, body func(ctx context.Context)) *Process {
	p := &Process{name: name, w: x}
	p.ctx = processContext{Context: ctx, p: p}
	x.books.Lock()
	defer x.books.Unlock()
	if x.isOver { // Run may have stopped waiting for new ones
		p.phase = ended
		return p
	}
	x.procs.add(p)
	x.running.Go(func() {
		returned := false
		defer x.finish(p)
		defer x.caught(name, &returned)
		body(&p.ctx)
		returned = true
	})
	return p
}

// caught, when deferred, makes the run fail if f did not return: by a panic, whose stack is still
// there, or by runtime.Goexit.
func (x *Wall) caught(process string, returned *bool) {
	switch v := recover(); {
	case v != nil:
		x.fail(&PanicError{Process: process, Value: v, Stack: debug.Stack()})
	case !*returned:
		x.fail(errGoexit)
	}
}

// fail ends the run, unless it has failed already: every wait ends with the failure as its cause.
func (x *Wall) fail(err error) {
	x.books.Lock()
	first := x.failure == nil
	if first {
		x.failure = err
		close(x.failed)
	}
	cancel := x.cancel
	x.books.Unlock()
	if first && cancel != nil { // nil before Run, which will see the failure
		cancel(err)
		x.stop()
	}
}

// finish runs when a body has been left.
func (x *Wall) finish(p *Process) {
	x.books.Lock()
	x.procs.remove(p)
	x.books.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	p.phase = ended
	p.joiners.wakeAll(x)
}

// Sleep implements World.
func (x *Wall) Sleep(ctx context.Context, d time.Duration) error {
	if err := Cause(ctx); err != nil || d <= 0 {
		return err
	}
	p := ProcessOf(ctx)
	x.waitsFor(p, "sleep")
	defer x.waitsFor(p, "")
	t := time.NewTimer(x.real(d))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-x.stopped:
	}
	return causeOrStopped(ctx)
}

// waitsFor notes what p waits for. p may be nil.
func (x *Wall) waitsFor(p *Process, what string) {
	if p == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	p.waitsFor, p.since = what, x.Now()
}

// causeOrStopped is what a wait returns that the end of the world has ended: the cause of ctx if it
// was cancelled on that occasion.
func causeOrStopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return ErrStopped
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
	if wt.woken {
		return nil
	}
	return causeOrStopped(ctx)
}

func (x *Wall) wake(wt *waiter) {
	if !wt.woken {
		wt.woken = true
		close(wt.ready)
	}
}
