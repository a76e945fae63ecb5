package adaptive_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/adaptive"
)

const s = time.Second

var (
	inTime   = adaptive.Outcome{}
	timedOut = adaptive.Outcome{Censored: true}
	retried  = adaptive.Outcome{Retried: true}
)

// sample is one line of a timeline: what is observed at an instant, and the limit after it.
type sample struct {
	at, took time.Duration // took < 0: nothing is observed
	outcome  adaptive.Outcome
	want     time.Duration
}

const nothing = -1

var timelines = []struct {
	name    string
	c       adaptive.Config
	samples []sample
}{
	{
		name: "rto", c: adaptive.Config{Rule: adaptive.RuleRTO, Initial: 300 * s, Min: 10 * s, Max: 600 * s},
		samples: []sample{
			{0, nothing, inTime, 300 * s},
			{8 * s, 8 * s, inTime, 24 * s},     // SRTT 8, VAR 4
			{20 * s, 16 * s, inTime, 29 * s},   // VAR 3+2, SRTT 7+2
			{30 * s, 9 * s, inTime, 24 * s},    // VAR 3.75
			{60 * s, 24 * s, timedOut, 48 * s}, // doubled
			{70 * s, 1 * s, retried, 48 * s},   // Karn: no sample, and still doubled
			{80 * s, 24 * s, timedOut, 48 * s}, // began under the shorter limit
			{108 * s, 48 * s, timedOut, 96 * s},
			{109 * s, 9 * s, inTime, 20250 * time.Millisecond}, // VAR 2.8125: back to what was learnt
			{110 * s, 9 * s, inTime, 17437500 * time.Microsecond},
			{200 * s, 9 * s, inTime, 15328125 * time.Microsecond},
		},
	},
	{
		name: "rto: granularity, least and most", c: adaptive.Config{Rule: adaptive.RuleRTO, Granularity: 2 * s, Min: 5 * s, Max: 9 * s},
		samples: []sample{
			{0, nothing, inTime, 0}, // no limit until something is known
			{0, 1 * s, inTime, 5 * s},
			{1 * s, 5 * s, timedOut, 9 * s},
			{1 * s, 9 * s, timedOut, 9 * s},
			{2 * s, 4 * s, inTime, 5875 * time.Millisecond}, // SRTT 1.375, VAR 1.125
		},
	},
	{
		name: "rto without doubling, from retries too", c: adaptive.Config{Rule: adaptive.RuleRTO, NoDouble: true, FromRetries: true},
		samples: []sample{
			{0, 8 * s, retried, 24 * s},
			{1 * s, 24 * s, timedOut, 24 * s},
		},
	},
	{
		name: "quantile", c: adaptive.Config{Rule: adaptive.RuleQuantile, Quantile: 0.5, Factor: 2, Window: 4, MinSamples: 3, Initial: 100 * s, Max: 150 * s},
		samples: []sample{
			{0, 10 * s, inTime, 100 * s},
			{0, 100 * s, timedOut, 150 * s}, // too few samples: the initial limit doubles, up to the most
			{0, 30 * s, inTime, 60 * s},     // of 10, 30, 100
			{0, 20 * s, retried, 40 * s},    // retries are samples: of 10, 20, 30, 100
			{0, 40 * s, inTime, 60 * s},     // 10 is forgotten: of 20, 30, 40, 100
			{0, 60 * s, timedOut, 120 * s},  // 100 is: of 20, 30, 40, 60, and doubled
		},
	},
	{
		name: "quantile of what is young", c: adaptive.Config{Rule: adaptive.RuleQuantile, Quantile: 0.99, WindowTime: 60 * s, Initial: 90 * s},
		samples: []sample{
			{0, 10 * s, inTime, 10 * s},
			{30 * s, 5 * s, inTime, 10 * s},
			{60 * s, nothing, inTime, 10 * s},
			{61 * s, nothing, inTime, 5 * s},
			{91 * s, nothing, inTime, 90 * s}, // a window shorter than the pause forgets everything
		},
	},
	{
		name: "moving quantile", c: adaptive.Config{Rule: adaptive.RuleMovingQuantile, Quantile: 0.5, Age: 1, Step: 0.5, Factor: 3, MinSamples: 2},
		samples: []sample{
			{0, 10 * s, inTime, 0},
			{1 * s, 20 * s, inTime, 30 * s},
		},
	},
	{
		name: "moving quantile, aging", c: adaptive.Config{Rule: adaptive.RuleMovingQuantile, Quantile: 0.75, Age: 3, Step: 0.5},
		samples: []sample{
			{0, 8 * s, inTime, 8 * s},
			{1 * s, 8 * s, inTime, 8 * s},   // no variance, no step
			{2 * s, 16 * s, inTime, 16 * s}, // mean 12, variance 16, d = 2: up by 2/0.25
			{3 * s, 10 * s, inTime, 14 * s}, // mean 11, variance 9, d = 1.5: down by 1.5/0.75
		},
	},
	{
		name: "success only", c: adaptive.Config{Rule: adaptive.RuleQuantile, Quantile: 0.9, SuccessOnly: true, NoDouble: true},
		samples: []sample{
			{0, 10 * s, inTime, 10 * s},
			{0, 10 * s, timedOut, 10 * s},
			{0, 5 * s, inTime, 10 * s},
		},
	},
}

