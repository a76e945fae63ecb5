package report

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// HeatMap draws the share of runs that recovered over load and trigger, with the counts in the cells.
func HeatMap(in HeatMapInput) ([]byte, error) { return in.svg(in.Frame) }

func (in HeatMapInput) frame() Frame { return in.Frame }
func (in HeatMapInput) broad() bool  { return false }

func (in HeatMapInput) svg(f Frame) ([]byte, error) {
	columns, rows := len(in.XTicks), len(in.YTicks)
	height := min(48, max(18, vg.Length(480)/vg.Length(max(1, rows))))
	if columns == 0 || rows == 0 {
		return empty(f, "no load and trigger were tried")
	}
	pic := begin(f, in.keys(), height*vg.Length(rows)+70)
	x, y := scale{low: 0, high: float64(columns)}, scale{low: 0, high: float64(rows)}
	a := bare(x, y)
	room := (pic.area.Max.X - pic.area.Min.X) / vg.Length(columns+1)
	a.X.Tick.Marker = names(in.XTicks, a.X.Tick.Label, room, true)
	a.Y.Tick.Marker = names(in.YTicks, a.Y.Tick.Label, pic.area.Max.X/4, false)
	// Ticks of the paper's colour: they are not seen, and keep the names off the cells.
	a.X.Tick.LineStyle.Color, a.Y.Tick.LineStyle.Color = inkPaper, inkPaper
	a.Add(plotter(func(c draw.Canvas) {
		for row := range rows {
			for column := range columns {
				min, max := at(c, x, y, float64(column), float64(row)), at(c, x, y, float64(column+1), float64(row+1))
				in.cell(c, vg.Rectangle{Min: vg.Point{X: min.X + 1, Y: min.Y + 1}, Max: vg.Point{X: max.X - 1, Y: max.Y - 1}}, row, column)
			}
		}
	}))
	drawPlot(a, yLabel(pic.area, in.YLabel, ""), in.XLabel)
	return pic.finish()
}

// names are the labels of columns or rows, each in the middle of its own. Columns that are too narrow for their names name
// every so many.
func names(list []string, sty text.Style, room vg.Length, thin bool) plot.ConstantTicks {
	widest := vg.Length(0)
	for _, name := range list {
		widest = max(widest, widthOf(sty, fit(name, sty, 90)))
	}
	every := 1
	if thin {
		every = max(1, int(math.Ceil(float64((widest+4)/max(1, room)))))
		room *= vg.Length(every)
	}
	var ticks plot.ConstantTicks
	for i := 0; i < len(list); i += every {
		ticks = append(ticks, plot.Tick{Value: float64(i) + 0.5, Label: fit(list[i], sty, room)})
	}
	return ticks
}

// count reads a cell of a ragged table. Counts that cannot be count as not measured.
func (in HeatMapInput) count(row, column int) (recovered, runs int) {
	if row >= len(in.Runs) || column >= len(in.Runs[row]) || row >= len(in.Recovered) || column >= len(in.Recovered[row]) {
		return 0, 0
	}
	recovered, runs = in.Recovered[row][column], in.Runs[row][column]
	if runs < 0 || recovered < 0 || recovered > runs {
		return 0, 0
	}
	return recovered, runs
}

// step is the colour of a share: the ends are for none and all, five steps lie between.
func step(recovered, runs int) int {
	switch recovered {
	case 0:
		return 0
	case runs:
		return heatCount - 1
	}
	return 1 + min(heatCount-3, int(float64(recovered)/float64(runs)*(heatCount-2)))
}

// cell fills one cell and writes into it what fits: both counts, or the share in percent.
func (in HeatMapInput) cell(c draw.Canvas, box vg.Rectangle, row, column int) {
	recovered, runs := in.count(row, column)
	sty := aligned(style(sizeSmall, inkText, false), draw.XCenter, draw.YCenter)
	middle := vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}
	if runs == 0 {
		c.SetLineStyle(draw.LineStyle{Color: inkLine, Width: 1, Dashes: []vg.Length{2, 3}})
		c.Stroke(box.Path())
		return
	}
	k := in.shade(step(recovered, runs))
	c.SetColor(k)
	c.Fill(box.Path())
	if strong := k - inkHeat; strong < 2 || strong > heatCount-3 {
		sty.Color = inkOnHeat
	}
	for _, words := range []string{fmt.Sprintf("%d/%d", recovered, runs), fmt.Sprintf("%.0f", 100*float64(recovered)/float64(runs))} {
		if widthOf(sty, words) <= box.Max.X-box.Min.X-2 {
			c.FillText(sty, middle, words)
			return
		}
	}
}

// shade is the ink of a step.
func (in HeatMapInput) shade(step int) ink {
	if in.GoodIsZero {
		step = heatCount - 1 - step
	}
	return inkHeat + ink(step)
}

// keys explain the steps.
func (in HeatMapInput) keys() (keys []key) {
	for i, name := range [heatCount]string{"none", "under 20 %", "20–40 %", "40–60 %", "60–80 %", "80 % and more", "all"} {
		keys = append(keys, key{name: name, look: look{ink: in.shade(i)}, box: true})
	}
	return append(keys, key{name: "not measured", look: look{ink: inkLine, width: 1, dashes: []vg.Length{2, 3}}, box: true, hollow: true})
}
