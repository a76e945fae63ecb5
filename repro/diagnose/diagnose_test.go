package diagnose

import (
	"strings"
	"testing"
)

func TestStories(t *testing.T) {
	for _, st := range stories() {
		t.Run(st.name, func(t *testing.T) {
			v := st.verdict()
			if v.Outcome != st.outcome || v.Layer != st.layer || v.Cause != st.cause {
				t.Errorf("got %s/%s, cause %s; want %s/%s, cause %s\n%s", v.Outcome, v.Layer, v.Cause, st.outcome, st.layer, st.cause, transcript(&v))
			}
			if strings.HasPrefix(st.name, "control-") && v.Outcome.Hang() {
				t.Errorf("a control is called a hang: %s", v.Outcome)
			}
			checkWords(t, &v)
			if testing.Verbose() {
				t.Log(transcript(&v))
			}
		})
	}
}
