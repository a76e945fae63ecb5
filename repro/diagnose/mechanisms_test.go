package diagnose

import (
	"slices"
	"strings"
	"testing"
)

// TestMechanisms: what is seen at work is listed, the cause first, and each in the summary's words.
func TestMechanisms(t *testing.T) {
	for _, c := range []struct {
		story string
		want  []Cause
	}{
		{"inflight-pin-and-refusals", []Cause{CauseInflightPin, CauseRouterQueue}},
		{"silent-stream-most", []Cause{CauseSilentStream, CauseStarvation}},
		{"no-progress-loop", []Cause{CauseNoProgressLoop, CauseStarvation}},
		{"lost-wakeup", []Cause{CauseLostWakeup}},
		{"control-healthy", []Cause{}},
		{"control-idle", []Cause{}},
	} {
		v := storyNamed(t, c.story).verdict()
		if !slices.Equal(v.Mechanisms, c.want) {
			t.Errorf("%s: mechanisms %v, want %v", c.story, v.Mechanisms, c.want)
		}
	}
	for _, st := range stories() {
		v := st.verdict()
		if found := v.Cause != CauseNone && v.Cause != CauseUnknown; len(v.Mechanisms) > 0 && (v.Mechanisms[0] != v.Cause || !found) {
			t.Errorf("%s: mechanisms %v of the cause %s", st.name, v.Mechanisms, v.Cause)
		}
		for i, m := range v.Mechanisms {
			if i > 0 && !strings.Contains(v.Summary, "("+string(m)+")") {
				t.Errorf("%s: %s is not in the summary: %s", st.name, m, v.Summary)
			}
		}
	}
}
