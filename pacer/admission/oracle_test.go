package admission_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivethrottler"
	"github.com/failsafe-go/failsafe-go/budget"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sony/gobreaker/v2"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/admission"
)

// The libraries read the clock, so that they run in bubbles here, next to ours that are told the
// time. Compared is what they decide, step by step, over random events.

// now is the instant of a bubble. It counts from the same moment as failsafe-go, so that both cut
// time into the same buckets.
func now() sim.Instant { return sim.Instant(time.Now().UnixNano()) }

// bubbles runs a comparison with several seeds. It returns how often each decision was made, and
// insists that each was.
func bubbles(t *testing.T, compare func(t *testing.T, draws *rand.Rand, decisions map[string]int), want ...string) {
	t.Helper()
	decisions := map[string]int{}
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			compare(t, rand.New(rand.NewPCG(seed, 0)), decisions)
			if t.Failed() {
				t.Logf("seed %d", seed)
			}
		})
		if t.Failed() {
			return
		}
	}
	for _, name := range want {
		if decisions[name] < 20 {
			t.Errorf("%q was decided %d times only: this compares nothing", name, decisions[name])
		}
	}
}

// TestBreakerAsGobreaker: any number of attempts under way, ended in any order, also long after the
// breaker has changed.
func TestBreakerAsGobreaker(t *testing.T) {
	t.Parallel()
	errFailed, errCanceled := errors.New("failed"), errors.New("canceled")
	bubbles(t, func(t *testing.T, draws *rand.Rand, decisions map[string]int) {
		c := admission.BreakerConfig{
			Rule: admission.BreakerConsecutive, FailureThreshold: 1 + draws.IntN(4),
			Delay: time.Duration(1+draws.IntN(60)) * s, Probes: 1 + draws.IntN(4),
		}
		ours := admission.NewBreaker(c)
		theirs := gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
			MaxRequests: uint32(c.Probes),
			Timeout:     c.Delay - 1, // theirs ends after it, ours at it
			ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= uint32(c.FailureThreshold) },
			IsExcluded:  func(err error) bool { return errors.Is(err, errCanceled) },
		})
		states := map[gobreaker.State]admission.State{
			gobreaker.StateClosed: admission.Closed, gobreaker.StateOpen: admission.Open, gobreaker.StateHalfOpen: admission.HalfOpen,
		}
		type attempt struct {
			ticket admission.Ticket
			done   func(error)
		}
		var open []attempt
		failing := draws.IntN(10)
		for range 2000 {
			time.Sleep(time.Duration(draws.IntN(8)) * s)
			if draws.IntN(100) == 0 {
				failing = draws.IntN(10)
			}
			if draws.IntN(2) == 0 {
				ticket, ok := ours.Allow(now(), false)
				done, err := theirs.Allow()
				if ok != (err == nil) {
					t.Fatalf("%v, %+v: ours allows: %v, gobreaker says %v", time.Now(), c, ok, err)
				}
				decisions[map[bool]string{true: "sent", false: "stopped"}[ok]]++
				if ok {
					open = append(open, attempt{ticket, done})
				}
			} else if len(open) > 0 {
				i := draws.IntN(len(open))
				a := open[i]
				open = slices.Delete(open, i, i+1)
				switch n := draws.IntN(10); {
				case n == 9:
					ours.Canceled(a.ticket)
					a.done(errCanceled)
				case n < failing:
					ours.Ended(now(), a.ticket, false)
					a.done(errFailed)
				default:
					ours.Ended(now(), a.ticket, true)
					a.done(nil)
				}
			}
			if got, want := ours.State(now()), states[theirs.State()]; got != want {
				t.Fatalf("%v, %+v: ours is %s, gobreaker's %s", time.Now(), c, got, want)
			}
			decisions[string(ours.State(now()))]++
		}
	}, "sent", "stopped", "closed", "open", "half_open")
}

// TestBreakerAsFailsafe: by rate, with late ends that count in the state they find.
func TestBreakerAsFailsafe(t *testing.T) {
	t.Parallel()
	bubbles(t, func(t *testing.T, draws *rand.Rand, decisions map[string]int) {
		c := admission.BreakerConfig{
			Rule: admission.BreakerRate, FailureRateThreshold: float64(1+draws.IntN(100)) / 100, FailureExecutionThreshold: 1 + draws.IntN(10),
			FailureThresholdingPeriod: time.Duration(1+draws.IntN(12)) * 10 * s, Delay: time.Duration(1+draws.IntN(60)) * s,
			Probes: 1 + draws.IntN(5), LateCounts: true,
		}
		c.ProbeSuccesses = 1 + draws.IntN(c.Probes)
		ours := admission.NewBreaker(c)
		theirs := circuitbreaker.NewBuilder[any]().
			WithFailureRateThreshold(c.FailureRateThreshold, uint(c.FailureExecutionThreshold), c.FailureThresholdingPeriod).
			WithSuccessThresholdRatio(uint(c.ProbeSuccesses), uint(c.Probes)).
			WithDelay(c.Delay).Build()
		var open []admission.Ticket
		failing := draws.IntN(10)
		for range 2000 {
			time.Sleep(time.Duration(draws.IntN(5)) * s)
			if draws.IntN(100) == 0 {
				failing = draws.IntN(10)
			}
			if draws.IntN(2) == 0 {
				ticket, ok := ours.Allow(now(), false)
				if want := theirs.TryAcquirePermit(); ok != want {
					t.Fatalf("%v, %+v: ours allows: %v, failsafe-go: %v", time.Now(), c, ok, want)
				}
				decisions[map[bool]string{true: "sent", false: "stopped"}[ok]]++
				if ok {
					open = append(open, ticket)
				}
				// Both have noticed the end of the delay now; failsafe-go says so only then.
				if got, want := string(ours.State(now())), theirs.State().String(); got != map[string]string{"closed": "closed", "open": "open", "half-open": "half_open"}[want] {
					t.Fatalf("%v, %+v: ours is %s, failsafe-go's %s", time.Now(), c, got, want)
				}
				decisions[string(ours.State(now()))]++
			} else if len(open) > 0 {
				i := draws.IntN(len(open))
				ticket := open[i]
				open = slices.Delete(open, i, i+1)
				if draws.IntN(10) < failing {
					ours.Ended(now(), ticket, false)
					theirs.RecordFailure()
				} else {
					ours.Ended(now(), ticket, true)
					theirs.RecordSuccess()
				}
			}
		}
	}, "sent", "stopped", "closed", "open", "half_open")
}