func TestTimelines(t *testing.T) {
	t.Parallel()
	for _, c := range timelines {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.c.Limit = adaptive.LimitFirstToken
			if err := c.c.Validate(); err != nil {
				t.Fatal(err)
			}
			e := adaptive.New(c.c)
			for i, p := range c.samples {
				now := sim.Instant(p.at)
				if p.took >= 0 {
					e.Observe(now, p.took, p.outcome)
				}
				if got := e.Limit(now); got != p.want {
					t.Errorf("sample %d (%v took %v, %+v): the limit is %v, want %v", i, p.at, p.took, p.outcome, got, p.want)
				}
			}
		})
	}
}

// TestManyTimeOutTogether: thirty attempts that ran under the same limit double it once.
func TestManyTimeOutTogether(t *testing.T) {
	t.Parallel()
	e := adaptive.New(adaptive.Config{Limit: adaptive.LimitTotal, Rule: adaptive.RuleRTO, Initial: 60 * s})
	for range 30 {
		e.Observe(sim.Instant(60*s), 60*s, timedOut)
	}
	if e.Doublings() != 1 || e.Limit(sim.Instant(60*s)) != 120*s {
		t.Errorf("doubled %d times, to %v", e.Doublings(), e.Limit(sim.Instant(60*s)))
	}
}

// TestWindowTwin holds the window against samples that are kept in a slice and sorted each time.
func TestWindowTwin(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		draws := rand.New(rand.NewPCG(seed, 0))
		c := adaptive.Config{
			Limit: adaptive.LimitIdle, Rule: adaptive.RuleQuantile, NoDouble: true, Quantile: 0.01 + 0.98*draws.Float64(),
			Window: 1 + draws.IntN(40), WindowTime: time.Duration(draws.IntN(2)*(5+draws.IntN(50))) * s,
		}
		e := adaptive.New(c)
		type kept struct {
			at   sim.Instant
			took time.Duration
		}
		var all []kept
		var now sim.Instant
		for range 500 {
			now = now.Add(time.Duration(draws.IntN(4)) * s)
			took := time.Duration(1+draws.IntN(20)) * s
			e.Observe(now, took, adaptive.Outcome{Censored: draws.IntN(2) == 0})
			all = append(all, kept{now, took})
			now = now.Add(time.Duration(draws.IntN(2)*draws.IntN(30)) * s)
			all = slices.DeleteFunc(all, func(k kept) bool { return c.WindowTime > 0 && now.Sub(k.at) > c.WindowTime })
			all = all[max(0, len(all)-c.Window):]
			var want time.Duration
			if len(all) > 0 {
				sorted := slices.SortedFunc(slices.Values(all), func(a, b kept) int { return int(a.took - b.took) })
				rank := 1
				for float64(rank) < c.Quantile*float64(len(all)) {
					rank++
				}
				want = sorted[rank-1].took
			}
			if got := e.Limit(now); got != want {
				t.Fatalf("seed %d, %v s, %+v: the limit is %v, want %v of %v", seed, now.Seconds(), c, got, want, all)
			}
		}
	}
}

// fleet makes calls one after the other that take 30 to 300 s, and cuts each off at the limit. It
// returns the limit at the end, and how many of the last hundred calls were cut off.
func fleet(seed uint64, c adaptive.Config) (time.Duration, int) {
	draws := rand.New(rand.NewPCG(seed, 0))
	e := adaptive.New(c)
	var now sim.Instant
	cut := 0
	for i := range 2000 {
		took := 30*s + time.Duration(draws.Float64()*float64(270*s))
		limit := e.Limit(now)
		o := adaptive.Outcome{Censored: limit > 0 && took > limit}
		if o.Censored {
			took = limit
			if i >= 1900 {
				cut++
			}
		}
		now = now.Add(took)
		e.Observe(now, took, o)
	}
	return e.Limit(now), cut
}

