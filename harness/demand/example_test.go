package demand_test

import (
	"fmt"
	"time"

	"example.com/wedge/harness/demand"
)

// A fleet that grows for an hour, and works less at night.
func ExampleConfig_Level() {
	c := demand.Config{
		Agents: 10,
		Stages: []demand.Stage{{Over: time.Hour, To: 40}},
		Daily:  demand.Daily{Low: 0.25, PeakAt: 12 * time.Hour},
	}
	for _, at := range []time.Duration{time.Hour, 12 * time.Hour, 24 * time.Hour} {
		fmt.Printf("%2.0f agents at %v\n", c.Level(at), at)
	}
	// Output:
	// 11 agents at 1h0m0s
	// 40 agents at 12h0m0s
	// 10 agents at 24h0m0s
}
