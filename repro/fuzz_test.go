package repro

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// FuzzParse feeds scenario files. What is refused is refused in one line; what is accepted comes out
// of YAML as it went in.
func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		text, err := scenarioFiles.ReadFile("scenarios/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, name := range Workloads() {
		text, err := workloadFiles.ReadFile("workloads/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("faults:\n  - &a {id: a, where: tool, what: hang}\n  - <<: *a\n    id: b\n"))
	f.Add([]byte("name: !!binary aGVsbG8=\nseed: 0x10\nhorizon: .inf\n"))
	f.Add([]byte("workflow: {tools: [read_message, , save], think: {mixture: [{weight: 1}]}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("f.yaml", text)
		if err != nil {
			checkInputError(t, err)
			return
		}
		once, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("f.yaml", once)
		if err != nil {
			t.Fatalf("its own YAML is refused: %v\n%s", err, once)
		}
		if twice, err := again.YAML(); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%v: the YAML changes:\n%s\n%s", err, once, twice)
		}
	})
}

// FuzzSet feeds overrides.
func FuzzSet(f *testing.F) {
	for _, set := range []string{
		"policy.idle=60s", "faults.silence.after_tokens=3", "faults.0.what=reset", "workflow.output_tokens={uniform: [3, 4]}",
		"pacer=", "seed=9\nname: x", "workflow.tools=[save]", "a.b.c.d=e", "faults=[]", "watchdog.captures=[1, 9]",
	} {
		path, value, _ := strings.Cut(set, "=")
		f.Add(path, value)
	}
	f.Fuzz(func(t *testing.T, path, value string) {
		s, err := Lookup("silent-stream")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Set(path, value); err != nil {
			checkInputError(t, err)
			return
		}
		if err := s.Validate(); err != nil {
			checkInputError(t, err)
		}
	})
}

func checkInputError(t *testing.T, err error) {
	t.Helper()
	var input *InputError
	if !errors.As(err, &input) {
		t.Fatalf("%T %v, want an InputError", err, err)
	}
	if strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("more than a line: %q", err)
	}
}
