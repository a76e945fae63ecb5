package sim

import (
	"context"
	"iter"
)

// unwind is what a stopped process panics with, to run its deferred functions on the way out.
type unwind struct{}

// Spawn implements World.
func (k *Virtual) Spawn(ctx context.Context, name string, body func(ctx context.Context)) *Process {
	p := &Process{name: name, w: k, virtual: k, body: body}
	p.ctx = processContext{Context: ctx, p: p, owner: k.ownerOf(ctx)}
	p.ev.proc = p
	if k.stopping {
		p.phase = ended
		return p
	}
	k.procs.add(p)
	k.ready.put(p)
	return p
}

// start makes the coroutine of a process that is about to run for the first time. A process that is
// stopped before that never had one.
func (p *Process) start() {
	body := p.body
	p.body = nil
	p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		defer p.end()
		defer p.virtual.caught(p.name)
		body(&p.ctx)
	})
}

// end takes the process off the books and wakes whoever waits for it.
func (p *Process) end() {
	if p.phase == ended {
		return
	}
	k := p.virtual
	p.phase = ended
	k.procs.remove(p)
	p.leaveContext()
	for wt := p.joiners.pop(); wt != nil; wt = p.joiners.pop() {
		wt.woken = true
		k.makeReady(wt.proc)
	}
	p.yield, p.labels, p.body = nil, nil, nil
}

// switchOut gives control back to the kernel until the process is resumed. It returns false if the
// process must unwind instead of going on.
func (p *Process) switchOut() bool {
	for p.yield(struct{}{}) {
		if !p.relabel {
			return true
		}
		p.refreshLabels()
	}
	return false
}

// RefreshLabels implements World. The labels' functions run as timers' functions do, outside any
// process, so that a wait in one of them is caught; but they find the monitor free.
func (k *Virtual) RefreshLabels() {
	caller, held := k.current, k.locked
	k.current, k.locked = nil, false
	for p := k.procs.head; p != nil; p = p.later {
		switch {
		case p == caller:
			p.refreshLabels()
		case p.next != nil && p.labels != nil:
			p.relabel = true
			p.next()
			p.relabel = false
		}
	}
	k.current, k.locked = caller, held
}

// refreshLabels puts the labels on. A panic of their function fails the run, and leaves the wait
// that p is in as it was.
func (p *Process) refreshLabels() {
	defer p.virtual.caught(p.name)
	p.putOnLabels()
}

// stopAll unwinds every process that is left, newest first, so that children end before parents.
func (k *Virtual) stopAll() {
	k.stopping = true
	// A deferred function that calls runtime.Goexit ends this goroutine too; the others must be
	// stopped all the same.
	defer func() {
		if k.procs.tail != nil {
			k.stopAll()
		}
	}()
	for p := k.procs.tail; p != nil; p = k.procs.tail {
		k.stopOne(p)
	}
}

func (k *Virtual) stopOne(p *Process) {
	defer p.end() // if it has never started, and so could not do it itself
	if p.stop == nil {
		return
	}
	k.current, k.locked = p, false
	p.phase = running
	p.stop()
}
