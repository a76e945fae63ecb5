package compare

import (
	"context"
	"fmt"
	"math"

	"example.com/wedge/repro/compare/report"
	"example.com/wedge/repro/metrics"
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
			forest.Rows = append(forest.Rows, report.Difference{Name: row.Name, Value: row.Ratio - 1, Lo: row.RatioCI.Low - 1, Hi: row.RatioCI.High - 1,
				N: p.r.N, Certain: row.RatioCI.Excludes(1) && row.PHolm < significant})
		}
		waste := row.Of(KeyWasted)
		pareto.Offers = append(pareto.Offers, report.Offer{Name: row.Name, X: waste.Mean, XLo: waste.CI.Low, XHi: waste.CI.High, Y: row.Ratio, YLo: row.RatioCI.Low, YHi: row.RatioCI.High, N: p.r.N})
	}
	return report.Section{Title: "How much better", Plots: []report.Plot{forest, pareto}}
}

// significant is the level of tests.
const significant = 0.05

// scenarioSection has the pictures of a scenario: differences, time against waste, how long the slow ones
// take, and how runs come back.
func (p *pictures) scenarioSection(s int) report.Section {
	block := &p.r.Scenarios[s]
	note := fmt.Sprintf("%s, %d seeds", block.Name, p.r.N)
	forest := report.ForestInput{Frame: report.Frame{Title: "Time a task, difference to " + p.r.Baseline, Note: note}, What: "mean time a task against " + p.r.Baseline, Unit: "s"}
	pareto := report.ParetoInput{Frame: report.Frame{Title: "p95 of task time against waste", Note: note}, X: report.Axis{Label: "wasted output tokens (share)"}, Y: report.Axis{Label: "p95 of task time", Unit: "s", Log: true}}
	tasks := report.CCDFInput{Frame: report.Frame{Title: "Task time", Note: note}, What: "task time"}
	calls := report.CCDFInput{Frame: report.Frame{Title: "Call time", Note: note + ", from when the agent wanted the answer"}, What: "call time"}
	back := report.RecoveryInput{Frame: report.Frame{Title: "Not yet recovered", Note: note + ", after the trigger's end"}}
	for i := range block.Cells {
		c := &block.Cells[i]
		if f := c.Of(KeyTaskTime); i != p.w.base {
			forest.Rows = append(forest.Rows, report.Difference{Name: c.Policy, Value: f.Diff, Lo: f.DiffCI.Low, Hi: f.DiffCI.High, N: p.r.N, Certain: f.DiffCI.Excludes(0) && f.PHolm < significant})
		}
		pareto.Offers = append(pareto.Offers, offerOf(c))
		task, call := report.Sample{Name: c.Policy}, report.Sample{Name: c.Policy}
		for seed := range p.r.N {
			raw := &p.runs.Of(i, s, seed).Raw
			task.TookS, task.CensoredS = appendTimes(task.TookS, raw.TaskS), appendTimes(task.CensoredS, raw.TaskCensoredS)
			call.TookS, call.CensoredS = appendTimes(call.TookS, raw.CallS), appendTimes(call.CensoredS, raw.CallCensoredS)
		}
		tasks.Samples, calls.Samples = append(tasks.Samples, task), append(calls.Samples, call)
		if c.Recovery != nil {
			back.Groups = append(back.Groups, report.Recoveries{Name: c.Policy, AfterS: c.Recovery.afterS, NeverS: c.Recovery.neverS})
		}
	}
	section := report.Section{Title: block.Name, Text: []string{block.About}, Plots: []report.Plot{forest, pareto, tasks, calls}}
	if len(back.Groups) > 0 {
		section.Plots = append(section.Plots, back)
	}
	return section
}

