package compare

import (
	"context"
	"fmt"
	"slices"

	"example.com/wedge/repro"
	"example.com/wedge/repro/compare/report"
	"example.com/wedge/repro/metrics"
)

// singleRuns shows one run of the baseline and one of the best policy where that gains most, and where
// it loses most; or, where nothing beats the baseline, of the policy that is furthest from it.
func (p *pictures) singleRuns(ctx context.Context) ([]report.Section, error) {
	other := p.w.best
	if other == p.w.base {
		other = p.w.furthest()
	}
	var sections []report.Section
	for _, c := range []struct {
		scenario int
		title    string
	}{{p.w.mostGained(), "Where %s gains most: %s"}, {p.w.lostMost(other), "Where %s loses most: %s"}} {
		if c.scenario < 0 || other == p.w.base {
			continue
		}
		section := report.Section{Title: fmt.Sprintf(c.title, p.w.policy(other).Name, p.r.Scenarios[c.scenario].Name)}
		seed := p.furthestSeed(c.scenario, other)
		for _, policy := range []int{p.w.base, other} {
			plots, err := p.singleRun(ctx, key{policy, c.scenario, seed})
			if err != nil {
				return nil, err
			}
			section.Plots = append(section.Plots, plots...)
		}
		sections = append(sections, section)
	}
	return sections, nil
}

// furthestSeed is where the seed stands in which a policy's time a task differs most from the baseline's, the way it does on
// the whole.
func (p *pictures) furthestSeed(scenario, policy int) int {
	f, base := p.r.Scenarios[scenario].Cells[policy].Of(KeyTaskTime), p.r.Scenarios[scenario].Cells[p.w.base].Of(KeyTaskTime)
	most := 0
	for seed, by := range minus(f.values, base.values) {
		if by*f.Diff > (f.values[most]-base.values[most])*f.Diff {
			most = seed
		}
	}
	return most
}

// singleRun has the pictures of one run: over time, the servers' places, the agents, and the plane of
// queue and orbit.
func (p *pictures) singleRun(ctx context.Context, k key) ([]report.Plot, error) {
	run, s, err := p.again(ctx, k)
	if err != nil || run.Series == nil {
		return nil, err
	}
	series := run.Series
	name := p.r.Policies[k.policy].Label()
	frame := func(title string) report.Frame {
		return report.Frame{Title: title + ": " + name, Note: fmt.Sprintf("one run of %s, seed %d, in which they differ most", p.r.Scenarios[k.scenario].Name, s.Seed)}
	}
	var shades []report.Shade
	for _, w := range s.TriggerWindows() {
		shades = append(shades, report.Shade{Name: "trigger", FromX: w.From.Seconds(), ToX: w.To.Seconds()})
	}
	timeline := timelineOf(series)
	timeline.Frame, timeline.Triggers = frame("Over time"), shades
	p.markRecovery(&timeline, p.runs.Of(k.policy, k.scenario, k.seed))
	slots := report.SlotsInput{Frame: frame("The servers' places"), EveryS: series.EveryS, Triggers: shades,
		Useful: series.SlotsUseful, Zombie: series.SlotsZombie, Idle: series.SlotsIdle, Queued: series.SlotsQueued}
	plots := []report.Plot{timeline, slots}
	if agents := ganttOf(series); agents != nil {
		agents.Frame, agents.Triggers = frame("The agents"), shades
		plots = append(plots, *agents)
	}
	if slices.Max(append([]float32{0}, series.Backoff...)) >= orbitMin {
		plots = append(plots, report.PhaseInput{Frame: frame("Queue against orbit"), Paths: []report.Path{pathOf(name, series)}})
	}
	return plots, nil
}

// orbitMin is how many calls must have waited for another attempt at once to make a picture of it.
const orbitMin = 3

