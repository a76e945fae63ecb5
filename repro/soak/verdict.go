package soak

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/fault"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/series"
	"example.com/wedge/repro/threshold"
)

// document says what is known so far, or at the end once there is a result. The lock is held.
func (k *keeper) document() Document {
	c := &k.s.Soak
	d := Document{
		Schema: Schema, Scenario: k.s.Name, Seed: k.s.Seed, Clock: string(k.o.Run.Clock), Scale: k.o.Run.Scale, Version: k.o.Run.Version,
		ForS: k.lasts.Seconds(), Tasks: c.Tasks, WindowS: c.Window.Seconds(), WarmUpS: c.WarmUp.Seconds(),
		Verdict: Running, Totals: k.history.totals, AtS: k.history.totals.LastS,
		Failures: []string{}, Replay: k.o.Run.Replay,
		Files: FileFacts{Dir: k.bundle.Dir(), LostLines: k.bundle.Lost()},
	}
	if err := k.bundle.Err(); err != nil {
		d.Files.Error = err.Error()
	}
	if k.cutOff {
		d.Verdict = Interrupted
	}
	if s := k.o.Run.Server; s != nil {
		d.Server = &Server{BaseURL: s.BaseURL, Model: s.Model, MetricsURL: s.MetricsURL}
	}
	if k.o.resumed != nil {
		d.Resumed = k.o.resumed.doc.Resumed + 1
	}
	k.measure(&d)
	d.Faults = facts(c.RandomFaults, k.s.DrawnFaults(), time.Duration(d.AtS*float64(time.Second)))
	var kept []KeptStall
	if k.result != nil {
		r := k.result.Run
		kept = keptStalls(r)
		d.TraceHash, d.Events = r.TraceHash, r.Steps
		for _, f := range r.Report.Failures {
			d.Failures = append(d.Failures, fmt.Sprintf("%s at %.1f s: %v", f.Agent, f.At.Seconds(), f.Err))
		}
	}
	d.Stalls = k.stalls.stalls(kept)
	if k.result != nil {
		k.conclude(&d)
	}
	d.Summary = summary(&d)
	d.Next = next(&d)
	return d
}

// measured is what windows and readings say. It is found out anew when there is another window.
type measured struct {
	windows    int
	thresholds []threshold.Outcome
	drift      []series.Finding
	leaks      []series.Finding
}

// measure judges windows and readings after the warm-up.
func (k *keeper) measure(d *Document) {
	process := k.readings.after(k.s.Soak.WarmUp)
	d.Process.RealS = realSince(k.began)
	if n := len(process); n > 0 {
		first, last := process[0], process[n-1]
		d.Process.First, d.Process.Last = &first, &last
	}
	if k.measured == nil || k.measured.windows != k.history.totals.Windows {
		m, err := k.measureAnew(process)
		k.keep(err)
		k.measured = m
	}
	d.Thresholds, d.Drift, d.Leaks = k.measured.thresholds, k.measured.drift, k.measured.leaks
}

func (k *keeper) measureAnew(process []series.Process) (*measured, error) {
	m := &measured{windows: k.history.totals.Windows, thresholds: []threshold.Outcome{}, drift: []series.Finding{}, leaks: []series.Finding{}}
	windows, err := k.history.after()
	if err != nil {
		return m, err
	}
	values, err := series.NewValues(windows, process)
	if err != nil {
		return m, err
	}
	for _, e := range k.thresholds {
		m.thresholds = append(m.thresholds, e.Eval(values))
	}
	m.drift, m.leaks = series.Judge(windows, k.leaky(process))
	return m, nil
}

// leaky returns the readings that tell of leaks. In virtual time a soak of a day is over in a second: how many pages the
// process has by then tells how it began, and what is kept shows on the heap.
func (k *keeper) leaky(process []series.Process) []series.Process {
	if k.wall() {
		return process
	}
	process = slices.Clone(process)
	for i := range process {
		process[i].RSSBytes = series.Unknown
	}
	return process
}

// conclude says how the soak ended.
func (k *keeper) conclude(d *Document) {
	r := k.result.Run
	d.AtS = r.Report.End.At.Seconds()
	d.Outcome = diagnose.Completed
	switch why := r.Report.Why; {
	case why == harness.Interrupted && errors.Is(r.Report.Cause, errFilesFailed):
		d.Ended, d.Verdict = "files", Stopped
	case why == harness.Interrupted:
		d.Ended, d.Verdict = "interrupted", Interrupted
	case why == harness.GaveUp:
		d.Ended, d.Verdict = "stall", Stalled
	case why == harness.Horizon && k.s.Soak.For == 0:
		d.Ended, d.Verdict = EndedHorizon, Passed
	case why == harness.Horizon:
		d.Ended, d.Verdict = "for", Passed
	default:
		d.Ended, d.Verdict = "tasks", Passed
	}
	if d.Stalls.Open && len(r.Episodes) > 0 {
		d.Outcome = r.Episodes[len(r.Episodes)-1].Outcome
	}
	if d.Verdict != Passed {
		return
	}
	missed := slices.ContainsFunc(d.Thresholds, func(o threshold.Outcome) bool { return !o.OK })
	switch t := &d.Totals; {
	case t.TasksDone == 0 && t.TasksFailed > 0:
		d.Outcome, d.Verdict = diagnose.Failed, Failed
	case d.Stalls.Open:
		d.Verdict = Stalled
	case missed, d.Ended == EndedHorizon:
		d.Verdict = Missed
	}
}

// keptStalls lists the stalls whose evidence is kept.
func keptStalls(r *repro.Result) []KeptStall {
	var kept []KeptStall
	for i, e := range r.Report.Episodes {
		v := &r.Episodes[i]
		kept = append(kept, KeptStall{e.Number, e.Dir, v.Outcome, v.Cause, v.DetectedAtS, v.EndedAtS})
	}
	return kept
}

// facts counts the faults that were drawn, up to an instant.
func facts(elements []repro.RandomFault, drawn []fault.Fault, until time.Duration) []FaultFacts {
	all := make([]FaultFacts, len(elements))
	for i := range elements {
		all[i].ID = elements[i].Name(i)
	}
	for i := range drawn {
		f := &drawn[i]
		if f.From >= until {
			continue
		}
		for n := range all {
			if elements[n].Drew(n, f) {
				all[n].Times++
				all[n].InForceS += (min(f.To, until) - f.From).Seconds()
			}
		}
	}
	return all
}
