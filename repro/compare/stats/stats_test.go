package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"example.com/wedge/repro/compare/stats"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v within %v", what, got, want, tolerance)
	}
}

// TestWilson holds intervals against printed ones (Newcombe 1998, table I, method 3).
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}, {0, 0, 0, 1}, {20, 20, 0.8389, 1},
	} {
		got := stats.Wilson(c.k, c.n)
		near(t, fmt.Sprintf("%d of %d, low", c.k, c.n), got.Low, c.low, 5e-5)
		near(t, fmt.Sprintf("%d of %d, high", c.k, c.n), got.High, c.high, 5e-5)
	}
}

func TestHolm(t *testing.T) {
	got := stats.Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		near(t, fmt.Sprint("p", i), got[i], want, 1e-12)
	}
	if got := stats.Holm([]float64{0.9, 0.8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("%v, want no p above 1", got)
	}
	if got := stats.Holm(nil); len(got) != 0 {
		t.Errorf("%v of no tests", got)
	}
}

// TestSignedRank uses the example of Hollander and Wolfe (1973), p. 29, as R's wilcox.test gives it.
func TestSignedRank(t *testing.T) {
	x := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	y := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	var differences []float64
	for i := range x {
		differences = append(differences, x[i]-y[i])
	}
	near(t, "exact", stats.SignedRank(differences), 0.0390625, 1e-12)
	if p := stats.SignedRank([]float64{0, 0, 0}); p != 1 {
		t.Errorf("p %v without a difference", p)
	}
	// Ten differences of one sign and size are all tied: the normal distribution, V = 55, z = (27.5-0.5)/s.
	tied := slices.Repeat([]float64{1}, 10)
	s := math.Sqrt(10*11*21/24. - (1000-10)/48.)
	near(t, "ties", stats.SignedRank(tied), math.Erfc(27/s/math.Sqrt2), 1e-12)
}

// TestSignedRankBruteForce counts the signs of all small samples out.
func TestSignedRankBruteForce(t *testing.T) {
	for n := 1; n <= 8; n++ {
		sums := make([]int, 1<<n)
		for signs := range sums {
			for i := range n {
				if signs>>i&1 == 1 {
					sums[signs] += i + 1
				}
			}
		}
		for signs, sum := range sums {
			differences := make([]float64, n)
			for i := range differences {
				differences[i] = float64(i+1) * float64(2*(signs>>i&1)-1)
			}
			most, asFar := n*(n+1)/2, 0
			for _, other := range sums {
				if abs(2*other-most) >= abs(2*sum-most) {
					asFar++
				}
			}
			near(t, fmt.Sprint(differences), stats.SignedRank(differences), float64(asFar)/float64(len(sums)), 1e-12)
		}
	}
}

func abs(n int) int { return max(n, -n) }

func TestWinRate(t *testing.T) {
	if rate, decided := stats.WinRate([]float64{-1, -2, 3, 0}); rate != 0.625 || decided != 3 {
		t.Errorf("%v of %d", rate, decided)
	}
	if rate, decided := stats.WinRate(nil); rate != 0.5 || decided != 0 {
		t.Errorf("%v of %d without differences", rate, decided)
	}
}

// TestAllowsNoTailOfFewSamples is the rule that no quantile is named with fewer than ten samples beyond.
func TestAllowsNoTailOfFewSamples(t *testing.T) {
	for _, c := range []struct {
		n    int
		p    float64
		want bool
	}{{999, 0.99, false}, {1000, 0.99, true}, {199, 0.95, false}, {200, 0.95, true}, {19, 0.5, false}, {20, 0.5, true}, {0, 0.5, false}, {1000, 0.01, true}, {1000, 1, false}} {
		if got := stats.Allows(c.n, c.p); got != c.want {
			t.Errorf("quantile %v of %d samples: %v, want %v", c.p, c.n, got, c.want)
		}
	}
}

func TestQuantileAgreesWithGonum(t *testing.T) {
	draws := rand.New(rand.NewPCG(1, 2))
	xs := make([]float64, 1500)
	for i := range xs {
		xs[i] = draws.ExpFloat64()
	}
	before := slices.Clone(xs)
	sorted := slices.Sorted(slices.Values(xs))
	for _, p := range []float64{0.5, 0.95, 0.99} {
		got, ok := stats.Quantile(xs, p)
		if want := stat.Quantile(p, stat.Empirical, sorted, nil); !ok || got != want {
			t.Errorf("quantile %v: %v, %v, want %v", p, got, ok, want)
		}
	}
	if !slices.Equal(xs, before) {
		t.Error("the samples were put in another order")
	}
}

func TestCorrelation(t *testing.T) {
	xs, ys := []float64{1, 2, 3, 4}, []float64{2, 4, 6, 9}
	got, ok := stats.Correlation(xs, ys)
	if want := stat.Correlation(xs, ys, nil); !ok || got != want {
		t.Errorf("%v, %v, want %v", got, ok, want)
	}
	for _, none := range [][]float64{{1, 1, 1, 1}, {1}, nil} {
		if _, ok := stats.Correlation(none, none); ok {
			t.Errorf("a correlation of %v with itself, want none", none)
		}
	}
}
