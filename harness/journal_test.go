package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// eventFields are the fields that an event always has, and those that it may have.
var eventFields = map[string]struct{ always, sometimes string }{
	"run_start":   {"run agents workers", ""},
	"task_start":  {"agent task", ""},
	"stage":       {"call stage from attempt", "agent task round step"},
	"attempt_end": {"call attempt id outcome took_s tokens", "limit status error again delay_s"},
	"call_end":    {"call ok attempts took_s tokens", "error"},
	"tool_end":    {"agent tool took_s in_range", "error"},
	"step_end":    {"agent round step", ""},
	"agent_end":   {"agent task ok", "parent error"},
	"stall":       {"episode capture stalled_for_s calls sent", ""},
	"stall_end":   {"episode stalled_for_s", ""},
	"run_end":     {"why agents_done agents_failed steps stalls", ""},
}

// checkEvents parses every line by itself and compares its fields with the schema. It returns how
// many lines there are of each event.
func checkEvents(t *testing.T, text string) map[string]int {
	t.Helper()
	counts, last := map[string]int{}, -1.0
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\n") {
			t.Fatalf("the last line is not whole: %q", line)
		}
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%v in line %q", err, line)
		}
		at, _ := fields["t_s"].(float64)
		event, _ := fields["event"].(string)
		schema, known := eventFields[event]
		if !known || at < last {
			t.Fatalf("unknown event or time that goes back in line %q", line)
		}
		last = at
		delete(fields, "t_s")
		delete(fields, "event")
		for _, name := range strings.Fields(schema.always) {
			if _, ok := fields[name]; !ok {
				t.Fatalf("no %s in line %q", name, line)
			}
			delete(fields, name)
		}
		for _, name := range strings.Fields(schema.sometimes) {
			delete(fields, name)
		}
		if len(fields) > 0 {
			t.Fatalf("unknown fields %v in line %q", fields, line)
		}
		counts[event]++
	}
	return counts
}

// TestEventsOfManyKinds runs a fleet in which everything that has an event happens.
func TestEventsOfManyKinds(t *testing.T) {
	c := newTiny()
	c.rounds = 2
	c.policy.Total, c.policy.MaxAttempts, c.policy.BackoffBase = 95*time.Second, 2, time.Second
	c.stuck = func(a *pacer.Attempt) bool { return strings.HasSuffix(a.ID, "a1") || a.Of.Agent == "agent-03" }
	c.dir = filepath.Join(t.TempDir(), "b")
	c.options.Watchdog.StallAfter = 30 * time.Second
	r := c.run(t, sim.NewVirtual(sim.VirtualOptions{Seed: 1}), context.Background())
	counts := checkEvents(t, read(t, c.dir, "events.jsonl"))
	for event := range eventFields {
		if counts[event] == 0 {
			t.Errorf("nothing was written about %s", event)
		}
	}
	tot := r.Totals
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"agents", tot.AgentsDone + tot.AgentsFailed, counts["agent_end"]},
		{"failed agents", tot.AgentsFailed, len(r.Failures)},
		{"steps", tot.Steps, counts["step_end"]},
		{"calls", tot.CallsCompleted + tot.CallsFailed, counts["call_end"]},
		{"attempts", tot.Attempts, counts["attempt_end"]},
		{"timeouts", tot.AttemptsTimeout, tot.Attempts - tot.CallsCompleted},
		{"tool calls", tot.ToolCalls, counts["tool_end"]},
		{"stalls", r.Stalls, counts["stall_end"]},
	} {
		if c.got != c.want || c.want == 0 {
			t.Errorf("%s: %d, the journal says %d", c.what, c.got, c.want)
		}
	}
	if tot.AgentsFailed != 1 || tot.TokensWasted == 0 || tot.TokensReceived <= tot.TokensWasted {
		t.Errorf("totals %+v", tot)
	}
}

// TestEveryPrefixIsWhole cuts the journal at each flush: what is on the disk then is whole lines.
func TestEveryPrefixIsWhole(t *testing.T) {
	var flushed []string
	out := &prefixes{flushed: &flushed}
	s := script{steps: [][]time.Duration{every(time.Second, time.Second, 100*time.Second)}}
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	s.journal = NewJournal(w, out)
	if _, err := s.run(t, w, context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(flushed) < 100 {
		t.Fatalf("%d lines", len(flushed))
	}
	for _, text := range flushed {
		checkEvents(t, text)
	}
}

// prefixes keeps what it held after every write, as a crash right then would leave it.
type prefixes struct {
	bytes.Buffer
	flushed *[]string
}

func (p *prefixes) Write(b []byte) (int, error) {
	n, err := p.Buffer.Write(b)
	*p.flushed = append(*p.flushed, p.Buffer.String())
	return n, err
}

func TestTextFromServersIsEscaped(t *testing.T) {
	var out bytes.Buffer
	w := sim.NewVirtual(sim.VirtualOptions{})
	l := NewLedger(w, NewJournal(w, &out))
	hostile := "a\"b\\c\nd\x1b[31m<script>\u009b\u2028\xff\x00 ü 漢 " + strings.Repeat("x", 1000)
	w.Lock()
	l.CallObserver().AttemptEnded(&pacer.CallState{ID: hostile}, pacer.AttemptResult{Outcome: pacer.AttemptStatus, Status: 500, Err: errors.New(hostile)})
	w.Unlock()
	line := out.String()
	if strings.Count(line, "\n") != 1 || strings.ContainsAny(line, "\x1b\x00<>") || strings.ContainsRune(line, '\u009b') || !utf8.ValidString(line) {
		t.Errorf("line %q", line)
	}
	var v struct{ Call, Error string }
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		t.Fatal(err)
	}
	want := strings.ToValidUTF8(hostile, "\ufffd")
	if v.Call != want || !strings.HasPrefix(want, strings.TrimSuffix(v.Error, "…")) || len(v.Error) > errorBytesMax+8 {
		t.Errorf("came back as %q, %q", v.Call, v.Error)
	}
}

