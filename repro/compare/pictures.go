package compare

import (
	"fmt"
	"math"
	"slices"

	"example.com/wedge/repro/compare/report"
)

// overallSection is the forest plot and the trade of time against waste, over all scenarios.
func (p *pictures) overallSection() report.Section {
	forest := report.ForestInput{Frame: report.Frame{Title: "Time a task over all scenarios", Note: fmt.Sprintf("against %s, %d seeds", p.r.Baseline, p.r.N)},
		What: "time a task against " + p.r.Baseline, Unit: "%"}
	pareto := report.ParetoInput{Frame: report.Frame{Title: "Time against waste, all scenarios", Note: "lower and further left is better"},
		X: report.Axis{Label: "wasted output tokens (share)"}, Y: report.Axis{Label: "time a task by that with " + p.r.Baseline}}
	for i := range p.r.Policies {
		row := &p.r.Policies[i]
		if i != p.w.base {
			forest.Rows = append(forest.Rows, report.Difference{Name: row.Label(), Value: row.Ratio - 1, Lo: row.RatioCI.Low - 1, Hi: row.RatioCI.High - 1,
				N: p.r.N, Certain: row.RatioCI.Excludes(1) && row.PHolm < significant && !row.Bracket})
		}
		waste := row.Of(KeyWasted)
		pareto.Offers = append(pareto.Offers, report.Offer{Name: row.Label(), Bracket: row.Bracket, X: waste.Mean, XLo: waste.CI.Low, XHi: waste.CI.High, Y: row.Ratio, YLo: row.RatioCI.Low, YHi: row.RatioCI.High, N: p.r.N})
	}
	return report.Section{Title: "How much better", Plots: []report.Plot{forest, pareto}}
}

// significant is the level of tests.
const significant = 0.05

// picturesMax is how many scenarios have pictures of their own; with more they would be nobody's reading.
const picturesMax = 12

// scenarioSection has what a scenario's policies did: in a few words, its table, and pictures where they differ.
func (p *pictures) scenarioSection(s int) report.Section {
	block := &p.r.Scenarios[s]
	section := report.Section{Title: block.Name, Folded: true, Gist: p.w.gist(s), Text: []string{block.About}, Tables: []report.Table{p.scenarioTable(s)}}
	if len(p.r.Scenarios) > picturesMax {
		return section
	}
	note := fmt.Sprintf("%s, %d seeds", block.Name, p.r.N)
	for _, plot := range []report.Plot{p.differences(s, note), p.trade(s, note)} {
		if plot != nil {
			section.Plots = append(section.Plots, plot)
		}
	}
	section.Plots = append(section.Plots, p.curves(s, note)...)
	return section
}

// differences is the forest plot of a scenario, or nil if there is none.
func (p *pictures) differences(s int, note string) report.Plot {
	in := report.ForestInput{Frame: report.Frame{Title: "Time a task, difference to " + p.r.Baseline, Note: note}, What: "mean time a task against " + p.r.Baseline, Unit: "s"}
	any := false
	for i := range p.r.Scenarios[s].Cells {
		row := &p.r.Policies[i]
		if f := p.r.Scenarios[s].Cells[i].Of(KeyTaskTime); i != p.w.base {
			any = any || f.Diff != 0
			in.Rows = append(in.Rows, report.Difference{Name: row.Label(), Value: f.Diff, Lo: f.DiffCI.Low, Hi: f.DiffCI.High, N: p.r.N,
				Certain: f.DiffCI.Excludes(0) && f.PHolm < significant && !row.Bracket})
		}
	}
	if !any {
		return nil
	}
	return in
}

