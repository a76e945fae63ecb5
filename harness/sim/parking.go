package sim

import (
	"context"
	"time"
)

// Sleep implements World.
func (k *Virtual) Sleep(ctx context.Context, d time.Duration) error {
	p := k.running("Sleep")
	if k.locked {
		panic("sim: Sleep with the monitor held")
	}
	c := k.ownerOf(ctx)
	if c != nil && c.cause != nil {
		return c.cause
	}
	if d <= 0 {
		k.breathe(p)
		return nil
	}
	until := k.now.Add(d)
	if k.aloneUntil(until) {
		// Nobody else can run before this sleep ends, so the switch to the kernel and back is left
		// out. The step is counted as ever: the trace cannot tell the difference.
		k.seq++
		k.now, k.still = until, 0
		k.count(stepProcess, p.id, p.name)
		return nil
	}
	p.waitsFor, p.since = "sleep", k.now
	p.wt.woken = false
	k.schedule(&p.ev, until)
	if !k.parkUnder(c, p) {
		panic(unwind{})
	}
	p.waitsFor = ""
	if p.wt.woken {
		return nil
	}
	return c.cause
}

// breathe is the part of a sleep that lets no time pass. A loop of them would keep control for ever,
// so that they count towards the bound on the steps of an instant.
func (k *Virtual) breathe(p *Process) {
	k.stand(p.name)
	if k.failure != nil && !p.switchOut() {
		panic(unwind{})
	}
}

// aloneUntil says whether the running process is the only one that can act up to and including t.
func (k *Virtual) aloneUntil(t Instant) bool {
	if k.ready.n > 0 || len(k.due) > 0 || k.failure != nil || k.slow {
		return false
	}
	e, ok := k.heap.first()
	return !ok || e.at > t
}

func (k *Virtual) schedule(ev *event, at Instant) {
	k.seq++
	k.heap.push(at, k.seq, ev)
}

// running returns the process that called op. While the world stops, a wait in a deferred function
// goes on with the unwinding instead: nobody would ever end it.
func (k *Virtual) running(op string) *Process {
	if k.current == nil {
		panic("sim: " + op + " outside a process: the functions of timers and labels must not wait")
	}
	if k.stopping {
		panic(unwind{})
	}
	return k.current
}

func (k *Virtual) waiterFor(context.Context) *waiter {
	p := k.running("a wait")
	p.wt = waiter{proc: p}
	return &p.wt
}

func (k *Virtual) park(ctx context.Context, wt *waiter) error {
	c := k.ownerOf(ctx)
	if c != nil && c.cause != nil {
		return c.cause
	}
	k.locked = false
	goesOn := k.parkUnder(c, wt.proc)
	k.locked = true
	if !goesOn {
		panic(unwind{})
	}
	if wt.woken {
		return nil
	}
	return c.cause
}

// parkUnder parks the running process until it is woken or c is cancelled. It returns false if the
// process must unwind.
func (k *Virtual) parkUnder(c *cancelContext, p *Process) bool {
	if p.in != c {
		p.leaveContext()
		c.admit(p)
	}
	p.phase = parked
	return p.switchOut()
}

func (k *Virtual) wake(wt *waiter) {
	if !k.locked {
		panic("sim: a waiting object was changed without the monitor held")
	}
	wt.woken = true
	k.makeReady(wt.proc)
}

// makeReady queues a parked process. One that is not parked has been woken by somebody else, or has
// been stopped.
func (k *Virtual) makeReady(p *Process) {
	if p.phase != parked {
		return
	}
	p.phase = ready
	k.heap.remove(&p.ev)
	k.ready.put(p)
}
