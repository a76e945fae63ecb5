package compare

import (
	"math"
	"slices"
	"sync"

	"example.com/wedge/repro/compare/stats"
	"example.com/wedge/repro/metrics"
)

// resampleSeed keeps intervals the same from run to run.
const resampleSeed = 1

// Analyse compares the runs that are finished: of the seeds that are so everywhere.
func Analyse(r *Runs) *Results {
	p := r.Plan
	res := &Results{Schema: Schema, Seeds: p.Seeds, N: r.Whole(), Baseline: p.Policies[p.baseline()].Name, Tuning: p.Tuning}
	res.Runs = res.N * len(p.Policies) * len(p.Scenarios)
	if res.N == 0 {
		res.Warnings = []string{"No seed is finished under all policies in all scenarios, so there is nothing to compare yet."}
		return res
	}
	a := &analysis{runs: r, n: res.N, base: p.baseline(), brackets: p.brackets(), draws: stats.NewResampler(res.N, resampleSeed), metrics: Metrics()}
	res.Scenarios = make([]ScenarioResult, len(p.Scenarios))
	// Each block is a function of its runs alone, so the order in which they are made changes nothing.
	var group sync.WaitGroup
	for s := range p.Scenarios {
		group.Go(func() { res.Scenarios[s] = a.scenario(s) })
	}
	group.Wait()
	res.Policies = a.policies(res.Scenarios)
	res.Warnings = warnings(res)
	res.Advice = advice(res, p.loadMaps())
	return res
}

// analysis is what the figures of a comparison have in common.
type analysis struct {
	runs *Runs
	n    int // seeds
	base int // the baseline's place
	// brackets are shown beside the others, and neither marked nor counted among what was tried.
	brackets []bool
	draws    *stats.Resampler
	metrics  []Metric
}

func (a *analysis) scenario(s int) ScenarioResult {
	p := a.runs.Plan
	block := ScenarioResult{Name: p.Scenarios[s].Name, About: p.Scenarios[s].About, Cells: make([]Cell, len(p.Policies))}
	for i := range block.Cells {
		block.Cells[i] = a.cell(i, s)
	}
	for m := range a.metrics {
		row := make([]*Figure, len(p.Policies))
		for i := range row {
			values := a.runs.column(i, s, a.n, a.metrics[m].of)
			block.Cells[i].Figures = append(block.Cells[i].Figures, Figure{Metric: a.metrics[m].Key, values: values})
		}
		for i := range row {
			row[i] = &block.Cells[i].Figures[m]
		}
		a.weigh(&a.metrics[m], row)
	}
	return block
}

// weigh holds one figure of the policies against the baseline and against each other.
func (a *analysis) weigh(m *Metric, row []*Figure) {
	base := row[a.base].values
	var ps []float64
	for i, f := range row {
		diffs := minus(f.values, base)
		f.Mean, f.CI = stats.Mean(f.values), a.draws.Mean(f.values)
		f.Diff, f.DiffCI = stats.Mean(diffs), a.draws.Mean(diffs)
		f.P = stats.SignedRank(diffs)
		f.WinRate, _ = stats.WinRate(m.signed(diffs))
		if r, ok := stats.Correlation(f.values, base); ok {
			f.Pairing = &r
		}
		if f.DiffCI.Excludes(0) && !m.Neutral && !a.brackets[i] {
			f.Better = (f.Diff > 0) == m.HigherIsBetter
			f.Worse = !f.Better
		}
		ps = append(ps, f.P)
	}
	for i, p := range a.holm(ps) {
		row[i].PHolm = p
	}
	if !m.Neutral {
		var real []*Figure
		for i, f := range row {
			if !a.brackets[i] {
				real = append(real, f)
			}
		}
		a.markBest(m, real)
	}
}

// holm corrects the p values of all but the baseline and the brackets, which are not tried.
func (a *analysis) holm(ps []float64) []float64 {
	tried := func(i int) bool { return i != a.base && !a.brackets[i] }
	var those []float64
	for i, p := range ps {
		if tried(i) {
			those = append(those, p)
		}
	}
	corrected := stats.Holm(those)
	all := make([]float64, len(ps))
	for i := range all {
		if all[i] = 1; tried(i) {
			all[i], corrected = corrected[0], corrected[1:]
		}
	}
	return all
}

// markBest marks the best figure where nothing else comes near.
func (a *analysis) markBest(m *Metric, row []*Figure) {
	best := slices.MinFunc(row, func(x, y *Figure) int {
		switch {
		case m.better(x.Mean, y.Mean):
			return -1
		case m.better(y.Mean, x.Mean):
			return 1
		}
		return 0
	})
	var same []*Figure
	for _, f := range row {
		switch {
		case slices.Equal(f.values, best.values):
			same = append(same, f)
		case !a.draws.Mean(minus(f.values, best.values)).Excludes(0):
			return
		}
	}
	if len(same) == len(row) {
		return // nothing to choose
	}
	for _, f := range same {
		f.Best = true
	}
}

func (m *Metric) better(x, y float64) bool {
	if m.HigherIsBetter {
		return x > y
	}
	return x < y
}

