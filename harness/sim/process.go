package sim

import (
	"context"
	"iter"
	"runtime/pprof"
)

// Process is a body that a world runs. Make one with World.Spawn.
type Process struct {
	name string
	id   uint64
	w    World
	ctx  processContext

	earlier, later *Process // live processes in the order of their start

	labels   func() []string
	waitsFor string
	since    Instant
	ended    bool
	joiners  waitList

	// The rest belongs to a virtual world.
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
	ev      event
	wt      waiter
	entered bool
	parked  bool
	queued  bool // in the ready ring
	relabel bool // resumed only to put on its labels

	in               *cancelContext // the context it is parked under
	ctxPrev, ctxNext *Process       // its neighbours among those parked under it
}

// processContext is the context of a process's body: its parent, which also knows the process.
type processContext struct {
	context.Context
	p *Process
}

type processKey struct{}

func (c *processContext) Value(key any) any {
	if key == (processKey{}) {
		return c.p
	}
	return c.Context.Value(key)
}

// ProcessOf returns the process that ctx was handed to, or nil for a context from elsewhere.
func ProcessOf(ctx context.Context) *Process {
	p, _ := ctx.Value(processKey{}).(*Process)
	return p
}

// Name returns the name given to Spawn.
func (p *Process) Name() string { return p.name }

// SetLabels tells how to find the process's current pprof labels: alternating keys and values, as
// pprof.Labels takes them. Since putting labels on costs more than a step of a virtual world, they
// are asked for when they matter: in a virtual world when RefreshLabels is called before a dump, on
// the wall at each Relabel. Call it from the process itself. f is called with the process's own
// state at rest, and must not wait.
func (p *Process) SetLabels(f func() []string) {
	p.labels = f
	p.Relabel()
}

// Relabel says that the labels have changed. It must be called from the process itself.
func (p *Process) Relabel() {
	if p.labels != nil && !p.w.Virtual() {
		p.putOnLabels()
	}
}

func (p *Process) putOnLabels() {
	if p.labels != nil {
		pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(p.labels()...)))
	}
}

// Wait waits until the process has ended.
func (p *Process) Wait(ctx context.Context) error {
	p.w.Lock()
	defer p.w.Unlock()
	if p.ended {
		return nil
	}
	return p.joiners.wait(ctx, p.w, "process "+p.name)
}

// unwind is what a stopped process panics with, to run its deferred functions on the way out.
type unwind struct{}

// Spawn implements World.
func (k *Virtual) Spawn(ctx context.Context, name string, body func(ctx context.Context)) *Process {
	p := &Process{name: name, w: k}
	p.ctx = processContext{Context: ctx, p: p}
	p.ev.proc = p
	if k.stopping {
		p.ended = true
		return p
	}
	k.procs.add(p)
	p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield, p.entered = yield, true
		defer p.end()
		defer k.caught(name)
		body(&p.ctx)
	})
	k.makeReady(p)
	return p
}

// end takes the process off the books and wakes whoever waits for it.
func (p *Process) end() {
	if p.ended {
		return
	}
	p.ended = true
	p.w.(*Virtual).procs.remove(p)
	p.joiners.wakeAll(p.w)
	p.yield, p.labels = nil, nil
}

// switchOut gives control back to the kernel until the process is resumed.
func (p *Process) switchOut() {
	for {
		if !p.yield(struct{}{}) {
			panic(unwind{})
		}
		if !p.relabel {
			break
		}
		p.putOnLabels()
	}
}

// procList holds the live processes in the order of their start.
type procList struct {
	head, tail *Process
	ids        uint64
	n          int
}

func (l *procList) add(p *Process) {
	l.ids++
	p.id = l.ids
	p.earlier = l.tail
	if l.tail != nil {
		l.tail.later = p
	} else {
		l.head = p
	}
	l.tail = p
	l.n++
}

func (l *procList) remove(p *Process) {
	if p.earlier != nil {
		p.earlier.later = p.later
	} else {
		l.head = p.later
	}
	if p.later != nil {
		p.later.earlier = p.earlier
	} else {
		l.tail = p.earlier
	}
	p.earlier, p.later = nil, nil
	l.n--
}

func (l *procList) states() []ProcessState {
	out := make([]ProcessState, 0, l.n)
	for p := l.head; p != nil; p = p.later {
		out = append(out, ProcessState{Name: p.name, WaitsFor: p.waitsFor, Since: p.since})
	}
	return out
}

// ring is the queue of runnable processes.
type ring struct {
	buf   []*Process // its length is a power of two
	first int
	n     int
}

func (r *ring) len() int { return r.n }

func (r *ring) put(p *Process) {
	if r.n == len(r.buf) {
		grown := make([]*Process, max(64, 2*len(r.buf)))
		for i := range r.n {
			grown[i] = r.buf[(r.first+i)&(len(r.buf)-1)]
		}
		r.buf, r.first = grown, 0
	}
	r.buf[(r.first+r.n)&(len(r.buf)-1)] = p
	r.n++
}

// take removes the i-th, keeping the order of the others.
func (r *ring) take(i int) *Process {
	mask := len(r.buf) - 1
	p := r.buf[(r.first+i)&mask]
	for ; i > 0; i-- {
		r.buf[(r.first+i)&mask] = r.buf[(r.first+i-1)&mask]
	}
	r.buf[r.first] = nil
	r.first = (r.first + 1) & mask
	r.n--
	return p
}
