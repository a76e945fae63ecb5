package compare_test

import (
	"context"
	"fmt"

	"example.com/wedge/repro"
	"example.com/wedge/repro/compare"
)

func Example() {
	plan := &compare.Plan{Seeds: compare.Seeds{From: 1, To: 5}}
	for _, text := range []string{"none", "patient: {idle: 2m, max_attempts: 5}"} {
		policy, err := compare.ParseVariant(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		plan.Policies = append(plan.Policies, policy)
	}
	scenario, err := repro.Lookup("silent-stream")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan.Scenarios = append(plan.Scenarios, scenario)
	runs, err := compare.Execute(context.Background(), plan, compare.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	results := compare.Analyse(runs)
	for _, cell := range results.Scenarios[0].Cells {
		fmt.Printf("%s: %d of %d runs complete, %d never end\n", cell.Policy, cell.Completed.K, cell.Completed.N, cell.Never)
	}
	time := results.Scenarios[0].Cells[1].Of(compare.KeyTaskTime)
	fmt.Println("a task takes less time for sure:", time.Better)
	// Output:
	// none: 0 of 5 runs complete, 5 never end
	// patient: 5 of 5 runs complete, 0 never end
	// a task takes less time for sure: true
}