// TestSuccessOnlyCollapses: a limit that learns from what it let pass keeps falling, and one that counts what it cut off stays above the calls.
func TestSuccessOnlyCollapses(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		c := adaptive.Config{Limit: adaptive.LimitTotal, Rule: adaptive.RuleQuantile, Quantile: 0.95, Window: 100, Initial: 250 * s}
		limit, cut := fleet(seed, c)
		if limit < 240*s || cut > 30 {
			t.Errorf("seed %d: with the censored ones the limit ends at %v, %d of 100 cut off", seed, limit, cut)
		}
		c.SuccessOnly, c.NoDouble = true, true
		limit, cut = fleet(seed, c)
		if limit > 110*s || cut < 60 {
			t.Errorf("seed %d: success only ends at %v, %d of 100 cut off, want a collapse", seed, limit, cut)
		}
		c.Min = 200 * s // a floor stops it there, and the calls above it are lost for good
		limit, cut = fleet(seed, c)
		if limit > 210*s || cut < 20 || cut > 60 {
			t.Errorf("seed %d: success only with a floor ends at %v, %d of 100 cut off", seed, limit, cut)
		}
	}
}

// TestNoDoublingStaysTooLow: TCP's rule has no samples of what times out, so that without doubling it
// never hears of longer calls.
func TestNoDoublingStaysTooLow(t *testing.T) {
	t.Parallel()
	c := adaptive.Config{Limit: adaptive.LimitTotal, Rule: adaptive.RuleRTO, Min: s, Max: 600 * s}
	for _, noDouble := range []bool{false, true} {
		c.NoDouble = noDouble
		e := adaptive.New(c)
		var now sim.Instant
		for range 100 { // short calls, then long ones
			e.Observe(now, 10*s, inTime)
		}
		passed := 0
		for range 100 {
			took, limit := 120*s, e.Limit(now)
			o := adaptive.Outcome{Censored: took > limit}
			if !o.Censored {
				passed++
			}
			took = min(took, limit)
			now = now.Add(took)
			e.Observe(now, took, o)
		}
		if noDouble != (passed == 0) {
			t.Errorf("no_double %v: %d of 100 long calls passed", noDouble, passed)
		}
	}
}

func TestSetByPromptSize(t *testing.T) {
	t.Parallel()
	set := adaptive.NewSet(adaptive.Config{Limit: adaptive.LimitFirstToken, Rule: adaptive.RuleQuantile, PromptClasses: []int{1000, 8000}})
	for _, tokens := range []int{0, 1000, 1001, 8000, 8001, 1 << 30} {
		set.For(tokens).Observe(0, time.Duration(tokens)*time.Millisecond, inTime)
	}
	for _, c := range []struct {
		tokens int
		want   time.Duration
	}{{1, 1 * s}, {1000, 1 * s}, {1001, 8 * s}, {8000, 8 * s}, {8001, (1 << 30) * time.Millisecond}} {
		if got := set.For(c.tokens).Limit(0); got != c.want {
			t.Errorf("%d tokens: the limit is %v, want %v", c.tokens, got, c.want)
		}
	}
	if one := adaptive.NewSet(adaptive.Config{Rule: adaptive.RuleRTO}); one.For(1) != one.For(1<<30) {
		t.Error("without classes, sizes do not share an estimator")
	}
}

// TestLimits: whatever is observed, the limit stays within its bounds.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, rule := range adaptive.Rules() {
		for seed := range uint64(20) {
			draws := rand.New(rand.NewPCG(seed, 0))
			e := adaptive.New(adaptive.Config{Rule: rule, Min: 20 * s, Max: 200 * s, Initial: 50 * s, MinSamples: 5})
			var now sim.Instant
			for range 1000 {
				now = now.Add(time.Duration(draws.IntN(100)) * s)
				e.Observe(now, time.Duration(draws.IntN(1000)-10)*s, adaptive.Outcome{Censored: draws.IntN(2) == 0, Retried: draws.IntN(2) == 0})
				if d := e.Limit(now); d < 20*s || d > 200*s {
					t.Fatalf("%s, seed %d: the limit is %v", rule, seed, d)
				}
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	for _, rule := range adaptive.Rules() {
		e := adaptive.New(adaptive.Config{Rule: rule, Initial: s})
		var now sim.Instant
		if n := testing.AllocsPerRun(1000, func() {
			now = now.Add(s)
			e.Observe(now, time.Duration(now)%(97*s), timedOut)
			e.Limit(now)
		}); n != 0 {
			t.Errorf("%s: %v allocations a sample", rule, n)
		}
	}
}
