package published

import (
	"context"
	"fmt"
	"time"

	"example.com/wedge/repro/load"
	"example.com/wedge/repro/serving"
)

// timeoutCliff is what patience makes of a server that keeps slots of clients that have left.
func timeoutCliff() Result {
	return Result{
		Name:   "timeout-cliff",
		Source: "our measurement of llm-d-inference-sim, whose slots are not freed: 20 clients in a closed loop, 4 slots, 1 s of service, 30 s, immediate resend",
		About:  "a timeout a little below the time in the queue takes throughput from full capacity to almost nothing",
		seeds:  1,
		play:   playCliff,
	}
}

func playCliff(p *replay) {
	cases := []struct {
		timeout          time.Duration
		replies, givenUp int // measured
	}{{10 * time.Second, 116, 0}, {6 * time.Second, 115, 0}, {4 * time.Second, 11, 132}, {2 * time.Second, 4, 280}}
	const within = 6 // requests: clients of the real server do not begin at one instant
	kept := each(p, len(cases), func(i int, seed uint64) load.Counts { return cliff(cases[i].timeout, seed) })
	for i, c := range cases {
		got := kept[i][0]
		p.row(Row{
			What: fmt.Sprintf("timeout %v", c.timeout), Grade: GradeMeasured,
			Expected:  fmt.Sprintf("%d replies, %d timeouts", c.replies, c.givenUp),
			Here:      fmt.Sprintf("%d replies, %d timeouts", got.OK, got.Failed),
			Tolerance: fmt.Sprintf("± %d", within),
			Right:     abs(got.OK-c.replies) <= within && abs(got.Failed-c.givenUp) <= within,
		})
	}
	p.figure(cliffFigure(p))
}

// cliff loads the simulated servers that stand for the real one.
func cliff(timeout time.Duration, seed uint64) load.Counts {
	plan := load.DefaultPlan()
	plan.Clients, plan.Timeout = 20, timeout
	config := preset("slots")
	config.Abort.Detect = "never"
	return carryOut(plan, config, seed).Requests
}

// preset is a preset of the servers that there is.
func preset(name string) serving.Config {
	c, err := serving.Preset(name)
	if err != nil {
		panic("published: " + err.Error())
	}
	return c
}

// carryOut carries out a plan in virtual time. Plans and servers are the package's own, so that there
// is nothing to be wrong with them.
func carryOut(plan load.Plan, config serving.Config, seed uint64) *load.Row {
	row, err := load.Run(context.Background(), plan, load.Options{Seed: seed, Simulated: &load.Simulated{Config: config}})
	if err != nil {
		panic(fmt.Sprintf("published: seed %d: %v", seed, err))
	}
	return row
}

func abs(n int) int { return max(n, -n) }

func cliffFigure(p *replay) Figure {
	var timeouts []time.Duration
	for s := 1.0; s <= 8; s += .5 {
		timeouts = append(timeouts, time.Duration(s*float64(time.Second)))
	}
	counts := make([]load.Counts, len(timeouts))
	p.Each(len(timeouts), func(i int) { counts[i] = cliff(timeouts[i], 1) })
	replies, givenUp := Curve{Name: "replies"}, Curve{Name: "timeouts"}
	for i, timeout := range timeouts {
		replies.Points = append(replies.Points, Point{timeout.Seconds(), float64(counts[i].OK)})
		givenUp.Points = append(givenUp.Points, Point{timeout.Seconds(), float64(counts[i].Failed)})
	}
	return Figure{
		Name: "timeout-cliff", Title: "The timeout cliff",
		Note: "20 clients, 4 slots that are kept when a client leaves, 1 s of service, 30 s, seed 1",
		X:    Axis{"timeout of the clients", "s"}, Y: Axis{"requests in 30 s", ""},
		Curves: []Curve{replies, givenUp}, References: []Reference{{"time in queue and service", 5}}, Markers: true,
	}
}
