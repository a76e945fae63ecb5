package published

import (
	"fmt"
	"math"
	"strings"
	"time"
)

func playSingleServer(p *replay) {
	variants := singleServerVariants()
	courses := each(p, len(variants), func(i int, seed uint64) course {
		return variants[i].run(seed).course()
	})
	playPaper(p)
	for i := range variants {
		p.variant(&variants[i], courses[i])
	}
	p.note("Goodput and attempts are those of the last %d s. Recovered means 90 %% of the goodput before the outage, over %d s, held for %d s.", afterSeconds, smoothSeconds, holdSeconds)
	p.figure(goodputFigure())
	p.figure(outageFigure(p))
	p.figure(recoveryFigure(p))
}

// run plays the variant under a seed.
func (v *variant) run(seed uint64) *stationRun {
	s := v.station
	s.seed = seed
	return s.run()
}

// playPaper holds the paper's own figures against runs that are long enough to see the end.
func playPaper(p *replay) {
	loads := []float64{280, 145, 155}
	horizons := []time.Duration{200 * time.Second, 900 * time.Second, 400 * time.Second} // at 145, the backlog shrinks by 10/s
	courses := each(p, len(loads), func(i int, seed uint64) course {
		s := database(loads[i])
		s.seed, s.horizon = seed, horizons[i]
		return s.run().course()
	})
	var offered, good []float64
	for _, c := range courses[0] {
		offered, good = append(offered, loads[0]*c.attemptsAfter), append(good, loads[0]*c.goodAfter)
	}
	p.percent("280 calls/s: queries/s that stay after the outage", GradeRecalled, 560, mean(offered), 0.02, "%.0f")
	p.about("280 calls/s: answers/s in time that stay", GradeRecalled, 0, mean(good), 1, "%.0f")
	below, above := healedOf(courses[1]), healedOf(courses[2])
	p.row(Row{
		What: "load below which it recovers", Grade: GradeRecalled, Expected: "150 calls/s",
		Here:      fmt.Sprintf("at 145: %d of %d, at 155: %d of %d", below, p.Seeds, above, p.Seeds),
		Tolerance: "all but 1 in 10 at 145, none at 155", Right: below*10 >= p.Seeds*9 && above == 0,
	})
}

func healedOf(courses []course) int {
	n := 0
	for _, c := range courses {
		if c.healed() {
			n++
		}
	}
	return n
}

// Tolerances of a variant's shares.
const (
	goodWithin     = 0.05
	attemptsWithin = 0.05
)

// toyRuns is how many runs stand behind a share that the earlier toy model gave.
const toyRuns = 10

// healsWithin is how far apart the share of n runs that heal, and that of the toy model's runs, may be:
// two and a half standard deviations of their difference.
func healsWithin(share float64, n int) float64 {
	p := min(max(share, .1), .9)
	return 2.5 * math.Sqrt(p*(1-p)*(1./toyRuns+1/float64(n)))
}

// variant makes the row of a variant.
func (p *replay) variant(v *variant, courses []course) {
	var good, attempts, recovered []float64
	for _, c := range courses {
		good, attempts = append(good, c.goodAfter), append(attempts, c.attemptsAfter)
		if c.healed() {
			recovered = append(recovered, c.recovered)
		}
	}
	r := Row{What: v.name, Grade: GradeToy, Right: true}
	var want, here, within []string
	say := func(w, h, t string, right bool) {
		want, here, within = append(want, w), append(here, h), append(within, t)
		r.Right = r.Right && right
	}
	n := len(courses)
	if !math.IsNaN(v.heals) {
		share := float64(len(recovered)) / float64(n)
		say(fmt.Sprintf("%.0f %% heal", 100*v.heals), fmt.Sprintf("%d of %d heal", len(recovered), n), fmt.Sprintf("± %.0f points", 100*healsWithin(v.heals, n)), math.Abs(share-v.heals) <= healsWithin(v.heals, n))
	}
	if !math.IsNaN(v.good) {
		g, a := mean(good), mean(attempts)
		say(fmt.Sprintf("goodput %.2f", v.good), fmt.Sprintf("goodput %.2f", g), fmt.Sprintf("± %.2f", goodWithin), math.Abs(g-v.good) <= goodWithin)
		say(fmt.Sprintf("%.2f attempts", v.attempts), fmt.Sprintf("%.2f attempts", a), fmt.Sprintf("± %.2f", attemptsWithin), math.Abs(a-v.attempts) <= attemptsWithin)
	}
	switch {
	case v.recovers == never:
		say("not in time", recoveryText(recovered, n), "none", len(recovered) == 0)
	case !math.IsNaN(v.recovers):
		say(fmt.Sprintf("back after %.3g s", v.recovers), recoveryText(recovered, n), fmt.Sprintf("± %g s", v.within), len(recovered) == n && math.Abs(mean(recovered)-v.recovers) <= v.within)
	}
	r.Expected, r.Here, r.Tolerance = strings.Join(want, ", "), strings.Join(here, ", "), strings.Join(within, ", ")
	p.row(r)
}

