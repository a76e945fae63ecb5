package telemetry

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	trace1 "go.opentelemetry.io/proto/otlp/trace/v1"

	"example.com/wedge/repro"
	"example.com/wedge/repro/series"
)

// sent runs a scenario with an exporter to the receiver, and returns the lines of its journal.
func sent(t *testing.T, to *receiver, name string, run repro.Options, sets ...string) ([]line, Stats) {
	t.Helper()
	s, err := repro.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range sets {
		path, value, _ := strings.Cut(set, "=")
		if err := s.Set(path, value); err != nil {
			t.Fatal(err)
		}
	}
	var meter *series.Meter
	var in repro.Inside
	run.Tap = func(i repro.Inside) repro.Tap {
		in, meter = i, series.NewMeter(i.World, series.Options{StallAfter: s.Watchdog.StallAfter})
		return repro.Tap{Calls: meter.CallObserver(), Agents: meter.AgentObserver()}
	}
	over := false
	e, err := New(Options{
		Endpoint: to.URL, Wait: run.Clock != repro.ClockWall, Scenario: s.Name, Seed: s.Seed, Clock: string(run.Clock), Scale: run.Scale, Version: "test", Model: s.Workflow.Model,
		Warn: func(text string) { t.Error(text) },
		Counts: func() (c series.Cumulative, ok bool) {
			if !over { // only at the end: whether a tick comes before depends on the machine
				return c, false
			}
			return meter.Snapshot(in.World.Now()), true
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	run.JournalTee, run.Out = e, filepath.Join(t.TempDir(), "bundle")
	if _, err := repro.Run(context.Background(), s, run); err != nil {
		t.Fatal(err)
	}
	over = true
	stats := e.Close()
	text, err := os.ReadFile(filepath.Join(run.Out, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []line
	for raw := range strings.Lines(string(text)) {
		var l line
		if err := json.Unmarshal([]byte(raw), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines, stats
}

// line is a line of the journal, as encoding/json reads it.
type line struct {
	T       float64 `json:"t_s"`
	Event   string
	Agent   string
	Task    string
	Call    string
	ID      string
	Tool    string
	Parent  string
	Outcome string
	Error   string
	Episode int
	Tokens  int64
	OK      bool
	Took    float64 `json:"took_s"`
	Stalled float64 `json:"stalled_for_s"`
}

// tree is what was received, by what the spans are of.
type tree struct {
	t    *testing.T
	by   map[string][]*trace1.Span
	name map[string]string // what the span with an id is of
	root *trace1.Span
	from float64 // when the run began, on its clock: on the wall that is not 0
}

func treeOf(t *testing.T, spans []*trace1.Span) *tree {
	t.Helper()
	out := &tree{t: t, by: map[string][]*trace1.Span{}, name: map[string]string{}}
	for _, s := range spans {
		a := attributes(s.Attributes)
		text := func(key string) string { v, _ := a[key].(string); return v }
		what := s.Name
		switch {
		case text("gen_ai.operation.name") == "invoke_workflow":
			what, out.root = "run", s
		case text("gen_ai.operation.name") == "invoke_agent":
			what = "task of " + text("gen_ai.agent.name")
		case text("gen_ai.operation.name") == "chat":
			what = "call " + text("wedge.call.id")
		case text("gen_ai.operation.name") == "execute_tool":
			what = text("gen_ai.tool.name") + " of " + text("gen_ai.agent.name")
		case strings.HasPrefix(s.Name, "attempt "):
			what = "attempt " + text("wedge.request.id")
		}
		id := string(s.SpanId)
		if out.name[id] != "" {
			t.Errorf("two spans with one id: %s and %s", out.name[id], what)
		}
		out.name[id] = what
		out.by[what] = append(out.by[what], s)
	}
	if out.root == nil {
		t.Fatal("there is no span of the run")
	}
	for _, s := range spans {
		if string(s.TraceId) != string(out.root.TraceId) {
			t.Errorf("%s is in another trace", s.Name)
		}
		if s != out.root && out.name[string(s.ParentSpanId)] == "" {
			t.Errorf("%s has a parent that was not sent", s.Name)
		}
	}
	return out
}

// has says that there was something from one instant to another, in seconds of the run's clock, within another span.
func (x *tree) has(what, parent string, from, to float64) *trace1.Span {
	x.t.Helper()
	const millisecond = 1e-3
	for _, s := range x.by[what] {
		start := x.from + float64(int64(s.StartTimeUnixNano-x.root.StartTimeUnixNano))/1e9
		took := float64(s.EndTimeUnixNano-s.StartTimeUnixNano) / 1e9
		if math.Abs(start-from) < millisecond && math.Abs(took-(to-from)) < millisecond {
			if got := x.name[string(s.ParentSpanId)]; got != parent {
				x.t.Errorf("%s is within %q, want %q", what, got, parent)
			}
			return s
		}
	}
	x.t.Errorf("%s from %v s to %v s: there are %d of the name, and none then", what, from, to, len(x.by[what]))
	return &trace1.Span{}
}

func TestSpansAgreeWithTheJournal(t *testing.T) {
	for _, c := range []struct {
		name string
		run  repro.Options
		sets []string
	}{
		{"starvation", repro.Options{}, nil},
		{"lost-wakeup", repro.Options{}, nil},
		{"retry-storm", repro.Options{}, []string{"fleet.agents=6"}},
		{"silent-stream", repro.Options{}, nil},
		{"starvation", repro.Options{Clock: repro.ClockWall, Scale: 600}, []string{"fleet.agents=6", "pacer.slots=3", "workflow.rounds=1"}},
	} {
		t.Run(strings.Join(append([]string{c.name, string(c.run.Clock)}, c.sets...), " "), func(t *testing.T) {
			to := receive(t)
			lines, stats := sent(t, to, c.name, c.run, c.sets...)
			if stats.Err != nil || stats.SpansLost != 0 || stats.LinesDropped != 0 || stats.Spans != len(to.spans) {
				t.Errorf("%+v, with %d spans received", stats, len(to.spans))
			}
			checkSpans(t, treeOf(t, to.spans), lines)
			checkNames(t, to)
			if to.resource["service.name"] != "wedge" || to.resource["service.version"] != "test" || to.resource["wedge.scenario"] != c.name {
				t.Errorf("the resource is %v", to.resource)
			}
		})
	}
}

// checkSpans holds the spans against the lines: each thing once, when it was, within what it belongs to.
func checkSpans(t *testing.T, x *tree, lines []line) {
	t.Helper()
	x.from = lines[0].T
	owner, tasks, checked := map[string]string{}, map[string]float64{}, map[string]int{}
	for _, l := range lines {
		checked[l.Event]++
		switch l.Event {
		case "stage":
			if l.Agent != "" {
				owner[l.Call] = l.Agent
			}
		case "task_start":
			tasks[l.Agent] = l.T
		case "call_end":
			s := x.has("call "+l.Call, "task of "+owner[l.Call], l.T-l.Took, l.T)
			checkOutcome(t, s, l, attributes(s.Attributes)["gen_ai.usage.output_tokens"])
		case "attempt_end":
			s := x.has("attempt "+l.ID, "call "+l.Call, l.T-l.Took, l.T)
			if got := attributes(s.Attributes)["wedge.attempt.outcome"]; got != l.Outcome {
				t.Errorf("attempt %s: outcome %v, want %s", l.ID, got, l.Outcome)
			}
		case "tool_end":
			x.has(l.Tool+" of "+l.Agent, "task of "+l.Agent, l.T-l.Took, l.T)
		case "agent_end":
			if l.Parent == "" {
				x.has("task of "+l.Agent, "run", tasks[l.Agent], l.T)
			} else if s := x.by["task of "+l.Agent]; len(s) != 1 || x.name[string(s[0].ParentSpanId)] != "task of "+l.Parent {
				t.Errorf("the task of %s is not once within that of %s", l.Agent, l.Parent)
			}
		case "stall_end":
			x.has("stall "+itoa(l.Episode), "run", l.T-l.Stalled, l.T)
		case "run_end":
			x.has("run", "", x.from, l.T)
		}
	}
	if checked["call_end"] < 20 || checked["attempt_end"] < 20 || checked["run_end"] != 1 {
		t.Errorf("there was little to check: %v", checked)
	}
}

func itoa(n int) string { text, _ := json.Marshal(n); return string(text) }

// checkOutcome: a call that failed says so, and one that did not tells its tokens.
func checkOutcome(t *testing.T, s *trace1.Span, l line, tokens any) {
	t.Helper()
	failed := s.Status.GetCode() == trace1.Status_STATUS_CODE_ERROR
	errType, _ := attributes(s.Attributes)["error.type"].(string)
	if failed == l.OK || (errType == "") == failed || failed && s.Status.Message != l.Error {
		t.Errorf("call %s: status %v, error.type %q, want ok: %v, %q", l.Call, s.Status, errType, l.OK, l.Error)
	}
	if l.OK && tokens != l.Tokens {
		t.Errorf("call %s: %v tokens, want %d", l.Call, tokens, l.Tokens)
	}
}

// conventions are the names of the semantic conventions for generative AI that exist, and those of the general ones
// that spans of this kind may have.
var conventions = strings.Fields(`
	gen_ai.operation.name gen_ai.provider.name gen_ai.agent.id gen_ai.agent.name gen_ai.agent.version gen_ai.workflow.name gen_ai.conversation.id
	gen_ai.request.model gen_ai.request.max_tokens gen_ai.request.seed gen_ai.request.stream gen_ai.request.temperature
	gen_ai.response.id gen_ai.response.model gen_ai.response.finish_reasons gen_ai.response.time_to_first_chunk
	gen_ai.usage.input_tokens gen_ai.usage.output_tokens gen_ai.usage.cache_read.input_tokens gen_ai.usage.cache_creation.input_tokens
	gen_ai.usage.reasoning.output_tokens gen_ai.token.type gen_ai.tool.name gen_ai.tool.type gen_ai.tool.call.id
	error.type server.address server.port http.response.status_code
	gen_ai.client.operation.duration gen_ai.client.operation.time_to_first_chunk gen_ai.client.operation.time_per_output_chunk
	gen_ai.client.token.usage gen_ai.server.request.duration gen_ai.server.time_to_first_token gen_ai.server.time_per_output_token
	gen_ai.workflow.duration gen_ai.invoke_agent.duration gen_ai.execute_tool.duration`)

// operations are the values of gen_ai.operation.name.
var operations = strings.Fields("invoke_workflow invoke_agent plan chat execute_tool")

// checkNames: a name is the convention's, or begins with wedge.
func checkNames(t *testing.T, to *receiver) {
	t.Helper()
	bad := map[string]bool{}
	check := func(name string) {
		if !strings.HasPrefix(name, "wedge.") && !slices.Contains(conventions, name) {
			bad[name] = true
		}
	}
	seen := map[string]bool{}
	for _, s := range to.spans {
		for key, v := range attributes(s.Attributes) {
			check(key)
			if key == "gen_ai.operation.name" {
				seen[v.(string)] = true
				if !slices.Contains(operations, v.(string)) {
					t.Errorf("operation %v", v)
				}
				if !strings.HasPrefix(s.Name, v.(string)) {
					t.Errorf("a span of operation %v is called %s", v, s.Name)
				}
			}
		}
		for _, e := range s.Events {
			check(e.Name)
		}
	}
	for name, m := range to.metrics {
		check(name)
		for _, d := range m.GetHistogram().GetDataPoints() {
			for key := range attributes(d.Attributes) {
				check(key)
			}
		}
		for _, d := range slices.Concat(m.GetSum().GetDataPoints(), m.GetGauge().GetDataPoints()) {
			for key := range attributes(d.Attributes) {
				check(key)
			}
		}
	}
	if len(bad) > 0 {
		t.Errorf("names of nobody: %v", bad)
	}
	for _, want := range []string{"invoke_workflow", "invoke_agent", "chat", "execute_tool"} {
		if !seen[want] {
			t.Errorf("no span of operation %s", want)
		}
	}
}

func TestMetricsAgreeWithTheJournal(t *testing.T) {
	to := receive(t)
	lines, _ := sent(t, to, "starvation", repro.Options{}, "fleet.agents=8", "pacer.slots=4")
	var calls, sum, tokens float64
	for _, l := range lines {
		if l.Event == "call_end" && l.OK {
			calls++
			sum += l.Took
			tokens += float64(l.Tokens)
		}
	}
	point := to.metrics["gen_ai.client.operation.duration"].GetHistogram().GetDataPoints()
	if len(point) != 1 || float64(point[0].Count) != calls || math.Abs(point[0].GetSum()-sum) > 1e-3 {
		t.Errorf("gen_ai.client.operation.duration is %v, want %v calls of %v s", point, calls, sum)
	}
	if bounds := point[0].ExplicitBounds; len(bounds) < 14 || bounds[0] != 0.01 || bounds[13] != 81.92 {
		t.Errorf("bounds are %v", bounds)
	}
	if got := to.metrics["gen_ai.client.operation.duration"].Unit; got != "s" {
		t.Errorf("its unit is %s", got)
	}
	var output float64
	for _, p := range to.metrics["gen_ai.client.token.usage"].GetHistogram().GetDataPoints() {
		if attributes(p.Attributes)["gen_ai.token.type"] == "output" {
			output = p.GetSum()
		}
	}
	if output != tokens {
		t.Errorf("%v tokens of output, want %v", output, tokens)
	}
	for _, name := range []string{"gen_ai.client.operation.time_to_first_chunk", "gen_ai.invoke_agent.duration", "gen_ai.execute_tool.duration",
		"wedge.pacer.wait.duration", "wedge.attempts", "wedge.calls.in_flight", "wedge.stalls"} {
		if to.metrics[name] == nil {
			t.Errorf("no metric %s", name)
		}
	}
}
