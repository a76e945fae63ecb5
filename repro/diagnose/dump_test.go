package diagnose

import (
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/pacer"
)

// dumpOf adds a goroutine dump's findings to evidence. before is how much earlier the dump was that it is
// compared with; 0: there is none.
func (b *builder) dumpOf(outcome string, before time.Duration, findings ...harness.WaitsFinding) *builder {
	v := &harness.WaitsView{Outcome: outcome, Reason: "so it seems", Decided: "locks", Over: before, Findings: findings}
	b.ev.Goroutines = &harness.GoroutineView{Total: 40, SameStack: -1, Waits: v}
	return b
}

// idle adds n agents in a stage between calls, and returns their names.
func (b *builder) idle(n int, stage pacer.Stage, since time.Duration) (names []string) {
	for range n {
		names = append(names, b.newAgent(stage, since).Name)
	}
	return names
}

// shown is a finding of goroutines that have all stayed and of which all are stuck.
func shown(class string, confidence float64, agents []string) harness.WaitsFinding {
	n := len(agents)
	return harness.WaitsFinding{
		Class: class, Members: n, Still: n, Stuck: n, Agents: agents, AgentsIn: n, Confidence: confidence,
		Text: "the sentence of " + class, Because: "the reason", Places: []string{"main.save save.go:12"},
	}
}

// TestDump: what the goroutines wait for explains a stall that no mark explains, and only with what the dump
// itself is sure of.
func TestDump(t *testing.T) {
	type change func(*harness.WaitsFinding)
	moved := func(f *harness.WaitsFinding) { f.Still = 0 }
	loose := func(f *harness.WaitsFinding) { f.Stuck = 0 }
	symptom := func(f *harness.WaitsFinding) { f.Symptom = true }
	nobody := func(f *harness.WaitsFinding) { f.Agents, f.AgentsIn = nil, 0 }
	for _, c := range []struct {
		name    string
		stage   pacer.Stage
		since   time.Duration
		outcome string // of the dump
		before  time.Duration
		class   string // of the finding; empty: there is none
		sure    float64
		change  change // nil: none
		want    string // outcome, layer, cause
		text    string // in the summary, or in what speaks for the cause
	}{
		{"AB-BA, proven", pacer.StageThink, 90 * time.Second, "deadlocked", time.Minute, "ab-ba", 0.8, nil, "deadlocked harness lock-order", "the sentence of ab-ba; inferred with 80 %"},
		{"AB-BA, of whom somebody may wake them", pacer.StageThink, 90 * time.Second, "wedged", time.Minute, "ab-ba", 0.5, nil, "wedged harness lock-order", "inferred with 50 %"},
		{"AB-BA within a tool", pacer.StageTool, 10 * time.Minute, "deadlocked", time.Minute, "ab-ba", 0.8, nil, "deadlocked harness lock-order", "take the locks in one order"},
		{"one dump, nobody left", pacer.StageThink, 90 * time.Second, "deadlocked", 0, "double-lock", 0.7, nil, "deadlocked harness lock-order", "read main.save save.go:12"},
		{"one dump, somebody goes on", pacer.StageThink, 90 * time.Second, "unknown", 0, "ab-ba", 0.25, loose, "slow none none", "The goroutine dump shows, with 25 %: the sentence of ab-ba"},
		{"unsure", pacer.StageThink, 90 * time.Second, "wedged", time.Minute, "rw-recursive", 0.25, nil, "slow none none", "with 25 %"},
		{"it moved", pacer.StageThink, 90 * time.Second, "slow", time.Minute, "ab-ba", 0.5, moved, "slow none none", ""},
		{"a symptom", pacer.StageThink, 90 * time.Second, "wedged", time.Minute, "ab-ba", 0.8, symptom, "slow none none", ""},
		{"goroutines of nobody", pacer.StageThink, 90 * time.Second, "deadlocked", time.Minute, "ab-ba", 0.8, nobody, "slow none none", ""},
		{"an idle pool", pacer.StageThink, 90 * time.Second, "idle", time.Minute, "", 0, nil, "slow none none", ""},
		{"a program that goes on", pacer.StageThink, 90 * time.Second, "slow", time.Minute, "receive-no-sender", 0.35, moved, "slow none none", ""},
		{"slots leaked", pacer.StageThink, 90 * time.Second, "wedged", time.Minute, "slot-leaked", 0.5, nil, "wedged pacer slot-leak", "nobody is seen to have one"},
		{"slots nested", pacer.StageThink, 90 * time.Second, "deadlocked", time.Minute, "slot-nested", 0.6, nil, "deadlocked pacer nested-slot", "inferred with 60 %"},
		{"slots taken by some that go on", pacer.StageThink, 90 * time.Second, "starved", time.Minute, "slot-exhausted", 0.6, loose, "starved pacer starvation", "slots come back if"},
		{"a lock over a call", pacer.StageTool, 90 * time.Second, "starved", time.Minute, "lock-over-call", 0.8, loose, "starved harness lock-over-call", "before the call"},
		{"a child for a minute", pacer.StageThink, 70 * time.Second, "unknown", 10 * time.Second, "exec-wait", 0.3, loose, "slow tool unknown", "a child process"},
		{"a child for ten minutes", pacer.StageThink, 10 * time.Minute, "unknown", time.Minute, "exec-wait", 0.3, loose, "wedged tool tool-hang", "the sentence of exec-wait; inferred with 30 %"},
		{"a full pipe for ten minutes", pacer.StageTool, 10 * time.Minute, "unknown", time.Minute, "pipe-full", 0.3, loose, "wedged tool pipe-full", "the sentence of pipe-full"},
		{"a send that nobody takes, in a tool", pacer.StageTool, 90 * time.Second, "wedged", time.Minute, "send-no-receiver", 0.7, nil, "slow tool unknown", "in a tool"},
		{"a condition of nobody, in a tool for long", pacer.StageTool, 10 * time.Minute, "wedged", time.Minute, "cond", 0.7, nil, "wedged tool tool-hang", "has not returned"},
		{"a send that nobody takes", pacer.StageThink, 90 * time.Second, "wedged", time.Minute, "send-no-receiver", 0.7, nil, "wedged harness unknown", "Cannot tell the mechanism; the dump shows: the sentence of send-no-receiver; inferred with 70 %"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := stallOf("dump", 4, 0, 20*time.Minute, max(61*time.Second, c.since))
			agents := b.idle(4, c.stage, c.since)
			b.dumpOf(c.outcome, c.before)
			if c.class != "" {
				f := shown(c.class, c.sure, agents)
				if c.change != nil {
					c.change(&f)
				}
				b.dumpOf(c.outcome, c.before, f)
			}
			v := Diagnose(&b.ev, nil)
			if got := strings.Join([]string{string(v.Outcome), string(v.Layer), string(v.Cause)}, " "); got != c.want {
				t.Errorf("%s, want %s\n%s", got, c.want, v.Summary)
			}
			said := v.Summary + "\n" + strings.Join(v.Next, "\n") + "\n" + strings.Join(v.Hypotheses[0].For, "\n")
			if !strings.Contains(said, c.text) {
				t.Errorf("no %q in\n%s", c.text, said)
			}
			if c.outcome != "deadlocked" && v.Outcome == Deadlocked {
				t.Error("it is called a deadlock, and the dump does not")
			}
		})
	}
}

