package adaptive_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/adaptive"
)

// TestMovingQuantileAsFailsafe holds the moving quantile against failsafe-go's hedge policy, whose
// delay it is: over calls of random length, both must ask for a hedge in the same ones, after the
// same delay.
func TestMovingQuantileAsFailsafe(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		for _, quantile := range []float64{0.5, 0.9, 0.99} {
			synctest.Test(t, func(t *testing.T) { hedges(t, seed, quantile) })
		}
	}
}

func hedges(t *testing.T, seed uint64, quantile float64) {
	const age, threshold, calls = 20, 5, 300
	draws := rand.New(rand.NewPCG(seed, 0))
	e := adaptive.New(adaptive.Config{Rule: adaptive.RuleMovingQuantile, Quantile: quantile, Age: age, MinSamples: threshold})
	var began time.Time
	var hedgedAfter time.Duration // 0: not hedged
	policy := hedgepolicy.NewBuilderWithDelayQuantile[any](quantile, age, threshold).
		OnHedge(func(failsafe.ExecutionEvent[any]) { hedgedAfter = time.Since(began) }).
		Build()
	hedged := 0
	for call := range calls {
		took := time.Duration(1+draws.IntN(1000)) * time.Millisecond * time.Duration(1+call/100) // it becomes slower
		began, hedgedAfter = time.Now(), 0
		err := failsafe.With(policy).RunWithExecution(func(exec failsafe.Execution[any]) error {
			if exec.IsHedge() {
				<-exec.Canceled() // the first attempt always wins
				return nil
			}
			time.Sleep(took)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // for the hedge to be over

		limit := e.Limit(0)
		want := time.Duration(0)
		if limit > 0 && limit < took {
			want = limit
			hedged++
		}
		if (hedgedAfter > 0) != (want > 0) || (hedgedAfter-want).Abs() > time.Microsecond {
			t.Fatalf("seed %d, quantile %v, call %d of %v: hedged after %v, want %v", seed, quantile, call, took, hedgedAfter, want)
		}
		e.Observe(sim.Instant(0), took, adaptive.Outcome{})
		if hedgedAfter > 0 { // the library takes the loser for a sample, too
			e.Observe(sim.Instant(0), took-hedgedAfter, adaptive.Outcome{})
		}
	}
	if hedged == 0 || hedged > calls*9/10 {
		t.Errorf("seed %d, quantile %v: %d of %d calls were hedged: this compares nothing", seed, quantile, hedged, calls)
	}
}
