package serving

// fifo is a queue of requests, of which any can leave at once. A request is in one at most. The zero
// value is empty.
type fifo struct {
	head, tail *request
	n          int
}

// push appends r, which must be in no queue.
func (q *fifo) push(r *request) {
	r.queue, r.ahead, r.behind = q, q.tail, nil
	if q.tail != nil {
		q.tail.behind = r
	} else {
		q.head = r
	}
	q.tail = r
	q.n++
}

// unqueue takes r out of the queue it is in, if any.
func (r *request) unqueue() {
	q := r.queue
	if q == nil {
		return
	}
	if r.ahead != nil {
		r.ahead.behind = r.behind
	} else {
		q.head = r.behind
	}
	if r.behind != nil {
		r.behind.ahead = r.ahead
	} else {
		q.tail = r.ahead
	}
	r.queue, r.ahead, r.behind = nil, nil, nil
	q.n--
}
