package serving

// node is a place in a heap. It is embedded in its owner, so that queueing one allocates nothing.
// The zero value is in no heap.
type node struct {
	pos  int      // index in the heap plus one; 0: not in it
	do   action   // what is due, for nodes of the agenda
	of   *request // whom it concerns; nil: an engine
	heap *heap    // the one it is in
}

// heap holds nodes in the total order (key, sequence), smallest first. The zero value is empty.
type heap struct {
	entries []entry
	pushes  uint64 // sequence of the latest push
}

// entry holds the key beside the pointer, so that comparing entries touches no node.
type entry struct {
	key int64
	seq uint64
	n   *node
}

func (a entry) before(b entry) bool { return a.key < b.key || a.key == b.key && a.seq < b.seq }

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
	e := entry{key: key, seq: h.pushes, n: n}
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
	h.entries[last] = entry{}
	h.entries = h.entries[:last]
	if i < last {
		h.fit(i, e)
	}
}

// fit moves the hole at i to where e belongs.
func (h *heap) fit(i int, e entry) {
	if i > 0 && e.before(h.entries[(i-1)/2]) {
		h.up(i, e)
		return
	}
	h.down(i, e)
}

func (h *heap) up(i int, e entry) {
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

func (h *heap) down(i int, e entry) {
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

func (h *heap) set(i int, e entry) {
	h.entries[i] = e
	e.n.pos = i + 1
}
