package strict

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"starvation", "silent-stream", "slot-leak", "idle"}
	for name, want := range map[string]string{"starvaton": "starvation", "silent": "silent-stream", "SLOT-LEAK": "slot-leak", "zzzz": "", "x": ""} {
		if got := nearest(name, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
