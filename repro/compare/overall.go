package compare

import (
	"math"

	"example.com/wedge/repro/compare/stats"
)

// policies is how each policy did over all scenarios.
func (a *analysis) policies(scenarios []ScenarioResult) []PolicyResult {
	all := make([]PolicyResult, len(a.runs.Plan.Policies))
	var ps []float64
	for i := range all {
		v := &a.runs.Plan.Policies[i]
		all[i] = PolicyResult{Name: v.Name, About: v.About, Source: v.Source, Trap: v.Trap, Bracket: v.Oracle}
		a.ratio(&all[i], i, scenarios)
		ps = append(ps, all[i].P)
		completed, runs := 0, 0
		for s := range scenarios {
			completed += scenarios[s].Cells[i].Completed.K
			all[i].Never += scenarios[s].Cells[i].Never
			runs += scenarios[s].Cells[i].Completed.N
		}
		all[i].Completed = proportion(completed, runs)
	}
	for i, p := range a.holm(ps) {
		all[i].PHolm = p
	}
	for m := range a.metrics {
		row := make([]*Figure, len(all))
		for i := range all {
			all[i].Figures = append(all[i].Figures, Figure{Metric: a.metrics[m].Key, values: meanOver(scenarios, i, m, a.n)})
		}
		for i := range all {
			row[i] = &all[i].Figures[m]
		}
		a.weigh(&a.metrics[m], row)
	}
	a.markBestRatio(all)
	return all
}

// ratio holds the task times against the baseline's. Ratios, so that a scenario with long tasks does not
// count for more than one with short ones.
func (a *analysis) ratio(p *PolicyResult, policy int, scenarios []ScenarioResult) {
	p.logRatios = make([]float64, a.n)
	for s := range scenarios {
		ours, theirs := scenarios[s].Cells[policy].Of(KeyTaskTime), scenarios[s].Cells[a.base].Of(KeyTaskTime)
		for seed := range p.logRatios {
			if x, y := ours.values[seed], theirs.values[seed]; x > 0 && y > 0 {
				p.logRatios[seed] += math.Log(x/y) / float64(len(scenarios))
			}
		}
	}
	within := a.draws.Mean(p.logRatios)
	p.Ratio = math.Exp(stats.Mean(p.logRatios))
	p.RatioCI = stats.Interval{Low: math.Exp(within.Low), High: math.Exp(within.High)}
	p.P = stats.SignedRank(p.logRatios)
	p.WinRate, _ = stats.WinRate(p.logRatios)
}

// markBestRatio marks the policy with the least ratio if it is told apart from all others, and else those
// that are not.
func (a *analysis) markBestRatio(all []PolicyResult) {
	best := leastRatio(all)
	near := 0
	for i := range all {
		if i != best && !all[i].Bracket && !a.draws.Mean(minus(all[i].logRatios, all[best].logRatios)).Excludes(0) {
			all[i].NearBest = true
			near++
		}
	}
	all[best].Best = near == 0 && len(all) > 1 && !all[best].Bracket
}

// leastRatio is the policy with the least ratio of those that one can have, if there is any.
func leastRatio(all []PolicyResult) int {
	best := 0
	for i := range all {
		if all[best].Bracket && !all[i].Bracket || all[best].Bracket == all[i].Bracket && all[i].Ratio < all[best].Ratio {
			best = i
		}
	}
	return best
}

// meanOver is a policy's figure of each seed, averaged over the scenarios.
func meanOver(scenarios []ScenarioResult, policy, metric, n int) []float64 {
	means := make([]float64, n)
	for s := range scenarios {
		for seed, v := range scenarios[s].Cells[policy].Figures[metric].values {
			means[seed] += v / float64(len(scenarios))
		}
	}
	return means
}
