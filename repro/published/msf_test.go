package published

import (
	"math"
	"testing"

	"example.com/wedge/harness/sim"
)

// TestBandSolves holds the solver of narrow matrices against the product of the matrix and a known
// solution.
func TestBandSolves(t *testing.T) {
	const n, lower, upper = 40, 3, 5
	draws := sim.NewStream(1, "test", "band")
	b := newBand(n, lower, upper)
	want, y := make([]float64, n), make([]float64, n)
	for i := range want {
		want[i] = draws.Float64() - .5
	}
	for i := range n {
		for j := max(0, i-lower); j < min(n, i+upper+1); j++ {
			x := draws.Float64() - .5
			if i == j {
				x = 10
			}
			b.add(i, j, x)
			y[i] += x * want[j]
		}
	}
	for i, got := range b.solve(y) {
		if math.Abs(got-want[i]) > 1e-12 {
			t.Errorf("x[%d] = %v, want %v", i, got, want[i])
		}
	}
}

// TestPassageAgreesWithWalks walks the chain at a load at which it tips often.
func TestPassageAgreesWithWalks(t *testing.T) {
	const peak, runs = 7, 60
	m := &msf{base: peak, peak: peak, services: 15, orbitReturns: 1, timeout: 1, horizon: 2e4}
	lost := 0
	for seed := range uint64(runs) {
		r := m.run(seed + 1)
		if !r.returned() {
			lost++
		}
	}
	want := -math.Expm1(-m.horizon / m.passage(peak))
	if got := float64(lost) / runs; math.Abs(got-want) > 3*math.Sqrt(want*(1-want)/runs) {
		t.Errorf("seeds 1 to %d: %.2f of the walks were lost, want %.2f", runs, got, want)
	}
}

func TestPoissonCDF(t *testing.T) {
	p := poissonCDF(2)
	for n, want := range []float64{math.Exp(-2), 3 * math.Exp(-2), 5 * math.Exp(-2)} {
		if math.Abs(p[n]-want) > 1e-12 {
			t.Errorf("at most %d: %v, want %v", n, p[n], want)
		}
	}
	if last := p[len(p)-1]; math.Abs(last-1) > 1e-12 {
		t.Errorf("the last is %v", last)
	}
}

// TestSpread: what holds over several stretches is shared out among them.
func TestSpread(t *testing.T) {
	sums := make([]float64, 4)
	spread(sums, 10, 5, 30, 2)
	for i, want := range []float64{10, 20, 20, 10} {
		if sums[i] != want {
			t.Errorf("stretch %d has %v, want %v", i, sums[i], want)
		}
	}
}
