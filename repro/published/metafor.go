package published

import (
	"fmt"
	"math"
	"time"

	"example.com/wedge/pacer/queue"
)

// metafor is two of the examples that a tool for metastable systems comes with.
func metafor() Result {
	return Result{
		Name:   "metafor",
		Source: "Metafor (Isaacs et al., HotOS'25; arXiv 2510.03551), parameters of the README's examples 1 and 2 and rules of its simulator; its figures were not seen, figures are those of an earlier toy model of ours",
		About:  "a bounded queue that is longer than the clients' patience collapses by itself, or after a burst, and how it heals",
		seeds:  10,
		play:   playMetafor,
	}
}

// example is a server of mean service 0.1 s behind a queue of 100. A request that the queue refuses is
// dropped without a word.
func example(load float64, timeout time.Duration, resends int, seed uint64) station {
	return station{
		seed: seed, horizon: 10_000 * time.Second, callsPerSecond: load, servicesPerSecond: 10,
		policy: impatient(timeout, resends), queue: queue.Config{Max: 100}, silent: true,
	}
}

// burst is example 2: ten times the load for a hundredth of the run.
func burst(load float64, seed uint64) station {
	s := example(load, 9*time.Second, 3, seed)
	s.trigger = trigger{at: s.horizon * 45 / 100, length: s.horizon / 100, speed: 1, load: 10}
	return s
}

// burstCourse is what a run's goodput did around the burst.
type burstCourse struct {
	before, after, attempts float64 // goodput a call before the burst and in the last fifth, attempts a call then
	recovered               float64 // as in course
}

func (r *stationRun) burstCourse() burstCourse {
	n := len(r.seconds)
	c := burstCourse{before: math.NaN(), recovered: math.NaN()}
	if start := int(r.trigger.at / time.Second); start > 0 {
		before := sum(r.seconds[start/10 : start])
		c.before, c.recovered = float64(before.good)/float64(before.calls), r.course().recovered
	}
	after := sum(r.seconds[n-n/5:])
	c.after, c.attempts = float64(after.good)/float64(after.calls), float64(after.attempts)/float64(after.calls)
	return c
}

func playMetafor(p *replay) {
	runs := each(p, 7, func(i int, seed uint64) burstCourse {
		s := burst(9, seed)
		switch i {
		case 0:
			s = example(9.5, 3*time.Second, 4, seed)
			s.horizon = 3000 * time.Second
		case 2:
			s = burst(8, seed)
		case 3:
			s = burst(5, seed)
		case 4:
			s = burst(9.7, seed)
			s.queue.Max = 80
		case 5:
			s = burst(9.7, seed)
		case 6:
			s = burst(9.7, seed)
			s.queue.Order = queue.LIFO
		}
		return s.run().burstCourse()
	})
	before := func(i int) float64 { return meanOf(runs[i], func(c burstCourse) float64 { return c.before }) }
	after := func(i int) float64 { return meanOf(runs[i], func(c burstCourse) float64 { return c.after }) }
	attempts := func(i int) float64 { return meanOf(runs[i], func(c burstCourse) float64 { return c.attempts }) }
	recovered := func(i int) float64 { return meanOf(runs[i], func(c burstCourse) float64 { return c.recovered }) }

	p.holds("example 1: μ 10, λ 9.5, T 3, R 4", GradeToy, "collapses without a trigger", fmt.Sprintf("goodput %.2f at the end", after(0)), after(0) < .1)
	p.about("example 2, λ 9: goodput a call before the burst", GradeToy, 1, before(1), .05, "%.2f")
	p.about("example 2, λ 9: long after it", GradeToy, .16, after(1), .1, "%.2f")
	p.about("example 2, λ 9: attempts a call then", GradeToy, 3.75, attempts(1), .2, "%.2f")
	healed := 0
	for _, c := range runs[2] {
		if c.after > .9 {
			healed++
		}
	}
	share := float64(healed) / float64(p.Seeds)
	p.row(Row{"example 2, λ 8: runs that heal", GradeToy, "2 of 10", fmt.Sprintf("%d of %d", healed, p.Seeds), fmt.Sprintf("± %.0f points", 100*healsWithin(.2, p.Seeds)), math.Abs(share-.2) <= healsWithin(.2, p.Seeds)})
	p.row(Row{"example 2, λ 5: heals", GradeToy, "in about 39 s", fmt.Sprintf("in %.0f s, goodput %.2f at the end", recovered(3), after(3)), "in minutes, and for good", after(3) > .99 && recovered(3) < 300})
	p.row(Row{"example 2, λ 9.7, queue of 80 < μT 90: heals", GradeToy, "in 28 s", fmt.Sprintf("in %.0f s", recovered(4)), "within a minute", recovered(4) < 60})
	p.holds("example 2 as published, λ 9.7", GradeShape, "the queue stays full after the burst", fmt.Sprintf("goodput %.2f long after it", after(5)), after(5) < .3)
	p.holds("example 2, λ 9.7, LIFO", GradeShape, "goodput stays up", fmt.Sprintf("goodput %.2f long after it", after(6)), after(6) > .9)
	if share := before(5); share < .9 {
		p.note("At λ 9.7 a run is on the way to collapse without the burst: goodput before it is %.2f on average.", share)
	}
	p.note("How long healing takes at λ 5 is chance: the full queue must fall below μT by luck. It took the toy 39 s; the mean here is longer.")
	p.note("A bound on the orbit (20 in example 1) is not modelled; calls that wait for their timeout are the orbit here.")
	p.figure(queueFigure())
	p.figure(healingFigure(p))
}

