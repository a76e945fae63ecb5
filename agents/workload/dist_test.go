package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// script is a source of given draws; it counts them.
type script struct {
	draws []uint64
	taken int
}

func (s *script) Uint64() uint64 {
	s.taken++
	return s.draws[(s.taken-1)%len(s.draws)]
}

// stratum returns the draw in the middle of the i-th of n equal parts of all draws.
func stratum(i, n int) uint64 {
	return uint64((float64(i) + 0.5) / float64(n) * (1 << 63) * 2)
}

func TestConstructorsRefuse(t *testing.T) {
	fail := func(_ any, err error) error { return err }
	part := Must(Constant(1))
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fail(Constant(-time.Second)), "workload.Constant: value: found -1s, want a duration with a unit (300ms, 2s, 5m) from 0s to 1000h"},
		{fail(Constant(TokensLimit + 1)), "workload.Constant: value: found 1000000001, want a whole number of tokens from 0 to 1000000000"},
		{fail(Uniform(3, -1)), "workload.Uniform: max: found -1, want a whole number of tokens from 0 to 1000000000"},
		{fail(Uniform(4500, 3000)), "workload.Uniform: max: found 3000, want at least min (4500)"},
		{fail(LogNormal(0, 5)), "workload.LogNormal: median: found 0, want more than 0: its logarithm is taken"},
		{fail(LogNormal(time.Minute, time.Second)), "workload.LogNormal: p90: found 1s, want at least the median (1m)"},
		{fail(LogNormal(1, TokensLimit)), "workload.LogNormal: p90: found 1000000000 (sigma 16.2), want a p90 that makes sigma at most 10"},
		{fail(LogNormalSigma(5, math.NaN())), "workload.LogNormalSigma: sigma: found NaN, want a number from 0 to 10"},
		{fail(LogNormalSigma(5, -0.1)), "workload.LogNormalSigma: sigma: found -0.1, want a number from 0 to 10"},
		{fail(Mixture[int]()), "workload.Mixture: found 0 parts, want 1 to 64 parts"},
		{fail(Mixture(make([]Part[int], 65)...)), "workload.Mixture: found 65 parts, want 1 to 64 parts"},
		{fail(Mixture(Part[int]{1, part}, Part[int]{math.Inf(1), part})), "workload.Mixture: [1].weight: found +Inf, want a number from 0 to 1000000000"},
		{fail(Mixture(Part[int]{0, part}, Part[int]{0, part})), "workload.Mixture: found a total weight of 0, want at least one weight above 0"},
		{fail(Mixture(Part[int]{1, Must(Mixture(Part[int]{1, part}))})), "workload.Mixture: [0]: found a mixture, want constant, uniform or lognormal: a mixture's parts are not mixtures, write their parts here"},
		{fail(part.Clamp(3, 2)), "workload.Clamp: max: found 2, want at least min (3)"},
		{fail(part.Clamp(-3, 2)), "workload.Clamp: min: found -3, want a whole number of tokens from 0 to 1000000000"},
	} {
		if tt.err == nil {
			t.Errorf("accepted, want %q", tt.want)
		} else if tt.err.Error() != tt.want {
			t.Errorf("got  %q\nwant %q", tt.err, tt.want)
		}
	}
}

func TestMustPanicsWithTheError(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "found -1") {
			t.Errorf("panic value %q does not say what was found", got)
		}
	}()
	Must(Constant(-1))
}

func TestZeroValueIsConstantZero(t *testing.T) {
	var d Duration
	if got := d.Sample(rand.NewPCG(1, 2)); got != 0 {
		t.Errorf("sample %v, want 0", got)
	}
	if top, bounded := d.Max(); top != 0 || !bounded || d.Mean() != 0 || d.String() != "0s" {
		t.Errorf("max %v %v, mean %v, string %q", top, bounded, d.Mean(), d)
	}
}

