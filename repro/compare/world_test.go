package compare_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"example.com/wedge/repro"
	"example.com/wedge/repro/compare"
)

// TestWorldIsTheSameUnderEveryPolicy compares what the world drew: the length of each answer, by call; how
// long each tool took, by agent and number; and in which agents' streams the fault of silent-stream
// struck. Runs go different ways after the first retry, but wherever both come by, they see the same.
func TestWorldIsTheSameUnderEveryPolicy(t *testing.T) {
	skipShort(t)
	s, err := repro.Lookup("silent-stream")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Set("faults.silence.probability", "0.5"); err != nil {
		t.Fatal(err)
	}
	var first map[string]string
	names := append(compare.DefaultPolicies(), "total-60s", "hedge-30s", "open: {preset: none, set: [pacer.slots=0]}")
	for _, name := range names {
		v, err := compare.ParseVariant(name)
		if err != nil {
			t.Fatal(err)
		}
		drawn := drawsUnder(t, v, s)
		if first == nil {
			first = drawn
			continue
		}
		common := 0
		for what, value := range drawn {
			was, both := first[what]
			if both && was != value {
				t.Errorf("%s: %s is %s, and %s under none", v.Name, what, value, was)
			}
			if both {
				common++
			}
		}
		if common < 100 && name != "total-60s" { // under which no answer ends
			t.Errorf("%s has %d draws in common with none, want more", v.Name, common)
		}
	}
}

// drawsUnder runs a scenario under a policy and reads the world's draws out of its events.
func drawsUnder(t *testing.T, v compare.Variant, s *repro.Scenario) map[string]string {
	t.Helper()
	p := &compare.Plan{Policies: []compare.Variant{v}, Scenarios: []*repro.Scenario{s}, Seeds: compare.Seeds{From: 7, To: 7}}
	under, err := p.Scenario(0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "bundle")
	if _, err := repro.Run(context.Background(), under, repro.Options{Out: dir}); err != nil {
		t.Fatal(err)
	}
	drawn := map[string]string{}
	tools := map[string]int{}
	for lines := bufio.NewScanner(bytes.NewReader(read(t, dir, "events.jsonl"))); lines.Scan(); {
		var e struct {
			Event, Call, Agent, Tool string
			OK                       bool
			Tokens                   int
			Took                     json.Number `json:"took_s"`
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Event == "call_end" && e.OK:
			drawn["tokens of "+e.Call] = fmt.Sprint(e.Tokens)
		case e.Event == "tool_end":
			tools[e.Agent]++
			drawn[fmt.Sprintf("time of %s's tool %d, %s", e.Agent, tools[e.Agent], e.Tool)] = e.Took.String()
		}
	}
	return drawn
}
