package diagnose

import (
	"slices"

	"example.com/wedge/harness"
	"example.com/wedge/pacer"
)

// A router that makes up its own ids, or that stands behind something that does, logs none of the agents'.
// Its lines are matched by time then: a request that was started in the log when an attempt was sent is
// taken for that attempt. Where the lines have sizes, they tell apart those that were sent together.

// foreign says whether the log has open requests, and none of their ids is or looks like one of the agents'.
func (l *routerLines) foreign(ev *harness.Evidence) bool {
	if len(ev.Router.Open) == 0 || slices.ContainsFunc(l.of, func(line logLine) bool { return line == lineStarted || line == lineFinished }) {
		return false
	}
	var shapes []string
	for i := range ev.Calls {
		if c := &ev.Calls[i]; sent(c) && c.AttemptID != "" {
			if s := shapeOf(c.AttemptID); !slices.Contains(shapes, s) {
				shapes = append(shapes, s)
			}
		}
	}
	for _, q := range ev.Router.Open {
		if slices.Contains(shapes, shapeOf(q.ID)) {
			return false
		}
	}
	return len(shapes) > 0
}

// shapeOf is an id with each run of hexadecimal digits replaced by an x, so that the ids of one maker are
// much the same.
func shapeOf(id string) string {
	var b []byte
	for i := range len(id) {
		c := id[i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' {
			if n := len(b); n == 0 || b[n-1] != 'x' {
				b = append(b, 'x')
			}
			continue
		}
		b = append(b, c)
	}
	return string(b)
}

// matchByTime gives each attempt the open line that was started when it was sent, as exactly as the log's
// time stamps are, the earlier ones first. That an attempt with headers has none says nothing: its line may
// have ended with them.
func (l *routerLines) matchByTime(ev *harness.Evidence) {
	l.byTime, l.matched = true, make(map[string]bool, len(ev.Calls))
	var order []int
	for i := range ev.Calls {
		if c := &ev.Calls[i]; sent(c) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(max(ev.Calls[a].Sent-ev.Calls[b].Sent, -1), 1)) })
	l.pair(ev, order)
	if fit, ok := l.sizes(ev); ok {
		l.pairBySize(ev, order, fit)
	}
}

// pair matches by time alone.
func (l *routerLines) pair(ev *harness.Evidence, order []int) {
	open, j := ev.Router.Open, 0
	for _, i := range order {
		c := &ev.Calls[i]
		for j < len(open) && open[j].Since.Add(logSlack) < c.Sent {
			j++
		}
		switch {
		case j < len(open) && open[j].Since <= c.Sent.Add(logSlack):
			l.of[i] = lineStarted
			l.matched[open[j].ID] = true
			l.pairs = append(l.pairs, linePair{i, j})
			j++
		default:
			l.of[i] = without(c, ev.Router)
		}
	}
}

// without is what the lack of a line says of an attempt.
func without(c *pacer.CallState, r *harness.RouterView) logLine {
	if c.Stage == pacer.StageHeaders && r.Forgotten == 0 {
		return lineNone
	}
	return lineUnknown
}
