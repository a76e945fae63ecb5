package soak

import (
	"fmt"
	"strings"
	"time"

	"example.com/wedge/repro"
	"example.com/wedge/repro/series"
)

// summary says in plain words what happened, the most important first.
func summary(d *Document) string {
	t := &d.Totals
	parts := []string{opening(d)}
	parts = append(parts, fmt.Sprintf("%s done and %s failed, %s answered and %s failed, %s output tokens of which %s were wasted.",
		count(t.TasksDone, "task"), number(t.TasksFailed), count(t.CallsOK, "call"), number(t.CallsFailed), number(t.TokensReceived), share(t.TokensWasted, t.TokensReceived)))
	if text := thresholdWords(d); text != "" {
		parts = append(parts, text)
	}
	parts = append(parts, stallWords(&d.Stalls))
	if text := findingWords(d); text != "" {
		parts = append(parts, text)
	}
	if d.Files.Error != "" {
		parts = append(parts, fmt.Sprintf("The files are incomplete: %s.", d.Files.Error))
	}
	return strings.Join(parts, " ")
}

// EndedHorizon is [Document.Ended] of a soak that was to last until so many tasks had ended, which they had not.
const EndedHorizon = "horizon"

// opening says how it ended.
func opening(d *Document) string {
	lasted := Length(d.AtS)
	switch d.Verdict {
	case Running:
		return fmt.Sprintf("Not over: %s of %s so far.", lasted, Length(d.ForS))
	case Interrupted:
		return fmt.Sprintf("Interrupted after %s of %s.", lasted, goal(d))
	case Stopped:
		return fmt.Sprintf("Stopped after %s of %s, since its files could not be written.", lasted, goal(d))
	case Failed:
		return fmt.Sprintf("Failed: every task ended with an error, in %s.", lasted)
	case Stalled:
		if d.Ended == "stall" {
			return fmt.Sprintf("Given up after %s of %s in a stall that did not end.", lasted, goal(d))
		}
		return fmt.Sprintf("It went on for %s and ended in a stall.", lasted)
	case Missed:
		if d.Ended == EndedHorizon {
			return fmt.Sprintf("It went on for %s, the horizon of its scenario, and %s of %s had ended by then.", lasted, number(d.Totals.TasksDone+d.Totals.TasksFailed), count(d.Tasks, "task"))
		}
		return fmt.Sprintf("It went on for %s, and did not meet what was asked of it.", lasted)
	}
	if len(d.Thresholds) > 0 {
		return fmt.Sprintf("Passed: it went on for %s and met every threshold.", lasted)
	}
	return fmt.Sprintf("Passed: it went on for %s.", lasted)
}

// goal is how long it was to last.
func goal(d *Document) string {
	if d.Tasks > 0 {
		return fmt.Sprintf("%s (or %s)", Length(d.ForS), count(d.Tasks, "task"))
	}
	return Length(d.ForS)
}

func thresholdWords(d *Document) string {
	missed := []string{}
	for i := range d.Thresholds {
		o := &d.Thresholds[i]
		switch {
		case o.OK:
		case o.Missing != "":
			missed = append(missed, fmt.Sprintf("%s (%s)", o.Expr, o.Missing))
		default:
			missed = append(missed, fmt.Sprintf("%s (it was %s)", o.Expr, o.Text))
		}
	}
	if len(missed) == 0 {
		return ""
	}
	return fmt.Sprintf("Not met: %d of %s: %s.", len(missed), count(len(d.Thresholds), "threshold"), strings.Join(missed, "; "))
}

func stallWords(s *Stalls) string {
	if s.Total == 0 {
		return "Nothing stalled."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", count(s.Total, "stall"))
	const shown = 3
	for i := range s.ByCause {
		if i == shown {
			fmt.Fprintf(&b, " and %d more causes", len(s.ByCause)-shown)
			break
		}
		c := &s.ByCause[i]
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %s %s (%s, the longest %s)", number(c.Stalls), c.Outcome, c.Cause, Length(c.LongestS))
	}
	b.WriteByte('.')
	if s.Open {
		b.WriteString(" The last one had not ended.")
	}
	return b.String()
}

// findingWords tells what drifts or, on the wall, leaks. In virtual time the summary depends on the seed alone.
func findingWords(d *Document) string {
	var parts []string
	lists := [][]series.Finding{d.Drift, d.Leaks}
	if d.Clock != string(repro.ClockWall) {
		lists = lists[:1]
	}
	for _, list := range lists {
		for i := range list {
			if f := &list[i]; f.Verdict != series.VerdictOK && f.Verdict != series.VerdictUnclear {
				parts = append(parts, fmt.Sprintf("%s is %s: %s", f.Name, f.Verdict, f.Why))
			}
		}
	}
	return strings.Join(parts, " ")
}

// next are the commands to go on with.
func next(d *Document) []string {
	cmds := []string{}
	dir := d.Files.Dir
	if dir != "" && (d.Verdict == Running || d.Verdict == Interrupted || d.Verdict == Stopped) {
		cmds = append(cmds, "wedge soak --resume "+dir)
	}
	if dir != "" {
		cmds = append(cmds, "wedge report "+dir)
	}
	if len(cmds) == 0 && d.Replay != "" {
		cmds = append(cmds, d.Replay)
	}
	return cmds
}

// Length writes a length of time for people: two units at most, such as "23 h 15 min" or "4.2 s".
func Length(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Round(time.Second)
	h, m, s := int(d/time.Hour), int(d%time.Hour/time.Minute), int(d%time.Minute/time.Second)
	switch {
	case seconds < 10:
		return fmt.Sprintf("%.3g s", seconds)
	case h == 0 && m == 0:
		return fmt.Sprintf("%d s", s)
	case h == 0 && s == 0:
		return fmt.Sprintf("%d min", m)
	case h == 0:
		return fmt.Sprintf("%d min %d s", m, s)
	case m == 0:
		return fmt.Sprintf("%d h", h)
	}
	return fmt.Sprintf("%d h %d min", h, m)
}

// number writes a count for people: 12,345.
func number(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(n) + " " + noun + "s"
}

func share(part, whole int) string {
	if whole == 0 {
		return "none"
	}
	return fmt.Sprintf("%.3g %%", 100*float64(part)/float64(whole))
}
