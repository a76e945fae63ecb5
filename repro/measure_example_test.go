package repro_test

import (
	"context"
	"fmt"

	"example.com/wedge/repro"
	"example.com/wedge/repro/metrics"
)

// What an idle limit is worth: the same agents, servers and random numbers, with and without it.
func ExampleOptions_measure() {
	for _, idle := range []string{"0s", "60s"} {
		s, err := repro.Lookup("silent-stream")
		if err != nil {
			fmt.Println(err)
			return
		}
		if err := s.Set("policy.idle", idle); err != nil {
			fmt.Println(err)
			return
		}
		r, err := repro.Run(context.Background(), s, repro.Options{NoVerdict: true, Measure: &metrics.Options{}})
		if err != nil {
			fmt.Println(err)
			return
		}
		m := r.Measured
		fmt.Printf("idle %s: %s, %d of %d tasks, %.0f%% wasted, %d healthy attempts killed, %d dead ones found\n",
			idle, m.Outcome, m.Work.TasksCompleted, m.Work.TasksStarted, 100*m.Waste.WastedShare, m.Harm.HealthyKilled, len(m.Harm.DetectDeadS))
	}
	// Output:
	// idle 0s: never, 0 of 30 tasks, 10% wasted, 0 healthy attempts killed, 0 dead ones found
	// idle 60s: completed, 30 of 30 tasks, 3% wasted, 0 healthy attempts killed, 40 dead ones found
}