// timelineOf has what happens over time, in panels.
func timelineOf(series *metrics.Series) report.TimelineInput {
	return report.TimelineInput{EveryS: series.EveryS, Panels: []report.Panel{
		{Label: "calls", Unit: "1/s", Lines: []report.Track{{Name: "offered", Values: series.OfferedPerS}, {Name: "attempts", Values: series.AttemptsPerS}}},
		{Label: "goodput", Unit: "tok/s", Lines: []report.Track{{Name: "goodput", Values: series.GoodputPerS}}},
		{Label: "requests", Lines: []report.Track{{Name: "open at the client", Values: series.ClientInflight}, {Name: "running at the servers", Values: series.ServerRunning}, {Name: "of these for nobody", Values: series.Zombies}}},
		{Label: "waiting", Lines: []report.Track{{Name: "for a slot", Values: series.PacerQueue}, {Name: "at the servers", Values: series.ServerQueue}, {Name: "between attempts", Values: series.Backoff}}},
	}}
}

// markRecovery marks when goodput was back. Of a run that did not recover the note says so: that has no instant.
func (p *pictures) markRecovery(in *report.TimelineInput, run *metrics.Run) {
	switch back := &run.Recovery; {
	case back.Recovered && back.RecoveredAfterS < 1:
		in.Frame.Note += "; goodput is back when the trigger ends"
	case back.Recovered:
		in.Marks = append(in.Marks, report.Reference{Name: fmt.Sprintf("goodput is back, %s after the trigger", Seconds(back.RecoveredAfterS)), At: back.TriggerEndS + back.RecoveredAfterS})
	case back.Relapsed:
		in.Frame.Note += "; goodput comes back and is lost again"
	case back.Never:
		in.Frame.Note += "; goodput never comes back"
	}
}

// ganttAgentsMax is up to how many agents a Gantt picture can be read.
const ganttAgentsMax = 100

// stage is what an agent does, as metrics name it, and in words.
type stage struct{ key, words string }

func stages() []stage {
	return []stage{
		{"think", "thinks"}, {"tool", "runs a tool"}, {"slot", "waits for a slot"}, {"rate", "waits for the rate limit"}, {"backoff", "waits to try again"},
		{"connect", "connects"}, {"headers", "waits for the answer to begin"}, {"first_token", "waits for the first content"}, {"stream", "content arrives"},
	}
}

// ganttOf is what each agent does, or nil if there are too many to be told apart.
func ganttOf(series *metrics.Series) *report.GanttInput {
	var in report.GanttInput
	words := map[string]string{}
	for _, s := range stages() {
		in.Stages = append(in.Stages, s.words)
		words[s.key] = s.words
	}
	agents := map[string]bool{}
	for _, span := range series.Gantt {
		if in := words[span.Stage]; in != "" {
			span.Stage = in
		}
		in.Spans = append(in.Spans, report.Span(span))
		agents[span.Agent] = true
	}
	if len(agents) > ganttAgentsMax {
		return nil
	}
	return &in
}

func pathOf(name string, series *metrics.Series) report.Path {
	path := report.Path{Name: name}
	for i := range series.Backoff {
		path.Queued = append(path.Queued, float64(series.PacerQueue[i])+float64(series.ServerQueue[i]))
		path.Orbit = append(path.Orbit, float64(series.Backoff[i]))
	}
	return path
}

// again runs one run once more, with values over time. It ends where the scenario's own watchdog gives
// up: hours in which nothing happens would leave no room for what did.
func (p *pictures) again(ctx context.Context, k key) (*metrics.Run, *repro.Scenario, error) {
	s, err := p.runs.Plan.Scenario(k.policy, k.scenario, k.seed)
	if err != nil {
		return nil, nil, err
	}
	s.Watchdog = p.runs.Plan.Scenarios[k.scenario].Watchdog
	r, err := repro.Run(ctx, s, repro.Options{Measure: &metrics.Options{Series: true}, NoVerdict: true, Oracle: p.runs.Plan.Policies[k.policy].Oracle})
	if err != nil {
		return nil, nil, err
	}
	return r.Measured, s, nil
}
