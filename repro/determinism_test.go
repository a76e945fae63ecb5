package repro_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"example.com/wedge/repro"
)

// virtualRun runs a scenario in virtual time with its bundle and returns what must be equal for equal
// runs.
func virtualRun(t *testing.T, s *repro.Scenario, o repro.Options) (result *repro.Result, document, events []byte) {
	t.Helper()
	o.Out = filepath.Join(t.TempDir(), "bundle")
	r, err := repro.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Document()
	d.EvidenceDir = ""
	document, err = json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	events, err = os.ReadFile(filepath.Join(o.Out, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return r, document, events
}

func TestSameSeedSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, name := range catalogue() {
		var first *repro.Result
		var document, events []byte
		for _, cores := range []int{1, 2, 2} {
			runtime.GOMAXPROCS(cores)
			r, d, e := virtualRun(t, lookup(t, name), repro.Options{Dumps: true})
			if first == nil {
				first, document, events = r, d, e
				continue
			}
			if r.TraceHash != first.TraceHash {
				t.Errorf("%s, GOMAXPROCS %d: trace hash %s, want %s", name, cores, r.TraceHash, first.TraceHash)
			}
			if !bytes.Equal(d, document) {
				t.Errorf("%s, GOMAXPROCS %d: the verdict differs:\n%s\n%s", name, cores, d, document)
			}
			if !bytes.Equal(e, events) {
				t.Errorf("%s, GOMAXPROCS %d: events.jsonl differs at %s", name, cores, firstDifference(e, events))
			}
		}
	}
}

func firstDifference(a, b []byte) string {
	as, bs := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(as), len(bs)) {
		if !bytes.Equal(as[i], bs[i]) {
			return string(as[i]) + " / " + string(bs[i])
		}
	}
	return "its end"
}

func TestOtherSeedOtherRun(t *testing.T) {
	s := lookup(t, "starvation")
	a, _, _ := virtualRun(t, s, repro.Options{})
	s.Seed = 2
	if b, _, _ := virtualRun(t, s, repro.Options{}); a.TraceHash == b.TraceHash {
		t.Errorf("seeds 1 and 2 give the same trace %s", a.TraceHash)
	}
}

// drawn is what the world drew for a run: what must not depend on the policy.
type drawn struct {
	Tokens map[string]int     // output tokens of a call
	Tools  map[string]float64 // seconds that the n-th tool call of an agent took
	Faulty map[string]bool    // attempts that a fault ended
}

func drawsOf(t *testing.T, events []byte) drawn {
	t.Helper()
	d := drawn{map[string]int{}, map[string]float64{}, map[string]bool{}}
	tools := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(events))
	for lines.Scan() {
		var e struct {
			Event, Call, ID, Agent, Outcome string
			OK                              bool
			Tokens                          int
			Took                            float64 `json:"took_s"`
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", lines.Bytes(), err)
		}
		switch e.Event {
		case "call_end":
			if e.OK {
				d.Tokens[e.Call] = e.Tokens
			}
		case "tool_end":
			tools[e.Agent]++
			d.Tools[e.Agent+"#"+string(rune('0'+tools[e.Agent]))] = e.Took
		case "attempt_end":
			d.Faulty[e.ID] = e.Outcome == "status"
		}
	}
	return d
}

// TestPolicyLeavesTheWorldAsItWas runs one seed under policies and pacers that differ, and compares
// the sizes, tool times and faults of all that happened in both.
func TestPolicyLeavesTheWorldAsItWas(t *testing.T) {
	base := []string{"horizon=40m", "faults.error.probability=0.2", "faults.leak.probability=0.001"}
	var want drawn
	for i, sets := range [][]string{
		nil,
		{"policy.idle=60s", "policy.total=10m"},
		{"pacer.slots=30", "policy.backoff_base=5s", "policy.jitter=none"},
		{"pacer.slots=8", "pacer.hold=start", "pacer.requests_per_second=0.5"},
		{"fleet.agents=31"}, // another agent changes nothing for the others either
	} {
		_, _, events := virtualRun(t, lookup(t, "slot-leak", append(sets, base...)...), repro.Options{})
		got := drawsOf(t, events)
		if i == 0 {
			want = got
			continue
		}
		compareDraws(t, sets, got, want)
	}
}

func compareDraws(t *testing.T, sets []string, got, want drawn) {
	t.Helper()
	common := 0
	for id, tokens := range got.Tokens {
		if w, ok := want.Tokens[id]; ok {
			common++
			if w != tokens {
				t.Errorf("%v: call %s has %d tokens, %d without", sets, id, tokens, w)
			}
		}
	}
	for id, took := range got.Tools {
		if w, ok := want.Tools[id]; ok && w != took {
			t.Errorf("%v: tool call %s took %v s, %v s without", sets, id, took, w)
		}
	}
	faults := 0
	for id, faulty := range got.Faulty {
		if w, ok := want.Faulty[id]; ok {
			if w {
				faults++
			}
			if w != faulty {
				t.Errorf("%v: attempt %s met a fault: %v, %v without", sets, id, faulty, w)
			}
		}
	}
	if common < 20 || faults < 3 {
		t.Errorf("%v: %d calls and %d faults in common: too few to show anything", sets, common, faults)
	}
}