// oneOfEach returns distributions of every kind, with and without clamps.
func oneOfEach() []Tokens {
	ln := Must(LogNormal(350, 698))
	wide := Must(LogNormalSigma(300, 2.98))
	uni := Must(Uniform(3000, 4500))
	mix := Must(Mixture(
		Part[int]{61, Must(Uniform(0, 1000))}, Part[int]{0, Must(Constant(999_999))},
		Part[int]{27, uni}, Part[int]{8, Must(ln.Clamp(400, 0))}, Part[int]{4, Must(Constant(60_000))},
	))
	return []Tokens{
		{}, Must(Constant(7)), uni, Must(uni.Clamp(3500, 4000)), Must(uni.Clamp(5000, 6000)), Must(uni.Clamp(0, 1000)),
		ln, Must(ln.Clamp(300, 600)), Must(ln.Clamp(0, 100)), Must(ln.Clamp(500, 0)), wide, Must(wide.Clamp(0, 50_000)),
		Must(LogNormalSigma(10, 0)), mix, Must(mix.Clamp(500, 20_000)), Must(mix.Clamp(0, 200)),
	}
}

func TestSampleTakesTheSameDraws(t *testing.T) {
	for _, d := range oneOfEach() {
		for _, draw := range []uint64{0, 1, 1 << 63, math.MaxUint64} {
			s := &script{draws: []uint64{draw}}
			d.Sample(s)
			if s.taken != DrawsPerSample {
				t.Errorf("%v took %d draws, want %d", d, s.taken, DrawsPerSample)
			}
		}
	}
}

func TestSampleDoesNotAllocate(t *testing.T) {
	var u Source = rand.NewPCG(1, 2)
	for _, d := range oneOfEach() {
		if n := testing.AllocsPerRun(100, func() { d.Sample(u) }); n != 0 {
			t.Errorf("%v: %v allocations a sample, want 0", d, n)
		}
	}
}

func TestUniformIsExact(t *testing.T) {
	d := Must(Uniform(3, 7))
	var seen [10]int
	const n = 10_000
	for i := range n {
		seen[d.Sample(&script{draws: []uint64{0, stratum(i, n)}})]++
	}
	for v, count := range seen {
		want := 0
		if v >= 3 && v <= 7 {
			want = n / 5
		}
		if count != want {
			t.Errorf("value %d: %d of %d, want %d", v, count, n, want)
		}
	}
	if v := Must(Uniform(0, DurationLimit)).Sample(&script{draws: []uint64{math.MaxUint64}}); v != DurationLimit {
		t.Errorf("last draw gives %v, want the maximum", v)
	}
}

func TestNormalQuantiles(t *testing.T) {
	for _, tt := range []struct{ p, z float64 }{
		{0.5, 0}, {0.9, 1.2815515655446004}, {0.975, 1.959963984540054}, {0.025, -1.959963984540054}, {0.999, 3.090232306167813},
	} {
		if got := normal(uint64(tt.p * (1 << 63) * 2)); math.Abs(got-tt.z) > 1e-12 {
			t.Errorf("quantile %v: %v, want %v", tt.p, got, tt.z)
		}
	}
	if low, high := normal(0), normal(math.MaxUint64); low != -high || high > 8.21 {
		t.Errorf("extremes %v and %v, want finite and symmetric", low, high)
	}
}

// quantile samples the distribution at one point of its distribution function.
func quantile[T Quantity](d Dist[T], p float64) T {
	return d.Sample(&script{draws: []uint64{uint64(p * (1 << 63) * 2)}})
}

func TestLogNormalHitsItsQuantiles(t *testing.T) {
	d := Must(LogNormal(300*time.Millisecond, 13600*time.Millisecond))
	if got := quantile(d, 0.5); got != 300*time.Millisecond {
		t.Errorf("median %v, want 300ms", got)
	}
	if got := quantile(d, 0.9); (got - 13600*time.Millisecond).Abs() > time.Microsecond {
		t.Errorf("p90 %v, want 13.6s", got)
	}
	// One sigma above the median is exp(sigma) times the median.
	d = Must(LogNormalSigma(300*time.Millisecond, 2.98))
	oneSigma := 300 * math.Exp(2.98)
	if got := quantile(d, 0.8413447460685429); math.Abs(got.Seconds()*1000/oneSigma-1) > 1e-6 {
		t.Errorf("one sigma up %v, want %.3fms", got, oneSigma)
	}
}

