package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// The picture of lanes without the script: for paper, and where no script runs.
const (
	staticLanesMax = 120
	staticRow      = 20      // height of a row in the picture's own units
	staticCell     = 4       // stretches shorter than this many of boxWide melt into the one before
	staticBytesMax = 200_000 // of the picture
)

// staticLanes is that picture.
type staticLanes struct {
	Picture template.HTML
	Names   []string
	More    int // agents that are not in it
	Rows    int
	High    int // height of the picture in its units
	Wide    int
	X       []tick
	Says    string
	RowPx   int
}

// stageHigh is how high stages stand in a row, in percent: so they can be told apart without colour too. Waiting stands
// half high, work between calls lower.
var stageHigh = [pacer.StageCount]int{
	pacer.StageThink: 25, pacer.StageTool: 45, pacer.StageSlot: 65, pacer.StageRate: 65, pacer.StageBackoff: 65,
	pacer.StageConnect: 90, pacer.StageHeaders: 90, pacer.StageFirstToken: 90, pacer.StageStream: 90,
}

// static draws the lanes.
func (j *journal) static() staticLanes {
	v := staticLanes{Wide: boxWide, X: timeTicks(j.end.Seconds())}
	var body strings.Builder
	for _, l := range j.lanes {
		if v.Rows == staticLanesMax || body.Len() > staticBytesMax {
			break
		}
		fmt.Fprintf(&body, `<g class="lane" data-agent="%s"><title>%[1]s</title>`, template.HTMLEscapeString(clean(l.agent)))
		for stage, d := range j.row(l, v.Rows*staticRow) {
			if d != "" {
				fmt.Fprintf(&body, `<path class="s-%s" d="%s"/>`, pacer.Stage(stage), d)
			}
		}
		body.WriteString("</g>")
		v.Names = append(v.Names, clean(l.agent))
		v.Rows++
	}
	v.More, v.High = len(j.lanes)+j.more-v.Rows, v.Rows*staticRow
	v.RowPx = max(7, min(18, 900/max(v.Rows, 1)))
	v.Says = fmt.Sprintf("What each of %s did over %s, by stage", plural(v.Rows, "agent", "agents"), span(j.end.Seconds()))
	var stalls strings.Builder
	for _, s := range j.stalls {
		from, to := j.x(s.Since), j.x(s.To)
		fmt.Fprintf(&stalls, `<rect class="band" x="%d" y="0" width="%d" height="%d"><title>stall %d</title></rect>`, from, max(to-from, 3), v.High, s.Episode)
	}
	v.Picture = template.HTML(stalls.String() + body.String())
	return v
}

// x is where an instant stands.
func (j *journal) x(at sim.Instant) int {
	if j.end <= 0 {
		return 0
	}
	return int(math.Round(boxWide * math.Min(1, float64(at)/float64(j.end))))
}

// row is the paths of a lane, one for each stage.
func (j *journal) row(l *lane, top int) (paths [pacer.StageCount]string) {
	var b [pacer.StageCount]strings.Builder
	at := j.x(l.from)
	draw := func(stage pacer.Stage, to int) {
		if to <= at {
			return
		}
		high := staticRow * stageHigh[stage] / 100
		fmt.Fprintf(&b[stage], "M%d %dH%dv%dH%dz", at, top+(staticRow-high)/2, to, high, at)
		at = to
	}
	last := pacer.StageThink
	for _, s := range l.spans {
		from, to := j.x(s.from), j.x(s.to)
		if to-from < staticCell && to < boxWide-staticCell {
			continue
		}
		if from-at >= staticCell {
			last = pacer.StageThink
		}
		draw(last, from)
		draw(s.stage, to)
		last = s.stage
	}
	if end := j.x(l.to); end-at >= staticCell {
		draw(pacer.StageThink, end)
	}
	for stage := range b {
		paths[stage] = b[stage].String()
	}
	return paths
}
