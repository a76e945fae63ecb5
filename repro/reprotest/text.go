package reprotest

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/diagnose"
)

// callsShown bounds the calls of a report.
const callsShown = 20

// report words a stall.
func (k *Kit) report(what string, v *diagnose.Verdict, e *harness.Evidence) string {
	var b strings.Builder
	k.head(&b, what)
	fmt.Fprintf(&b, "verdict: %s; layer %s, cause %s\n  %s\n", v.Outcome, v.Layer, v.Cause, cmp.Or(v.Why, v.Summary))
	if len(e.Calls) > 0 {
		b.WriteString("requests under way, as either side has them:\n")
		for i := range e.Calls {
			if i == callsShown {
				fmt.Fprintf(&b, "  and %d more\n", len(e.Calls)-i)
				break
			}
			k.call(&b, &e.Calls[i], e)
		}
	}
	k.stages(&b, e)
	k.goroutines(&b)
	for _, next := range v.Next {
		fmt.Fprintf(&b, "try: %s\n", next)
	}
	k.foot(&b)
	return b.String()
}

// reportIdle words that the harness asks for nothing.
func (k *Kit) reportIdle() string {
	var b strings.Builder
	n := k.Counts()
	k.head(&b, fmt.Sprintf("no request is under way, and none has been sent for %s", length(k.o.idleAfter)))
	fmt.Fprintf(&b, "The servers have had %d requests, and answered %d in full.", n.Requests, n.Completed)
	if n.Open > 0 {
		fmt.Fprintf(&b, " %d are open that have come by neither Kit.Client nor Kit.Transport, so that they are not watched.\n", n.Open)
	} else {
		b.WriteString(" They owe nothing: what is waited for is in the test or its harness.\n")
	}
	k.goroutines(&b)
	k.foot(&b)
	return b.String()
}

func (k *Kit) head(b *strings.Builder, what string) {
	fmt.Fprintf(b, "reprotest: scenario %s, seed %d: %s\n", k.o.scenario.Name, k.o.scenario.Seed, what)
}

func (k *Kit) foot(b *strings.Builder) {
	fmt.Fprintf(b, "seed %d; to see it again: %s", k.o.scenario.Seed, k.replay())
}

// call writes a line for each side of a call.
func (k *Kit) call(b *strings.Builder, c *pacer.CallState, e *harness.Evidence) {
	fmt.Fprintf(b, "  %s, attempt %d: here %s for %s", c.ID, c.Attempts, c.Stage, length(e.At.Sub(c.Since)))
	switch {
	case c.Tokens > 0:
		fmt.Fprintf(b, ", %d pieces of text, the last %s ago", c.Tokens, length(e.At.Sub(c.LastToken)))
	case c.Bytes > 0:
		fmt.Fprintf(b, ", %d bytes without text, the last %s ago", c.Bytes, length(e.At.Sub(c.LastByte)))
	}
	fmt.Fprintf(b, "\n    at the servers: %s\n", k.front.tell(c.AttemptID, lost(e, c.AttemptID)))
}

// stages writes how many requests are where, by both sides, in the order in which they were first seen.
func (k *Kit) stages(b *strings.Builder, e *harness.Evidence) {
	type row struct {
		here, there string
		requests    int
		oldest      time.Duration
	}
	var rows []row
	for i := range e.Calls {
		c := &e.Calls[i]
		now := row{here: c.Stage.String(), there: k.front.place(c.AttemptID, lost(e, c.AttemptID))}
		at := slices.IndexFunc(rows, func(r row) bool { return r.here == now.here && r.there == now.there })
		if at < 0 {
			at = len(rows)
			rows = append(rows, now)
		}
		rows[at].requests++
		rows[at].oldest = max(rows[at].oldest, e.At.Sub(c.Since))
	}
	if len(rows) == 0 {
		return
	}
	const line = "  %-13s %-22s %8v  %s\n"
	b.WriteString("stages:\n")
	fmt.Fprintf(b, line, "here", "at the servers", "requests", "for up to")
	for _, r := range rows {
		fmt.Fprintf(b, line, r.here, r.there, r.requests, length(r.oldest))
	}
}

// lost says whether the router does not have a request that has no answer yet, by its log.
func lost(e *harness.Evidence, id string) bool {
	return e.Router != nil && e.Router.Started > 0 && e.Router.Forgotten == 0 &&
		!slices.ContainsFunc(e.Router.Open, func(r harness.RouterRequest) bool { return r.ID == id })
}

// length writes a length of time as people say it.
func length(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 100*time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	text := d.Round(time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// replay returns the command that runs this test with this seed.
func (k *Kit) replay() string {
	path := "."
	if info, ok := debug.ReadBuildInfo(); ok {
		if tested, found := strings.CutSuffix(info.Path, ".test"); found {
			path = tested
		}
	}
	parts := strings.Split(k.t.Name(), "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return fmt.Sprintf("%s=%d go test -count=1 -run '%s' %s", seedVariable, k.o.scenario.Seed, strings.Join(parts, "/"), path)
}