func TestLogNormalStopsAtTheLimit(t *testing.T) {
	d := Must(LogNormalSigma(DurationLimit, 10))
	if got := d.Sample(&script{draws: []uint64{math.MaxUint64}}); got != DurationLimit {
		t.Errorf("sample %v, want %v", got, DurationLimit)
	}
	if top, bounded := d.Max(); top != DurationLimit || bounded {
		t.Errorf("max %v bounded %v, want the limit and false", top, bounded)
	}
}

func TestMixturePicksByWeight(t *testing.T) {
	d := Must(Mixture(
		Part[int]{0, Must(Constant(0))}, Part[int]{61, Must(Constant(1))}, Part[int]{0, Must(Constant(2))},
		Part[int]{27, Must(Constant(3))}, Part[int]{12, Must(Constant(4))}, Part[int]{0, Must(Constant(5))},
	))
	var seen [6]int
	const n = 100
	for i := range n {
		seen[d.Sample(&script{draws: []uint64{stratum(i, n), 0}})]++
	}
	if want := [6]int{0, 61, 0, 27, 12, 0}; seen != want {
		t.Errorf("picked %v, want %v", seen, want)
	}
	for draw, want := range []int{1, 4} {
		if got := d.Sample(&script{draws: []uint64{-uint64(draw)}}); got != want {
			t.Errorf("draw %#x gives %d, want %d: a part of weight 0 is never picked", -uint64(draw), got, want)
		}
	}
}

func TestClampOfConstantIsConstant(t *testing.T) {
	for _, tt := range []struct {
		min, max time.Duration
		want     string
	}{{3 * time.Second, 0, "3s"}, {0, time.Second, "1s"}, {time.Second, 5 * time.Second, "2s"}, {0, 0, "2s"}} {
		if got := Must(Must(Constant(2*time.Second)).Clamp(tt.min, tt.max)).String(); got != tt.want {
			t.Errorf("clamp to [%v, %v]: %s, want %s", tt.min, tt.max, got, tt.want)
		}
	}
}

// TestMeanAndMax checks the closed forms against the plain average and maximum of
// samples on a grid of draws.
func TestMeanAndMax(t *testing.T) {
	const picks, values = 100, 1000
	for _, d := range oneOfEach() {
		sum, top := 0.0, 0
		for i := range picks {
			for j := range values {
				v := d.Sample(&script{draws: []uint64{stratum(i, picks), stratum(j, values)}})
				sum, top = sum+float64(v), max(top, v)
			}
		}
		got, want := float64(d.Mean()), sum/(picks*values)
		// The grid cuts the tail of the widest log-normal, half of whose mean is beyond
		// its 99.9 % quantile.
		tolerance := 0.01
		if _, bounded := d.Max(); !bounded && d.sigma > 2 {
			tolerance = 0.5
		}
		if math.Abs(got-want) > 0.5+tolerance*want {
			t.Errorf("%v: mean %v, average of the grid %.1f", d, got, want)
		}
		bound, bounded := d.Max()
		if top > bound || bounded && d.kind != logNormal && top < bound-bound/50 {
			t.Errorf("%v: largest sample %d, max %d", d, top, bound)
		}
	}
}

// TestSeededSamples draws as a simulation does and checks mean, quantiles and bounds.
func TestSeededSamples(t *testing.T) {
	const n = 200_000
	for _, seed := range []uint64{1, 2, 3} {
		u := rand.NewPCG(seed, 42)
		d := Must(Must(LogNormal(350, 698)).Clamp(10, 5000))
		below350, below698, sum := 0, 0, 0
		for range n {
			v := d.Sample(u)
			if v < 10 || v > 5000 {
				t.Fatalf("seed %d: sample %d outside the clamp", seed, v)
			}
			sum += v
			if v <= 350 {
				below350++
			}
			if v <= 698 {
				below698++
			}
		}
		if p := float64(below350) / n; math.Abs(p-0.5) > 0.006 {
			t.Errorf("seed %d: %.4f of the samples up to the median", seed, p)
		}
		if p := float64(below698) / n; math.Abs(p-0.9) > 0.004 {
			t.Errorf("seed %d: %.4f of the samples up to p90", seed, p)
		}
		if mean := float64(sum) / n; math.Abs(mean/float64(d.Mean())-1) > 0.01 {
			t.Errorf("seed %d: mean %.1f, want %d", seed, mean, d.Mean())
		}
	}
}