// offerOf is a policy's p95 of task time against its waste.
func offerOf(c *Cell) report.Offer {
	waste := c.Of(KeyWasted)
	o := report.Offer{Name: c.Policy, X: waste.Mean, XLo: waste.CI.Low, XHi: waste.CI.High, Y: math.NaN(), N: c.Tasks.N}
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

// singleRuns shows one run of the baseline and one of the best policy where that gains most, and where
// it loses most.
func (p *pictures) singleRuns(ctx context.Context) ([]report.Section, error) {
	var sections []report.Section
	for _, c := range []struct {
		scenario int
		title    string
	}{{p.w.mostGained(), "Where %s gains most: %s"}, {p.w.lostMost(p.w.best), "Where %s loses most: %s"}} {
		if c.scenario < 0 || p.w.best == p.w.base {
			continue
		}
		section := report.Section{Title: fmt.Sprintf(c.title, p.w.policy(p.w.best).Name, p.r.Scenarios[c.scenario].Name)}
		for _, policy := range []int{p.w.base, p.w.best} {
			plots, err := p.singleRun(ctx, policy, c.scenario)
			if err != nil {
				return nil, err
			}
			section.Plots = append(section.Plots, plots...)
		}
		sections = append(sections, section)
	}
	return sections, nil
}

// singleRun has the pictures of one run: over time, the servers' places, the agents, and the plane of
// queue and orbit.
func (p *pictures) singleRun(ctx context.Context, policy, scenario int) ([]report.Plot, error) {
	run, s, err := p.again(ctx, policy, scenario)
	if err != nil || run.Series == nil {
		return nil, err
	}
	series := run.Series
	name := p.r.Policies[policy].Name
	frame := func(title string) report.Frame {
		return report.Frame{Title: title + ": " + name, Note: fmt.Sprintf("one run of %s, seed %d", p.r.Scenarios[scenario].Name, s.Seed)}
	}
	var shades []report.Shade
	for _, w := range s.TriggerWindows() {
		shades = append(shades, report.Shade{Name: "trigger", FromX: w.From.Seconds(), ToX: w.To.Seconds()})
	}
	timeline := report.TimelineInput{Frame: frame("Over time"), EveryS: series.EveryS, Triggers: shades, Panels: []report.Panel{
		{Label: "calls", Unit: "1/s", Lines: []report.Track{{Name: "offered", Values: series.OfferedPerS}, {Name: "attempts", Values: series.AttemptsPerS}}},
		{Label: "goodput", Unit: "tok/s", Lines: []report.Track{{Name: "goodput", Values: series.GoodputPerS}}},
		{Label: "requests", Lines: []report.Track{{Name: "open at the client", Values: series.ClientInflight}, {Name: "running at the servers", Values: series.ServerRunning}, {Name: "of these for nobody", Values: series.Zombies}}},
		{Label: "waiting", Lines: []report.Track{{Name: "for a slot", Values: series.PacerQueue}, {Name: "at the servers", Values: series.ServerQueue}, {Name: "between attempts", Values: series.Backoff}}},
	}}
	slots := report.SlotsInput{Frame: frame("The servers' places"), EveryS: series.EveryS, Triggers: shades,
		Useful: series.SlotsUseful, Zombie: series.SlotsZombie, Idle: series.SlotsIdle, Queued: series.SlotsQueued}
	gantt := report.GanttInput{Frame: frame("The agents"), Triggers: shades, Stages: []string{"think", "tool", "slot", "rate", "backoff", "connect", "headers", "first_token", "stream"}}
	for _, span := range series.Gantt {
		gantt.Spans = append(gantt.Spans, report.Span(span))
	}
	phase := report.PhaseInput{Frame: frame("Queue against orbit"), Paths: []report.Path{pathOf(name, series)}}
	return []report.Plot{timeline, slots, gantt, phase}, nil
}

func pathOf(name string, series *metrics.Series) report.Path {
	path := report.Path{Name: name}
	for i := range series.Backoff {
		path.Queued = append(path.Queued, float64(series.PacerQueue[i])+float64(series.ServerQueue[i]))
		path.Orbit = append(path.Orbit, float64(series.Backoff[i]))
	}
	return path
}
