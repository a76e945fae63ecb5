package compare

import (
	"example.com/wedge/repro/compare/stats"
	"example.com/wedge/repro/metrics"
)

// Results are the figures of a comparison. Equal runs give equal bytes as JSON.
type Results struct {
	Schema string `json:"schema"`
	// Advice is the answer in words, a paragraph each.
	Advice []string `json:"advice"`
	// Warnings say what makes it doubtful.
	Warnings []string `json:"warnings,omitempty"`

	Seeds    Seeds          `json:"seeds"`
	N        int            `json:"n"` // seeds that are finished everywhere; the others are left out
	Runs     int            `json:"runs"`
	Baseline string         `json:"baseline"`
	Policies []PolicyResult `json:"policies"`
	// Scenarios has a block for each scenario.
	Scenarios []ScenarioResult `json:"scenarios"`
	Tuning    *Tuning          `json:"tuning,omitempty"`
}

// PolicyResult is how a policy did over all scenarios. Each counts the same.
type PolicyResult struct {
	Name   string `json:"name"`
	About  string `json:"about,omitempty"`
	Source string `json:"source,omitempty"`
	Trap   string `json:"trap,omitempty"`
	// Bracket says that nobody can have it: it is shown for what limits can reach, and neither recommended
	// nor marked.
	Bracket bool `json:"bracket,omitempty"`
	// Ratio is the task time by that of the baseline: the geometric mean over scenarios and seeds.
	Ratio   float64        `json:"ratio"`
	RatioCI stats.Interval `json:"ratio_ci95"`
	Best    bool           `json:"best"` // of all policies, and told apart from each other one
	// NearBest says that it is not told apart from the policy with the least ratio.
	NearBest bool `json:"near_best"`
	// WinRate is the share of the seeds in which the ratio is below 1.
	WinRate float64 `json:"win_rate"`
	P       float64 `json:"p"`      // of Wilcoxon's signed-rank test, that the ratio is around 1
	PHolm   float64 `json:"p_holm"` // the same, corrected for the number of policies
	// Figures are means over scenarios, in the order of Metrics.
	Figures []Figure `json:"figures"`
	// Completed counts runs in which every task was completed, over all scenarios.
	Completed Proportion `json:"completed_runs"`
	Never     int        `json:"never_runs"` // runs in which some task had not ended

	logRatios []float64 // by seed
}

// ScenarioResult is how the policies did in one scenario.
type ScenarioResult struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	Cells []Cell `json:"cells"` // by policy, in the order of the plan
}

// Cell is one policy in one scenario.
type Cell struct {
	Policy  string   `json:"policy"`
	Figures []Figure `json:"figures"` // in the order of Metrics
	// Completed, Failed and Never count runs by what became of them. Never is a category of its own: some task had
	// not ended when the run did.
	Completed Proportion `json:"completed_runs"`
	Failed    int        `json:"failed_runs"`
	Never     int        `json:"never_runs"`

	Calls    Latency   `json:"calls"` // from when the agent wanted the answer
	Tasks    Latency   `json:"tasks"`
	Recovery *Recovery `json:"recovery,omitempty"` // nil: nothing upset the fleet
	// KilledBy says which limits ended healthy attempts, on average a run.
	KilledBy []KilledBy `json:"killed_by,omitempty"`
	// DetectDead is how long after the death of an attempt the client noticed.
	DetectDead Latency `json:"detect_dead"`
}

// Figure is one metric over the seeds.
type Figure struct {
	Metric string         `json:"metric"`
	Mean   float64        `json:"mean"`
	CI     stats.Interval `json:"ci95"`
	// Diff is the mean paired difference to the baseline, seed by seed.
	Diff   float64        `json:"diff"`
	DiffCI stats.Interval `json:"diff_ci95"`
	// WinRate is the share of the seeds in which it is better than the baseline, ties counted as half.
	WinRate float64 `json:"win_rate"`
	P       float64 `json:"p"`      // of Wilcoxon's signed-rank test
	PHolm   float64 `json:"p_holm"` // corrected for the number of policies
	// Pairing is the correlation with the baseline, seed by seed: near 1 where both see the same luck,
	// near 0 where the policy made it another world. Absent where one of the two does not vary.
	Pairing *float64 `json:"pairing,omitempty"`
	// Best is set where the figure is better than that of each other policy, but for those that have the
	// very same, and the interval of each difference excludes zero.
	Best bool `json:"best"`
	// Better and Worse are set where the interval of the difference to the baseline excludes zero.
	Better bool `json:"better"`
	Worse  bool `json:"worse"`

	values []float64 // by seed
}

