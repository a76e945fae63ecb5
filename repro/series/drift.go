package series

import (
	"fmt"
	"math"
)

// What a drift must be to matter.
const (
	driftShareMin   = 0.2  // of the first third
	driftPointsMin  = 0.05 // of a share, such as goodput
	driftSecondsMin = 0.01
	loadShareMax    = 0.1 // by which the load may change, so that it is no explanation
)

// quality is something about windows that should stay as it is.
type quality struct{ agg, metric, unit string }

var qualities = [...]quality{
	{"p50", "call", "s"}, {"p95", "call", "s"}, {"p50", "ttft", "s"}, {"p50", "inter_token", "s"}, {"p50", "task", "s"},
	{"", "useful_tokens_per_s", "1/s"}, {"", "goodput", "share"}, {"", "error_rate", "share"}, {"", "stalled_share", "share"},
}

func (q *quality) name() string {
	if q.agg == "" {
		return q.metric
	}
	return q.agg + "(" + q.metric + ")"
}

// Drift says whether the windows of a run change on the way from the first to the last: by more than 20 % from the first third
// to the last, or, of a share, by more than 5 points. What changes with the load says nothing and is not called a drift, and
// neither is what changes while the first tasks go on. The windows are to be in order; those of a warm-up are not to be given.
func Drift(windows []Window) []Finding {
	v, err := NewValues(windows, nil)
	load, unsettled := "", unsettled(windows)
	if err == nil {
		load = v.loadChange()
	}
	out := make([]Finding, 0, len(qualities))
	for i := range qualities {
		q := &qualities[i]
		if err != nil {
			out = append(out, Finding{Name: q.name(), Unit: q.unit, Verdict: VerdictUnclear, Why: err.Error(), P: 1})
			continue
		}
		f := q.judge(v.points(q.agg, q.metric, q.unit), load)
		f.settle(unsettled)
		out = append(out, f)
	}
	return out
}

func (q *quality) judge(all []point, load string) Finding {
	f, points, line, ok := newFinding(q.name(), q.unit, all)
	if !ok {
		f.Why = fmt.Sprintf("too short: %d windows have a value, want at least %d", len(all), pointsMin)
		return f
	}
	change := f.Last - f.First
	share := change / math.Abs(f.First) // infinite from 0
	moved := fmt.Sprintf("it went from %s to %s (medians of the first and last third)", show(f.First, q.unit), show(f.Last, q.unit))
	f.Verdict = VerdictOK
	matters := q.matters(change, share)
	switch {
	case matters && load == "" && isStep(&f, points, line):
	case change == 0 || line.p >= pMax || (line.low <= 0 && line.high >= 0) || line.slope*change < 0:
		f.Why = "no change that is clear of noise: " + moved
	case !matters:
		f.Why = moved + ", which is too little to matter"
	case !steady(points):
		f.Why = moved + ", but went back in between"
	case load != "":
		f.Verdict, f.Why = VerdictUnclear, moved+", but so did the load: "+load
	default:
		f.Verdict, f.Why = VerdictDrifting, fmt.Sprintf("%s, all the time: %s", moved, f.pace(line.slope/math.Abs(line.start)))
		if levelsOff(points, line) {
			f.Why += "; more slowly of late"
		}
	}
	return f
}

func (q *quality) matters(change, share float64) bool {
	switch q.unit {
	case "share":
		return math.Abs(change) > driftPointsMin
	case "s":
		return math.Abs(share) > driftShareMin && math.Abs(change) > driftSecondsMin
	}
	return math.Abs(share) > driftShareMin
}

// loadChange says in words how what was asked of the servers changed from the first third to the last; empty: it did not. Where
// agents come and go it is their number, and where tasks arrive by themselves it is those: one of the two stays as
// it is if the load does, whatever becomes of the other.
func (v *Values) loadChange() string {
	agents, tasks := v.points("avg", "agents", ""), v.points("", "tasks_begun_per_s", "1/s")
	var text string
	for _, l := range [...]struct {
		points []point
		what   string
	}{{agents, "agents at work"}, {tasks, "tasks begun a second"}} {
		third := len(l.points) / 3
		if third == 0 {
			return ""
		}
		first, last := median(values(l.points[:third])), median(values(l.points[len(l.points)-third:]))
		if math.Abs(last-first) <= loadShareMax*math.Abs(first) {
			return ""
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%.3g, then %.3g %s", first, last, l.what)
	}
	return text
}
