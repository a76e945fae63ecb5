package published

import (
	"math"

	"example.com/wedge/harness/sim"
)

// msfModel is a Markov chain of calls in a queue and calls in orbit, which are those that wait to be
// tried again.
func msfModel() Result {
	return Result{
		Name:   "msf-model",
		Source: "MSF-Model, arXiv 2309.16181, and the notebook of its artefact",
		About:  "a load of 4 that rises to 5 for a while comes back; one that rises to 6 may never do",
		seeds:  10,
		play:   playMSF,
	}
}

// msf is the chain. Its state is (o, q), calls in orbit and in the queue. Its rates are those of the
// artefact's notebook, whose arrivals add λP to a λ that is there already:
//
//	q+1            λ + μ₀·o·P(q)
//	o+1 and q+1    λ·P(q)
//	o−1 and q+1    μ₀·o
//	q−1            μ
//
// P(q) is the probability that a call that finds q before it is not served in time: that of at most q
// services within T, a Poisson distribution of mean μT.
type msf struct {
	base, peak   float64 // λ, and λ during the trigger
	services     float64 // μ
	orbitReturns float64 // μ₀
	timeout      float64 // T
	horizon      float64
	from, to     float64 // of the trigger
}

// msfRun is what is reported: the "distance" √(o²+q²), averaged over time.
type msfRun struct {
	before, after, during float64 // before the trigger, in it, and in the last tenth of the run
	last                  float64 // at the end
	course                []Point // averages of as many stretches of time
}

// msfStretches is into how many stretches a run is cut for its course.
const msfStretches = 200

// run walks the chain. Each state is left after an exponential time, to a neighbour drawn by the rates.
func (m *msf) run(seed uint64) msfRun {
	late := poissonCDF(m.services * m.timeout)
	s := sim.NewStream(seed, "msf", "steps")
	sums := make([]float64, msfStretches)
	width := m.horizon / msfStretches
	t, o, q := 0.0, 0.0, 0.0
	for t < m.horizon {
		lambda := m.base
		if t >= m.from && t < m.to {
			lambda = m.peak
		}
		p := 1.0
		if int(q) < len(late) {
			p = late[int(q)]
		}
		again, both, returns, served := m.orbitReturns*o*p, lambda*p, m.orbitReturns*o, m.services
		if q == 0 {
			served = 0
		}
		total := lambda + again + both + returns + served
		stay := min(exponential(s.Float64())/total, m.horizon-t)
		spread(sums, width, t, stay, math.Sqrt(o*o+q*q))
		t += stay
		switch x := s.Float64() * total; {
		case x < lambda+again:
			q++
		case x < lambda+again+both:
			o, q = o+1, q+1
		case x < lambda+again+both+returns:
			o, q = o-1, q+1
		default:
			q--
		}
		if q >= msfLost {
			t, o, q = m.drift(sums, width, t, q)
		}
	}
	r := msfRun{last: math.Sqrt(o*o + q*q)}
	for i, x := range sums {
		r.course = append(r.course, Point{(float64(i) + .5) * width, x / width})
	}
	r.before, r.during, r.after = r.average(0, m.from), r.average(m.from, m.to), r.average(.9*m.horizon, m.horizon)
	return r
}

// msfLost is a queue from which there is no way back: every call is late, so that the orbit has its
// own balance and the queue grows as a line. The walk is cut short there.
const msfLost = 5000

// drift is the rest of a run whose queue is lost, in steps of a thousandth of the run.
func (m *msf) drift(sums []float64, width, t, q float64) (end, orbit, queue float64) {
	step := m.horizon / 1000
	for t < m.horizon {
		lambda := m.base
		if t >= m.from && t < m.to {
			lambda = m.peak
		}
		orbit = lambda / m.orbitReturns
		stay := min(step, m.horizon-t)
		if t < m.to {
			stay = min(stay, m.to-t)
		}
		grown := (2*lambda + 2*m.orbitReturns*orbit - m.services) * stay
		spread(sums, width, t, stay, math.Sqrt(orbit*orbit+(q+grown/2)*(q+grown/2)))
		t, q = t+stay, q+grown
	}
	return t, orbit, q
}

// spread adds a value that holds for some time to the stretches that it falls into.
func spread(sums []float64, width, t, stay, value float64) {
	for stay > 0 {
		i := min(int(t/width), len(sums)-1)
		part := stay
		if edge := float64(i+1) * width; i < len(sums)-1 && t+stay > edge {
			part = edge - t
		}
		if part <= 0 { // rounding: t is on the edge
			part = stay
		}
		sums[i] += part * value
		t, stay = t+part, stay-part
	}
}

// average is that of the stretches within a span of time.
func (r *msfRun) average(from, to float64) float64 {
	var in []float64
	for _, p := range r.course {
		if p.X >= from && p.X < to {
			in = append(in, p.Y)
		}
	}
	return mean(in)
}

// poissonCDF returns the probabilities of at most 0, 1, … up to where they are 1.
func poissonCDF(mean float64) []float64 {
	var out []float64
	term, sum := math.Exp(-mean), 0.0
	for n := 1; sum < 1-1e-15 && len(out) < 10_000; n++ {
		sum += term
		out = append(out, sum)
		term *= mean / float64(n)
	}
	return out
}
