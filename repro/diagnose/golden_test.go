package diagnose

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/harness"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file under testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			old := "nothing"
			if i < len(b) {
				old = b[i]
			}
			t.Fatalf("%s:%d differs (go test -update writes it anew)\n got: %s\nwant: %s", path, i+1, a[i], old)
		}
	}
	t.Fatalf("%s is longer than what came out", path)
}

// TestTranscripts keeps the words of every story's verdict, without the hypotheses that are refuted.
func TestTranscripts(t *testing.T) {
	var b strings.Builder
	for _, st := range stories() {
		v := st.verdict()
		shown := v.Hypotheses[:0:0]
		for _, h := range v.Hypotheses {
			if h.Status != Refuted {
				shown = append(shown, h)
			}
		}
		v.Hypotheses = shown
		fmt.Fprintf(&b, "# %s\n%s\n", st.name, transcript(&v))
	}
	golden(t, "stories.golden", []byte(b.String()))
}

// goldenStories are those whose evidence is kept as JSON too, as a bundle would have it: one for each
// scenario of the catalogue.
var goldenStories = []string{
	"starvation", "silent-stream", "decode-serialized", "prefill-bottleneck", "connection-pool", "slot-leak", "nested-slot",
	"lock-order", "lock-over-call", "lost-wakeup", "swallowed-error", "pipe-full", "no-progress-loop", "tool-hang", "inflight-pin", "pin-watchdog", "decode-memory", "router-queue", "bad-pairing", "timeout-cascade",
	"connection-dead-both", "long-context-decode", "ignored-abort", "comment-stream", "proxy-buffering", "retry-storm", "control-healthy", "control-slow-but-fine", "control-bench-16x128", "control-idle", "control-long-reasoning",
}

// TestGoldenVerdicts reads evidence from JSON and compares the verdict's JSON.
func TestGoldenVerdicts(t *testing.T) {
	for _, name := range goldenStories {
		t.Run(name, func(t *testing.T) {
			st := storyNamed(t, name)
			golden(t, name+".evidence.json", lineJSON(t, st.now()))
			text, err := os.ReadFile(filepath.Join("testdata", name+".evidence.json"))
			if err != nil {
				t.Fatal(err)
			}
			var ev harness.Evidence
			if err := json.Unmarshal(text, &ev); err != nil {
				t.Fatal(err)
			}
			v := Diagnose(&ev, nil)
			golden(t, name+".verdict.json", lineJSON(t, &v))
		})
	}
}

func storyNamed(t testing.TB, name string) *story {
	t.Helper()
	for _, st := range stories() {
		if st.name == name {
			return &st
		}
	}
	t.Fatalf("no story %q", name)
	return nil
}

// lineJSON writes evidence or a verdict with a line for each call, sample, hypothesis and so on.
func lineJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte("},{"), []byte("},\n{"))
	text = bytes.ReplaceAll(text, []byte(`],"`), []byte("],\n\""))
	return append(text, '\n')
}

// contract is the order of the fields in the verdict of the contract.
var contract = []string{
	"schema", "scenario", "seed", "clock", "outcome", "layer", "cause", "final_outcome", "summary", "detected_at_s", "stalled_for_s",
	"ended_at_s", "agents", "calls", "gauges", "stages", "waits", "hypotheses", "expected", "reproduced", "evidence_dir", "replay",
}

func TestContract(t *testing.T) {
	v := storyNamed(t, "starvation").verdict()
	text, err := json.Marshal(&v)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	var fields []string
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, key.(string))
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range contract {
		if i >= len(fields) || fields[i] != want {
			t.Fatalf("fields %q, want them to begin with %q", fields, contract)
		}
	}
	for _, want := range []string{
		`"agents":{"total":30,"done":0,"failed":0,"blocked":30}`,
		`"in_flight":16,"waiting_slot":14,"waiting_rate":0,`, `"at_server":16`,
		`{"agent_stage":"stream","server_stage":"decode","calls":16,`,
		`"waits":{"cycle":[],"edges":14}`, `"decode_running":16`, `"expected":null,"reproduced":false`, `"ended_at_s":null`,
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("verdict lacks %s:\n%s", want, text)
		}
	}
	var back Verdict
	if err := json.Unmarshal(text, &back); err != nil {
		t.Errorf("verdict does not read back: %v", err)
	}
}
