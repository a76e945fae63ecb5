package diagnose

import (
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// slowToolEvidence is the newcomer's fleet: four agents in a tool that takes 150 s, all at once.
func slowToolEvidence(stalled, out time.Duration) *builder {
	b := stallOf("slow-tool-1", 4, 4, 300*s, stalled).tool(4, "append", out)
	b.ev.Setup.Captures = []int{1, 2, 4}
	return b.gauges(0, 0)
}

// endedBy ends the stall with a step so long after the capture.
func (b *builder) endedBy(agent string, after time.Duration) *builder {
	b.ev.EndedAt, b.ev.EndedBy = b.ev.At.Add(after), agent
	return b
}

// TestToolRuns says what is thought of one tool by how long it has been out, what it has taken before,
// and how long the stall has lasted. The watchdog's patience is a minute.
func TestToolRuns(t *testing.T) {
	for _, c := range []struct {
		name    string
		out     time.Duration
		calls   int
		longest time.Duration
		stalled time.Duration
		want    toolRun
	}{
		{"just begun", 10 * s, 84, 300 * time.Millisecond, m, toolYoung},
		{"just begun, and never seen", 10 * s, 0, 0, m, toolYoung},
		{"as long as before", 140 * s, 9, 150 * s, 4 * m, toolSlow},
		{"twice as long as before", 300 * s, 9, 150 * s, 4 * m, toolSlow},
		{"a little more", 301 * s, 9, 150 * s, 4 * m, toolLate},
		{"four times as long", 600 * s, 9, 150 * s, 4 * m, toolHung},
		{"far longer than before, but not than the patience", 110 * s, 84, 300 * time.Millisecond, m, toolLate},
		{"far longer than before", 120 * s, 84, 300 * time.Millisecond, m, toolHung},
		{"never seen, first capture", 59 * s, 0, 0, m, toolLate},
		{"never seen, out for long, first capture", 400 * s, 0, 0, m, toolLate},
		{"never seen, second capture", 119 * s, 0, 0, 2 * m, toolLate},
		{"never seen, third capture", 239 * s, 0, 0, 4 * m, toolHung},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := stallOf("tools", 1, 0, 1000*s, c.stalled).tool(1, "append", c.out)
			if c.calls > 0 {
				b.returned("append", c.calls, c.longest)
			}
			r := newReading(b.done(), nil)
			if got := r.idle[0].run; got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

// TestToolWithoutPatience: evidence that does not know the watchdog's patience still gets a verdict.
func TestToolWithoutPatience(t *testing.T) {
	ev := toolEvidence()
	ev.Setup.StallAfter = 0
	if v := Diagnose(ev, nil); v.Cause != CauseToolHang {
		t.Errorf("cause %s\n%s", v.Cause, transcript(&v))
	}
}

// TestToolThatReturned: a stall that ended because the tool came back was none in which it hung,
// whatever it looked like at the capture.
func TestToolThatReturned(t *testing.T) {
	for _, c := range []struct {
		name string
		by   string
		want Cause
		hang bool
	}{
		{"the one that was out for longest", "agent-01", CauseSlowTool, false},
		{"nobody knows whose step it was", "", CauseUnknown, false},
		{"somebody else, so that those still hang", "agent-77", CauseToolHang, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ev := stallOf("tools", 30, 16, 1500*s, m).tool(5, "append", 400*s).tool(3, "append", 61*s).
				returned("append", 84, 300*time.Millisecond).endedBy(c.by, 30*s).gauges(0, 0).done()
			v := Diagnose(ev, nil)
			if v.Cause != c.want || v.Outcome.Hang() != c.hang {
				t.Errorf("%s, cause %s\n%s", v.Outcome, v.Cause, transcript(&v))
			}
			checkWords(t, &v)
		})
	}
}

// TestToolWords: the first capture says what nobody can know yet, and which capture decides.
func TestToolWords(t *testing.T) {
	v := Diagnose(slowToolEvidence(m, 50*s).done(), nil)
	for _, want := range []string{"Cannot tell yet", "no call of append has returned so far in this run", "the capture after 240.0 s of the stall"} {
		if !strings.Contains(v.Summary, want) {
			t.Errorf("the summary lacks %q: %s", want, v.Summary)
		}
	}
	if len(v.Next) != 1 || !strings.Contains(v.Next[0], "tool-hang would be decided by the capture after 240.0 s") {
		t.Errorf("next: %q", v.Next)
	}
	last := slowToolEvidence(4*m, 100*s).done()
	v = Diagnose(last, nil)
	if !strings.Contains(v.Summary, "a capture after 320.0 s of the stall") || !strings.Contains(v.Summary, "watchdog.captures has none so late") {
		t.Errorf("nothing decides after the last capture: %s", v.Summary)
	}
}

// TestSlowToolKeepsItsSlot: with a slot for an agent's life, agents in a slow tool give theirs back.
func TestSlowToolKeepsItsSlot(t *testing.T) {
	b := stallOf("hold-2", 8, 4, 900*s, 2*m).returned("append", 20, 100*s)
	b.ev.Setup.Hold = "agent"
	o := b.object("semaphore", SlotObject, 4)
	for range 4 {
		a := b.newAgent(pacer.StageTool, 110*s)
		a.Tool = "append"
		b.hold(o, a.Name, a.Name+"-c001", 200*s)
	}
	v := Diagnose(b.slot(4, 2*m).done(), nil)
	if v.Outcome == Wedged || status(t, &v, CauseStarvation) != Supported {
		t.Errorf("%s, cause %s\n%s", v.Outcome, v.Cause, transcript(&v))
	}
}

// TestToolsThatWaitAreNoTools: what a tool waits for is judged, not the tool.
func TestToolsThatWaitAreNoTools(t *testing.T) {
	b := stallOf("tools", 2, 0, 900*s, 4*m).tool(2, "append", 300*s).returned("append", 9, s)
	b.ev.Objects = append(b.ev.Objects, sim.ObjectState{Kind: "semaphore", Name: "workspace.lock", Capacity: 1, InUse: 1, Holders: []sim.Party{{Name: "agent-01"}},
		Waiters: []sim.Party{{Name: "agent-02", Since: b.ago(300 * s)}}})
	r := newReading(b.done(), nil)
	if r.tools.n() != 1 || r.tools.count[toolHung] != 1 {
		t.Errorf("tools %+v", r.tools)
	}
}
