package agents_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"example.com/wedge/agents"
	"example.com/wedge/agents/workload"
)

func TestValidate(t *testing.T) {
	constant := func(n int) workload.Tokens { return workload.Must(workload.Constant(n)) }
	for _, c := range []struct {
		want   string
		change func(wf *agents.Workflow)
	}{
		{"", func(*agents.Workflow) {}},
		{"rounds: found 0, want 1 to 10000", func(wf *agents.Workflow) { wf.Rounds = 0 }},
		{"rounds: found 10001, want 1 to 10000", func(wf *agents.Workflow) { wf.Rounds = 10_001 }},
		{"steps: found -1, want 1 to 1000", func(wf *agents.Workflow) { wf.Steps = -1 }},
		{"tools: found 0 names, want 1 to 64", func(wf *agents.Workflow) { wf.Tools = nil }},
		{`tools[1]: found "dance\n", want one of read_message, write, append, save`, func(wf *agents.Workflow) { wf.Tools = []string{"save", "dance\n"} }},
		{`ending: found "text", want "tool_call"`, func(wf *agents.Workflow) { wf.Ending = "text" }},
		{"system_tokens: found 2000000, want 0 to 1048576", func(wf *agents.Workflow) { wf.SystemTokens = 2_000_000 }},
		{"messages: found -5, want 0 to 1000000", func(wf *agents.Workflow) { wf.Messages = -5 }},
		{"message_tokens: found a mean of 2000000, want at most 1048576", func(wf *agents.Workflow) { wf.MessageTokens = constant(2_000_000) }},
		{"output_tokens: found a mean of 0, want 1 to 1048576", func(wf *agents.Workflow) { wf.OutputTokens = constant(0) }},
		{"reasoning_share: found 1.5, want a number from 0 to 1", func(wf *agents.Workflow) { wf.ReasoningShare = 1.5 }},
		{"reasoning_share: found NaN, want a number from 0 to 1", func(wf *agents.Workflow) { wf.ReasoningShare = math.NaN() }},
		{"model: found nothing, want the name of a model", func(wf *agents.Workflow) { wf.Model = "" }},
		{"max_tokens: found -1, want 0 to 100000000", func(wf *agents.Workflow) { wf.MaxTokens = -1 }},
		{`lock_scope: found "", want tool or step`, func(wf *agents.Workflow) { wf.LockScope = "" }},
		{"lock_scope: found step while locks is false, want locks true: without locks nothing is held", func(wf *agents.Workflow) { wf.LockScope = agents.LockStep }},
		{`sub_agents.results: found "post", want join or mailbox`, func(wf *agents.Workflow) { wf.SubAgents.Results = "post" }},
		{"tool_output_bytes: found -1, want 0 to 1073741824", func(wf *agents.Workflow) { wf.ToolOutputBytes = -1 }},
		{"step_tries: found 0, want 1 to 1000000", func(wf *agents.Workflow) { wf.StepTries = 0 }},
		{"sub_agents.per_round: found 5000, want 0 to 1000", func(wf *agents.Workflow) { wf.SubAgents.PerRound = 5000 }},
		{"sub_agents.steps: found 0, want 1 to 1000", func(wf *agents.Workflow) { wf.SubAgents = agents.SubAgents{PerRound: 1} }},
		{"", func(wf *agents.Workflow) { wf.SubAgents = agents.SubAgents{} }},
	} {
		wf := agents.DefaultWorkflow()
		c.change(&wf)
		got := ""
		if err := wf.Validate(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("error %q, want %q", got, c.want)
		}
	}
}

// A scenario names what differs from the default; all else stays.
func TestDecodeOntoTheDefault(t *testing.T) {
	const text = "rounds: 2\ntool_time: {append: {uniform: [2s, 10s]}}\nsub_agents: {per_round: 1}\nthink: 0s\n"
	want := agents.DefaultWorkflow()
	want.Rounds, want.SubAgents.PerRound, want.Think = 2, 1, workload.Duration{}
	want.ToolTime.Append = workload.Must(workload.Uniform(2*time.Second, 10*time.Second))
	got := agents.DefaultWorkflow()
	if err := yaml.NewDecoder(strings.NewReader(text), yaml.Strict()).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
	if err := yaml.NewDecoder(strings.NewReader("round: 2\n"), yaml.Strict()).Decode(&got); err == nil || !strings.Contains(err.Error(), `unknown field "round"`) {
		t.Errorf("a misspelt field: error %v", err)
	}
}

func TestWorkflowRoundTrips(t *testing.T) {
	wf := agents.DefaultWorkflow()
	wf.Trace, wf.Locks = "a.jsonl", true
	for name, codec := range map[string]struct {
		marshal   func(any) ([]byte, error)
		unmarshal func([]byte, any) error
	}{
		"json": {json.Marshal, json.Unmarshal},
		"yaml": {yaml.Marshal, func(b []byte, v any) error { return yaml.Unmarshal(b, v) }},
	} {
		text, err := codec.marshal(wf)
		if err != nil {
			t.Fatal(err)
		}
		var back agents.Workflow
		if err := codec.unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, wf) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}
