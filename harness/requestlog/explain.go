package requestlog

import (
	"fmt"
	"strings"
	"time"
)

// explain says in words what the figures mean, what they leave out, and what to do
// next.
func (l *Log) explain(r *Report) {
	r.Summary = l.summary(r)
	r.CannotTell = l.limits(r)
	r.Next = l.next(r)
}

func (l *Log) summary(r *Report) string {
	var b strings.Builder
	q := &r.Requests
	switch {
	case q.Started+q.Finished == 0:
		fmt.Fprintf(&b, "No request but %s.", plural(q.Probes, "health check", "health checks"))
	case !q.ListsStarts:
		fmt.Fprintf(&b, "%s finished; which ones are open such a log does not show.", plural(q.Finished, "request", "requests"))
	case q.Open == 0:
		fmt.Fprintf(&b, "All %s that started are finished.", plural(q.Started, "request", "requests"))
	case q.Open == 1:
		fmt.Fprintf(&b, "1 request of %d is started and not finished", q.Started)
	default:
		fmt.Fprintf(&b, "%d requests of %d are started and not finished", q.Open, q.Started)
	}
	if q.ListsStarts && q.Open > 0 {
		if o := r.Open[0]; o.Since != nil {
			which := "the oldest "
			if q.Open == 1 {
				which = ""
			}
			fmt.Fprintf(&b, ", %ssince %s (%s before the log ends)", which, o.Since.Format(time.TimeOnly), length(o.Age))
		}
		switch {
		case len(r.Slowest) == 0:
		case q.OpenLongest == q.Open:
			b.WriteString(", longer than any finished one took")
		case q.OpenLongest > 0:
			fmt.Fprintf(&b, "; %d of them longer than any finished one took", q.OpenLongest)
		default:
			b.WriteString(", no longer than some finished ones took")
		}
		b.WriteString(".")
	}
	if d := r.Latency; d != nil {
		if d.N == 1 {
			fmt.Fprintf(&b, " One that was answered took %s.", length(d.Max))
		} else {
			fmt.Fprintf(&b, " Those that were answered took %s to %s, the median of %d is %s.", length(d.Min), length(d.Max), d.N, length(d.P50))
		}
	}
	if n := failures(r); n > 0 {
		fmt.Fprintf(&b, " %d of %d finished ones failed.", n, q.Finished)
	}
	for _, g := range r.Gaps {
		if !g.ToEnd {
			continue
		}
		if g.Probes > 0 {
			fmt.Fprintf(&b, " Nothing but health checks since %s (%s).", g.From.Format(time.TimeOnly), length(g.Length))
		} else {
			fmt.Fprintf(&b, " No request since %s (%s).", g.From.Format(time.TimeOnly), length(g.Length))
		}
	}
	return b.String()
}

func failures(r *Report) (n int64) {
	for _, s := range r.Statuses {
		if ev := (Event{Status: s.Code, Flags: []byte(s.Flags)}); ev.failed() {
			n += s.N
		}
	}
	return n
}

// left counts the requests whose clients did not wait.
func left(r *Report) (n int64) {
	for _, s := range r.Statuses {
		if s.Code == 499 || strings.Contains(s.Flags, "DC") {
			n += s.N
		}
	}
	return n
}

func leftText(n int64) string {
	if n == 1 {
		return "1 client left"
	}
	return fmt.Sprintf("%d clients left", n)
}

// limits says what the log cannot tell.
func (l *Log) limits(r *Report) []string {
	out := []string{}
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	q := &r.Requests
	if l.events[formatRouter] > 0 {
		add("the router writes its finished line when the response headers go out: a latency is the time until then, which of a stream is about that of the first token; whether a stream ended is not in the log")
		add("a client that left before the headers has a started line only: it looks like a request that is open")
		add("the router's ids are not those of the engines' requests")
	}
	if !q.ListsStarts {
		add("each line is of a request that has ended: those that are still open, or never ended, are not in the log")
	}
	if q.Strays > 0 {
		add("%s no started line: the log begins in the middle, or lines are missing; so some of the open ones may have ended unseen as well", has(q.Strays, "finished request"))
	}
	if q.Forgotten > 0 {
		add("%s forgotten, since no more than %d are kept: the list is of the latest", was(q.Forgotten, "open request"), openMax)
	}
	if l.untimed {
		add("lines without a time stamp: their requests are not in rates, gaps and ages")
	}
	if l.units.coarse && !l.subSecond && l.units.compared+l.units.checked > 0 {
		add("the time stamps have whole seconds: a latency is confirmed to within about a second")
	}
	for _, d := range []*Distribution{r.Latency, r.LatencyFailed} {
		if d != nil && d.Unknown > 0 {
			add("the unit of %s is not known: they are left out of the figures", plural(d.Unknown, "latency", "latencies"))
		}
		if d != nil && d.Sampled > 0 {
			add("the percentiles of %d latencies are those of an even sample of %d", d.N, d.Sampled)
		}
	}
	if l.others > 0 && l.others*2 > l.lines {
		add("%d of %d lines are about no request that is understood here", l.others, l.lines)
	}
	return out
}

// next says what to do with what was found.
func (l *Log) next(r *Report) []string {
	out := []string{}
	q := &r.Requests
	if q.ListsStarts && q.Started > 0 {
		more := "if any of them waits for an answer, it"
		if q.Open > 0 {
			more = fmt.Sprintf("if more than %d of them wait for an answer, the rest", q.Open)
		}
		out = append(out, "compare with the clients: "+more+" is held before this log's server, in the harness, its pacer or its connections; wedge dump on the client shows where")
	}
	if q.Open > 0 {
		out = append(out, "see whether the servers work on the open ones: wedge probe asks router and engines for their queues")
	}
	if !q.ListsStarts {
		out = append(out, "to see what is open, read the log of a router that tells of starts, or ask the servers for their queues: wedge probe")
	}
	if n := left(r); n > 0 {
		what := "the latencies above"
		if r.Unit.Bare+r.Unit.Stated == 0 {
			what = "how long requests take"
		}
		out = append(out, fmt.Sprintf("%s before the answer (status 499, or envoy's DC): compare the clients' timeouts with %s", leftText(n), what))
	}
	if r.Unit.Bare+r.Unit.Stated == 0 && q.Finished > 0 {
		out = append(out, "have the latency logged: $request_time in nginx's log_format, %DURATION% in envoy's")
	}
	if r.Unit.Confidence == "none" && r.Unit.Bare > 0 {
		out = append(out, "time one request of some seconds yourself, and look for its latency in the log: that gives the unit")
	}
	if d := r.Latency; d != nil && d.P50 >= 30 && q.Open == 0 {
		out = append(out, "requests are slow rather than stuck: compare the clients' timeouts with the latencies above")
	}
	return out
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func has(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun + " has"
	}
	return fmt.Sprintf("%d %ss have", n, noun)
}

func was(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return fmt.Sprintf("%d %ss were", n, noun)
}

// length writes seconds with four figures.
func length(seconds float64) string {
	switch {
	case seconds >= 7200:
		return time.Duration(seconds * 1e9).Round(time.Minute).String()
	case seconds >= 1000:
		return time.Duration(seconds * 1e9).Round(time.Second).String()
	}
	return fmt.Sprintf("%.4g s", seconds)
}