func FuzzQuoted(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\", "\x00\x1f\x7f", "\xff\xfe", "ü\u0085\u2028\u2029", "<&>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := appendQuoted(nil, s)
		var back string
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		var want string
		std, _ := json.Marshal(s)
		_ = json.Unmarshal(std, &want)
		if back != want {
			t.Errorf("%q came back as %q, want %q", s, back, want)
		}
	})
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		ns   int64
		want string
	}{{0, "0.000000000"}, {1, "0.000000001"}, {12_345_678_901, "12.345678901"}, {-1_500_000_000, "-1.500000000"}, {9e18, "9000000000.000000000"}} {
		if got := string(appendSeconds(nil, c.ns)); got != c.want {
			t.Errorf("%d ns: %s, want %s", c.ns, got, c.want)
		}
	}
	for _, c := range []struct {
		v    float64
		want string
	}{{0, "0"}, {16, "16"}, {-3, "-3"}, {0.0625, "0.0625"}, {1e300, "1e+300"}, {1 << 60, "1.152921504606847e+18"}} {
		if got := string(appendNumber(nil, c.v)); got != c.want {
			t.Errorf("%v: %s, want %s", c.v, got, c.want)
		}
	}
}

// TestSecretsStayOut: a server that quotes the key in its error gets it into no file.
func TestSecretsStayOut(t *testing.T) {
	const key = "sk-0123456789abcdef"
	c := newTiny()
	c.secrets = []string{key}
	c.dir = filepath.Join(t.TempDir(), "b")
	c.options.Judge = func(now, _ *Evidence) any { return map[string]string{"summary": "the server says " + key} }
	c.run(t, sim.NewVirtual(sim.VirtualOptions{Seed: 1}), context.Background())
	if text := read(t, c.dir, "stalls/01/verdict.json"); strings.Contains(text, key) || !strings.Contains(text, "[redacted]") {
		t.Errorf("the verdict is %s", text)
	}
}

func newBenchLedger(log io.Writer) (*sim.Virtual, *Ledger, *agents.State, *pacer.CallState) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	var j *Journal
	if log != nil {
		j = NewJournal(w, log)
	}
	l := NewLedger(w, j)
	st := &agents.State{Name: "agent-07", Task: "task-07", Round: 3, Step: 2}
	for i := range 30 {
		l.add(&agents.State{Name: fmt.Sprintf("agent-x%d", i)})
	}
	l.add(st)
	call := &pacer.CallState{ID: "agent-07-c012", Agent: "agent-07", Task: "task-07", Round: 3, Step: 2, AttemptID: "agent-07-c012-a1", Attempts: 1}
	return w, l, st, call
}

// playStep plays the events of a step. All are a line each but for the last stage of the call.
func playStep(l *Ledger, st *agents.State, call *pacer.CallState) {
	calls, steps := l.CallObserver(), l.AgentObserver()
	from := pacer.StageThink
	for _, to := range []pacer.Stage{pacer.StageSlot, pacer.StageConnect, pacer.StageHeaders, pacer.StageFirstToken, pacer.StageStream} {
		call.Stage = to
		calls.StageChanged(call, from)
		from = to
	}
	calls.AttemptEnded(call, pacer.AttemptResult{ID: call.AttemptID, Outcome: pacer.AttemptOK, Took: 123456789, Tokens: 3456})
	call.Stage = pacer.StageDone
	calls.StageChanged(call, from)
	calls.CallEnded(call, 3456, nil)
	steps.ToolCalled(st, agents.ToolCall{Tool: "append", Took: 95e6, InRange: true})
	steps.StepDone(st)
}

const (
	linesPerStep  = 9
	eventsPerStep = 10
)

func TestEventsAllocateNothing(t *testing.T) {
	var log bytes.Buffer
	_, l, st, call := newBenchLedger(&log)
	playStep(l, st, call)
	if n := strings.Count(log.String(), "\n"); n != linesPerStep {
		t.Errorf("a step has %d lines", n)
	}
	_, l, st, call = newBenchLedger(io.Discard)
	playStep(l, st, call)
	if n := testing.AllocsPerRun(100, func() { playStep(l, st, call) }); n != 0 {
		t.Errorf("a step allocates %v times", n)
	}
	want := Totals{Steps: 102, CallsCompleted: 102, Attempts: 102, TokensReceived: 102 * 3456, ToolCalls: 102, Answered: 102, AttemptsOK: 102}
	if p := l.Progress(); p.Totals != want || p.Calls != 0 || p.Sent != 0 || slices.Max(p.ByStage[:]) != 0 {
		t.Errorf("%+v, want %+v", p, want)
	}
}

func BenchmarkLedger(b *testing.B) {
	_, l, st, call := newBenchLedger(nil)
	b.ReportAllocs()
	for b.Loop() {
		playStep(l, st, call)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/eventsPerStep, "ns/event")
}

func BenchmarkJournal(b *testing.B) {
	_, l, st, call := newBenchLedger(io.Discard)
	b.ReportAllocs()
	for b.Loop() {
		playStep(l, st, call)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/linesPerStep, "ns/line")
}
