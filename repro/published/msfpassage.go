package published

import "math"

// Bounds of the states in which first passage is computed. A queue of passageQueue is far beyond the
// point of no return, and an orbit of passageOrbit is far more than ever gathers before it.
const (
	passageQueue = 60
	passageOrbit = 40
)

// tips is the chance that the chain leaves its good state during the trigger.
func (m *msf) tips() float64 { return -math.Expm1(-(m.to - m.from) / m.passage(m.peak)) }

// passage is the mean time in which the chain, empty at first, reaches a queue of passageQueue under
// the load lambda. The mean times h from each state solve
//
//	h(s)·Σ rates(s) − Σ rate(s→s')·h(s') = 1,   h = 0 where the queue is reached,
//
// which is a matrix with a narrow band, since the queue changes by one. Numbers of states run along
// the orbit first.
func (m *msf) passage(lambda float64) float64 {
	const width = passageOrbit + 1
	late := poissonCDF(m.services * m.timeout)
	b := newBand(passageQueue*width, width, width+1)
	for q := range passageQueue {
		p := 1.0
		if q < len(late) {
			p = late[q]
		}
		for o := range width {
			s := q*width + o
			to := func(o, q int, rate float64) {
				o = min(o, passageOrbit)
				b.add(s, s, rate)
				if q < passageQueue {
					b.add(s, q*width+o, -rate)
				}
			}
			to(o, q+1, lambda+m.orbitReturns*float64(o)*p)
			to(o+1, q+1, lambda*p)
			if o > 0 {
				to(o-1, q+1, m.orbitReturns*float64(o))
			}
			if q > 0 {
				to(o, q-1, m.services)
			}
		}
	}
	ones := make([]float64, passageQueue*width)
	for i := range ones {
		ones[i] = 1
	}
	return b.solve(ones)[0]
}

// band is a square matrix with nothing outside a band around its diagonal. It needs no pivoting: its
// rows are diagonally dominant.
type band struct {
	n, lower, upper int
	cells           []float64
}

func newBand(n, lower, upper int) *band {
	return &band{n, lower, upper, make([]float64, n*(lower+upper+1))}
}

func (b *band) at(i, j int) *float64 { return &b.cells[i*(b.lower+b.upper+1)+j-i+b.lower] }

func (b *band) add(i, j int, x float64) { *b.at(i, j) += x }

// solve returns the x with b·x = y by elimination, which uses both up.
func (b *band) solve(y []float64) []float64 {
	for k := range b.n {
		for i := k + 1; i < min(k+b.lower+1, b.n); i++ {
			f := *b.at(i, k) / *b.at(k, k)
			if f == 0 {
				continue
			}
			for j := k; j < min(k+b.upper+1, b.n); j++ {
				b.add(i, j, -f**b.at(k, j))
			}
			y[i] -= f * y[k]
		}
	}
	for k := b.n - 1; k >= 0; k-- {
		for j := k + 1; j < min(k+b.upper+1, b.n); j++ {
			y[k] -= *b.at(k, j) * y[j]
		}
		y[k] /= *b.at(k, k)
	}
	return y
}
