package series_test

import (
	"fmt"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/series"
	"example.com/wedge/repro/threshold"
)

// A meter observes a run; its windows answer what thresholds ask.
func Example() {
	w := sim.NewVirtual(sim.VirtualOptions{})
	m := series.NewMeter(w, series.Options{StallAfter: time.Minute})
	run := player{calls: m.CallObserver(), agents: m.AgentObserver()} // stands for a pacer and agents
	agent := &agents.State{Name: "agent-01"}
	run.agents.AgentStarted(agent)
	var windows []series.Window
	for range 3 {
		run.step(agent)
		windows = append(windows, m.Close(run.now, series.Extra{}))
	}
	values, err := series.NewValues(windows, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"p95(call) < 60s", "each(calls) == 1", "max(slot_wait) < 100ms"} {
		e, err := threshold.Parse(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		out := e.Eval(values)
		fmt.Println(text, out.OK, out.Text)
	}
	// Output:
	// p95(call) < 60s false 90s
	// each(calls) == 1 true 1
	// max(slot_wait) < 100ms false 37000ms
}
