package sim

// ring is the queue of runnable processes. The zero value is empty.
type ring struct {
	buf   []*Process // its length is a power of two
	first int
	n     int
}

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

// take removes the i-th; the first takes its place. The others keep their places, and taking one
// costs the same however many there are.
func (r *ring) take(i int) *Process {
	mask := len(r.buf) - 1
	at := (r.first + i) & mask
	p := r.buf[at]
	r.buf[at] = r.buf[r.first]
	r.buf[r.first] = nil
	r.first = (r.first + 1) & mask
	r.n--
	return p
}
