package admission_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/admission"
)

// run makes calls of up to five attempts, a second apart, of which each fails with a probability. It
// returns how many attempts were made for a call.
func run(c admission.BudgetConfig, seed uint64, calls int, failing float64) float64 {
	draws := rand.New(rand.NewPCG(seed, 0))
	b := admission.NewBudget(c)
	attempts := 0
	for call := range calls {
		now := sim.Instant(time.Duration(call) * s)
		kind, cost := admission.First, 0.0
		for n := 1; ; n++ {
			b.Sent(now, kind)
			attempts++
			ok := draws.Float64() >= failing
			b.Ended(now, admission.Result{Kind: kind, OK: ok, Cost: cost})
			if ok || n == 5 {
				break
			}
			var granted bool
			if cost, granted = b.MayRetry(now, admission.CauseTimeout, n); !granted {
				break
			}
			kind = admission.Retry
		}
		b.Closed(now)
	}
	return float64(attempts) / float64(calls)
}

// TestLongRun: what the budgets leave of five attempts a call when everything fails, and when
// everything goes well.
func TestLongRun(t *testing.T) {
	t.Parallel()
	const calls = 10_000
	for _, c := range []struct {
		name        string
		c           admission.BudgetConfig
		least, most float64 // attempts a call, when everything fails
	}{
		{"none", admission.BudgetConfig{}, 5, 5},
		// The stock floor of 10 a second is more than four retries a second: the budget does nothing.
		{"finagle as it comes", admission.BudgetConfig{Rule: admission.BudgetFinagle}, 5, 5},
		{"finagle without a floor", admission.BudgetConfig{Rule: admission.BudgetFinagle, TTL: 10 * time.Minute, NoFloor: true}, 1.19, 1.2},
		{"sre", admission.BudgetConfig{Rule: admission.BudgetSRE, Window: 10 * time.Minute}, 1.09, 1.1},
		// The full bucket is spent once: 35 retries in all.
		{"aws", admission.BudgetConfig{Rule: admission.BudgetAWS}, 1 + 35./calls, 1 + 35./calls},
		{"brooker", admission.BudgetConfig{Rule: admission.BudgetBrooker}, 1 + 10./calls, 1 + 10./calls},
		{"grpc", admission.BudgetConfig{Rule: admission.BudgetGRPC}, 1 + 4./calls, 1 + 4./calls},
		// These look at what is under way: one call at a time is always granted.
		{"envoy, alone", admission.BudgetConfig{Rule: admission.BudgetEnvoy}, 5, 5},
		{"envoy without a floor, alone", admission.BudgetConfig{Rule: admission.BudgetEnvoy, NoFloor: true}, 1, 1},
		{"failsafe, alone", admission.BudgetConfig{Rule: admission.BudgetFailsafe}, 5, 5},
	} {
		if err := c.c.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		const rounding = 1e-9
		if got := run(c.c, 1, calls, 1); got < c.least-rounding || got > c.most+rounding {
			t.Errorf("%s: %v attempts a call when all fail, want %v to %v", c.name, got, c.least, c.most)
		}
		if got := run(c.c, 1, calls, 0); got != 1 {
			t.Errorf("%s: %v attempts a call when all go well", c.name, got)
		}
	}
}

// TestShareOfCalls: whatever the rate of failures, no budget that counts in shares lets through more
// than its share, beyond what it was full of at first.
func TestShareOfCalls(t *testing.T) {
	t.Parallel()
	const calls = 5000
	for _, c := range []struct {
		c           admission.BudgetConfig
		share, full float64
	}{
		{admission.BudgetConfig{Rule: admission.BudgetFinagle, NoFloor: true}, 0.2, 0},
		{admission.BudgetConfig{Rule: admission.BudgetFinagle, NoFloor: true, PercentCanRetry: 0.5, TTL: 300 * s}, 0.5, 0},
		{admission.BudgetConfig{Rule: admission.BudgetSRE}, 0.1, 0},
		{admission.BudgetConfig{Rule: admission.BudgetSRE, RetryRatio: 0.3}, 0.3, 0},
		{admission.BudgetConfig{Rule: admission.BudgetBrooker}, 0.1, 10},
	} {
		for failing := 0.0; failing <= 1; failing += 0.1 {
			for seed := range uint64(3) {
				if got, most := run(c.c, seed, calls, failing), 1+c.share+c.full/calls; got > most+1e-9 {
					t.Errorf("%+v, seed %d, failing %.1f: %v attempts a call, want at most %v", c.c, seed, failing, got, most)
				}
			}
		}
	}
}

// TestBrookerAtHalf: where half of the attempts fail, five attempts a call become 1.1.
func TestBrookerAtHalf(t *testing.T) {
	t.Parallel()
	without := run(admission.BudgetConfig{}, 1, 20_000, 0.5)
	with := run(admission.BudgetConfig{Rule: admission.BudgetBrooker}, 1, 20_000, 0.5)
	if without < 1.9 || with < 1.04 || with > 1.1 {
		t.Errorf("%v attempts a call without, %v with", without, with)
	}
}

