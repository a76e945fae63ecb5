package admission_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/budget"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"example.com/wedge/pacer/admission"
)

// script is a call that will be made: when, and how long each of its attempts takes and whether it
// fails. No two events of a run fall together, since lengths are random to the nanosecond.
type script struct {
	at       time.Duration
	attempts [4]struct {
		took time.Duration
		ok   bool
	}
}

// scripts returns calls that mostly fail for a while.
func scripts(seed uint64) []script {
	draws := rand.New(rand.NewPCG(seed, 0))
	all := make([]script, 150)
	for i := range all {
		all[i].at = time.Duration(draws.Int64N(int64(300 * s)))
		for j := range all[i].attempts {
			all[i].attempts[j].took = s + time.Duration(draws.Int64N(int64(40*s)))
			all[i].attempts[j].ok = draws.IntN(3) == 0
		}
	}
	return all
}

const scriptBackoff = 7 * time.Second

// play runs all calls at their times, each in its own goroutine, and returns how many attempts each
// made.
func play(t *testing.T, calls []script, call func(*script) int) []int {
	made := make([]int, len(calls))
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		for i := range calls {
			all.Go(func() {
				time.Sleep(calls[i].at)
				made[i] = call(&calls[i])
			})
		}
		all.Wait()
	})
	return made
}

// TestRetriesAsFailsafe plays the same calls under failsafe-go's retry policy with a budget, and in
// the order of events that this package asks for.
func TestRetriesAsFailsafe(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		calls := scripts(seed)
		want := play(t, calls, failsafeCall(0.25, 2))
		got := play(t, calls, ourCall(admission.BudgetConfig{Rule: admission.BudgetFailsafe, MaxRate: 0.25, MinConcurrency: 2}))
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: attempts of each call\n got %v\nwant %v", seed, got, want)
		}
		unbounded := play(t, calls, ourCall(admission.BudgetConfig{}))
		if slices.Equal(got, unbounded) {
			t.Errorf("seed %d: the budget refused nothing", seed)
		}
	}
}

func failsafeCall(rate float64, least uint) func(*script) int {
	shared := budget.NewBuilder().WithMaxRate(rate).WithMinConcurrency(least).Build()
	return func(c *script) int {
		errFailed := errors.New("failed")
		n := 0
		policy := retrypolicy.NewBuilder[any]().WithMaxAttempts(len(c.attempts)).WithDelay(scriptBackoff).WithBudget(shared).Build()
		_ = failsafe.With(policy).Run(func() error {
			a := c.attempts[n]
			n++
			time.Sleep(a.took)
			if a.ok {
				return nil
			}
			return errFailed
		})
		return n
	}
}

func ourCall(c admission.BudgetConfig) func(*script) int {
	var mu sync.Mutex
	shared := admission.NewBudget(c)
	return func(c *script) int {
		locked := func(f func()) {
			mu.Lock()
			defer mu.Unlock()
			f()
		}
		defer locked(func() { shared.Closed(now()) })
		kind, cost := admission.First, 0.0
		for n, a := range c.attempts {
			locked(func() { shared.Sent(now(), kind) })
			time.Sleep(a.took)
			locked(func() { shared.Ended(now(), admission.Result{Kind: kind, OK: a.ok, Cost: cost}) })
			if a.ok || n == len(c.attempts)-1 {
				return n + 1
			}
			time.Sleep(scriptBackoff)
			var ok bool
			locked(func() { cost, ok = shared.MayRetry(now(), admission.CauseTransient, n+1) })
			if !ok {
				return n + 1
			}
			kind = admission.Retry
		}
		return len(c.attempts)
	}
}
