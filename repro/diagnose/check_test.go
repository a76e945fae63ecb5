package diagnose

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/wedge/harness"
)

func (st *story) verdict() Verdict {
	var before *harness.Evidence
	if st.before != nil {
		before = st.before()
	}
	return Diagnose(st.now(), before)
}

// transcript writes a verdict for people to compare.
func transcript(v *Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s, cause %s\n%s\n", v.Outcome, v.Layer, v.Cause, v.Summary)
	for _, row := range v.Stages {
		fmt.Fprintf(&b, "  %-12s %-12s calls %d, agents %d, oldest %.1f s\n", row.AgentStage, row.ServerStage, row.Calls, row.Agents, row.OldestS)
	}
	for _, h := range v.Hypotheses {
		fmt.Fprintf(&b, "  %-9s %.2f %s (%s/%s)\n", h.Status, h.Score, h.Cause, h.Outcome, h.Layer)
		for _, s := range h.For {
			fmt.Fprintf(&b, "      + %s\n", s)
		}
		for _, s := range h.Against {
			fmt.Fprintf(&b, "      - %s\n", s)
		}
		if h.DecideBy != "" {
			fmt.Fprintf(&b, "      ? %s\n", h.DecideBy)
		}
	}
	for _, s := range v.Next {
		fmt.Fprintf(&b, "  next: %s\n", s)
	}
	for _, s := range v.Missing {
		fmt.Fprintf(&b, "  missing: %s\n", s)
	}
	return b.String()
}

// goDuration finds durations in Go's own form, and numbers with units of time other than seconds.
var goDuration = regexp.MustCompile(`\d(ms|µs|ns|m\d|h\d| minutes?| hours?)\b`)

// checkWords checks what must hold of every verdict.
func checkWords(t *testing.T, v *Verdict) {
	t.Helper()
	if v.Schema != Schema {
		t.Errorf("schema %q, want %q", v.Schema, Schema)
	}
	if !slices.Contains(Outcomes(), v.Outcome) {
		t.Errorf("outcome %q is no outcome", v.Outcome)
	}
	if !slices.Contains(Layers(), v.Layer) {
		t.Errorf("layer %q is no layer", v.Layer)
	}
	if !slices.Contains(Causes(), v.Cause) {
		t.Errorf("cause %q is no cause", v.Cause)
	}
	if v.Summary == "" {
		t.Error("no summary")
	}
	all := len(causes())
	if !slices.ContainsFunc(v.Hypotheses, func(h Hypothesis) bool { return h.Cause == CauseTurnedAway }) {
		all-- // nothing has been turned away
	}
	if len(v.Hypotheses) != all {
		t.Errorf("%d hypotheses, want all %d", len(v.Hypotheses), all)
	}
	texts := []string{v.Summary}
	for i, h := range v.Hypotheses {
		if h.Score < 0 || h.Score > 1 {
			t.Errorf("%s: score %v", h.Cause, h.Score)
		}
		if h.Status == Open && h.DecideBy == "" {
			t.Errorf("%s is open and does not say what would decide", h.Cause)
		}
		if h.Status != Open && h.DecideBy != "" {
			t.Errorf("%s is %s and still to be decided by %q", h.Cause, h.Status, h.DecideBy)
		}
		if h.Status == Refuted && len(h.Against) == 0 || h.Status == Supported && len(h.For) == 0 {
			t.Errorf("%s is %s without an observation", h.Cause, h.Status)
		}
		if i > 0 && rank(v.Hypotheses[i-1].Status) > rank(h.Status) {
			t.Errorf("%s stands behind %s", h.Cause, v.Hypotheses[i-1].Cause)
		}
		texts = append(append(texts, h.For...), h.Against...)
	}
	for _, s := range texts {
		if m := goDuration.FindString(s); m != "" {
			t.Errorf("a time that is not in seconds (%q) in %q", m, s)
		}
		if strings.Contains(s, "%!") {
			t.Errorf("a broken format in %q", s)
		}
	}
	if _, err := json.Marshal(v); err != nil {
		t.Errorf("verdict does not marshal: %v", err)
	}
}