// signed turns differences so that below 0 is better.
func (m *Metric) signed(diffs []float64) []float64 {
	if !m.HigherIsBetter {
		return diffs
	}
	turned := make([]float64, len(diffs))
	for i, d := range diffs {
		turned[i] = -d
	}
	return turned
}

func minus(xs, ys []float64) []float64 {
	ds := make([]float64, len(xs))
	for i := range xs {
		ds[i] = xs[i] - ys[i]
	}
	return ds
}

// cell is what is told of a policy in a scenario beside its figures.
func (a *analysis) cell(policy, scenario int) Cell {
	c := Cell{Policy: a.runs.Plan.Policies[policy].Name}
	calls, tasks, detected := make([][]float64, a.n), make([][]float64, a.n), make([][]float64, a.n)
	completed := 0
	var back Recovery
	for seed := range a.n {
		run := a.runs.Of(policy, scenario, seed)
		switch run.Outcome {
		case metrics.Completed:
			completed++
		case metrics.Failed:
			c.Failed++
		default:
			c.Never++
		}
		calls[seed] = withNever(run.Raw.CallS, run.Raw.CallCensoredS)
		tasks[seed] = withNever(run.Raw.TaskS, run.Raw.TaskCensoredS)
		detected[seed] = withNever(run.Harm.DetectDeadS, make([]float32, run.Harm.DeadUndetected))
		back.see(run)
		c.killedBy(run, a.n)
	}
	c.Completed = proportion(completed, a.n)
	c.Calls, c.Tasks, c.DetectDead = a.latency(calls), a.latency(tasks), a.latency(detected)
	if c.Recovery = back.done(); c.Recovery != nil && len(back.latePerS) == a.n {
		back.LatePerS, back.LateCI = stats.Mean(back.latePerS), a.draws.Mean(back.latePerS)
	}
	return c
}

// withNever are times, with those that never came to their end as longer than any.
func withNever(took, never []float32) []float64 {
	all := make([]float64, 0, len(took)+len(never))
	for _, s := range took {
		all = append(all, float64(s))
	}
	for range never {
		all = append(all, math.Inf(1))
	}
	return all
}

func proportion(k, n int) Proportion {
	return Proportion{K: k, N: n, Share: share(k, n), CI: stats.Wilson(k, n)}
}

func (a *analysis) latency(bySeed [][]float64) Latency {
	var l Latency
	for _, times := range bySeed {
		l.N += len(times)
		for _, s := range times {
			if math.IsInf(s, 1) {
				l.Never++
			}
		}
	}
	quantile := func(p float64) *Quantile {
		s, within, ok := a.draws.PooledQuantile(bySeed, p)
		if !ok {
			return nil
		}
		q := &Quantile{S: s, LowS: within.Low, HighS: within.High}
		if math.IsInf(q.S, 1) {
			q.S, q.Never = 0, true
		}
		if math.IsInf(q.LowS, 1) {
			q.LowS = 0
		}
		if math.IsInf(q.HighS, 1) {
			q.HighS, q.HighNever = 0, true
		}
		return q
	}
	l.P50, l.P95, l.P99 = quantile(0.50), quantile(0.95), quantile(0.99)
	return l
}

// killedBy adds what limits did in a run, out of n.
func (c *Cell) killedBy(run *metrics.Run, n int) {
	for _, limit := range run.Harm.ByLimit {
		i := slices.IndexFunc(c.KilledBy, func(k KilledBy) bool { return k.Limit >= limit.Limit })
		if i < 0 {
			i = len(c.KilledBy)
		}
		if i == len(c.KilledBy) || c.KilledBy[i].Limit != limit.Limit {
			c.KilledBy = slices.Insert(c.KilledBy, i, KilledBy{Limit: limit.Limit})
		}
		c.KilledBy[i].HealthyPerRun += float64(limit.HealthyKilled) / float64(n)
		c.KilledBy[i].KilledPerRun += float64(limit.Killed) / float64(n)
	}
}

// see takes in a run.
func (r *Recovery) see(run *metrics.Run) {
	if run.Recovery.HasTrigger {
		r.latePerS = append(r.latePerS, run.Recovery.LatePerS)
	}
	switch back := &run.Recovery; {
	case !back.HasTrigger:
	case back.Recovered:
		r.afterS = append(r.afterS, back.RecoveredAfterS)
	case back.Never:
		r.neverS = append(r.neverS, max(0, run.EndedAtS-back.TriggerEndS))
	}
}

// done estimates the curve; nil if nothing upset any run.
func (r *Recovery) done() *Recovery {
	n := len(r.afterS) + len(r.neverS)
	if n == 0 {
		return nil
	}
	var times []stats.Time
	for _, s := range r.afterS {
		times = append(times, stats.Time{Seconds: s})
	}
	for _, s := range r.neverS {
		times = append(times, stats.Time{Seconds: s, Censored: true})
	}
	r.Recovered, r.Never, r.Curve = proportion(len(r.afterS), n), len(r.neverS), stats.KaplanMeier(times)
	if m, ok := r.Curve.Median(); ok {
		r.MedianS = &m
	}
	return r
}
