package main

import (
	"fmt"

	"example.com/wedge/repro/compare/report"
	"example.com/wedge/repro/published"
)

// drawPublished draws a figure as an SVG.
func drawPublished(f *published.Figure) ([]byte, error) {
	if f.Heat != nil {
		return report.HeatMap(publishedHeat(f))
	}
	return report.Lines(publishedLines(f))
}

func publishedHeat(f *published.Figure) report.HeatMapInput {
	in := report.HeatMapInput{
		Frame:  report.Frame{Title: f.Title, Note: f.Note},
		XLabel: axisText(f.X), YLabel: axisText(f.Y),
		XTicks: f.Heat.Columns, YTicks: f.Heat.Rows, Recovered: f.Heat.Healed,
	}
	for _, row := range f.Heat.Healed {
		runs := make([]int, len(row))
		for i := range runs {
			runs[i] = f.Heat.Runs
		}
		in.Runs = append(in.Runs, runs)
	}
	return in
}

func axisText(a published.Axis) string {
	if a.Unit == "" {
		return a.Label
	}
	return a.Label + " (" + a.Unit + ")"
}

func publishedLines(f *published.Figure) report.LinesInput {
	in := report.LinesInput{
		Frame: report.Frame{Title: f.Title, Note: f.Note},
		X:     report.Axis{Label: f.X.Label, Unit: f.X.Unit},
		Y:     report.Axis{Label: f.Y.Label, Unit: f.Y.Unit, Log: f.LogY},
		Steps: f.Steps, Markers: f.Markers,
	}
	for _, c := range f.Curves {
		curve := report.Curve{Name: c.Name, N: c.N}
		for _, p := range c.Points {
			curve.Points = append(curve.Points, report.Point{X: p.X, Y: p.Y})
		}
		in.Curves = append(in.Curves, curve)
	}
	for _, r := range f.References {
		in.References = append(in.References, report.Reference{Name: r.Name, At: r.AtX, Vertical: true})
	}
	if f.Shade.ToX > f.Shade.FromX {
		in.Shades = []report.Shade{{Name: f.Shade.Name, FromX: f.Shade.FromX, ToX: f.Shade.ToX}}
	}
	return in
}

// publishedPage is the page of reports: of each a table and its figures.
func publishedPage(reports []*published.Report) report.Input {
	in := report.Input{About: "published results, replayed by wedge", Command: "wedge published " + allResults}
	rows, wrong := 0, 0
	for _, r := range reports {
		t := report.Table{
			Title: r.Name, Note: r.Source + ". " + seedsText(r.Seeds) + ".", Corner: "what",
			Columns: []report.Column{{Name: "expected"}, {Name: "here"}, {Name: "verdict"}},
		}
		for _, row := range r.Rows {
			rows++
			verdict := report.Cell{Text: "right"}
			if !row.Right {
				wrong++
				verdict = report.Cell{Text: "WRONG"}
			}
			t.Rows = append(t.Rows, report.Row{
				Name: row.What, About: string(row.Grade) + "; tolerance: " + row.Tolerance,
				Cells: []report.Cell{{Text: row.Expected}, {Text: row.Here}, verdict},
			})
		}
		in.Tables = append(in.Tables, t)
		s := report.Section{Title: r.Name, Text: append([]string{r.About}, r.Notes...)}
		for i := range r.Figures {
			if f := &r.Figures[i]; f.Heat != nil {
				s.Plots = append(s.Plots, publishedHeat(f))
			} else {
				s.Plots = append(s.Plots, publishedLines(f))
			}
		}
		in.Sections = append(in.Sections, s)
	}
	if len(reports) == 1 {
		in.Command = "wedge published " + reports[0].Name
	}
	in.Title = fmt.Sprintf("all %d rows are within their tolerance", rows)
	if wrong > 0 {
		in.Title = fmt.Sprintf("%d of %d rows are within their tolerance", rows-wrong, rows)
	}
	return in
}
