package published

import (
	"fmt"
	"math"
	"time"

	"example.com/wedge/pacer"
	"example.com/wedge/pacer/admission"
)

// closedForms holds formulas for overload by retries against simulation.
func closedForms() Result {
	return Result{
		Name:   "closed-forms",
		Source: "formulas of ours, for a server that serves abandoned requests (see the package's single-server for the story)",
		About:  "amplification, edges of stability, smallest trigger, queue bound, drain time and the closed loop follow formulas",
		seeds:  10,
		play:   playClosedForms,
	}
}

func playClosedForms(p *replay) {
	p.amplification()
	p.layers()
	p.edges()
	p.smallestTrigger()
	p.queueBound()
	p.drainTime()
	p.closedLoop()
	p.figure(triggerFigure())
}

// collapsed is a database that has been tipped for good by an outage of 10 s.
func collapsed(load float64, resends int, seed uint64) station {
	s := database(load)
	s.seed, s.horizon = seed, 150*time.Second
	s.policy = impatient(time.Second, resends)
	return s
}

// amplification is A = 1 + R, and 1 + b under a budget of share b, once every attempt fails.
func (p *replay) amplification() {
	resends := []int{1, 2, 4}
	for i, courses := range each(p, len(resends), func(i int, seed uint64) course {
		s := collapsed(280, resends[i], seed)
		return s.run().course()
	}) {
		p.percent(fmt.Sprintf("attempts a call when all fail, %d resends: 1+R", resends[i]), GradeClosedForm, float64(1+resends[i]), meanAttempts(courses), .01, "%.2f")
	}
	shares := []float64{.1, .2, .5}
	for i, courses := range each(p, len(shares), func(i int, seed uint64) course {
		s := collapsed(295, 4, seed)
		s.policy.RetryBudget = admission.BudgetConfig{Rule: admission.BudgetFinagle, PercentCanRetry: shares[i], NoFloor: true}
		return s.run().course()
	}) {
		p.percent(fmt.Sprintf("the same, 4 resends and a budget of %.0f %%: 1+b", 100*shares[i]), GradeClosedForm, 1+shares[i], meanAttempts(courses), .01, "%.2f")
	}
}

func meanAttempts(courses []course) float64 {
	var out []float64
	for _, c := range courses {
		out = append(out, c.attemptsAfter)
	}
	return mean(out)
}

// layers is the product of the attempts of clients on top of each other, before a server that refuses.
func (p *replay) layers() {
	for _, attempts := range [][]int{{3, 3}, {3, 3, 3}, {2, 5}} {
		want := 1
		var stack []pacer.Policy
		for _, n := range attempts {
			want *= n
			stack = append(stack, impatient(0, n-1))
		}
		p.same(fmt.Sprintf("requests a call through layers of %v attempts: Π(1+R)", attempts), GradeClosedForm, fmt.Sprint(want), fmt.Sprint(requests(stack)))
	}
}

// requests is how many requests reach a server that refuses them all, of one call to the first layer.
func requests(stack []pacer.Policy) int {
	if len(stack) == 0 {
		return 1
	}
	n := 0
	for attempt := 1; ; attempt++ {
		n += requests(stack[1:])
		if d := stack[0].Decide(pacer.Failure{Outcome: pacer.AttemptStatus, Status: refusedStatus, Attempt: attempt}, 0); !d.Again {
			return n
		}
	}
}

// edges are the loads below which every overload heals: μ/A.
func (p *replay) edges() {
	const beside = 0.07
	cases := []struct {
		name    string
		resends int
		budget  admission.BudgetConfig
		a       float64
	}{
		{"1 resend", 1, admission.BudgetConfig{}, 2},
		{"2 resends", 2, admission.BudgetConfig{}, 3},
		{"4 resends", 4, admission.BudgetConfig{}, 5},
		{"4 resends and a budget of 20 %", 4, admission.BudgetConfig{Rule: admission.BudgetFinagle, PercentCanRetry: .2, NoFloor: true}, 1.2},
	}
	courses := each(p, 2*len(cases), func(i int, seed uint64) course {
		c := cases[i/2]
		load, horizon := 300/c.a*(1-beside), 450*time.Second // the way back is long so near the edge
		if i%2 == 1 {
			load, horizon = 300/c.a*(1+beside), 200*time.Second
		}
		s := collapsed(load, c.resends, seed)
		s.policy.RetryBudget, s.horizon = c.budget, horizon
		return s.run().course()
	})
	for i, c := range cases {
		below, above := healedOf(courses[2*i]), healedOf(courses[2*i+1])
		p.row(Row{
			What: "edge of stability, " + c.name + ": μ/A", Grade: GradeClosedForm, Expected: fmt.Sprintf("%.0f calls/s", 300/c.a),
			Here:      fmt.Sprintf("%.0f %% below %d of %d heal, %.0f %% above %d", 100*beside, below, p.Seeds, 100*beside, above),
			Tolerance: "nearly all below, hardly any above", Right: below*10 >= p.Seeds*9 && above*10 <= p.Seeds,
		})
	}
}

