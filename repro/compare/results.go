package compare

import (
	"example.com/wedge/repro/compare/stats"
	"example.com/wedge/repro/metrics"
)

// Results are the figures of a comparison. Equal runs give equal bytes as JSON.
type Results struct {
	Schema   string   `json:"schema"`
	Seeds    Seeds    `json:"seeds"`
	N        int      `json:"n"` // seeds that are finished everywhere; the others are left out
	Baseline string   `json:"baseline"`
	Policies []string `json:"policies"`
	// Scenarios has a block for each scenario.
	Scenarios []ScenarioResult `json:"scenarios"`
}

// ScenarioResult is how the policies did in one scenario.
type ScenarioResult struct {
	Name  string `json:"name"`
	Cells []Cell `json:"cells"` // by policy, in the order of the plan
}

// Cell is one policy in one scenario.
type Cell struct {
	Policy  string   `json:"policy"`
	Figures []Figure `json:"figures"` // in the order of Metrics
}

// Figure is one metric of a cell over the seeds.
type Figure struct {
	Metric string         `json:"metric"`
	Mean   float64        `json:"mean"`
	CI     stats.Interval `json:"ci95"`
	// Diff is the mean paired difference to the baseline, seed by seed.
	Diff   float64        `json:"diff"`
	DiffCI stats.Interval `json:"diff_ci95"`
	values []float64
}

// resampleSeed keeps intervals the same from run to run.
const resampleSeed = 1

// Analyse compares the runs that are finished.
func Analyse(r *Runs) *Results {
	p := r.Plan
	res := &Results{Schema: Schema, Seeds: p.Seeds, N: r.Whole(), Baseline: p.Policies[p.baseline()].Name, Policies: p.names()}
	if res.N == 0 {
		return res
	}
	draws := stats.NewResampler(res.N, resampleSeed)
	for s, scenario := range p.Scenarios {
		block := ScenarioResult{Name: scenario.Name}
		for i := range p.Policies {
			cell := Cell{Policy: p.Policies[i].Name}
			for _, m := range Metrics() {
				f := Figure{Metric: m.Key, values: r.column(i, s, res.N, m.of)}
				base := r.column(p.baseline(), s, res.N, m.of)
				diffs := minus(f.values, base)
				f.Mean, f.CI = stats.Mean(f.values), draws.Mean(f.values)
				f.Diff, f.DiffCI = stats.Mean(diffs), draws.Mean(diffs)
				cell.Figures = append(cell.Figures, f)
			}
			block.Cells = append(block.Cells, cell)
		}
		res.Scenarios = append(res.Scenarios, block)
	}
	return res
}

// column is a figure of the first n seeds.
func (r *Runs) column(policy, scenario, n int, of func(*metrics.Run) float64) []float64 {
	xs := make([]float64, n)
	for seed := range xs {
		xs[seed] = of(r.Of(policy, scenario, seed))
	}
	return xs
}

func minus(xs, ys []float64) []float64 {
	ds := make([]float64, len(xs))
	for i := range xs {
		ds[i] = xs[i] - ys[i]
	}
	return ds
}
