package live

import (
	"slices"

	"example.com/wedge/pacer"
)

// History is how a run has been so far: bounded, the longer the run the coarser.
type History struct {
	Stages []string `json:"stages"`  // names of Point.Stages
	EveryS float64  `json:"every_s"` // between two points, on the machine's clock, about
	Points []Point  `json:"points"`
}

// Point is how a run was at an instant, or over a few of them.
type Point struct {
	AtS       float64              `json:"t"` // on the run's clock
	Stages    [pacer.StageDone]int `json:"a"` // agents at work, by stage
	CallsPerS float64              `json:"c"`
	Tokens    float64              `json:"k"` // a second
	Slots     int                  `json:"u"` // in use
	Waiting   int                  `json:"w"` // calls that wait for one
	Stalled   bool                 `json:"s"`
}

// pointsMax is how many points are kept. When there are more, each two become one.
const pointsMax = 480

// history collects points. The zero value is empty.
type history struct {
	points []Point
	every  int     // looks that a point stands for; 0: 1
	rest   []Point // those that have not come to be one yet
}

func (h *history) add(p Point) {
	h.every = max(1, h.every)
	h.rest = append(h.rest, p)
	if len(h.rest) < h.every {
		return
	}
	h.points = append(h.points, merged(h.rest))
	h.rest = h.rest[:0]
	if len(h.points) < pointsMax {
		return
	}
	for i := range pointsMax / 2 {
		h.points[i] = merged(h.points[2*i : 2*i+2])
	}
	h.points = h.points[:pointsMax/2]
	h.every *= 2
}

// merged makes one point of several: the last, with the means of what is a rate, and stalled if any was.
func merged(points []Point) Point {
	out := points[len(points)-1]
	out.CallsPerS, out.Tokens = 0, 0
	for i := range points {
		out.CallsPerS += points[i].CallsPerS / float64(len(points))
		out.Tokens += points[i].Tokens / float64(len(points))
		out.Stalled = out.Stalled || points[i].Stalled
	}
	return out
}

// copy returns all points, those too that have not come to be one yet.
func (h *history) copy() History {
	out := History{EveryS: float64(max(1, h.every)) * 2 * lookEvery.Seconds(), Points: slices.Clone(h.points)}
	if len(h.rest) > 0 {
		out.Points = append(out.Points, merged(h.rest))
	}
	for stage := range pacer.StageDone {
		out.Stages = append(out.Stages, stage.String())
	}
	return out
}

func pointOf(s *Snapshot) Point {
	p := Point{
		AtS: s.AtS, CallsPerS: s.Calls.PerS, Tokens: s.Tokens.PerS, Slots: s.Slots.InUse, Waiting: s.Slots.Waiting,
		Stalled: s.Stall != nil && s.Stall.Open,
	}
	for i := range s.Agents.ByStage {
		p.Stages[i] = s.Agents.ByStage[i].N
	}
	return p
}

// pace tells how much gets done in a second of the run's clock, over the last few looks.
type pace struct {
	seen [paceLooks]struct {
		atS           float64
		calls, tokens int
	}
	n int
}

// paceLooks is over how many looks a rate is taken: 5 s of the machine's clock.
const paceLooks = 10

// next takes in a snapshot, and returns calls and tokens a second.
func (p *pace) next(s *Snapshot) (calls, tokens float64) {
	now := &p.seen[p.n%paceLooks]
	oldest := *now // the zero value at first, which is the start of the run
	now.atS, now.calls, now.tokens = s.AtS, s.Calls.Completed, s.Tokens.Received
	p.n++
	if took := now.atS - oldest.atS; took > 0 {
		return float64(now.calls-oldest.calls) / took, float64(now.tokens-oldest.tokens) / took
	}
	return 0, 0
}
