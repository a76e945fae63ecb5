package load_test

import (
	"context"
	"fmt"

	"example.com/wedge/repro/load"
	"example.com/wedge/repro/serving"
)

// The load test of the incident, in virtual time.
func Example() {
	plan := load.DefaultPlan()
	plan.Clients, plan.MaxTokens, plan.Requests, plan.Duration = 16, 128, 16, 0
	row, err := load.Run(context.Background(), plan, load.Options{Seed: 1, Simulated: &load.Simulated{Config: serving.Default()}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d of %d answered in %.1f s, %.1f s on average\n", row.Requests.OK, row.Requests.Sent, *row.AllDone, row.Whole.Mean)
	fmt.Println(row.Batching.Text)
	// Output:
	// 16 of 16 answered in 5.1 s, 5.0 s on average
	// decode batches: running rises to 16 while 16 requests are out
}
