package requestlog

import (
	"cmp"
	"slices"
	"time"
)

// Schema names the form of a [Report] in JSON.
const Schema = "wedge.logs/1"

// A Report is what a log says, in the units that its names state.
type Report struct {
	Schema string `json:"schema"`
	// Summary says the main thing in one or two sentences.
	Summary string `json:"summary"`
	Files   []File `json:"files"`
	// Formats are the kinds of log that were found, by lines; Containers what was
	// undone around them, such as prefixes.
	Formats    []Count `json:"formats"`
	Containers []Count `json:"containers,omitempty"`
	// Lines is all lines, OtherLines those about no request, with examples.
	Lines      int64    `json:"lines"`
	OtherLines int64    `json:"other_lines"`
	Examples   []string `json:"other_examples,omitempty"`

	Requests Requests `json:"requests"`
	// Open are the requests that were started and not finished, the oldest first,
	// a thousand at most.
	Open []Open `json:"open"`
	// Statuses is how the finished ones ended, by code.
	Statuses []Status `json:"statuses"`

	Unit UnitFinding `json:"latency_unit"`
	// Latency is of the requests that were answered, LatencyFailed of those with a
	// status of 400 and above, or none and flags of envoy.
	Latency       *Distribution `json:"latency,omitempty"`
	LatencyFailed *Distribution `json:"latency_failed,omitempty"`
	// Slowest are of both.
	Slowest []Slow `json:"slowest,omitempty"`

	Activity Activity `json:"activity"`
	Rate     []Bucket `json:"rate,omitempty"`
	// Gaps are the longest times of 30 s and more without a request's line, the
	// longest first, five at most.
	Gaps []Gap `json:"gaps,omitempty"`

	// CannotTell says what this log does not show, Next what to do about it.
	CannotTell []string `json:"cannot_tell"`
	Next       []string `json:"next"`
}

// A Count is how many lines were of one kind.
type Count struct {
	Name  string `json:"name"`
	Lines int64  `json:"lines"`
}

// Requests counts. Health checks are in Probes only.
type Requests struct {
	Started  int64 `json:"started"`
	Finished int64 `json:"finished"`
	Open     int   `json:"open"`
	// OpenLongest is how many of the open ones have been so for longer than any
	// finished one took; of the others nobody can tell whether they are stuck.
	OpenLongest int `json:"open_longer_than_any_finished"`
	// Strays are finished ones whose started line is not in the log, though it has
	// such lines.
	Strays int64 `json:"finished_without_start"`
	// Forgotten are open ones beyond the 100,000 that are kept.
	Forgotten int64 `json:"forgotten"`
	Probes    int64 `json:"probe_lines"`
	// ListsStarts says that the log has lines of requests that start, without which
	// it cannot show open ones.
	ListsStarts bool `json:"lists_starts"`
}

// An Open is a request that was started and not finished.
type Open struct {
	ID string `json:"id"`
	// Since is when it started; absent if the log has no time stamps. Age is how
	// long before the end of the log that was, in seconds.
	Since *time.Time `json:"since,omitempty"`
	Age   float64    `json:"age_s"`
	// N is how many are open under one id.
	N int `json:"n"`
}

// Activity is when things happened last; what is absent did not happen, or the log
// has no time stamps.
type Activity struct {
	First        *time.Time `json:"first_line,omitempty"`
	Last         *time.Time `json:"last_line,omitempty"`
	LastStarted  *time.Time `json:"last_started,omitempty"`
	LastFinished *time.Time `json:"last_finished,omitempty"`
	LastProbe    *time.Time `json:"last_probe,omitempty"`
}

// Report returns what the log has said so far.
func (l *Log) Report() *Report {
	r := &Report{
		Schema: Schema, Files: l.files, Lines: l.lines, OtherLines: l.others, Examples: l.shown,
		Requests: Requests{Started: l.started, Finished: l.finished, Open: l.open.n, Strays: l.strays, Forgotten: l.forgotten, Probes: l.probes,
			ListsStarts: l.started > 0 || l.events[formatRouter] > 0},
		Open:     l.openRequests(),
		Statuses: append([]Status{}, l.statuses.list...),
		Unit:     l.units.find(l.isOf(formatRouter), l.isOf(formatNginx) || l.isOf(formatEnvoy) || l.isOf(formatEnvoyJSON)),
		Activity: Activity{stamp(l.first), stamp(l.last), stamp(l.lastStarted), stamp(l.lastFinished), stamp(l.lastProbe)},
		Rate:     l.series.buckets(),
		Formats:  []Count{},
	}
	if !r.Requests.ListsStarts {
		r.Requests.Strays = 0
	}
	for f, n := range l.events {
		if n > 0 {
			r.Formats = append(r.Formats, Count{format(f).String(), n})
		}
	}
	for _, name := range l.containerNames {
		r.Containers = append(r.Containers, Count{name, l.containers[name]})
	}
	slices.SortStableFunc(r.Formats, func(a, b Count) int { return cmp.Compare(b.Lines, a.Lines) })
	slices.SortFunc(r.Statuses, func(a, b Status) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Flags, b.Flags))
	})
	mixed := r.Unit.Unit == "mixed" && r.Unit.bare == NoUnit
	r.Latency = l.answered.distribution(r.Unit.bare, mixed)
	r.LatencyFailed = l.failed.distribution(r.Unit.bare, mixed)
	r.Slowest = slowest(append(l.answered.slow(r.Unit.bare, mixed), l.failed.slow(r.Unit.bare, mixed)...))
	if len(r.Slowest) > 0 {
		for _, q := range l.open.listed() {
			if !q.since.IsZero() && l.last.Sub(q.since).Seconds() > r.Slowest[0].Seconds {
				r.Requests.OpenLongest += q.n
			}
		}
	}
	g := l.gaps
	g.found = slices.Clone(g.found)
	if !g.last.IsZero() {
		g.close(l.last, l.open.n, true)
	}
	r.Gaps = g.found
	l.explain(r)
	return r
}

// isOf says whether all lines of the log are of one format.
func (l *Log) isOf(f format) bool {
	for other, n := range l.events {
		if n > 0 && format(other) != f {
			return false
		}
	}
	return l.events[f] > 0
}

func (l *Log) openRequests() []Open {
	const listedMax = 1000
	out := []Open{}
	list := l.open.listed()
	slices.SortStableFunc(list, func(a, b *request) int { return a.since.Compare(b.since) })
	for _, q := range list[:min(len(list), listedMax)] {
		o := Open{ID: q.id, Since: stamp(q.since), N: q.n}
		if o.Since != nil {
			o.Age = l.last.Sub(q.since).Seconds()
		}
		out = append(out, o)
	}
	return out
}
