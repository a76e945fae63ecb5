package guest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/goroutine/waits"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
)

// judge makes the verdicts of a run's captures, and says when the harness is to be given up. The
// process that captures calls it, one call at a time.
type judge struct {
	g     *session
	dumps *dumps

	captured  [2]int // episode and capture of the latest one
	hung      bool   // a stall was seen that is a hang
	main      kept
	idleSince time.Time // when the harness was first found with nothing out, in this episode; zero: it has something out
}

// kept is a verdict with its evidence.
type kept struct {
	verdict  diagnose.Verdict
	evidence *harness.Evidence // nil: none
}

func newJudge(g *session) *judge { return &judge{g: g, dumps: newDumps(g)} }

// verdict judges a capture. It is harness.Options.Judge.
func (j *judge) verdict(now, before *harness.Evidence) any {
	if now.Episode == 0 {
		j.g.table.amend(now)
		return j.judge(now, before)
	}
	fresh := [2]int{now.Episode, now.Capture} != j.captured
	if fresh {
		j.captured = [2]int{now.Episode, now.Capture}
		j.g.table.amend(now)
		j.dumps.take(now)
		j.look(now)
	}
	v := j.judge(now, before)
	j.keep(v, now)
	if fresh && v.Open() && j.g.o.Stalled != nil {
		j.g.o.Stalled(now, v)
	}
	if fresh && v.Open() && j.giveUp(now, &v) {
		// The end of the run waits for this capture, and so for the dump.
		j.g.stop(errGivenUp)
		j.g.quit()
	}
	return v
}

// look notes since when the harness has nothing out.
func (j *judge) look(now *harness.Evidence) {
	switch {
	case len(now.Calls) > 0:
		j.idleSince = time.Time{}
	case j.idleSince.IsZero() || now.Capture == 1:
		// The run's clock says for how long already.
		j.idleSince = time.Now().Add(-j.real(now.StalledFor))
	}
}

// real is a length of the run's clock on the machine's.
func (j *judge) real(d time.Duration) time.Duration {
	return time.Duration(float64(d) / j.g.o.Scale)
}

// giveUp says whether the harness is to be ended: what it waits for will not come.
func (j *judge) giveUp(now *harness.Evidence, v *diagnose.Verdict) bool {
	if now.StalledFor < time.Duration(j.g.o.GiveUp)*j.g.o.StallAfter {
		return false
	}
	switch v.Outcome {
	case diagnose.Wedged, diagnose.Deadlocked, diagnose.Storming:
		return true
	}
	return false
}

// keep finds the stall that matters most: the one that is open, else the gravest. That the harness asked
// for nothing for a while is none.
func (j *judge) keep(v diagnose.Verdict, now *harness.Evidence) {
	j.hung = j.hung || v.Outcome.Hang()
	m := &j.main
	if len(now.Calls) == 0 && !v.Outcome.Hang() {
		return
	}
	switch {
	case m.evidence == nil, m.verdict.Open(), m.evidence.Episode == now.Episode,
		v.Open() && v.Outcome.Hang(),
		v.Outcome.Hang() && !m.verdict.Outcome.Hang(),
		v.Outcome.Hang() == m.verdict.Outcome.Hang() && v.StalledForS > m.verdict.StalledForS:
		*m = kept{v, now}
	}
}

// judge turns evidence into a verdict.
func (j *judge) judge(now, before *harness.Evidence) diagnose.Verdict {
	v := diagnose.Diagnose(now, before)
	j.aboutHarness(now, &v)
	unsee(&v)
	v.Next = j.next(&v)
	j.withDump(&v)
	v.Scenario, v.Seed, v.Clock = "exec-"+j.g.s.Name, j.g.s.Seed, string(repro.ClockWall)
	v.EvidenceDir, v.Replay = j.g.bundle.Dir(), j.g.o.Replay
	if now.EndedAt != 0 {
		v.End(now.EndedAt.Sub(0))
	}
	return v
}

