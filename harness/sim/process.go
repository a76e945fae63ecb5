package sim

import (
	"context"
	"runtime/pprof"
)

// Process is a body that a world runs. Make one with World.Spawn.
type Process struct {
	// The first fields, two cache lines of them, are what each step of a virtual world touches.
	phase    phase
	next     func() (struct{}, bool) // resumes the coroutine; nil before its first resume
	yield    func(struct{}) bool     // gives control back, from inside it
	ev       event
	in       *cancelContext // the context that ends its waits; see cancelContext.members
	id       uint64
	name     string
	waitsFor string
	since    Instant
	wt       waiter

	w       World
	virtual *Virtual // w, if it is one
	ctx     processContext
	labels  func() []string
	joiners waitList

	stop             func()
	body             func(ctx context.Context) // until it starts
	relabel          bool                      // resumed only to put on its labels
	ctxPrev, ctxNext *Process                  // its neighbours among the members of in
	earlier, later   *Process                  // live processes in the order of their start
}

// phase is where a process of a virtual world is between start and end. On the wall only ended is
// used.
type phase uint8

const (
	ready   phase = iota // in the ring of runnable processes, perhaps not started yet
	running              // has control, or is about to get it
	parked               // waits to be woken
	ended
)

// processContext is the context of a process's body: its parent, which also knows the process.
type processContext struct {
	context.Context
	p     *Process
	owner *cancelContext // of a virtual world; nil if nothing cancels the parent
}

type processKey struct{}

func (c *processContext) Value(key any) any {
	switch key {
	case processKey{}:
		return c.p
	case cancelContextKey{}:
		if c.owner != nil {
			return c.owner
		}
	}
	return c.Context.Value(key)
}

// ProcessOf returns the process that ctx was handed to, or nil for a context from elsewhere.
func ProcessOf(ctx context.Context) *Process {
	if c, ok := ctx.(*processContext); ok {
		return c.p
	}
	p, _ := ctx.Value(processKey{}).(*Process)
	return p
}

// Name returns the name given to Spawn.
func (p *Process) Name() string { return p.name }

// SetLabels tells how to find the process's current pprof labels: alternating keys and values, as
// pprof.Labels takes them. Since putting labels on costs more than a step of a virtual world, they
// are asked for when they matter: in a virtual world when RefreshLabels is called before a dump, on
// the wall at each Relabel. Call it from the process itself, without the monitor held. f is called
// with the process's own state at rest; it may take the monitor, and must not wait.
func (p *Process) SetLabels(f func() []string) {
	p.labels = f
	p.Relabel()
}

// Relabel says that the labels have changed. It must be called from the process itself.
func (p *Process) Relabel() {
	if p.virtual == nil {
		p.putOnLabels()
	}
}

func (p *Process) putOnLabels() {
	if p.labels != nil {
		pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(p.labels()...)))
	}
}

// Wait waits until the process has ended. It returns nil for one that has, even if ctx is cancelled.
// The monitor must not be held.
func (p *Process) Wait(ctx context.Context) error {
	p.w.Lock()
	defer p.w.Unlock()
	if p.phase == ended {
		return nil
	}
	return p.joiners.wait(ctx, p.w, "process "+p.name)
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
		st := ProcessState{Name: p.name, WaitsFor: p.waitsFor}
		if st.WaitsFor != "" {
			st.Since = p.since
		}
		out = append(out, st)
	}
	return out
}