// meanOf is the mean of what f picks, NaNs left out; NaN if nothing is left.
func meanOf(runs []burstCourse, f func(burstCourse) float64) float64 {
	var out []float64
	for _, c := range runs {
		if x := f(c); !math.IsNaN(x) {
			out = append(out, x)
		}
	}
	return mean(out)
}

// queueFigure shows the queue over time.
func queueFigure() Figure {
	f := Figure{
		Name: "metafor-queue", Title: "A queue longer than patience stays full after a burst",
		Note: "example 2, λ 9, μ 10, T 9 s, 3 resends, seed 1; averages of 50 s",
		X:    Axis{"time", "s"}, Y: Axis{"requests at the server", ""},
	}
	for _, v := range []struct {
		name   string
		change func(*station)
	}{
		{"queue of 100, FIFO", func(*station) {}},
		{"queue of 80, FIFO", func(s *station) { s.queue.Max = 80 }},
		{"queue of 100, LIFO", func(s *station) { s.queue.Order = queue.LIFO }},
	} {
		s := burst(9, 1)
		v.change(&s)
		f.Shade = Shade{"burst", s.trigger.at.Seconds(), (s.trigger.at + s.trigger.length).Seconds()}
		r := s.run()
		curve := Curve{Name: v.name}
		const width = 50
		for i := 3000; i+width <= 8000; i += width {
			total := 0
			for _, x := range r.seconds[i : i+width] {
				total += x.inside
			}
			curve.Points = append(curve.Points, Point{float64(i) + width/2, float64(total) / width})
		}
		f.Curves = append(f.Curves, curve)
	}
	return f
}

// healingFigure shows how long healing takes over load, as far as all runs heal.
func healingFigure(p *replay) Figure {
	loads := []float64{2, 3, 4, 4.5, 5, 5.5, 6}
	runs := each(p, len(loads), func(i int, seed uint64) burstCourse {
		s := burst(loads[i], seed)
		return s.run().burstCourse()
	})
	curve := Curve{Name: "mean of runs", N: p.Seeds}
	for i, load := range loads {
		all := true
		for _, c := range runs[i] {
			all = all && c.after > .9 && !math.IsNaN(c.recovered)
		}
		if all {
			curve.Points = append(curve.Points, Point{load, meanOf(runs[i], func(c burstCourse) float64 { return c.recovered })})
		}
	}
	return Figure{
		Name: "metafor-healing", Title: "How long until the goodput is back",
		Note: "example 2, queue of 100, μ 10, T 9 s, 3 resends; loads at which all runs heal",
		X:    Axis{"load λ, 1/s", ""}, Y: Axis{"after the burst", "s"},
		Curves: []Curve{curve}, Markers: true,
	}
}