// aboutHarness is the verdict of a harness that lives and asks for nothing: what it is at is not seen
// from here, but that it goes on for so long is.
func (j *judge) aboutHarness(now *harness.Evidence, v *diagnose.Verdict) {
	if now.Episode == 0 || len(now.Calls) > 0 || v.Outcome == diagnose.Completed || v.Outcome == diagnose.Failed {
		return
	}
	seen := j.g.table.counts()
	quiet := j.real(now.StalledFor)
	if !j.idleSince.IsZero() {
		quiet = max(quiet, time.Since(j.idleSince))
	}
	what := fmt.Sprintf("since its last one ended, %s ago", seconds(now.StalledFor))
	if seen.Requests == 0 {
		what = fmt.Sprintf("since it was started, %s ago", seconds(now.StalledFor))
	}
	if j.g.o.Scale != 1 {
		what += fmt.Sprintf(" (%s on the machine's clock)", seconds(quiet))
	}
	v.Summary = fmt.Sprintf("The harness lives and has sent no request %s: requests so far %d, answered in full %d. No request is out, so the servers owe it nothing.",
		what, seen.Requests, seen.Completed)
	v.Layer, v.Cause = diagnose.LayerHarness, diagnose.CauseUnknown
	v.Outcome = diagnose.Slow
	if quiet < j.g.o.IdleAfter {
		v.Summary += " It may be at work by itself; too early to say."
		return
	}
	v.Outcome = diagnose.Wedged
	v.Summary += " Whatever it waits for is in the harness itself, or it has nothing to do and does not end."
}

// withDump adds what a dump of the harness says to a verdict about the harness itself.
func (j *judge) withDump(v *diagnose.Verdict) {
	d := j.dumps.last()
	if v.Layer != diagnose.LayerHarness || d == nil || d.Analysis == nil {
		return
	}
	reason := strings.TrimSuffix(d.Reason, ".") + "."
	switch d.Outcome {
	case waits.Deadlocked:
		v.Outcome = diagnose.Deadlocked
		named(v, d)
		v.Summary += " Its goroutines wait for each other: " + reason
	case waits.Slow:
		v.Outcome = diagnose.Slow
		v.Summary += " But its goroutines get on: " + reason
	case waits.Wedged, waits.Starved:
		v.Summary += " Its goroutines: " + reason
	}
	v.Next = j.next(v)
}

// named gives the verdict the cause that a finding of the dump stands for, if there is a word for it.
func named(v *diagnose.Verdict, d *Dump) {
	causes := map[waits.FindingClass]diagnose.Cause{
		waits.ABBA: diagnose.CauseLockOrder, waits.SlotNested: diagnose.CauseNestedSlot, waits.SlotLeaked: diagnose.CauseSlotLeak,
	}
	for i := range d.Analysis.Findings {
		f := &d.Analysis.Findings[i]
		cause, known := causes[f.Class]
		if !known || f.Symptom {
			continue
		}
		v.Cause = cause
		if h := slices.IndexFunc(v.Hypotheses, func(h diagnose.Hypothesis) bool { return h.Cause == cause }); h >= 0 {
			found := v.Hypotheses[h]
			found.Status, found.Score, found.For, found.DecideBy = diagnose.Supported, f.Confidence, []string{f.Text}, ""
			v.Hypotheses = slices.Insert(slices.Delete(v.Hypotheses, h, h+1), 0, found)
		}
		return
	}
}

// seconds writes a length of time in seconds, and in minutes beside that if there are many.
func seconds(d time.Duration) string {
	text := fmt.Sprintf("%.1f s", d.Seconds())
	if d >= 5*time.Minute {
		text += fmt.Sprintf(" (%s)", d.Round(time.Second))
	}
	return text
}

// instant returns how long after the start of the run something was.
func instant(at sim.Instant) time.Duration { return at.Sub(0) }
