package report

import (
	"fmt"
	"sort"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ganttAgentsMax is how many agents get a row.
const ganttAgentsMax = 160

// Gantt draws what each agent was doing, a row each.
func Gantt(in GanttInput) ([]byte, error) { return in.svg(in.Frame) }

func (in GanttInput) frame() Frame { return in.Frame }
func (in GanttInput) broad() bool  { return true }

func (in GanttInput) svg(f Frame) ([]byte, error) {
	agents := append([]string{}, in.Agents...)
	stages, occur := in.stages()
	rowOf := make(map[string]int, len(agents))
	for i, a := range agents {
		rowOf[a] = i
	}
	ex := extent{}
	rows := make([][]Span, len(agents))
	for _, s := range in.Spans {
		if !s.seen() {
			continue
		}
		row, ok := rowOf[s.Agent]
		if !ok {
			row = len(agents)
			rowOf[s.Agent] = row
			agents, rows = append(agents, s.Agent), append(rows, nil)
		}
		rows[row] = append(rows[row], s)
		ex.add(s.FromS)
		ex.add(s.ToS)
	}
	if more := len(agents) - ganttAgentsMax; more > 0 {
		f.Note = join(f.Note, fmt.Sprintf("%d more agents are not shown", more))
		agents, rows = agents[:ganttAgentsMax], rows[:ganttAgentsMax]
	}
	if !ex.seen {
		return empty(f, "no agent was watched")
	}
	height := min(18, max(5, vg.Length(480)/vg.Length(max(1, len(agents)))))
	pic := begin(f, append(stageKeys(stages, occur), shadeKeys(in.Triggers)...), height*vg.Length(len(agents))+44)
	x := ex.scale("s", map[bool]int{true: 4, false: 10}[narrow(f)])
	y := scale{low: 0, high: float64(len(agents))}
	a := bare(x, y)
	a.Y.Tick.Marker, a.Y.Tick.LineStyle.Width = agentTicks(agents, height, pic.area.Max.X/5), 0
	a.Add(plotter(func(c draw.Canvas) {
		drawShades(c, x, in.Triggers)
		for i, spans := range rows {
			drawRow(c, x, y.high-float64(i)-1, y, spans, stages)
		}
		drawEdges(c, x, in.Triggers, inkText)
	}))
	drawPlot(a, pic.area, "time")
	return pic.finish()
}

// seen says that a span has a length.
func (s Span) seen() bool { return finite(s.FromS) && finite(s.ToS) && s.FromS < s.ToS }

// stages are all stages in the order of Stages and then of appearance, and which of them occur. Each keeps its place, and so
// its colour, whether others occur or not: pictures of several runs can be compared.
func (in GanttInput) stages() (stages []string, occur []bool) {
	stages = append(stages, in.Stages...)
	for _, s := range in.Spans {
		if !s.seen() {
			continue
		}
		i := indexOf(&stages, s.Stage)
		for len(occur) < len(stages) {
			occur = append(occur, false)
		}
		occur[i] = true
	}
	return stages, occur
}

// stageColours is how many stages have a colour of their own: those of series, and the same again laid on thinly.
const stageColours = 2 * seriesCount

// stageWash is the colour of a stage.
func stageWash(i int) wash {
	switch {
	case i < seriesCount:
		return wash{seriesInk(i), 0.85}
	case i < stageColours:
		return wash{seriesInk(i - seriesCount), 0.4}
	}
	return wash{inkText, 0.12}
}

// stageKeys is the legend of the stages that occur.
func stageKeys(stages []string, occur []bool) (keys []key) {
	more := 0
	for i, here := range occur {
		switch w := stageWash(i); {
		case here && i < stageColours:
			keys = append(keys, key{name: stages[i], look: look{ink: w.ink}, box: true, alpha: w.alpha})
		case here:
			more++
		}
	}
	if more > 0 {
		w := stageWash(stageColours)
		keys = append(keys, key{name: fmt.Sprintf("%d more", more), look: look{ink: w.ink}, box: true, alpha: w.alpha})
	}
	return keys
}

// agentTicks names the rows, from the top; where rows are low, every so many.
func agentTicks(agents []string, height, width vg.Length) plot.ConstantTicks {
	every := 1
	for vg.Length(every)*height < 12 {
		every++
	}
	var ticks plot.ConstantTicks
	for i := 0; i < len(agents); i += every {
		ticks = append(ticks, plot.Tick{Value: float64(len(agents)-i) - 0.5, Label: fit(agents[i], style(sizeSmall, inkSoft, false), width)})
	}
	return ticks
}

// drawRow draws the spans of one agent between y = at and at + 1. Spans too short to be seen melt into the one before.
func drawRow(c draw.Canvas, x scale, at float64, y scale, spans []Span, stages []string) {
	const seen = 0.4 // pixels
	sort.SliceStable(spans, func(i, j int) bool { return spans[i].FromS < spans[j].FromS })
	low, high := c.Y(y.Normalize(0, 0, at+0.12)), c.Y(y.Normalize(0, 0, at+0.88))
	end := vg.Length(-1)
	var paths [stageColours + 1]vg.Path // one for each stage keeps the file small
	for i := 0; i < len(spans); i++ {
		from, to := c.X(x.Normalize(0, 0, spans[i].FromS)), c.X(x.Normalize(0, 0, spans[i].ToS))
		for i+1 < len(spans) && spans[i+1].Stage == spans[i].Stage && c.X(x.Normalize(0, 0, spans[i+1].FromS))-to < seen {
			i++
			to = max(to, c.X(x.Normalize(0, 0, spans[i].ToS)))
		}
		if to-from < seen && from-end < seen {
			continue
		}
		end = to
		stage := min(indexOf(&stages, spans[i].Stage), stageColours)
		box := vg.Rectangle{Min: vg.Point{X: from, Y: low}, Max: vg.Point{X: max(to, from+seen), Y: high}}
		paths[stage] = append(paths[stage], box.Path()...)
	}
	for stage, path := range paths {
		if len(path) > 0 {
			c.SetColor(stageWash(stage))
			c.Fill(path)
		}
	}
}