// TestThrottleAsFailsafe compares the probability, since the draws are the library's own.
func TestThrottleAsFailsafe(t *testing.T) {
	t.Parallel()
	bubbles(t, func(t *testing.T, draws *rand.Rand, decisions map[string]int) {
		failureRate := float64(draws.IntN(90)) / 100
		c := admission.ThrottleConfig{
			Rule: admission.ThrottleFailsafe, SuccessRateThreshold: min(1, max(0, 1-failureRate)), ExecutionThreshold: draws.IntN(20),
			ThresholdingPeriod: time.Duration(1+draws.IntN(30)) * 20 * s, MaxRejectionRate: 0.1 + float64(draws.IntN(90))/100,
		}
		ours := admission.NewThrottle(c)
		theirs := adaptivethrottler.NewBuilder[any]().
			WithFailureRateThreshold(failureRate, uint(c.ExecutionThreshold), c.ThresholdingPeriod).
			WithMaxRejectionRate(c.MaxRejectionRate).Build()
		failing := draws.IntN(11)
		for range 2000 {
			time.Sleep(time.Duration(draws.IntN(20)*draws.IntN(2)*draws.IntN(10)) * s)
			if draws.IntN(50) == 0 {
				failing = draws.IntN(11)
			}
			if draws.IntN(10) < failing {
				ours.Ended(now(), false)
				theirs.RecordFailure()
			} else {
				ours.Ended(now(), true)
				theirs.RecordSuccess()
			}
			theirs.TryAcquirePermit()
			got, want := ours.Probability(now()), theirs.RejectionRate()
			if math.Abs(got-want) > 1e-9 {
				t.Fatalf("%v, %+v: ours rejects with %v, failsafe-go with %v", time.Now(), c, got, want)
			}
			decisions[map[bool]string{true: "passes", false: "may be rejected"}[got == 0]]++
		}
	}, "passes", "may be rejected")
}

// permits is what failsafe-go's budget offers its own policies.
type permits interface {
	budget.Budget
	RecordExecution()
	ReleaseExecution()
	TryAcquirePermit() bool
	ReleasePermit()
}

// TestBudgetAsFailsafe: calls that come, retry, hedge and end as they like.
func TestBudgetAsFailsafe(t *testing.T) {
	t.Parallel()
	bubbles(t, func(t *testing.T, draws *rand.Rand, decisions map[string]int) {
		c := admission.BudgetConfig{Rule: admission.BudgetFailsafe, MaxRate: float64(1+draws.IntN(99)) / 100, MinConcurrency: 1 + draws.IntN(5)}
		floor := c.MinConcurrency
		if draws.IntN(3) == 0 {
			c.NoFloor, c.MinConcurrency, floor = true, 0, 0
		}
		ours := admission.NewBudget(c)
		theirs := budget.NewBuilder().WithMaxRate(c.MaxRate).WithMinConcurrency(uint(floor)).Build().(permits)
		calls, extra := 0, 0
		for range 2000 {
			switch n := draws.IntN(10); {
			case n < 3:
				ours.Sent(now(), admission.First)
				theirs.RecordExecution()
				calls++
			case n < 5 && calls > 0:
				ours.Ended(now(), admission.Result{Kind: admission.First, OK: draws.IntN(2) == 0})
				ours.Closed(now())
				theirs.ReleaseExecution()
				calls--
			case n < 7 && extra > 0:
				kind := []admission.Kind{admission.Retry, admission.Hedge}[draws.IntN(2)]
				ours.Ended(now(), admission.Result{Kind: kind})
				theirs.ReleasePermit()
				extra--
			case n == 7 && extra > 0:
				ours.GiveBack(now(), 1)
				theirs.ReleasePermit()
				extra--
			case n > 7:
				_, ok := ours.MayRetry(now(), admission.CauseTransient, 1)
				if want := theirs.TryAcquirePermit(); ok != want {
					t.Fatalf("%+v, %d calls, %d retries: ours grants: %v, failsafe-go: %v", c, calls, extra, ok, want)
				}
				decisions[map[bool]string{true: "granted", false: "refused"}[ok]]++
				if ok {
					extra++
				}
			}
		}
	}, "granted", "refused")
}
