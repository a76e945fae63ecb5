package diff

import (
	"fmt"
	"strings"
)

// summary says what changed, in a few sentences.
func (r *Report) summary() string {
	var parts []string
	switch n := len(r.Settings); {
	case n == 0 && r.A.Name != r.B.Name:
		parts = append(parts, fmt.Sprintf("The same settings under two names, %s and %s.", r.A.Name, r.B.Name))
	case n == 0:
		parts = append(parts, "The settings are the same.")
	case n <= 3:
		parts = append(parts, "Changed: "+strings.Join(r.changed(), "; ")+".")
	default:
		parts = append(parts, fmt.Sprintf("%d settings changed.", n))
	}
	if r.A.Clock != r.B.Clock {
		parts = append(parts, fmt.Sprintf("The clocks differ (%s and %s), so times agree only about.", r.A.Clock, r.B.Clock))
	}
	if r.A.Version != r.B.Version {
		parts = append(parts, fmt.Sprintf("The versions of wedge differ (%s and %s).", r.A.Version, r.B.Version))
	}
	if r.A.Seed != r.B.Seed {
		parts = append(parts, "The seeds differ, and so does every draw: small differences may be chance, which other seeds show.")
	}
	parts = append(parts, r.verdictText())
	parts = append(parts, r.unended()...)
	if text := r.resultText(); text != "" {
		parts = append(parts, text)
	}
	if r.First != nil {
		parts = append(parts, fmt.Sprintf("The runs are the same for %d events and part at %s.", r.First.Same, secs(r.First.AtS)))
	}
	return strings.Join(parts, " ")
}

// unended says of runs that were killed how far they came.
func (r *Report) unended() []string {
	var out []string
	for _, f := range r.Figures {
		if f.Name != "run_s" {
			continue
		}
		for _, side := range []struct {
			letter string
			Side
			until float64
		}{{"A", r.A, f.A}, {"B", r.B, f.B}} {
			if side.Unended {
				out = append(out, fmt.Sprintf("%s has no end: its run was killed, or still goes on; its figures are those of its first %s.", side.letter, secs(side.until)))
			}
		}
	}
	return out
}

func (r *Report) changed() []string {
	var out []string
	for _, c := range r.Settings {
		out = append(out, fmt.Sprintf("%s from %s to %s", c.What, orNone(c.A), orNone(c.B)))
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// verdictText compares the verdicts in words.
func (r *Report) verdictText() string {
	a, b := r.A, r.B
	switch {
	case a.Outcome == "" || b.Outcome == "":
		return "The verdicts cannot be compared."
	case a.Outcome == b.Outcome && a.Cause == b.Cause && a.FinalOutcome == b.FinalOutcome:
		return fmt.Sprintf("The verdict is the same: %s.", r.A.text())
	}
	return fmt.Sprintf("The verdict was %s and is %s.", a.text(), b.text())
}

func (s *Side) text() string {
	text := s.Outcome
	if s.Cause != "" && s.Cause != "none" {
		text += " by " + s.Cause
	}
	if s.FinalOutcome != "" && s.FinalOutcome != s.Outcome {
		text += " (the run " + s.FinalOutcome + ")"
	}
	return text
}

// resultText says how much longer or shorter the run and its calls took.
func (r *Report) resultText() string {
	figure := map[string]Figure{}
	for _, f := range r.Figures {
		figure[f.Name] = f
	}
	var parts []string
	if d := figure["agents_done"]; d.A != d.B {
		parts = append(parts, fmt.Sprintf("%.0f tasks done, before %.0f", d.B, d.A))
	}
	for _, f := range []struct{ name, words string }{{"run_s", "the run took"}, {"call_p95_s", "95 % of completed calls took at most"}} {
		x := figure[f.name]
		if f.name == "run_s" && (r.A.Unended || r.B.Unended) {
			continue
		}
		if x.A > 0 && x.B > 0 && x.A != x.B {
			parts = append(parts, fmt.Sprintf("%s %s, before %s (%+.1f %%)", f.words, secs(x.B), secs(x.A), 100*(x.B/x.A-1)))
		}
	}
	if s := figure["stalls"]; s.A != s.B {
		parts = append(parts, fmt.Sprintf("%.0f stalls, before %.0f", s.B, s.A))
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, "; ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func secs(s float64) string { return fmt.Sprintf("%.1f s", s) }
