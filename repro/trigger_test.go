package repro

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/metrics"
)

// TestBadLoad checks that wrong arrivals, triggers, profiles and servers' deadlines are refused with the place
// in the file.
func TestBadLoad(t *testing.T) {
	const arrivals = "fleet: {arrivals: {every: 10s, to: 1h}}\n"
	for _, row := range []struct{ text, want string }{
		{"fleet: {arrivals: {every: 10s}}\n", "a.yaml:1:19: fleet.arrivals.tasks: found 0 while to is 0s, want one of them: nothing would end the arrivals"},
		{"fleet:\n  arrivals: {process: bursty, every: 1s, tasks: 3}\n", `a.yaml:2:23: fleet.arrivals.process: found "bursty", want poisson, constant or trace`},
		{"fleet:\n  arrivals: {rate: 3}\n", `a.yaml:2:14: fleet.arrivals.rate: unknown field`},
		{"fleet:\n  arrivals: {every: 10}\n", `a.yaml:2:21: fleet.arrivals.every: found "10", want a duration with its unit`},
		{"workflow: {profile: coder}\n", `a.yaml:1:21: workflow.profile: found "coder", want one of incident, tracelab, swe`},
		{"triggers:\n  - {id: x, from: 1m, to: 2m}\n", "a.yaml:2:5: triggers[0].load: found neither it nor extra_tasks nor capacity, want what happens"},
		{"triggers:\n  - {from: 1m, to: 2m, capacity: 0.5}\n", `a.yaml:2:5: triggers[0].id: found nothing, want a name such as "spike"`},
		{"triggers:\n  - {id: x, from: 1m, capacity: 0.5}\n", "a.yaml:2:5: triggers[0].to: found 0s, want more than from (1m0s): a trigger has an end"},
		{"triggers:\n  - {id: x, from: 1m, to: 2m, capacity: 1.5}\n", "a.yaml:2:41: triggers[0].capacity: found 1.5, want the share that is left, 0.001 or more and less than 1"},
		{"triggers:\n  - {id: x, from: 1m, to: 2m, capacity: 0.5, where: router}\n", `a.yaml:2:53: triggers[0].where: found "router", want decode or prefill: only engines have a speed`},
		{"triggers:\n  - {id: x, from: 1m, to: 2m, capacity: 0.5, worker: decode-9}\n", `a.yaml:2:54: triggers[0].worker: found "decode-9", want one of prefill-0, decode-0`},
		{"triggers:\n  - {id: x, from: 1m, to: 2m, load: 4}\n", "a.yaml:2:37: triggers[0].load: found 4 without a rate of fleet.arrivals to multiply, want fleet.arrivals.rate_per_s, or extra_tasks in its place"},
		{arrivals + "triggers:\n  - {id: x, from: 1m, to: 2m, load: 0.5}\n", "a.yaml:3:37: triggers[0].load: found 0.5, want how many times as many tasks arrive, more than 1 and at most 1000"},
		{arrivals + "triggers:\n  - {id: x, from: 1m, to: 2m, load: 4}\n  - {id: x, from: 3m, to: 4m, load: 4}\n", `a.yaml:4:10: triggers[1].id: found "x" twice, want ids that differ`},
		{"horizon: 1h\ntriggers:\n  - {id: x, from: 2h, to: 3h, extra_tasks: 4}\n", "a.yaml:3:27: triggers[0].to: found 3h0m0s, want at most the horizon (1h0m0s)"},
		{"horizon: 1h\nfleet: {arrivals: {every: 1s, to: 2h}}\n", "a.yaml:2:35: fleet.arrivals.to: found 2h0m0s, want at most the horizon (1h0m0s)"},
		{"fleet: {arrivals: {rate_per_s: 1000, tasks: 5}}\ntriggers:\n  - {id: x, from: 1m, to: 11m, load: 5}\n", "a.yaml:3:27: triggers[0].to: found 11m0s, by which some 2400030 tasks have arrived, want at most 1000000"},
		{"triggers:\n  - {id: x, from: 1m, to: 2m, extra_tasks: 2000000}\n", "a.yaml:2:44: triggers[0].extra_tasks: found 2000000, want 0 to 1000000"},
		{"servers:\n  prefill: {cache_hit: 2}\n", "a.yaml:2:24: servers.prefill.cache_hit: 2, want a number from 0 to 1"},
		{"servers:\n  abort: {drop_dead: maybe}\n", `a.yaml:2:22: servers.abort.drop_dead: found "maybe", want true or false`},
	} {
		_, err := Parse("a.yaml", []byte(row.text))
		if err == nil || !strings.HasPrefix(err.Error(), row.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s:\ngot  %v\nwant %s", row.text, err, row.want)
		}
	}
}

