package series

import (
	"fmt"
	"math"
)

// What a growth must be to matter.
const (
	growthPerHMin  = 0.05    // share of where it began
	growthShareMin = 0.1     // the same over the time that was looked at: what is slow may go on for days
	growthBytesMin = 1 << 20 // over the time that was looked at
	growthItemsMin = 5
	collectionsMin = 3 // garbage collections over that time, below which memory may just not have been collected
)

// resource is something that a process can leak.
type resource struct {
	name, unit string
	of         func(*Process) int64
	collected  bool // it shrinks by garbage collections only
}

var resources = [...]resource{
	{"rss", "bytes", func(p *Process) int64 { return p.RSSBytes }, true},
	{"heap", "bytes", func(p *Process) int64 { return p.HeapLiveBytes }, true},
	{"goroutines", "", func(p *Process) int64 { return p.Goroutines }, false},
	{"open_files", "", func(p *Process) int64 { return p.OpenFiles }, false},
	{"open_bodies", "", func(p *Process) int64 { return p.OpenBodies }, false},
}

// Leak says of each resource of a process whether it grows without end: over the last two thirds of the readings, so that
// what fills up at the start is not taken for a leak, by more than 5 % an hour or 10 % in all, and by more than 1 MiB, or 5 items. The
// readings are to be in order of time; those of a warm-up are not to be given.
//
// Of a run whose tasks are part of the process use [Judge], which knows that agents gather memory as long as their tasks go on.
func Leak(readings []Process) []Finding { return leaks(readings, "") }

// Judge returns what [Drift] and [Leak] find, where the process that was read is the one that the windows' agents are part
// of: as long as too few tasks have ended, what grows may be what agents gather in a task, and is not called a leak.
func Judge(windows []Window, readings []Process) (drift, leak []Finding) {
	return Drift(windows), leaks(readings, unsettled(windows))
}

// unsettled says in words why windows are of a run that is not in the state in which it would stay: each worker should have
// ended two tasks in them. Until then all are at about the same place of their tasks, with contexts that grow; later, what grows
// with a task also shrinks with its end. Empty: it is, or knows no tasks.
func unsettled(windows []Window) string {
	ended, open := 0, 0
	for i := range windows {
		t := &windows[i].Tasks
		ended += t.Done + t.Failed
		open = max(open, t.Open)
	}
	if ended >= 2*open {
		return ""
	}
	return fmt.Sprintf("only %d tasks have ended, with up to %d under way at once, and agents gather what they need as long as a task goes on: a longer run would tell", ended, open)
}

// leaks is Leak where unsettled says why a growth may be none; empty: it may not.
func leaks(readings []Process, unsettled string) []Finding {
	late := readings
	if n := len(readings); n > 0 {
		from := readings[0].AtS + (readings[n-1].AtS-readings[0].AtS)/3
		for len(late) > 0 && late[0].AtS < from {
			late = late[1:]
		}
	}
	out := make([]Finding, 0, len(resources))
	for i := range resources {
		f := resources[i].judge(late)
		f.settle(unsettled)
		out = append(out, f)
	}
	return out
}

// settle takes back what was found if the run has not settled.
func (f *Finding) settle(unsettled string) {
	if unsettled != "" && (f.Verdict == VerdictLeaking || f.Verdict == VerdictDrifting || f.Verdict == VerdictStepped) {
		f.Verdict, f.Why = VerdictUnclear, f.Why+"; but "+unsettled
	}
}

func (r *resource) points(readings []Process) []point {
	var out []point
	for i := range readings {
		if v := r.of(&readings[i]); v != Unknown {
			out = append(out, point{readings[i].AtS / 3600, float64(v)})
		}
	}
	return out
}

func (r *resource) judge(late []Process) Finding {
	all := r.points(late)
	f, points, line, ok := newFinding(r.name, r.unit, all)
	switch {
	case len(all) == 0 && len(late) > 0:
		f.Why = "it is not known on this machine, or to this run"
		return f
	case !ok:
		f.Why = fmt.Sprintf("too short: %d readings in the last two thirds, want at least %d", len(all), pointsMin)
		return f
	}
	total := line.end - line.start
	share := math.Inf(1)
	if line.start > 0 {
		share = line.slope / line.start
	}
	least := float64(growthItemsMin)
	if r.unit == "bytes" {
		least = growthBytesMin
	}
	grows := fmt.Sprintf("it grew from %s to %s in %s (%s)", show(line.start, r.unit), show(line.end, r.unit), showSeconds(f.ToS-f.FromS), f.pace(share))
	f.Verdict = VerdictOK
	matters := total > least && (share > growthPerHMin || total > growthShareMin*line.start)
	switch collections := late[len(late)-1].GCCycles - late[0].GCCycles; {
	case matters && isStep(&f, points, line):
	case line.slope <= 0 || line.p >= pMax || line.low <= 0:
		f.Why = fmt.Sprintf("no growth that is clear of noise: %s, then %s", show(f.First, r.unit), show(f.Last, r.unit))
	case !matters:
		f.Why = grows + ", which is too little to matter"
	case !steady(points):
		f.Why = grows + ", but went down again in between"
	case levelsOff(points, line):
		f.Verdict, f.Why = VerdictUnclear, grows+", but ever more slowly: a longer run would tell"
	case r.collected && collections < collectionsMin:
		f.Verdict, f.Why = VerdictUnclear, fmt.Sprintf("%s, but garbage was collected only %d times in it: a longer run would tell", grows, collections)
	default:
		f.Verdict, f.Why = VerdictLeaking, grows+", all the time"
	}
	return f
}

// isStep makes the finding one of a step, if that is what it is.
func isStep(f *Finding, points []point, line trend) bool {
	at, yes := stepped(points, line)
	if !yes {
		return false
	}
	before, after := median(values(points[:at])), median(values(points[at:]))
	f.Verdict = VerdictStepped
	f.Why = fmt.Sprintf("it went from %s to %s about %s into the run, and stayed there", show(before, f.Unit), show(after, f.Unit), showSeconds(points[at].t*3600))
	return true
}

// pace says how fast a series changes; share is that an hour.
func (f *Finding) pace(share float64) string {
	text := fmt.Sprintf("%s/h, 99 %% sure of %s/h to %s/h", show(f.SlopePerH, f.Unit), show(f.LowPerH, f.Unit), show(f.HighPerH, f.Unit))
	if math.IsInf(share, 0) || math.IsNaN(share) {
		return text
	}
	return fmt.Sprintf("%.3g %%/h: %s", 100*share, text)
}