// Proportion is a count of runs with its Wilson interval.
type Proportion struct {
	K     int            `json:"k"`
	N     int            `json:"n"`
	Share float64        `json:"share"`
	CI    stats.Interval `json:"ci95"`
}

// Latency is a sample of times over all seeds.
type Latency struct {
	N     int       `json:"n"`
	Never int       `json:"never"` // of N: that failed or had not ended, which counts as longer than any
	P50   *Quantile `json:"p50,omitempty"`
	P95   *Quantile `json:"p95,omitempty"`
	P99   *Quantile `json:"p99,omitempty"` // absent below 1,000
}

// Quantile is a quantile with an interval by resampling whole seeds. It is absent where there are too few
// samples for it.
type Quantile struct {
	// S is in seconds; 0 with Never.
	S float64 `json:"s"`
	// Never says that the quantile lies among what never ended.
	Never bool    `json:"never,omitempty"`
	LowS  float64 `json:"low_s"`
	HighS float64 `json:"high_s"`
	// HighNever says that the interval has no upper end; HighS is 0 then.
	HighNever bool `json:"high_never,omitempty"`
}

// Recovery is how the fleet came back after what upset it.
type Recovery struct {
	Recovered Proportion `json:"recovered"`
	Never     int        `json:"never"`
	// LatePerS is the mean goodput long after the trigger, in output tokens a second: of a fleet to which load keeps
	// coming it tells whether it is in its good state or in the bad one.
	LatePerS float64        `json:"late_goodput_tokens_per_s"`
	LateCI   stats.Interval `json:"late_goodput_ci95"`
	// MedianS is by when half of the runs have recovered; absent if it never comes to that.
	MedianS *float64 `json:"median_s,omitempty"`
	// Curve is the share of runs that have not recovered by a time.
	Curve stats.Survival `json:"curve"`

	afterS, neverS []float64
	latePerS       []float64 // by seed
}

// KilledBy is what one limit did to healthy attempts.
type KilledBy struct {
	Limit         string  `json:"limit"`
	HealthyPerRun float64 `json:"healthy_per_run"`
	KilledPerRun  float64 `json:"killed_per_run"`
}

// Of is the figure of a metric, or nil if there is none of that key.
func (c *Cell) Of(key string) *Figure { return figureOf(c.Figures, key) }

// Compared is how many policies there are, in words, with the brackets apart.
func (r *Results) Compared() string {
	text, n := "", len(r.Policies)
	for i := range r.Policies {
		if r.Policies[i].Bracket {
			text += ", " + r.Policies[i].Name + " beside them"
			n--
		}
	}
	return Count(n, "policy", "policies") + text
}

// Label is the name as tables have it.
func (p *PolicyResult) Label() string {
	if p.Bracket {
		return p.Name + " (bracket)"
	}
	return p.Name
}

// Of is the figure of a metric, or nil if there is none of that key.
func (p *PolicyResult) Of(key string) *Figure { return figureOf(p.Figures, key) }

func figureOf(figures []Figure, key string) *Figure {
	for i := range figures {
		if figures[i].Metric == key {
			return &figures[i]
		}
	}
	return nil
}

// column is a figure of the first n seeds.
func (r *Runs) column(policy, scenario, n int, of func(*metrics.Run) float64) []float64 {
	xs := make([]float64, n)
	for seed := range xs {
		xs[seed] = of(r.Of(policy, scenario, seed))
	}
	return xs
}
