package diff_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/repro/diff"
)

// files are those of a bundle, by name.
type files map[string]string

const (
	run1     = `{"schema":"wedge.run/1","name":"a","seed":1,"clock":"virtual","version":"v1","config":{"name":"a","policy":{"idle_ns":0,"retry":{"max":3}},"faults":[],"tools":["x","y"]}}`
	run2     = `{"schema":"wedge.run/1","name":"b","seed":1,"clock":"virtual","version":"v1","config":{"name":"b","policy":{"idle_ns":60000000000,"retry":{"max":3}},"faults":[{"id":"f"}],"tools":["x"]}}`
	verdict1 = `{"outcome":"wedged","layer":"stream","cause":"silent-stream","final_outcome":"wedged","hypotheses":[{"cause":"silent-stream","status":"supported","score":0.9},{"cause":"gone","status":"open","score":0}]}`
	verdict2 = `{"outcome":"completed","layer":"none","cause":"none","final_outcome":"completed","hypotheses":[{"cause":"silent-stream","status":"refuted","score":0},{"cause":"new","status":"open","score":0.1}]}`
	events1  = `{"t_s":0,"event":"run_start","name":"a"}
{"t_s":1,"event":"stage","call":"c1","stage":"slot"}
{"t_s":3,"event":"stage","call":"c1","stage":"headers"}
{"t_s":4,"event":"stage","call":"c1","stage":"stream"}
{"t_s":60,"event":"stall","episode":1,"capture":1}
{"t_s":100,"event":"run_end","why":"gave_up","agents_done":0,"agents_failed":0,"steps":0,"stalls":1}
`
	events2 = `{"t_s":0,"event":"run_start","name":"b"}
{"t_s":1,"event":"stage","call":"c1","stage":"slot"}
{"t_s":3,"event":"stage","call":"c1","stage":"headers"}
{"t_s":4,"event":"stage","call":"c1","stage":"stream"}
{"t_s":9,"event":"attempt_end","call":"c1","outcome":"timeout","tokens":5}
{"t_s":9,"event":"stage","call":"c1","stage":"headers"}
{"t_s":20,"event":"attempt_end","call":"c1","outcome":"ok","tokens":7}
{"t_s":20,"event":"call_end","call":"c1","ok":true,"took_s":19,"tokens":7}
{"t_s":21,"event":"step_end"}
{"t_s":21,"event":"run_end","why":"completed","agents_done":1,"agents_failed":0,"steps":1,"stalls":0}
`
	samples1 = `{"t_s":0,"sent":0,"gauges":{"decode_running":0,"tokens_total":0}}
{"t_s":5,"sent":1,"gauges":{"decode_running":1,"tokens_total":10}}
{"t_s":15,"sent":1,"gauges":{"decode_running":0,"tokens_total":10}}
`
	samples2 = `{"t_s":5,"sent":1,"gauges":{"decode_running":1,"tokens_total":10}}
{"t_s":15,"sent":3,"gauges":{"decode_running":1,"tokens_total":50}}
`
)

func first() files {
	return files{"run.json": run1, "verdict.json": verdict1, "events.jsonl": events1, "samples.jsonl": samples1}
}

func second() files {
	return files{"run.json": run2, "verdict.json": verdict2, "events.jsonl": events2, "samples.jsonl": samples2}
}

func (f files) with(name, text string) files {
	f[name] = text
	return f
}

