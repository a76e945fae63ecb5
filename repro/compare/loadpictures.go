package compare

import (
	"fmt"

	"example.com/wedge/repro/compare/report"
)

// loadSections shows what load and trigger do: how goodput goes with the load after a small trigger and after a large one, and
// which runs recover.
func (p *pictures) loadSections() []report.Section {
	var sections []report.Section
	maps := p.runs.Plan.loadMaps()
	for i, words := range p.w.recovery(maps) {
		section := report.Section{Title: "Load and trigger: " + maps[i].of, Text: []string{words}}
		if loop := p.twoStarts(&maps[i]); len(loop.Ramps) > 0 {
			section.Plots = append(section.Plots, loop)
		}
		for policy := range p.r.Policies {
			section.Plots = append(section.Plots, p.recoveryMap(&maps[i], policy))
		}
		sections = append(sections, section)
	}
	if plots := p.loads(); len(plots) > 0 {
		sections = append(sections, report.Section{Title: "Goodput and load", Plots: plots})
	}
	return sections
}

// loads has, for each scenario that one sweep changed, a picture of goodput against what was changed, with a curve for each
// policy. It is the goodput long after the trigger, if there is one.
func (p *pictures) loads() []report.Plot {
	loads := p.runs.Plan.Loads
	if len(loads) == 0 || len(loads[0]) != 1 {
		return nil
	}
	var plots []report.Plot
	for from := 0; from < len(loads); {
		to := from
		late := true
		for to < len(loads) && loads[to][0].Of == loads[from][0].Of {
			for i := range p.r.Policies {
				late = late && p.r.Scenarios[to].Cells[i].Recovery != nil
			}
			to++
		}
		at := &loads[from][0]
		in := report.LinesInput{Frame: report.Frame{Title: "Goodput against " + axisName(at.Path), Note: fmt.Sprintf("%s, %d seeds", at.Of, p.r.N)},
			X: report.Axis{Label: at.Path, Unit: unitOf(at)}, Y: report.Axis{Label: "goodput", Unit: "tok/s"}, Markers: true}
		if late {
			in.Frame.Note += ", long after the trigger"
		}
		for i := range p.r.Policies {
			curve := report.Curve{Name: p.r.Policies[i].Label(), N: p.r.N}
			for s := from; s < to; s++ {
				if c := &p.r.Scenarios[s].Cells[i]; late {
					curve.Points = append(curve.Points, lateAt(loads[s][0].X, c))
				} else {
					f := c.Of(KeyGoodput)
					curve.Points = append(curve.Points, report.Point{X: loads[s][0].X, Y: f.Mean, Lo: f.CI.Low, Hi: f.CI.High})
				}
			}
			in.Curves = append(in.Curves, sorted(curve))
		}
		plots = append(plots, in)
		from = to
	}
	return plots
}

// lateAt is the goodput of a cell long after its trigger.
func lateAt(x float64, c *Cell) report.Point {
	return report.Point{X: x, Y: c.Recovery.LatePerS, Lo: c.Recovery.LateCI.Low, Hi: c.Recovery.LateCI.High}
}

// twoStarts is goodput against load long after the smallest trigger and after the largest: where the two differ, the
// load alone does not say how the fleet is, which is hysteresis. Without triggers in the runs it has no ramps.
func (p *pictures) twoStarts(m *loadMap) report.LoadInput {
	small, large := m.trigger[0], m.trigger[len(m.trigger)-1]
	name := axisName(small.Path)
	in := report.LoadInput{Frame: report.Frame{Title: "Goodput long after the trigger, against load", Note: fmt.Sprintf("%s, %d seeds; where the two lines of a policy differ, the load at which it broke is more than that at which it heals", m.of, p.r.N)},
		X: report.Axis{Label: m.load[0].Path, Unit: unitOf(&m.load[0])}, Y: report.Axis{Label: "goodput", Unit: "tok/s"},
		UpName: "after " + name + " " + small.Value, DownName: "after " + name + " " + large.Value}
	for policy := range p.r.Policies {
		ramp := report.Ramp{Name: p.r.Policies[policy].Label(), N: p.r.N}
		for x := range m.load {
			ramp.Up = p.addLate(ramp.Up, m, 0, x, policy)
			ramp.Down = p.addLate(ramp.Down, m, len(m.trigger)-1, x, policy)
		}
		if len(ramp.Up) > 0 {
			in.Ramps = append(in.Ramps, ramp)
		}
	}
	return in
}

// addLate adds the goodput of a policy long after a trigger, if there was one.
func (p *pictures) addLate(to []report.Point, m *loadMap, trigger, load, policy int) []report.Point {
	s := m.scenario[trigger][load]
	if s < 0 || p.r.Scenarios[s].Cells[policy].Recovery == nil {
		return to
	}
	return append(to, lateAt(m.load[load].X, &p.r.Scenarios[s].Cells[policy]))
}

// recoveryMap is how many runs of a policy recover, load from left to right, trigger upwards.
func (p *pictures) recoveryMap(m *loadMap, policy int) report.Plot {
	in := report.HeatMapInput{Frame: report.Frame{Title: "Runs that recover: " + p.r.Policies[policy].Label(), Note: fmt.Sprintf("%s, %d seeds", m.of, p.r.N)},
		XLabel: m.load[0].Path, YLabel: m.trigger[0].Path}
	for _, at := range m.load {
		in.XTicks = append(in.XTicks, at.Value)
	}
	for y, at := range m.trigger {
		in.YTicks = append(in.YTicks, at.Value)
		recovered, runs := make([]int, len(m.load)), make([]int, len(m.load))
		for x, s := range m.scenario[y] {
			if s >= 0 {
				back := p.r.Scenarios[s].Cells[policy].recovers()
				recovered[x], runs[x] = back.K, back.N
			}
		}
		in.Recovered, in.Runs = append(in.Recovered, recovered), append(in.Runs, runs)
	}
	return in
}
