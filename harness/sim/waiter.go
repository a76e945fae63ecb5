package sim

import "context"

// waiter is one wait of one process: the handle that park and wake share.
type waiter struct {
	woken      bool
	proc       *Process      // may be nil on the wall: a goroutine that the world did not start
	ready      chan struct{} // wall only
	prev, next *waiter       // in a waitList
	list       *waitList
	who        Party
	slot       int  // the permit that Release handed over
	promised   bool // by a queue: an item, or a place
}

// waitList is a FIFO of waiters. It is guarded by the monitor.
type waitList struct {
	head, tail *waiter
	n          int
}

func (l *waitList) push(wt *waiter) {
	wt.list, wt.prev = l, l.tail
	if l.tail != nil {
		l.tail.next = wt
	} else {
		l.head = wt
	}
	l.tail = wt
	l.n++
}

func (l *waitList) remove(wt *waiter) {
	if wt.list != l {
		return
	}
	if wt.prev != nil {
		wt.prev.next = wt.next
	} else {
		l.head = wt.next
	}
	if wt.next != nil {
		wt.next.prev = wt.prev
	} else {
		l.tail = wt.prev
	}
	wt.list, wt.prev, wt.next = nil, nil, nil
	l.n--
}

// pop removes and returns the first waiter, or nil.
func (l *waitList) pop() *waiter {
	wt := l.head
	if wt != nil {
		l.remove(wt)
	}
	return wt
}

func (l *waitList) wakeAll(w World) {
	for wt := l.pop(); wt != nil; wt = l.pop() {
		w.wake(wt)
	}
}

// wait parks the calling process in the list until somebody pops and wakes it. The monitor is held.
func (l *waitList) wait(ctx context.Context, w World, what string) error {
	return l.waitAs(ctx, w, what, Party{})
}

func (l *waitList) waitAs(ctx context.Context, w World, what string, who Party) error {
	_, err := l.waitFor(ctx, w, what, who)
	return err
}

// waitFor is waitAs for callers that hand something over with the wake: it returns the waiter.
func (l *waitList) waitFor(ctx context.Context, w World, what string, who Party) (*waiter, error) {
	wt := w.waiterFor(ctx)
	return wt, l.park(ctx, w, what, wt, who)
}

// park parks the calling process in the list as wt.
func (l *waitList) park(ctx context.Context, w World, what string, wt *waiter, who Party) error {
	wt.who = who
	wt.who.Since = w.Now()
	if wt.proc != nil {
		wt.proc.waitsFor, wt.proc.since = what, wt.who.Since
	}
	l.push(wt)
	defer l.remove(wt) // also when the process is unwound
	err := w.park(ctx, wt)
	if wt.proc != nil {
		wt.proc.waitsFor = ""
	}
	return err
}