// recoveryText says when the runs that came back did.
func recoveryText(recovered []float64, n int) string {
	switch len(recovered) {
	case 0:
		return "not in time"
	case n:
		return fmt.Sprintf("back after %.3g s", mean(recovered))
	}
	return fmt.Sprintf("%d of %d back after %.3g s", len(recovered), n, mean(recovered))
}

// goodputFigure shows one run of some variants over time.
func goodputFigure() Figure {
	f := Figure{
		Name: "single-server-goodput", Title: "Goodput around an outage of 10 s",
		Note: "280 calls/s, the server does 300/s, timeout 1 s, 1 retry, seed 1",
		X:    Axis{"time", "s"}, Y: Axis{"answers in time, 1/s", ""},
		Shade: Shade{"outage", 60, 70},
	}
	for _, v := range singleServerVariants() {
		switch v.name {
		case "FIFO, 280 calls/s", "no retries", "budget of 10 %, 280 calls/s", "LIFO", "dead requests are dropped":
			f.Curves = append(f.Curves, Curve{Name: strings.TrimSuffix(v.name, ", 280 calls/s"), Points: v.run(1).goodput()})
		}
	}
	return f
}

// goodput is the answers in time over time, averaged over some seconds.
func (r *stationRun) goodput() []Point {
	var out []Point
	for i := 0; i+smoothSeconds <= len(r.seconds); i += smoothSeconds {
		out = append(out, Point{X: float64(i) + smoothSeconds/2., Y: float64(sum(r.seconds[i:i+smoothSeconds]).good) / smoothSeconds})
	}
	return out
}

// outageFigure shows how the share of runs that heal falls with the length of the outage.
func outageFigure(p *replay) Figure {
	var lengths []time.Duration
	for ms := 400; ms <= 1600; ms += 100 {
		lengths = append(lengths, time.Duration(ms)*time.Millisecond)
	}
	healed := each(p, len(lengths), func(i int, seed uint64) bool {
		s := database(280)
		s.seed, s.horizon = seed, 90*time.Second
		s.trigger.at, s.trigger.length = 30*time.Second, lengths[i]
		return s.run().course().healed()
	})
	curve := Curve{Name: "heal", N: p.Seeds}
	for i, length := range lengths {
		n := 0
		for _, h := range healed[i] {
			if h {
				n++
			}
		}
		curve.Points = append(curve.Points, Point{X: length.Seconds(), Y: float64(n) / float64(p.Seeds)})
	}
	return Figure{
		Name: "single-server-outage", Title: "A trigger has a threshold, and it is a matter of chance", Note: fmt.Sprintf("280 calls/s, FIFO, 1 retry, %d seeds a point", p.Seeds),
		X: Axis{"length of the outage", "s"}, Y: Axis{"share of runs that heal", ""},
		Curves:     []Curve{curve},
		References: []Reference{{"T·μ/λ", 300. / 280}},
		Markers:    true,
	}
}

// recoveryFigure shows how long the way back is as load nears the edge, against the closed form.
func recoveryFigure(p *replay) Figure {
	loads := []float64{60, 80, 100, 110, 120, 130, 135, 140}
	after := each(p, len(loads), func(i int, seed uint64) float64 {
		s := database(loads[i])
		s.seed, s.horizon = seed, 500*time.Second
		return s.run().course().recovered
	})
	runs, form := Curve{Name: "runs", N: p.Seeds}, Curve{Name: "closed form"}
	for i, load := range loads {
		var back []float64
		for _, x := range after[i] {
			if !math.IsNaN(x) {
				back = append(back, x)
			}
		}
		runs.Points = append(runs.Points, Point{X: load, Y: mean(back)})
		form.Points = append(form.Points, Point{X: load, Y: drainSeconds(load, 300, 1, 10, 1)})
	}
	return Figure{
		Name: "single-server-recovery", Title: "The way back is longer the nearer load is to half the capacity", Note: "FIFO, 1 retry, outage of 10 s",
		X: Axis{"calls/s", ""}, Y: Axis{"back after", "s"},
		Curves:     []Curve{runs, form},
		References: []Reference{{"μ/(1+R)", 150}},
		Markers:    true,
	}
}

// drainSeconds is how long after an outage calls succeed again: what has piled up, resends included,
// less what can wait without timing out, over the rate at which it shrinks while every attempt fails.
func drainSeconds(calls, services, timeoutS, outageS, resends float64) float64 {
	backlog := calls * (outageS + resends*(outageS-timeoutS))
	return (backlog - services*timeoutS) / (services - calls*(1+resends))
}
