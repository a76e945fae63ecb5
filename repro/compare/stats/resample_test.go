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

// TestMeanIntervalNearTheNormalOne compares with the interval of the central limit theorem, which holds
// for many seeds.
func TestMeanIntervalNearTheNormalOne(t *testing.T) {
	draws := rand.New(rand.NewPCG(3, 4))
	xs := make([]float64, 200)
	for i := range xs {
		xs[i] = 100 + 15*draws.NormFloat64()
	}
	got := stats.NewResampler(len(xs), 1).Mean(xs)
	mean, deviation := stat.MeanStdDev(xs, nil)
	half := 1.96 * deviation / math.Sqrt(float64(len(xs)))
	near(t, "low", got.Low, mean-half, 0.1*half)
	near(t, "high", got.High, mean+half, 0.1*half)
}

// TestIntervalsCoverWhatTheyShould draws many samples of a skewed distribution with mean 1, and
// counts how often the interval has it: 95 % of the time, less what skewness costs with 30 seeds.
func TestIntervalsCoverWhatTheyShould(t *testing.T) {
	draws := rand.New(rand.NewPCG(5, 6))
	const samples, n = 300, 30
	resampler := stats.NewResampler(n, 1)
	covered := 0
	for range samples {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = draws.ExpFloat64()
		}
		if !resampler.Mean(xs).Excludes(1) {
			covered++
		}
	}
	if share := float64(covered) / samples; share < 0.88 || share > 0.98 {
		t.Errorf("%.3f of the intervals have the mean, want about 0.93", share)
	}
}

func TestResamplesAreTheSameEachTime(t *testing.T) {
	xs := []float64{3, 1, 4, 1, 5, 9, 2, 6}
	first, again, other := stats.NewResampler(8, 7).Mean(xs), stats.NewResampler(8, 7).Mean(xs), stats.NewResampler(8, 8).Mean(xs)
	if first != again {
		t.Errorf("%v, then %v with the same seed", first, again)
	}
	if first == other {
		t.Errorf("%v with two seeds", first)
	}
}

func TestIntervalOfWhatDoesNotVary(t *testing.T) {
	if got := stats.NewResampler(5, 1).Mean([]float64{0.1, 0.1, 0.1, 0.1, 0.1}); got != (stats.Interval{Low: 0.1, High: 0.1}) {
		t.Errorf("%v, want the point 0.1", got)
	}
	got := stats.NewResampler(2, 1).Of(func([]uint16) float64 { return math.NaN() })
	if !math.IsNaN(got.Low) || !math.IsNaN(got.High) {
		t.Errorf("%v of nothing", got)
	}
}

// TestPooledQuantileOfCorrelatedSamples has seeds whose samples are all alike: resampling whole seeds
// must give a wider interval than the many samples suggest, and the same as a naive twin.
func TestPooledQuantileOfCorrelatedSamples(t *testing.T) {
	const seeds, each = 10, 120
	bySeed := make([][]float64, seeds)
	var pooled []float64
	for s := range bySeed {
		for i := range each {
			bySeed[s] = append(bySeed[s], float64(s)+float64(i)/1000)
		}
		pooled = append(pooled, bySeed[s]...)
	}
	resampler := stats.NewResampler(seeds, 1)
	value, within, ok := resampler.PooledQuantile(bySeed, 0.99)
	want, _ := stats.Quantile(pooled, 0.99)
	if !ok || value != want {
		t.Errorf("%v, %v, want %v", value, ok, want)
	}
	naive := resampler.Of(func(counts []uint16) float64 {
		var all []float64
		for s, c := range counts {
			for range c {
				all = append(all, bySeed[s]...)
			}
		}
		slices.Sort(all)
		return all[int(math.Ceil(0.99*float64(len(all))))-1]
	})
	if within != naive {
		t.Errorf("interval %v, by the naive twin %v", within, naive)
	}
	if within.High-within.Low < 1 {
		t.Errorf("interval %v is too narrow for %d seeds", within, seeds)
	}
	if _, _, ok := stats.NewResampler(1, 1).PooledQuantile([][]float64{pooled[:999]}, 0.99); ok {
		t.Error("a p99 of 999 samples")
	}
}

// TestKaplanMeier is the trial of 6-mercaptopurine of Freireich (1963), as textbooks print it.
func TestKaplanMeier(t *testing.T) {
	var times []stats.Time
	for _, s := range []float64{6, 6, 6, 7, 10, 13, 16, 22, 23} {
		times = append(times, stats.Time{Seconds: s})
	}
	for _, s := range []float64{6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35} {
		times = append(times, stats.Time{Seconds: s, Censored: true})
	}
	curve := stats.KaplanMeier(times)
	for _, c := range []struct{ at, want float64 }{{5, 1}, {6, 0.8571}, {7, 0.8067}, {10, 0.7529}, {13, 0.6902}, {16, 0.6275}, {22, 0.5378}, {23, 0.4482}, {40, 0.4482}} {
		near(t, fmt.Sprint("survival at ", c.at), curve.At(c.at), c.want, 5e-5)
	}
	if m, ok := curve.Median(); !ok || m != 23 {
		t.Errorf("median %v, %v, want 23", m, ok)
	}
	if curve.N != 21 || curve.Never != 12 {
		t.Errorf("n %d, never %d", curve.N, curve.Never)
	}
}

// TestRestrictedMean is the mean of what is cut off at the horizon, where all is seen until then.
func TestRestrictedMean(t *testing.T) {
	times := []stats.Time{{Seconds: 10}, {Seconds: 20}, {Seconds: 60}, {Seconds: 100, Censored: true}}
	near(t, "to 100", stats.KaplanMeier(times).RestrictedMean(100), (10+20+60+100)/4., 1e-9)
	near(t, "to 50", stats.KaplanMeier(times).RestrictedMean(50), (10+20+50+50)/4., 1e-9)
	near(t, "of nothing", stats.KaplanMeier(nil).RestrictedMean(50), 50, 0)
	if _, ok := stats.KaplanMeier(times[3:]).Median(); ok {
		t.Error("a median of what never happened")
	}
}

func BenchmarkMean(b *testing.B) {
	resampler := stats.NewResampler(50, 1)
	xs := make([]float64, 50)
	for i := range xs {
		xs[i] = float64(i * i % 17)
	}
	for b.Loop() {
		resampler.Mean(xs)
	}
}

func ExampleResampler_Mean() {
	// Seed by seed, how much longer a task took under one policy than under another.
	differences := []float64{-31, -12, -25, 4, -40, -18, -9, -22}
	within := stats.NewResampler(len(differences), 1).Mean(differences)
	fmt.Printf("%.0f s, from %.0f to %.0f: differs %v\n", stats.Mean(differences), within.Low, within.High, within.Excludes(0))
	// Output: -19 s, from -28 to -10: differs true
}
