package compare_test

import (
	"fmt"

	"example.com/wedge/repro/compare"
)

func ExamplePresetStandings() {
	table, err := compare.PresetStandings()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range table.Of("idle-60s").Worse[:1] {
		fmt.Printf("%s: %s\n", row.World, row.Words(true))
	}
	// Output:
	// long-reasoning: 0 % of the tasks completed (none 100 %), 100 % of the output wasted (none 0 %), because the idle limit ends 90 attempts a run, 90 of them healthy, and the servers go on with what was given up (0.9 more places for nobody)
}