// TestFreeRetries: 500 tokens are 35 retries at 14 for each client process, 100 at 5, 50 at 10.
func TestFreeRetries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		c     admission.BudgetConfig
		cause admission.Cause
		want  int
	}{
		{admission.BudgetConfig{}, admission.CauseTimeout, 35},
		{admission.BudgetConfig{}, admission.CauseTransient, 35},
		{admission.BudgetConfig{}, admission.CauseThrottled, 100},
		{admission.BudgetConfig{RetryCost: 5, TimeoutRetryCost: 10}, admission.CauseTransient, 100},
		{admission.BudgetConfig{RetryCost: 5, TimeoutRetryCost: 10}, admission.CauseTimeout, 50},
		{admission.BudgetConfig{MaxCapacity: 3 * 30}, admission.CauseTimeout, 6}, // three for each of thirty agents
	} {
		c.c.Rule = admission.BudgetAWS
		b := admission.NewBudget(c.c)
		n := 0
		for ; n < 1000; n++ {
			if _, ok := b.MayRetry(0, c.cause, 1); !ok {
				break
			}
		}
		if n != c.want {
			t.Errorf("%+v, %s: %d free retries, want %d", c.c, c.cause, n, c.want)
		}
	}
}

// TestUnderWay: for budgets that look at what is under way, retries stay a share of it at any time.
func TestUnderWay(t *testing.T) {
	t.Parallel()
	for _, c := range []admission.BudgetConfig{
		{Rule: admission.BudgetEnvoy}, {Rule: admission.BudgetEnvoy, NoFloor: true, BudgetPercent: 50},
		{Rule: admission.BudgetFailsafe}, {Rule: admission.BudgetFailsafe, MaxRate: 0.3},
	} {
		full := c.WithDefaults()
		b := admission.NewBudget(c)
		draws := rand.New(rand.NewPCG(1, 0))
		first, waiting, retries, refused := 0, 0, 0, 0
		for range 20_000 {
			switch n := draws.IntN(4); {
			case n == 0 && first < 50:
				b.Sent(0, admission.First)
				first++
			case n == 1 && first > 0 && draws.IntN(4) > 0: // its call ends, or tries again
				b.Ended(0, admission.Result{Kind: admission.First})
				first--
				_, ok := b.MayRetry(0, admission.CauseTimeout, 1)
				if !ok {
					b.Closed(0)
					refused++
					continue
				}
				waiting++
				floor := full.MinRetryConcurrency + full.MinConcurrency
				share := full.BudgetPercent/100 + full.MaxRate
				extra := waiting + retries
				all := first + extra
				if c.Rule == admission.BudgetFailsafe {
					all += extra // it counts calls as well, also those whose first attempt is over
				}
				if extra > floor && float64(extra) > share*float64(all)+1 {
					t.Fatalf("%+v: %d retries of %v under way", c, extra, all)
				}
			case n == 2 && waiting > 0:
				b.Sent(0, admission.Retry)
				waiting--
				retries++
			case n == 3 && retries > 0:
				b.Ended(0, admission.Result{Kind: admission.Retry, OK: true, Cost: 1})
				b.Closed(0)
				retries--
			}
		}
		if refused == 0 {
			t.Errorf("%+v: nothing was ever refused", c)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	for _, rule := range admission.BudgetRules() {
		b := admission.NewBudget(admission.BudgetConfig{Rule: rule})
		var now sim.Instant
		if n := testing.AllocsPerRun(1000, func() {
			now = now.Add(s)
			b.Sent(now, admission.First)
			b.Ended(now, admission.Result{Kind: admission.First})
			if cost, ok := b.MayRetry(now, admission.CauseTimeout, 1); ok {
				b.GiveBack(now, cost)
			}
			b.Closed(now)
		}); n != 0 {
			t.Errorf("budget %s: %v allocations a call", rule, n)
		}
	}
	for _, rule := range admission.ThrottleRules() {
		th := admission.NewThrottle(admission.ThrottleConfig{Rule: rule})
		var now sim.Instant
		if n := testing.AllocsPerRun(1000, func() {
			now = now.Add(s)
			if !th.Reject(now, 0.5) {
				th.Ended(now, false)
			}
		}); n != 0 {
			t.Errorf("throttle %s: %v allocations a call", rule, n)
		}
	}
	for _, rule := range admission.BreakerRules() {
		b := admission.NewBreaker(admission.BreakerConfig{Rule: rule})
		var now sim.Instant
		if n := testing.AllocsPerRun(1000, func() {
			now = now.Add(s)
			if ticket, ok := b.Allow(now, false); ok {
				b.Ended(now, ticket, false)
			}
		}); n != 0 {
			t.Errorf("breaker %s: %v allocations a call", rule, n)
		}
	}
}