// trade is the p95 of task time against waste in a scenario, or nil if fewer than two policies have both.
func (p *pictures) trade(s int, note string) report.Plot {
	in := report.ParetoInput{Frame: report.Frame{Title: "p95 of task time against waste", Note: note}, X: report.Axis{Label: "wasted output tokens (share)"}, Y: report.Axis{Label: "p95 of task time", Unit: "s", Log: true}}
	differ := 0
	for i := range p.r.Scenarios[s].Cells {
		o := offerOf(&p.r.Scenarios[s].Cells[i])
		o.Name, o.Bracket = p.r.Policies[i].Label(), p.r.Policies[i].Bracket
		if !math.IsNaN(o.Y) && !slices.ContainsFunc(in.Offers, func(other report.Offer) bool { return other.X == o.X && other.Y == o.Y }) {
			differ++
		}
		in.Offers = append(in.Offers, o)
	}
	if differ < 2 {
		return nil
	}
	return in
}

// curves are how long tasks and calls take, and how runs come back: each where it is not the same under every policy.
func (p *pictures) curves(s int, note string) []report.Plot {
	tasks := report.CCDFInput{Frame: report.Frame{Title: "Task time", Note: note}, What: "task time"}
	calls := report.CCDFInput{Frame: report.Frame{Title: "Call time", Note: note + ", from when the agent wanted the answer"}, What: "call time"}
	back := report.RecoveryInput{Frame: report.Frame{Title: "Not yet recovered", Note: note + ", after the trigger's end"}}
	never := p.runs.Plan.Scenarios[s].Horizon.Seconds()
	for i := range p.r.Scenarios[s].Cells {
		c := &p.r.Scenarios[s].Cells[i]
		name := p.r.Policies[i].Label()
		task, call := report.Sample{Name: name}, report.Sample{Name: name}
		for seed := range p.r.N {
			raw := &p.runs.Of(i, s, seed).Raw
			task.TookS, task.CensoredS = appendTimes(task.TookS, raw.TaskS), appendNever(task.CensoredS, len(raw.TaskCensoredS), never)
			call.TookS, call.CensoredS = appendTimes(call.TookS, raw.CallS), appendNever(call.CensoredS, len(raw.CallCensoredS), never)
		}
		tasks.Samples, calls.Samples = append(tasks.Samples, task), append(calls.Samples, call)
		if c.Recovery != nil {
			back.Groups = append(back.Groups, report.Recoveries{Name: name, AfterS: c.Recovery.afterS, NeverS: c.Recovery.neverS})
		}
	}
	var plots []report.Plot
	for _, in := range []report.CCDFInput{tasks, calls} {
		if worthDrawing(in.Samples) {
			plots = append(plots, in)
		}
	}
	same := func(g report.Recoveries) bool {
		return slices.Equal(g.AfterS, back.Groups[0].AfterS) && slices.Equal(g.NeverS, back.Groups[0].NeverS)
	}
	if len(back.Groups) > 0 && slices.ContainsFunc(back.Groups, func(g report.Recoveries) bool { return !same(g) }) {
		plots = append(plots, back)
	}
	return plots
}

// worthDrawing says whether samples differ, and any has an end.
func worthDrawing(samples []report.Sample) bool {
	differ, ended := false, false
	for _, s := range samples {
		differ = differ || !slices.Equal(s.TookS, samples[0].TookS) || !slices.Equal(s.CensoredS, samples[0].CensoredS)
		ended = ended || len(s.TookS) > 0
	}
	return differ && ended
}

// offerOf is a policy's p95 of task time against its waste.
func offerOf(c *Cell) report.Offer {
	waste := c.Of(KeyWasted)
	o := report.Offer{X: waste.Mean, XLo: waste.CI.Low, XHi: waste.CI.High, Y: math.NaN(), N: c.Tasks.N}
	if q := c.Tasks.P95; q != nil {
		o.Y, o.YLo, o.YHi = q.S, q.LowS, q.HighS
		if q.HighNever {
			o.YLo, o.YHi = 0, 0
		}
		if q.Never {
			o.Y, o.YLo, o.YHi = math.Inf(1), 0, 0
		}
	}
	return o
}

func appendTimes(to []float64, times []float32) []float64 {
	for _, s := range times {
		to = append(to, float64(s))
	}
	return to
}

// appendNever adds what failed or never ended, as longer than any: what failed soon must not look as if it had been watched
// for a while and might have gone well.
func appendNever(to []float64, n int, never float64) []float64 {
	for range n {
		to = append(to, never)
	}
	return to
}
