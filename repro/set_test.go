package repro_test

import (
	"strings"
	"testing"

	"example.com/wedge/repro"
)

// TestSetTrigger: triggers are named by id or number, as faults are.
func TestSetTrigger(t *testing.T) {
	s, err := repro.Lookup("load-spike")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"triggers.rush.load", "triggers.0.load"} {
		if err := s.Set(path, "3.5"); err != nil || s.Triggers[0].Load != 3.5 {
			t.Errorf("%s: %v, load %v", path, err, s.Triggers[0].Load)
		}
		s.Triggers[0].Load = 15
	}
	for path, want := range map[string]string{
		"triggers.rash.load": `found trigger "rash"`,
		"triggers.1.load":    `found trigger "1"`,
		"triggers.rush":      "want the field of the trigger",
		"faults.rush.what":   "the scenario has no faults",
	} {
		if err := s.Set(path, "3"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if err := s.Set("triggers.rush.load", "0.5"); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "--set triggers.rush.load=0.5") {
		t.Errorf("a load of 0.5: %v, want an error that names the setting", err)
	}
}
