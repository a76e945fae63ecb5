package diagnose

import (
	"math"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// logForm says when a router writes the finished line of a request.
type logForm uint8

const (
	formUnknown logForm = iota
	formHeaders         // with the response headers: it says nothing of how the answer goes on
	formEnd             // when the answer has ended
)

// logLine is what a router's log has of an attempt in flight.
type logLine uint8

const (
	lineUnknown  logLine = iota // there is no log, or it may have forgotten
	lineNone                    // nothing: the router never heard of it
	lineStarted                 // a started line only
	lineFinished                // both
)

// formOf finds out when the log's finished lines are written, from the attempts in flight: one that is
// finished by the log and still gets tokens shows one form, one that has its headers and is not
// finished the other. If none shows any, the latencies are compared with what the agents saw.
func formOf(ev *harness.Evidence, lines []logLine, answers map[string]*harness.RouterAnswer) logForm {
	headers, end := 0, 0
	for i := range ev.Calls {
		c := &ev.Calls[i]
		if c.Stage != pacer.StageFirstToken && c.Stage != pacer.StageStream {
			continue
		}
		switch a := answers[c.AttemptID]; {
		case lines[i] == lineStarted && ev.At > c.Headers.Add(logSlack):
			end++
		case lines[i] == lineFinished && max(c.LastToken, c.LastByte) > a.At.Add(logSlack):
			headers++
		case lines[i] == lineFinished && a.At > c.Headers.Add(logSlack):
			end++
		}
	}
	switch {
	case headers > end:
		return formHeaders
	case end > headers:
		return formEnd
	}
	return formByLatency(ev)
}

// formByLatency compares the latencies of the log with the agents' means of the time to headers and of
// whole attempts. Where the two are close to each other, either fits.
func formByLatency(ev *harness.Evidence) logForm {
	t, log := &ev.Totals, ev.Router.LatencyMean
	if t.Answered <= 0 || t.AttemptsOK <= 0 || log <= 0 {
		return formUnknown
	}
	headers := t.HeadersWait / time.Duration(t.Answered)
	whole := t.AttemptsTook / time.Duration(t.AttemptsOK)
	switch {
	case headers <= 0 || whole/2 < headers:
		return formUnknown
	case log.Seconds() < math.Sqrt(headers.Seconds()*whole.Seconds()):
		return formHeaders
	}
	return formEnd
}

// routerLines looks up the log's lines of each attempt in flight.
type routerLines struct {
	usable  bool
	form    logForm
	of      []logLine // by call
	answers map[string]*harness.RouterAnswer
	sent    map[string]bool // ids of the agents' attempts
	byTime  bool            // the log names ids of its own: see matchByTime
	matched map[string]bool // of these, those that are taken for an attempt
	pairs   []linePair      // by time alone
	bySize  bool            // the log's sizes were used as well
}

// ours says whether an open request of the log is one that an agent waits for.
func (l *routerLines) ours(q *harness.RouterRequest) bool { return l.sent[q.ID] || l.matched[q.ID] }

func readLines(ev *harness.Evidence) routerLines {
	// That a request has no line counts only if the log has lines of requests at all.
	l := routerLines{of: make([]logLine, len(ev.Calls)), usable: ev.Router != nil && (ev.Router.Started > 0 || ev.Router.Finished > 0)}
	if !l.usable {
		return l
	}
	open := make(map[string]sim.Instant, len(ev.Router.Open))
	for _, q := range ev.Router.Open {
		open[q.ID] = q.Since
	}
	l.answers = make(map[string]*harness.RouterAnswer, len(ev.Router.Answered))
	for i := range ev.Router.Answered {
		l.answers[ev.Router.Answered[i].ID] = &ev.Router.Answered[i]
	}
	l.sent = make(map[string]bool, len(ev.Calls))
	for i := range ev.Calls {
		c := &ev.Calls[i]
		if c.AttemptID != "" {
			l.sent[c.AttemptID] = true
		}
		_, isOpen := open[c.AttemptID]
		switch {
		case c.AttemptID == "" || !sent(c):
		case isOpen:
			l.of[i] = lineStarted
		case l.answers[c.AttemptID] != nil:
			l.of[i] = lineFinished
		case ev.Router.AnsweredFrom == 0 || c.Sent > ev.Router.AnsweredFrom:
			l.of[i] = lineNone
		}
	}
	if l.foreign(ev) {
		l.matchByTime(ev)
	}
	l.form = formOf(ev, l.of, l.answers)
	return l
}

// text says what the log's lines show, for observations.
func (l *routerLines) text() string {
	switch l.form {
	case formHeaders:
		return "its finished lines are written with the response headers, so that a stream under way is not open in it"
	case formEnd:
		return "its finished lines are written when an answer has ended"
	}
	return "whether its finished lines are written with the response headers or at the end cannot be told"
}
