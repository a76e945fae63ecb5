package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// Wilson is the score interval of a proportion: k of n. It is the whole of 0 to 1 if n is 0.
func Wilson(k, n int) Interval {
	if n == 0 {
		return Interval{0, 1}
	}
	z := distuv.UnitNormal.Quantile(0.975)
	share, count := float64(k)/float64(n), float64(n)
	middle := share + z*z/(2*count)
	half := z * math.Sqrt(share*(1-share)/count+z*z/(4*count*count))
	scale := 1 + z*z/count
	return Interval{max(0, (middle-half)/scale), min(1, (middle+half)/scale)}
}

// Holm corrects the p values of several tests for their number, in place of which they stand: a
// corrected value below 0.05 holds although so many were tried.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return ps[order[a]] < ps[order[b]] })
	corrected := make([]float64, len(ps))
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, ps[i]*float64(len(ps)-rank)))
		corrected[i] = least
	}
	return corrected
}

// WinRate is the share of differences below 0, ties counted as half, and how many are not ties. It is
// a half if there are none.
func WinRate(differences []float64) (rate float64, decided int) {
	wins := 0.0
	for _, d := range differences {
		switch {
		case d < 0:
			wins++
			decided++
		case d > 0:
			decided++
		default:
			wins += 0.5
		}
	}
	if len(differences) == 0 {
		return 0.5, 0
	}
	return wins / float64(len(differences)), decided
}

// exactMax is up to how many differences the signed-rank distribution is counted out; beyond, and
// with ties, the normal one stands in.
const exactMax = 50

// SignedRank is the two-sided p value of Wilcoxon's signed-rank test that paired differences lie
// around 0. Differences of 0 are left out, as Wilcoxon did; without any other, it is 1.
func SignedRank(differences []float64) float64 {
	var ds []float64
	for _, d := range differences {
		if d != 0 {
			ds = append(ds, d)
		}
	}
	if len(ds) == 0 {
		return 1
	}
	slices.SortFunc(ds, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	positive, tieTerm := rankSum(ds)
	n := float64(len(ds))
	if tieTerm == 0 && len(ds) <= exactMax {
		return exactSignedRank(len(ds), int(math.Round(positive)))
	}
	mean := n * (n + 1) / 4
	deviation := math.Sqrt(n*(n+1)*(2*n+1)/24 - tieTerm/48)
	if deviation == 0 {
		return 1
	}
	off := max(0, math.Abs(positive-mean)-0.5) // continuity
	return min(1, 2*distuv.UnitNormal.Survival(off/deviation))
}

// rankSum is the sum of the ranks of the positive ones among differences sorted by size, ties sharing
// their mean rank, and the sum of t³-t over ties.
func rankSum(sorted []float64) (positive, tieTerm float64) {
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && math.Abs(sorted[j]) == math.Abs(sorted[i]) {
			j++
		}
		rank := float64(i+1+j) / 2
		for _, d := range sorted[i:j] {
			if d > 0 {
				positive += rank
			}
		}
		t := float64(j - i)
		tieTerm += t*t*t - t
		i = j
	}
	return positive, tieTerm
}

// exactSignedRank counts the sets of the ranks 1..n with a sum as far from the middle as w or farther.
func exactSignedRank(n, w int) float64 {
	most := n * (n + 1) / 2
	ways := make([]float64, most+1)
	ways[0] = 1
	for rank := 1; rank <= n; rank++ {
		for sum := most; sum >= rank; sum-- {
			ways[sum] += ways[sum-rank]
		}
	}
	tail := 0.0
	for sum := 0; sum <= min(w, most-w); sum++ {
		tail += ways[sum]
	}
	return min(1, 2*tail/math.Exp2(float64(n)))
}
