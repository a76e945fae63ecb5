package engine

// fifo is a queue of legs, of which any can leave at once. A leg is in one at most. The zero value is
// empty.
type fifo struct {
	head, tail *Leg
	n          int
}

// push appends l, which must be in no queue.
func (q *fifo) push(l *Leg) {
	l.queue, l.ahead, l.behind = q, q.tail, nil
	if q.tail != nil {
		q.tail.behind = l
	} else {
		q.head = l
	}
	q.tail = l
	q.n++
}

// pushFront puts l, which must be in no queue, before all others.
func (q *fifo) pushFront(l *Leg) {
	l.queue, l.ahead, l.behind = q, nil, q.head
	if q.head != nil {
		q.head.ahead = l
	} else {
		q.tail = l
	}
	q.head = l
	q.n++
}

// unqueue takes l out of the queue it is in, if any.
func (l *Leg) unqueue() {
	q := l.queue
	if q == nil {
		return
	}
	if l.ahead != nil {
		l.ahead.behind = l.behind
	} else {
		q.head = l.behind
	}
	if l.behind != nil {
		l.behind.ahead = l.ahead
	} else {
		q.tail = l.ahead
	}
	l.queue, l.ahead, l.behind = nil, nil, nil
	q.n--
}