// TestTriggerWindows checks what a trigger is to the servers and to whoever measures.
func TestTriggerWindows(t *testing.T) {
	s, err := Parse("a.yaml", []byte(`
fleet: {arrivals: {every: 10s, to: 1h}}
faults:
  - {id: busy, where: router, what: status, status: 429, from: 1m, to: 3m}
triggers:
  - {id: rush, from: 10m, to: 11m, load: 4, extra_tasks: 5}
  - {id: slow, from: 20m, to: 30m, capacity: 0.25}
  - {id: half, from: 40m, to: 50m, capacity: 0.5, where: prefill, worker: prefill-0}
`))
	if err != nil {
		t.Fatal(err)
	}
	at := func(m int) sim.Instant { return sim.Instant(time.Duration(m) * time.Minute) }
	want := []metrics.Window{{From: at(10), To: at(11)}, {From: at(20), To: at(30)}, {From: at(40), To: at(50)}}
	if got := s.TriggerWindows(); !reflect.DeepEqual(got, want) {
		t.Errorf("windows %v, want %v", got, want)
	}
	minutes := func(m int) time.Duration { return time.Duration(m) * time.Minute }
	faults := []fault.Fault{
		{ID: "trigger-slow-decode", Where: fault.Decode, What: fault.Throttle, Factor: 4, From: minutes(20), To: minutes(30)},
		{ID: "trigger-slow-prefill", Where: fault.Prefill, What: fault.Throttle, Factor: 4, From: minutes(20), To: minutes(30)},
		{ID: "trigger-half-prefill", Where: fault.Prefill, What: fault.Throttle, Factor: 2, From: minutes(40), To: minutes(50), Worker: "prefill-0"},
	}
	if got := s.allFaults()[1:]; !reflect.DeepEqual(got, faults) {
		t.Errorf("faults %+v\nwant %+v", got, faults)
	}
	for _, f := range s.allFaults() {
		if err := f.Validate(); err != nil {
			t.Errorf("%s: %v", f.ID, err)
		}
	}
	s.Triggers = nil
	if got, want := s.TriggerWindows(), []metrics.Window{{From: at(1), To: at(3)}}; !reflect.DeepEqual(got, want) {
		t.Errorf("without triggers %v, want those of faults: %v", got, want)
	}
	text, err := s.YAML()
	if err != nil || strings.Contains(string(text), "triggers") {
		t.Errorf("a scenario without triggers prints them:\n%s", text)
	}
}

// TestProfileInFile: what a file says of the workflow stands over the profile that it names, and what is
// printed is the same again.
func TestProfileInFile(t *testing.T) {
	s, err := Parse("a.yaml", []byte("workflow:\n  rounds: 7\n  profile: tracelab\nfleet: {arrivals: {every: 1m, tasks: 3}}\ntriggers:\n  - {id: x, from: 1m, to: 2m, load: 2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if wf := s.Workflow; wf.Rounds != 7 || wf.Steps != 8 || wf.SystemTokens != 20_000 {
		t.Errorf("%+v", wf)
	}
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("b.yaml", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	back, _ := again.YAML()
	if string(back) != string(text) || !reflect.DeepEqual(again.Fleet, s.Fleet) || !reflect.DeepEqual(again.Triggers, s.Triggers) {
		t.Errorf("printed\n%s\nread and printed again\n%s", text, back)
	}
	if err := s.Set("workflow.profile", "swe"); err != nil || s.Validate() != nil || s.Workflow.TaskCalls.Mean() < 40 {
		t.Errorf("set: %v, %+v", err, s.Workflow)
	}
}

// TestPrintedLoad checks how arrivals, triggers and a profile are printed, and that what is off is not.
func TestPrintedLoad(t *testing.T) {
	s, err := Lookup("load-spike")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := s.YAML()
	for _, want := range []string{
		"fleet:\n  agents: 0\n  workers: 0\n  start_spread: 0s\n  arrivals:\n    rate_per_s: 0.2\n    to: 1h20m0s\n",
		"triggers:\n  - id: rush\n    from: 20m0s\n    to: 21m0s\n    load: 15.0\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("it lacks\n%s\nin\n%s", want, text)
		}
	}
	for _, off := range []string{"profile", "task_calls", "pause", "fresh_messages", "cache_hit", "drop_dead", "honour_deadline"} {
		if strings.Contains(string(text), off+":") {
			t.Errorf("it has %s, which is off", off)
		}
	}
	if s, err = Lookup("swe-slow"); err != nil {
		t.Fatal(err)
	}
	text, _ = s.YAML()
	const want = "workflow:\n  profile: swe\n  rounds: 5\n  task_calls: {lognormal: {median: 43, sigma: 0.582}, min: 4, max: 400}\n"
	if !strings.Contains(string(text), want) {
		t.Errorf("it lacks\n%s\nin\n%s", want, text)
	}
}
