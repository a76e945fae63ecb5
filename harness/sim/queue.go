package sim

import (
	"context"
	"errors"
)

// ErrClosed is returned by Get once a queue is closed and empty, and by Put once it is closed.
var ErrClosed = errors.New("sim: queue is closed")

// Queue is a FIFO of items between processes, with a bound or without. Those who wait for an item,
// or for room, are served first come first served: whoever comes later cannot slip in between. It is
// safe for concurrent use. The zero value must be readied with Init; [NewQueue] does both.
type Queue[T any] struct {
	w       World
	name    string
	getName string // what a process that waits for an item says
	putName string // what one that waits for room says
	bound   int
	closed  bool
	items   []T
	first   int // items[:first] are taken
	getters waitList
	putters waitList
	// Waking somebody promises them an item or a place; until they have come to take it, it is kept
	// from all others.
	itemsPromised  int
	placesPromised int
}

// NewQueue returns an empty queue that holds at most bound items (0: no bound). If name is not
// empty, the world's Objects shows it for good.
func NewQueue[T any](w World, name string, bound int) *Queue[T] {
	q := new(Queue[T])
	q.Init(w, name, bound)
	return q
}

// Init readies a queue that is part of another value. See [NewQueue].
func (q *Queue[T]) Init(w World, name string, bound int) {
	q.w, q.name, q.bound = w, name, bound
	q.getName, q.putName = "queue", "queue"
	if name != "" {
		q.getName, q.putName = "an item of queue "+name, "room in queue "+name
		w.register(q)
	}
}

// Put appends an item, and waits for room if the queue is full. The monitor must not be held.
func (q *Queue[T]) Put(ctx context.Context, item T) error {
	q.w.Lock()
	defer q.w.Unlock()
	if err := Cause(ctx); err != nil {
		return err
	}
	if !q.closed && (q.bound == 0 || q.places() > 0) {
		q.put(item)
		return nil
	}
	if !q.closed {
		if err := q.await(ctx, &q.putters, q.putName, &q.placesPromised); err != nil {
			return err
		}
	}
	if q.closed {
		return ErrClosed
	}
	q.put(item)
	return nil
}

// PutLocked appends an item without waiting, whatever the bound, and drops it if the queue is
// closed. The monitor must be held: it is for the functions of timers.
func (q *Queue[T]) PutLocked(item T) {
	if !q.closed {
		q.put(item)
	}
}

func (q *Queue[T]) put(item T) {
	q.items = append(q.items, item)
	q.serve()
}

// Get removes the first item, and waits for one if there is none. The monitor must not be held.
func (q *Queue[T]) Get(ctx context.Context) (T, error) {
	q.w.Lock()
	defer q.w.Unlock()
	var none T
	if err := Cause(ctx); err != nil {
		return none, err
	}
	if q.unpromised() > 0 {
		return q.take(), nil
	}
	if !q.closed {
		if err := q.await(ctx, &q.getters, q.getName, &q.itemsPromised); err != nil {
			return none, err
		}
		if q.unpromised() > 0 {
			return q.take(), nil
		}
	}
	return none, ErrClosed
}

// TryGet removes the first item if there is one that nobody is waiting for. The monitor must not be
// held.
func (q *Queue[T]) TryGet() (T, bool) {
	q.w.Lock()
	defer q.w.Unlock()
	if q.unpromised() == 0 {
		var none T
		return none, false
	}
	return q.take(), true
}

func (q *Queue[T]) take() T {
	var none T
	item := q.items[q.first]
	q.items[q.first] = none
	q.first++
	if q.first == len(q.items) {
		q.items, q.first = q.items[:0], 0
	} else if q.first > 64 && q.first > len(q.items)/2 {
		n := copy(q.items, q.items[q.first:])
		clear(q.items[n:])
		q.items, q.first = q.items[:n], 0
	}
	q.serve()
	return item
}

// await waits in one of the lists, and takes back the promise that ended the wait: what was promised
// is there for the caller now. If ctx was cancelled after the promise, it goes to the next in line.
func (q *Queue[T]) await(ctx context.Context, l *waitList, what string, promised *int) error {
	wt, err := l.waitFor(ctx, q.w, what, Party{})
	if err != nil {
		return err
	}
	if wt.promised {
		*promised--
	}
	if err := Cause(ctx); err != nil {
		q.serve()
		return err
	}
	return nil
}

// serve promises the items that are there to those who wait for one, and the places likewise. Every
// change ends with it.
func (q *Queue[T]) serve() {
	for q.getters.n > 0 && q.unpromised() > 0 {
		q.itemsPromised++
		q.promiseTo(&q.getters)
	}
	for q.putters.n > 0 && q.places() > 0 {
		q.placesPromised++
		q.promiseTo(&q.putters)
	}
}

func (q *Queue[T]) promiseTo(l *waitList) {
	wt := l.pop()
	wt.promised = true
	q.w.wake(wt)
}

// Close lets no further item in; those inside can still be had. The monitor must not be held.
func (q *Queue[T]) Close() {
	q.w.Lock()
	defer q.w.Unlock()
	q.closed = true
	q.getters.wakeAll(q.w)
	q.putters.wakeAll(q.w)
}

// Len returns the number of items. The monitor must be held, or the world be virtual.
func (q *Queue[T]) Len() int { return q.len() }

func (q *Queue[T]) len() int { return len(q.items) - q.first }

// unpromised returns how many items anybody may take.
func (q *Queue[T]) unpromised() int { return q.len() - q.itemsPromised }

// places returns how many items of a bounded queue anybody may put. It is negative if PutLocked has
// gone over the bound.
func (q *Queue[T]) places() int { return q.bound - q.len() - q.placesPromised }

// Retire takes the queue off the world's Objects, as [Latch.Retire] does for latches.
func (q *Queue[T]) Retire() { q.w.retire(q) }

func (q *Queue[T]) state() ObjectState {
	waiters := append(q.getters.parties(), q.putters.parties()...)
	return ObjectState{Kind: "queue", Name: q.name, Capacity: q.bound, InUse: q.len(), Holders: []Party{}, Waiters: waiters}
}