// TestDumpBesideMarks: what the marks show is not called into question by a dump that agrees, and one that does
// not agree is an observation.
func TestDumpBesideMarks(t *testing.T) {
	b := stallOf("starved", 12, 4, 10*time.Minute, 2*time.Minute).stream(4, 3*time.Minute, time.Second).slot(8, 2*time.Minute)
	var agents []string
	for i := range b.ev.Agents {
		agents = append(agents, b.ev.Agents[i].Name)
	}
	plain := Diagnose(&b.ev, nil)
	for class, cause := range map[string]Cause{"slot-exhausted": CauseStarvation, "slot-leaked": CauseSlotLeak, "ab-ba": CauseLockOrder} {
		b.dumpOf("deadlocked", time.Minute, shown(class, 0.9, agents))
		v := Diagnose(&b.ev, nil)
		if v.Outcome != plain.Outcome || v.Cause != plain.Cause || v.Cause != CauseStarvation {
			t.Errorf("%s: %s %s, want %s %s\n%s", class, v.Outcome, v.Cause, plain.Outcome, plain.Cause, v.Summary)
		}
		for _, h := range v.Hypotheses {
			if h.Cause == cause && !strings.Contains(strings.Join(h.For, "\n"), "goroutine dump: the sentence of "+class) {
				t.Errorf("%s: the dump does not speak for %s: %q", class, cause, h.For)
			}
		}
	}
}
