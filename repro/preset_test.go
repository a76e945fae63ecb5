package repro

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/wedge/repro/serving/engine"
)

// TestPreset: what a file says of the servers changes those of the preset that it names.
func TestPreset(t *testing.T) {
	s, err := Parse("a.yaml", []byte("servers:\n  decode: {running_max: 7}\n  preset: vllm\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Servers.Mode != engine.Unified || !s.Servers.Decode.Mixed || s.Servers.Decode.RunningMax != 7 {
		t.Errorf("%+v", s.Servers)
	}
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("b.yaml", text)
	if err != nil || again.Servers != s.Servers {
		t.Errorf("printed and read again: %+v, %v", again, err)
	}
	if err := s.Set("servers.preset", "sglang-pd"); err != nil || s.Validate() != nil || s.Servers.Mode != engine.PD {
		t.Errorf("set: %v, %+v", err, s.Servers)
	}
	_, err = Parse("a.yaml", []byte("servers:\n  preset: moon\n"))
	if want := `a.yaml:2:11: servers.preset: "moon", want one of sglang-pd, `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestAddFaults: faults of a flag, one or several, or of a file.
func TestAddFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "faults.yaml")
	if err := os.WriteFile(file, []byte("- {id: b, where: stream, what: silence}\n- id: c\n  where: moon\n  what: hang\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		n    int
		want string // of the error; "" is none
	}{
		{"{id: a, where: stream, what: silence}", 1, ""},
		{"id: a\nwhere: stream\nwhat: silence", 1, ""},
		{"[{id: a, where: stream, what: silence}, {id: b, where: router, what: drop}]", 2, ""},
		{"- {id: a, where: stream, what: silence}\n- {id: b, where: router, what: drop}", 2, ""},
		{"{id: a, where: moon, what: silence}", 1, `faults[0].where: "moon", want one of`},
		{"{id: a, when: noon}", 0, `faults[0].when`},
		{"", 0, "--fault: found nothing"},
		{"no-such-file.yaml", 0, "no such file"},
		{file, 2, `faults[1].where: "moon"`},
	} {
		s := Default()
		err := s.AddFaults(c.text)
		if err == nil {
			err = s.Validate()
		}
		if len(s.Faults) != c.n || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %d faults, %v, want %d, %s", c.text, len(s.Faults), err, c.n, c.want)
		}
		if err != nil && strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("more than one line: %q", err)
		}
	}
}
