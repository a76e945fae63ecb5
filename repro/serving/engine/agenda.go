package engine

import "example.com/wedge/harness/sim"

// action is what an entry of the agenda stands for.
type action uint8

const (
	actOwner      action = iota // something of the owner's
	actChunk                    // a chunk is computed
	actChunkStart               // a unified engine may begin a chunk: its batch has finished a step
	actDue                      // a leg's stage comes to an end, or to its limit
	actLost                     // a decode leg notices that its prefill leg has gone
	actLeave                    // an engine notices that a client has left
	actBatch                    // a stop in the running batch, or its memory runs out
	actReport                   // a line of the log of a running batch is due
	actBoundary                 // a fault of an engine as a whole begins or ends
)

// node is a place in a heap. It is embedded in its owner, so that queueing one allocates nothing.
// The zero value is in no heap.
type node struct {
	pos  int // index in the heap plus one; 0: not in it
	act  action
	leg  *Leg  // whom it concerns, if it is a leg
	rank *rank // or a rank
	own  Doer  // or the owner
	heap *heap // the one it is in
}

// heap holds nodes in the total order (key, sequence), smallest first. The zero value is empty.
type heap struct {
	entries []place
	pushes  uint64 // sequence of the latest push
}

// place holds the key beside the pointer, so that comparing touches no node.
type place struct {
	key int64
	seq uint64
	n   *node
}

func (a place) before(b place) bool { return a.key < b.key || a.key == b.key && a.seq < b.seq }

// first returns the smallest key and its node, or a nil node.
func (h *heap) first() (key int64, n *node) {
	if len(h.entries) == 0 {
		return 0, nil
	}
	return h.entries[0].key, h.entries[0].n
}

// put queues n under key, or moves it there, behind others with the same key.
func (h *heap) put(key int64, n *node) {
	h.pushes++
	e := place{key: key, seq: h.pushes, n: n}
	if n.pos > 0 {
		h.fit(n.pos-1, e)
		return
	}
	n.heap = h
	h.entries = append(h.entries, e)
	h.up(len(h.entries)-1, e)
}

// remove takes n out of the heap that it is in, if any.
func (n *node) remove() {
	if n.pos == 0 {
		return
	}
	h, i := n.heap, n.pos-1
	n.pos, n.heap = 0, nil
	last := len(h.entries) - 1
	e := h.entries[last]
	h.entries[last] = place{}
	h.entries = h.entries[:last]
	if i < last {
		h.fit(i, e)
	}
}

// fit moves the hole at i to where e belongs.
func (h *heap) fit(i int, e place) {
	if i > 0 && e.before(h.entries[(i-1)/2]) {
		h.up(i, e)
		return
	}
	h.down(i, e)
}

func (h *heap) up(i int, e place) {
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(h.entries[parent]) {
			break
		}
		h.set(i, h.entries[parent])
		i = parent
	}
	h.set(i, e)
}

func (h *heap) down(i int, e place) {
	for {
		child := 2*i + 1
		if child >= len(h.entries) {
			break
		}
		if right := child + 1; right < len(h.entries) && h.entries[right].before(h.entries[child]) {
			child = right
		}
		if !h.entries[child].before(e) {
			break
		}
		h.set(i, h.entries[child])
		i = child
	}
	h.set(i, e)
}

func (h *heap) set(i int, e place) {
	h.entries[i] = e
	e.n.pos = i + 1
}

// schedule puts n on the agenda, or moves it there. An instant that never comes takes it off.
func (e *Engines) schedule(at sim.Instant, n *node) {
	if at == sim.Never {
		n.remove()
		return
	}
	e.agenda.put(int64(max(at, e.now)), n)
}
