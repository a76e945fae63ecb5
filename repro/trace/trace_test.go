package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/wedge/harness/bundle"
	"example.com/wedge/repro"
)

// ran runs a scenario with some settings, and returns its bundle.
func ran(t *testing.T, name string, o repro.Options, sets ...string) fs.FS {
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
	o.Out = filepath.Join(t.TempDir(), "bundle")
	if _, err := repro.Run(context.Background(), s, o); err != nil {
		t.Fatal(err)
	}
	return os.DirFS(o.Out)
}

func written(t *testing.T, fsys fs.FS, o Options) ([]byte, *traceFile) {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, fsys, o); err != nil {
		t.Fatal(err)
	}
	f, err := parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range checkSchema(f) {
		t.Error(p)
	}
	return b.Bytes(), f
}

// line is a line of the journal, as encoding/json reads it.
type line struct {
	T       float64 `json:"t_s"`
	Event   string
	Agent   string
	Task    string
	Call    string
	Stage   string
	From    string
	ID      string
	Tool    string
	Parent  string
	Outcome string
	Attempt int
	Episode int
	Took    float64 `json:"took_s"`
	Stalled float64 `json:"stalled_for_s"`
	Hedge   bool
	Beside  bool
}

func journal(t *testing.T, fsys fs.FS) []line {
	t.Helper()
	text, err := fs.ReadFile(fsys, bundle.EventsLog)
	if err != nil {
		t.Fatal(err)
	}
	var out []line
	for raw := range strings.Lines(string(text)) {
		var l line
		if err := json.Unmarshal([]byte(raw), &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

// runs are those that the trace of which is looked at closely.
var runs = []struct {
	name string
	o    repro.Options
	sets []string
}{
	{"starvation", repro.Options{}, nil},
	{"silent-stream", repro.Options{}, nil},
	{"retry-storm", repro.Options{}, []string{"fleet.agents=8"}},
	{"lost-wakeup", repro.Options{}, nil},
	{"starvation", repro.Options{}, []string{
		"fleet.agents=4", "policy.hedge.after=60s", "policy.hedge.on=answer", "policy.hedge.share=0.9", "policy.total=150s", "policy.max_attempts=2",
	}},
	{"starvation", repro.Options{Clock: repro.ClockWall, Scale: 600}, []string{"fleet.agents=6", "pacer.slots=3", "workflow.rounds=1"}},
}

func TestTracesFollowTheFormat(t *testing.T) {
	for _, r := range runs {
		t.Run(strings.Join(append([]string{r.name, string(r.o.Clock)}, r.sets...), " "), func(t *testing.T) {
			fsys := ran(t, r.name, r.o, r.sets...)
			_, f := written(t, fsys, Options{})
			lines := journal(t, fsys)
			checkTracks(t, f, lines)
			checkTimes(t, f, lines, r.o.Clock != repro.ClockWall)
		})
	}
}

// checkTracks: the agents' process has a track for each agent, and no other.
func checkTracks(t *testing.T, f *traceFile, lines []line) {
	t.Helper()
	want := map[string]bool{}
	for _, l := range lines {
		if l.Agent != "" {
			want[l.Agent] = true
		}
	}
	var got []string
	for _, e := range f.TraceEvents {
		if e.Ph == "M" && e.Name == "thread_name" && *e.Pid == pidAgents {
			got = append(got, e.Args["name"].(string))
		}
	}
	for _, name := range got {
		if !want[name] {
			t.Errorf("a track for %s, who is no agent", name)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("no track for %v", want)
	}
}

// span is from when to when something was, in seconds.
type span [2]float64

// spansOf collects the slices of agents and the asynchronous ones, by what they are.
func spansOf(f *traceFile) map[string][]span {
	spans := map[string][]span{}
	names := map[track]string{}     // of tracks
	begun := map[string]float64{}   // by what has begun
	requests := map[string]string{} // x-request-ids of attempts apart from their tracks
	for _, e := range f.TraceEvents {
		if e.Ph == "M" && e.Name == "thread_name" {
			names[e.track()] = e.Args["name"].(string)
		}
		if *e.Pid == pidServers {
			continue
		}
		at, name := float64(*e.TS)/1e6, names[e.track()]
		request, _ := e.Args["id"].(string)
		pair, _ := e.ID.(string)
		key, from := "", at
		switch {
		case e.Ph == "X" && e.Name == "call":
			key = "call " + request
		case e.Ph == "X" && strings.HasPrefix(e.Name, "attempt "):
			key = "attempt " + request
		case e.Ph == "X":
			key = name + " " + e.Name
		case e.Ph == "B":
			begun[name] = at
		case e.Ph == "E":
			key, from = "task of "+name, begun[name]
		case e.Ph == "b":
			begun[pair], requests[pair] = at, request
		case e.Ph == "e" && e.Cat == "attempt":
			key, from = "attempt "+requests[pair], begun[pair]
		case e.Ph == "e":
			key, from = pair, begun[pair]
		}
		if e.Dur != nil {
			at += float64(*e.Dur) / 1e6
		}
		if key != "" {
			spans[key] = append(spans[key], span{from, at})
		}
	}
	return spans
}

// checkTimes: each call, attempt, tool, stall, task and stage is in the trace where the journal has it, to a
// millisecond. Lines of stages are exact in virtual time only: on the wall they are written a moment later than
// the attempt begins.
func checkTimes(t *testing.T, f *traceFile, lines []line, exact bool) {
	t.Helper()
	spans := spansOf(f)
	checked := map[string]int{}
	has := func(key string, from, to float64) {
		t.Helper()
		const millisecond = 0.001
		checked[strings.Fields(key)[0]]++
		if !slices.ContainsFunc(spans[key], func(s span) bool { return math.Abs(s[0]-from) < millisecond && math.Abs(s[1]-to) < millisecond }) {
			t.Errorf("%s from %v s to %v s: the trace has %v", key, from, to, spans[key])
		}
	}
	tasks, stages, owner := map[string]float64{}, map[string]line{}, map[string]string{}
	leave := func(call string, at float64) {
		if was, ok := stages[call]; ok && exact && at-was.T > 1e-6 {
			has(owner[call]+" "+was.Stage, was.T, at)
			checked["stage"]++
		}
	}
	for _, l := range lines {
		switch l.Event {
		case "stage":
			if l.Agent != "" {
				owner[l.Call] = l.Agent
			}
			leave(l.Call, l.T)
			stages[l.Call] = l
		case "call_end":
			has("call "+l.Call, l.T-l.Took, l.T)
			leave(l.Call, l.T)
			delete(stages, l.Call)
		case "attempt_end":
			has("attempt "+l.ID, l.T-l.Took, l.T)
		case "tool_end":
			has(l.Agent+" "+l.Tool, l.T-l.Took, l.T)
		case "task_start":
			tasks[l.Agent] = l.T
		case "agent_end":
			if l.Parent == "" {
				has("task of "+l.Agent, tasks[l.Agent], l.T)
			}
		case "stall_end":
			has("stall-"+strconv.Itoa(l.Episode), l.T-l.Stalled, l.T)
		}
	}
	if checked["call"] == 0 || checked["attempt"] == 0 || exact && checked["stage"] == 0 {
		t.Errorf("there was little to check: %v", checked)
	}
}

func TestSmallFastAndTheSameEachTime(t *testing.T) {
	fsys := ran(t, "starvation", repro.Options{})
	first, f := written(t, fsys, Options{})
	if again, _ := written(t, ran(t, "starvation", repro.Options{}), Options{}); !bytes.Equal(first, again) {
		t.Error("another run of the same seed has another trace")
	}
	const most = 3 << 20
	if len(first) > most {
		t.Errorf("the trace has %d bytes, want at most %d", len(first), most)
	}
	if f.OtherData["coverage"] != "the whole run" || f.OtherData["run"] != "starvation-1" {
		t.Errorf("it says of itself: %v", f.OtherData)
	}
	flows, slices := 0, map[string]int{}
	for _, e := range f.TraceEvents {
		switch e.Ph {
		case "f":
			flows++
		case "X":
			slices[e.Cat]++
		}
	}
	if slices["call"] != 600 || slices["attempt"] != 600 || slices["tool"] != 600 || slices["stage"] < 1200 || slices["request"] != 600 {
		t.Errorf("slices by category: %v", slices)
	}
	if flows < 500 {
		t.Errorf("%d arrows lead to the router, want one from almost each attempt", flows)
	}
}

// TestTracksOfServers holds the tracks and counters of the servers against samples.jsonl: at each sample, a
// stage's slice and its counter have its value.
func TestTracksOfServers(t *testing.T) {
	fsys := ran(t, "starvation", repro.Options{}, "fleet.agents=8", "pacer.slots=4")
	_, f := written(t, fsys, Options{})
	text, err := fs.ReadFile(fsys, bundle.SamplesLog)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]int{}
	for _, e := range f.TraceEvents {
		if e.Ph == "M" && e.Name == "thread_name" && *e.Pid == pidServers {
			names[e.Args["name"].(string)] = *e.Tid
		}
	}
	for _, stage := range serverStages {
		if names[stage] == 0 {
			t.Errorf("no track for stage %s", stage)
		}
	}
	checked := 0
	for raw := range strings.Lines(string(text)) {
		var s struct {
			T      float64 `json:"t_s"`
			Gauges map[string]float64
		}
		if err := json.Unmarshal([]byte(raw), &s); err != nil {
			t.Fatal(err)
		}
		at := int64(s.T * 1e6)
		for name, v := range s.Gauges {
			if strings.HasSuffix(name, "_total") {
				continue
			}
			if got := counterAt(f, name, at); math.Abs(got-v) > 1e-5 {
				t.Errorf("%s is %v at %v s, want %v", name, got, s.T, v)
			}
			if tid := names[name]; tid != 0 {
				checked++
				if got := sliceAt(f, tid, at); got != v && at < *f.TraceEvents[len(f.TraceEvents)-1].TS {
					t.Errorf("track %s has %v at %v s, want %v", name, got, s.T, v)
				}
			}
		}
		if checked > 2000 {
			break
		}
	}
	if checked < 500 {
		t.Errorf("only %d values were looked at", checked)
	}
}

func counterAt(f *traceFile, name string, at int64) float64 {
	v := math.NaN()
	for _, e := range f.TraceEvents {
		if e.Ph == "C" && e.Name == name && *e.TS <= at {
			v = e.Args["value"].(float64)
		}
	}
	return v
}

func sliceAt(f *traceFile, tid int, at int64) float64 {
	for _, e := range f.TraceEvents {
		if e.Ph == "X" && *e.Pid == pidServers && *e.Tid == tid && *e.TS <= at && at < e.end() {
			v, _ := strconv.ParseFloat(e.Name, 64)
			return v
		}
	}
	return 0
}

func BenchmarkWrite(b *testing.B) {
	s, err := repro.Lookup("starvation")
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(b.TempDir(), "bundle")
	if _, err := repro.Run(context.Background(), s, repro.Options{Out: dir}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := Write(io.Discard, os.DirFS(dir), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
