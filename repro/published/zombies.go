package published

import (
	"math"
	"time"

	"example.com/wedge/repro/load"
	"example.com/wedge/repro/serving"
)

// zombieSlots is how many slots abandoned streams hold that the server decodes to their end.
func zombieSlots() Result {
	return Result{
		Name:   "zombie-slots",
		Source: "sglang PR #34894 (August 2026; abstract seen): in 1,800 s, 16 streams were abandoned after 3 s and decoded on for 477 s each, 4.24 of 32 slots on average",
		About:  "clients that leave after 3 s still hold 13 % of the server's slots, as Little's law says",
		seeds:  3,
		play:   playZombies,
	}
}

// Of the report.
const (
	zombiesAbandoned = 16
	zombiesWindowS   = 1800.
	zombiesLeaveS    = 3
	zombiesDecodeS   = 477
	zombiesPublished = 4.24
	zombiesSlots     = 32
)

// zombieRun is what a load shows of both sides.
type zombieRun struct {
	abandonedPerWindow float64
	running, out       float64 // requests in the server's slots; requests that clients wait for
}

func playZombies(p *replay) {
	runs := each(p, 2, func(i int, seed uint64) zombieRun { return zombies(zombiesShare, i == 0, seed) })
	var held, abandoned, freed []float64
	for i := range runs[0] {
		held, abandoned = append(held, runs[0][i].running-runs[0][i].out), append(abandoned, runs[0][i].abandonedPerWindow)
		freed = append(freed, runs[1][i].running-runs[1][i].out)
	}
	p.about("streams abandoned in 1,800 s", GradePublished, zombiesAbandoned, mean(abandoned), 1.6, "%.1f")
	p.about("slots held by abandoned streams, of 32", GradePublished, zombiesPublished, mean(held), .45, "%.2f")
	p.percent("the same, as abort rate × decode after the abort", GradeClosedForm, mean(abandoned)/zombiesWindowS*zombiesDecodeS, mean(held), .05, "%.2f")
	p.about("share of the slots", GradePublished, 13, 100*mean(held)/zombiesSlots, 1.5, "%.0f %%")
	p.about("the same server, if an abort frees the slot at once", GradeClosedForm, 0, math.Max(0, mean(freed)), .05, "%.2f")
	p.note("Slots held is what the server runs less what clients wait for, over 6 hours of a load of which a quarter is abandoned.")
	p.figure(zombieFigure(p))
}

// zombiesShare is what share of the streams is abandoned.
const zombiesShare = 0.25

// zombies loads a server for six hours with streams of 480 s, of which a share is abandoned. Whether
// the slots of these are kept is the server's way.
func zombies(share float64, kept bool, seed uint64) zombieRun {
	const step = time.Second // of the decoder; coarse, since only its slots matter
	plan := load.DefaultPlan()
	plan.Clients, plan.Rate = 0, zombiesAbandoned/zombiesShare/zombiesWindowS
	plan.Duration, plan.MaxTokens = 6*time.Hour, int((zombiesLeaveS+zombiesDecodeS)*time.Second/step)
	plan.Abandon, plan.AbortAfter, plan.SampleEvery = share, zombiesLeaveS*time.Second, 20*time.Second
	config := preset("slots")
	config.Decode.RunningMax, config.Decode.StepBase, config.Model.OutputTokens = zombiesSlots, step, plan.MaxTokens
	if kept {
		config.Abort.Detect = "never"
	}
	row := carryOut(plan, config, seed)
	out := zombieRun{abandonedPerWindow: float64(row.Requests.Left) / row.Window * zombiesWindowS, out: row.Gauges.OutMean}
	for _, g := range row.Gauges.Values {
		if g.Name == serving.GaugeDecodeRunning {
			out.running = g.Mean
		}
	}
	return out
}

func zombieFigure(p *replay) Figure {
	shares := []float64{0, .1, .2, .3, .4}
	runs := make([]zombieRun, len(shares))
	p.Each(len(shares), func(i int) { runs[i] = zombies(shares[i], true, 1) })
	held, law := Curve{Name: "six hours, seed 1"}, Curve{Name: "abort rate × decode after the abort"}
	for _, r := range runs {
		held.Points = append(held.Points, Point{r.abandonedPerWindow, r.running - r.out})
		law.Points = append(law.Points, Point{r.abandonedPerWindow, r.abandonedPerWindow / zombiesWindowS * zombiesDecodeS})
	}
	return Figure{
		Name: "zombie-slots", Title: "Slots that the dead hold",
		Note: "streams of 480 s, left after 3 s, decoded to their end; 32 slots",
		X:    Axis{"streams abandoned in 1,800 s", ""}, Y: Axis{"slots held by them", ""},
		Curves: []Curve{held, law}, References: []Reference{{"as reported", zombiesAbandoned}}, Markers: true,
	}
}