func (f files) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range f {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestDirs(t *testing.T) {
	r, err := diff.Dirs(first().write(t), second().write(t))
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, found any, want string) {
		t.Helper()
		text, _ := json.Marshal(found)
		if string(text) != want {
			t.Errorf("%s:\n%s, want\n%s", what, text, want)
		}
	}
	check("settings", r.Settings, `[{"what":"policy.idle","a":"0s","b":"1m0s"},{"what":"faults","a":"empty","b":""},{"what":"tools[1]","a":"\"y\"","b":""},{"what":"faults[0].id","a":"","b":"\"f\""}]`)
	check("verdict", r.Verdict, `[{"what":"outcome","a":"wedged","b":"completed"},{"what":"layer","a":"stream","b":"none"},{"what":"cause","a":"silent-stream","b":"none"},{"what":"final_outcome","a":"wedged","b":"completed"},{"what":"hypothesis silent-stream","a":"supported 0.90","b":"refuted"},{"what":"hypothesis gone","a":"open","b":""},{"what":"hypothesis new","a":"","b":"open 0.10"}]`)
	check("stages", r.Stages, `[{"stage":"slot","a_s":2,"b_s":2,"a":0.020202020202020204,"b":0.10526315789473684},{"stage":"headers","a_s":1,"b_s":12,"a":0.010101010101010102,"b":0.631578947368421},{"stage":"stream","a_s":96,"b_s":5,"a":0.9696969696969697,"b":0.2631578947368421}]`)
	check("gauges", r.Gauges, `[{"name":"decode_running","a":{"samples":2,"load":1,"mean":0.5,"max":1},"b":{"samples":2,"load":2,"mean":1,"max":1}},{"name":"tokens_total","a":{"samples":2,"load":1,"mean":0,"max":0},"b":{"samples":2,"load":2,"mean":4,"max":40}}]`)
	check("parting", r.First, `{"same_events":4,"at_s":9,"a":"{\"t_s\":60,\"event\":\"stall\",\"episode\":1,\"capture\":1}","b":"{\"t_s\":9,\"event\":\"attempt_end\",\"call\":\"c1\",\"outcome\":\"timeout\",\"tokens\":5}"}`)
	want := map[string][2]float64{"run_s": {100, 21}, "stalls": {1, 0}, "calls_completed": {0, 1}, "attempts": {0, 2}, "attempts_timeout": {0, 1}, "tokens_wasted": {0, 5}, "call_p95_s": {0, 19}}
	for _, f := range r.Figures {
		if w, ok := want[f.Name]; ok && (f.A != w[0] || f.B != w[1]) {
			t.Errorf("%s: %v and %v, want %v", f.Name, f.A, f.B, w)
		}
	}
	for _, words := range []string{"4 settings changed", "was wedged by silent-stream and is completed", "the same for 4 events and part at 9.0 s"} {
		if !strings.Contains(r.Summary, words) {
			t.Errorf("no %q in: %s", words, r.Summary)
		}
	}
	if len(r.Missing) > 0 {
		t.Error(r.Missing)
	}
}

func TestSame(t *testing.T) {
	r, err := diff.Dirs(first().write(t), first().write(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Settings)+len(r.Verdict)+len(r.Gauges) > 0 || r.First != nil || !strings.HasPrefix(r.Summary, "The settings are the same. The verdict is the same: wedged by silent-stream.") {
		t.Errorf("%+v", r)
	}
}

// TestWhatIsLeft: bundles of runs that were killed, or that never had some file.
func TestWhatIsLeft(t *testing.T) {
	bare := files{"run.json": run2}
	r, err := diff.Dirs(first().write(t), bare.write(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Settings) == 0 || len(r.Missing) != 3 {
		t.Errorf("settings %v, missing %q", r.Settings, r.Missing)
	}
	cut := first().with("events.jsonl", events1[:len(events1)-20]).with("samples.jsonl", samples1[:len(samples1)-5])
	if r, err = diff.Dirs(cut.write(t), second().write(t)); err != nil {
		t.Fatal(err)
	}
	if len(r.Missing) != 1 || !strings.Contains(r.Missing[0], "cut off") {
		t.Errorf("missing %q", r.Missing)
	}
	if !r.A.Unended || r.B.Unended || !strings.Contains(r.Summary, "A has no end: its run was killed, or still goes on") || strings.Contains(r.Summary, "he run took") {
		t.Errorf("of a run that was killed: %s", r.Summary)
	}
}

func TestBadBundles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, want string }{
		{file, "found a file, want the directory of an evidence bundle"},
		{file + "x", "no such file"},
		{t.TempDir(), "found no run.json in it"},
		{first().with("run.json", `{"schema":`).write(t), "run.json: line 1: no valid JSON"},
		{first().with("run.json", `{"schema":"wedge.run/9"}`).write(t), `schema: found "wedge.run/9", want "wedge.run/1"`},
		{first().with("verdict.json", "{\n\n}}").write(t), "verdict.json: line 3: no valid JSON"},
		{first().with("events.jsonl", "{}\nnothing\n").write(t), "events.jsonl: line 2: no valid JSON"},
		{first().with("samples.jsonl", "nothing\n{}\n").write(t), "samples.jsonl: line 1: no valid JSON"},
	} {
		_, err := diff.Dirs(c.dir, first().write(t))
		bad := new(diff.Error)
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), c.dir) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("found %v, want %q", err, c.want)
		}
	}
}

// FuzzDirs: whatever the files hold, there is a report or one line that says why not.
func FuzzDirs(f *testing.F) {
	f.Add(run1, verdict1, events1, samples1)
	f.Add(run2, verdict2, events2, samples2)
	f.Fuzz(func(t *testing.T, run, verdict, events, samples string) {
		dir := files{"run.json": run, "verdict.json": verdict, "events.jsonl": events, "samples.jsonl": samples}.write(t)
		r, err := diff.Dirs(dir, dir)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		if len(r.Settings)+len(r.Verdict) > 0 || r.First != nil {
			t.Errorf("a bundle differs from itself: %+v", r)
		}
	})
}

func ExampleDirs() {
	_, err := diff.Dirs("no-such-bundle", "another")
	fmt.Println(err)
	// Output: no-such-bundle: no such file or directory
}
