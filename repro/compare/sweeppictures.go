package compare

import (
	"fmt"
	"slices"

	"example.com/wedge/repro/compare/report"
)

// sweepSections shows what parameters do: those of policies that were swept or searched, and the load.
func (p *pictures) sweepSections() []report.Section {
	var plots []report.Plot
	plots = append(plots, p.policySweeps()...)
	plots = append(plots, p.searches()...)
	if len(plots) == 0 {
		return nil
	}
	return []report.Section{{Title: "What the parameter does", Text: []string{"Each point that was tried is shown: a peak between bad neighbours is luck."}, Plots: plots}}
}

// policySweeps has a picture for each policy that was swept, with a curve for each scenario.
func (p *pictures) policySweeps() []report.Plot {
	var plots []report.Plot
	for base := range p.runs.Plan.Policies {
		var path string
		var at []int
		for i := range p.runs.Plan.Policies {
			if point := p.runs.Plan.Policies[i].At; point != nil && point.Of == p.runs.Plan.Policies[base].Name && point.X > 0 {
				path, at = point.Path, append(at, i)
			}
		}
		if len(at) < 2 {
			continue
		}
		in := report.SweepInput{Frame: report.Frame{Title: path, Note: fmt.Sprintf("%s, %d seeds", p.runs.Plan.Policies[base].Name, p.r.N)},
			X: report.Axis{Label: path, Unit: unitOf(p.runs.Plan.Policies[at[0]].At), Log: true}, Y: report.Axis{Label: "time a task", Unit: "s", Log: true}}
		for s := range p.r.Scenarios {
			curve := report.Curve{Name: p.r.Scenarios[s].Name, N: p.r.N}
			for _, i := range at {
				f := p.r.Scenarios[s].Cells[i].Of(KeyTaskTime)
				curve.Points = append(curve.Points, report.Point{X: p.runs.Plan.Policies[i].At.X, Y: f.Mean, Lo: f.CI.Low, Hi: f.CI.High})
			}
			in.Curves = append(in.Curves, sorted(curve))
		}
		plots = append(plots, in)
	}
	return plots
}

// unitOf is the unit of a point's number.
func unitOf(at *Point) string {
	if last := at.Value[len(at.Value)-1]; last >= '0' && last <= '9' {
		return ""
	}
	return "s"
}

func sorted(c report.Curve) report.Curve {
	slices.SortStableFunc(c.Points, func(a, b report.Point) int {
		switch {
		case a.X < b.X:
			return -1
		case a.X > b.X:
			return 1
		}
		return 0
	})
	return c
}

// searches has a picture for each search with a single knob, with a curve for each policy.
func (p *pictures) searches() []report.Plot {
	t := p.r.Tuning
	if t == nil || len(t.Knobs) != 1 {
		return nil
	}
	unit := ""
	if t.Knobs[0].Time {
		unit = "s"
	}
	in := report.SweepInput{Frame: report.Frame{Title: "Search for " + t.Knobs[0].Path, Note: fmt.Sprintf("seeds %s; the results are of others", t.Seeds)},
		X: report.Axis{Label: t.Knobs[0].Path, Unit: unit, Log: true}, Y: report.Axis{Label: "time a task by that of the policy as it was", Log: true}}
	for _, tuned := range t.Policies {
		if len(tuned.Points) == 0 {
			continue
		}
		curve := report.Curve{Name: tuned.Base, N: t.Seeds.N()}
		for _, at := range tuned.Points {
			curve.Points = append(curve.Points, report.Point{X: at.X[0], Y: at.Ratio, Lo: at.RatioCI.Low, Hi: at.RatioCI.High})
		}
		in.Curves = append(in.Curves, sorted(curve))
	}
	return []report.Plot{in}
}
