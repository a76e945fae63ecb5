package admission_test

import (
	"fmt"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/admission"
)

// A server takes calls and answers none. With the stock budget of the AWS SDKs, all agents of a
// process together have 35 retries.
func ExampleBudget() {
	b := admission.NewBudget(admission.BudgetConfig{Rule: admission.BudgetAWS})
	retries := 0
	for call := range 100 {
		now := sim.Instant(0).Add(time.Duration(call) * time.Minute)
		b.Sent(now, admission.First)
		b.Ended(now, admission.Result{Kind: admission.First})
		if cost, ok := b.MayRetry(now, admission.CauseTimeout, 1); ok {
			retries++
			b.Sent(now, admission.Retry)
			b.Ended(now, admission.Result{Kind: admission.Retry, Cost: cost})
		}
		b.Closed(now)
	}
	fmt.Println(retries, "retries,", b.Level(0), "tokens left")
	// Output: 35 retries, 10 tokens left
}

// After a hundred calls that failed, nearly all are turned away; a few still get through, so that
// the end of the trouble is noticed.
func ExampleThrottle() {
	t := admission.NewThrottle(admission.ThrottleConfig{Rule: admission.ThrottleSRE})
	for range 100 {
		if !t.Reject(0, 0.999) {
			t.Ended(0, false)
		}
	}
	fmt.Printf("%.2f, after a minute %.2f, after two %.2f\n",
		t.Probability(0), t.Probability(sim.Instant(time.Minute)), t.Probability(sim.Instant(2*time.Minute)))
	// Output: 0.99, after a minute 0.99, after two 0.00
}

func ExampleBreaker() {
	b := admission.NewBreaker(admission.BreakerConfig{Rule: admission.BreakerConsecutive, FailureThreshold: 2})
	for range 2 {
		ticket, _ := b.Allow(0, false)
		b.Ended(0, ticket, false)
	}
	fmt.Println(b.State(0))

	later := sim.Instant(time.Minute)
	probe, ok := b.Allow(later, false)
	fmt.Println(b.State(later), ok)
	b.Ended(later.Add(4*time.Second), probe, true)
	fmt.Println(b.State(later.Add(4 * time.Second)))
	// Output:
	// open
	// half_open true
	// closed
}