// smallestTrigger is the outage D at whose end the backlog, resends included, is what the server does
// in T: λ·D + R·λ·(D−T) = μ·T.
func (p *replay) smallestTrigger() {
	loads := []float64{600, 700, 800}
	found := each(p, len(loads), func(i int, seed uint64) float64 { return tippingOutage(loads[i], seed) })
	for i, load := range loads {
		p.percent(fmt.Sprintf("smallest outage that tips, λ/μ %.1f, T 1 s, 1 resend: T(μ/λ+R)/(1+R)", load/1000), GradeClosedForm, outageThreshold(load, 1000, 1), mean(found[i]), .1, "%.2f s")
	}
}

func outageThreshold(calls, services, resends float64) float64 {
	return (services/calls + resends) / (1 + resends)
}

// tippingOutage is the shortest outage after which a run of this seed does not heal, to 20 ms.
func tippingOutage(load float64, seed uint64) float64 {
	heals, tips := 500*time.Millisecond, 2500*time.Millisecond
	for tips-heals > 20*time.Millisecond {
		s := station{
			seed: seed, horizon: 50 * time.Second, callsPerSecond: load, servicesPerSecond: 1000, policy: impatient(time.Second, 1),
			trigger: trigger{at: 10 * time.Second, length: (heals + tips) / 2},
		}
		if s.run().course().healed() {
			heals = s.trigger.length
		} else {
			tips = s.trigger.length
		}
	}
	return ((heals + tips) / 2).Seconds()
}

// queueBound is the longest queue that protects: μ·T.
func (p *replay) queueBound() {
	found := each(p, 1, func(_ int, seed uint64) float64 {
		protects, fails := 200, 400
		for fails-protects > 4 {
			s := collapsed(280, 1, seed)
			s.queue.Max, s.silent = (protects+fails)/2, true
			if s.run().course().healed() {
				protects = s.queue.Max
			} else {
				fails = s.queue.Max
			}
		}
		return float64(protects+fails) / 2
	})
	p.percent("longest queue that protects, 280 calls/s: μ·T", GradeClosedForm, 300, mean(found[0]), .1, "%.0f")
}

// drainTime is how long calls fail after an outage of 10 s if nobody retries.
func (p *replay) drainTime() {
	loads := []float64{200, 250, 270, 280}
	after := each(p, len(loads), func(i int, seed uint64) float64 {
		s := collapsed(loads[i], 0, seed)
		s.horizon = 350 * time.Second
		return s.run().course().recovered
	})
	for i, load := range loads {
		want := drainSeconds(load, 300, 1, 10, 0)
		here := mean(after[i])
		p.about(fmt.Sprintf("drain time after 10 s, no retries, %g calls/s: (λD−μT)/(μ−λ)", load), GradeClosedForm, want, here, math.Max(4, .15*want), "%.0f s")
	}
}

// triggerFigure is the smallest trigger over load.
func triggerFigure() Figure {
	theory, runs := Curve{Name: "T(μ/λ+R)/(1+R)"}, Curve{Name: "runs, seed 1"}
	for load := 520.; load <= 960; load += 40 {
		theory.Points = append(theory.Points, Point{load / 1000, outageThreshold(load, 1000, 1)})
		runs.Points = append(runs.Points, Point{load / 1000, tippingOutage(load, 1)})
	}
	return Figure{
		Name: "smallest-trigger", Title: "The shortest outage from which there is no way back",
		Note: "one server, μ 1000/s, T 1 s, 1 resend",
		X:    Axis{"load λ/μ", ""}, Y: Axis{"length of the outage", "s"},
		Curves: []Curve{theory, runs}, Markers: true,
	}
}
