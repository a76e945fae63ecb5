package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/wedge/repro/load"
)

// printLoad writes what a person wants to know of a load: what was sent and answered, how fast, what
// failed, whether decode batches, and what the numbers do not say.
func printLoad(w io.Writer, d *loadDocument) error {
	p := &page{style: styleOf(w)}
	p.loadHead(d)
	p.section("Requests")
	p.columns(func(t *tabwriter.Writer) { loadCounts(t, d.Rows) })
	p.section("Latency, in seconds")
	p.columns(func(t *tabwriter.Writer) { loadLatencies(t, d.Rows) })
	if !p99Sound(d.Rows) {
		p.b.WriteString(p.dimmed(p.wrap("  ", "* of fewer than 1,000 samples: hardly more than the maximum of another run")))
	}
	p.loadFailures(d.Rows)
	p.loadGauges(d.Rows)
	p.loadNotes(d.Rows)
	p.line("")
	p.line("replay  %s", plainText(d.Replay))
	_, err := io.WriteString(w, p.b.String())
	return err
}

// columns is a table whose lines may have empty cells at their ends.
func (p *page) columns(fill func(*tabwriter.Writer)) {
	var lines page
	lines.table(fill)
	for line := range strings.Lines(lines.b.String()) {
		p.line("%s", strings.TrimRight(line, "\n"))
	}
}

func (p *page) loadHead(d *loadDocument) {
	clock := d.Clock
	if d.Scale != 1 {
		clock = fmt.Sprintf("%s clock at scale %g", clock, d.Scale)
	} else {
		clock += " clock"
	}
	p.line("%s  %s", p.bold("load"), p.dim(fmt.Sprintf("%s, %s, seed %d", plainText(d.Target), clock, d.Seed)))
	if d.Interrupted {
		p.line("  %s", p.yellow("interrupted: the last row is not complete"))
	}
	p.line("")
	p.b.WriteString(p.wrap("  ", loadSentence(&d.Rows[0].Load)))
}

// loadSentence says what all rows have in common.
func loadSentence(l *load.Load) string {
	var b strings.Builder
	if l.Loop == "open" {
		fmt.Fprintf(&b, "Open loop, %s arrivals at %g a second", l.Arrivals, l.RatePerS)
	} else {
		b.WriteString("Closed loop")
	}
	if l.Requests > 0 {
		fmt.Fprintf(&b, ", %s", plural(l.Requests, "request"))
	}
	if l.Duration > 0 {
		fmt.Fprintf(&b, ", for %s", span(l.Duration))
	}
	fmt.Fprintf(&b, "; prompts of %s tokens", l.PromptTokens)
	if l.Rounds > 1 {
		fmt.Fprintf(&b, " more in each of %d rounds", l.Rounds)
	}
	if l.Stream {
		b.WriteString("; answers streamed")
	} else {
		b.WriteString("; answers in one piece")
	}
	if l.IgnoreEOS {
		b.WriteString(", to the limit")
	}
	if l.Abandon > 0 {
		fmt.Fprintf(&b, "; %.3g %% of the clients leave %s after the first token", 100*l.Abandon, span(l.AbortAfter))
	}
	b.WriteString(".")
	return b.String()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// span writes a length of time given in seconds, as short as it is exact.
func span(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Microsecond).String()
}

// rowName tells the rows of one command apart.
func rowName(r *load.Row) string {
	l := &r.Load
	name := plural(l.Concurrency, "client")
	if l.Loop == "open" {
		name = fmt.Sprintf("%g/s, up to %s", l.RatePerS, name)
	}
	if l.MaxTokens > 0 {
		name += fmt.Sprintf(", %d tokens", l.MaxTokens)
	}
	if l.Timeout > 0 {
		name += ", timeout " + span(l.Timeout)
	}
	return name
}

func loadCounts(t *tabwriter.Writer, rows []*load.Row) {
	fmt.Fprintf(t, "  clients\tmax tokens\ttimeout\tsent\tok\tfailed\tleft\tcut off\tok/s\tgood/s\ttokens/s\tall done\n")
	for _, r := range rows {
		l, c := &r.Load, &r.Requests
		timeout, done := "-", "-"
		if l.Timeout > 0 {
			timeout = span(l.Timeout)
		}
		if r.AllDone != nil {
			done = fmt.Sprintf("%.4g s", *r.AllDone)
		}
		fmt.Fprintf(t, "  %d\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%.4g\t%.4g\t%.4g\t%s\n",
			l.Concurrency, count(l.MaxTokens), timeout, c.Sent, c.OK, count(c.Failed), count(c.Left), count(c.Cut+c.Unsent),
			r.RequestsPerS, r.GoodputPerS, r.OutputTokensPerS, done)
	}
}

func loadLatencies(t *tabwriter.Writer, rows []*load.Row) {
	fmt.Fprintf(t, "  \tn\tmean\tp50\tp90\tp95\tp99\tmax\n")
	for _, r := range rows {
		if len(rows) > 1 {
			fmt.Fprintf(t, "  %s\t\t\t\t\t\t\t\n", rowName(r))
		}
		indent := strings.Repeat("  ", min(len(rows), 2))
		for _, m := range []struct {
			name string
			q    *load.Quantiles
		}{
			{"first token", r.FirstToken}, {"per token, mean of a stream", r.InterToken}, {"gap between arrivals", r.Gaps},
			{"whole answer", r.Whole}, {"start late by", r.StartLate}, {"generator late by", r.OwnLag},
		} {
			if m.q == nil {
				continue
			}
			mark := ""
			if !m.q.P99Sound {
				mark = "*"
			}
			fmt.Fprintf(t, "%s%s\t%d\t%s\t%s\t%s\t%s\t%s%s\t%s\n", indent, m.name, m.q.N,
				digits(m.q.Mean), digits(m.q.P50), digits(m.q.P90), digits(m.q.P95), digits(m.q.P99), mark, digits(m.q.Max))
		}
	}
}

// digits writes seconds with about three figures that mean something, and never an exponent.
func digits(seconds float64) string {
	switch {
	case seconds == 0:
		return "0"
	case seconds < 0.000001:
		return "<0.000001"
	case seconds < 0.0001:
		return fmt.Sprintf("%.6f", seconds)
	case seconds < 0.1:
		return fmt.Sprintf("%.5f", seconds)
	case seconds < 10:
		return fmt.Sprintf("%.3f", seconds)
	case seconds < 100:
		return fmt.Sprintf("%.2f", seconds)
	}
	return fmt.Sprintf("%.1f", seconds)
}

// p99Sound says whether all percentiles that are shown rest on enough samples.
func p99Sound(rows []*load.Row) bool {
	for _, r := range rows {
		for _, q := range []*load.Quantiles{r.FirstToken, r.InterToken, r.Gaps, r.Whole, r.StartLate, r.OwnLag} {
			if q != nil && !q.P99Sound {
				return false
			}
		}
	}
	return true
}

func (p *page) loadFailures(rows []*load.Row) {
	titled := false
	for _, r := range rows {
		if len(r.Failures) > 0 && !titled {
			titled = true
			p.section("Failures")
		}
		for _, f := range r.Failures {
			text := fmt.Sprintf("%d of %d", f.Count, r.Requests.Sent)
			if len(rows) > 1 {
				text += " with " + rowName(r)
			}
			if f.Example != "" {
				text += ": " + f.Example
			}
			p.entry(f.Name(), text)
		}
	}
}

// loadGauges says what the servers did, and under which load that was seen.
func (p *page) loadGauges(rows []*load.Row) {
	p.section("Does decode batch?")
	for _, r := range rows {
		text := r.Batching.Text
		if len(rows) > 1 {
			text = rowName(r) + ": " + text
		}
		p.b.WriteString("  " + p.verdictMark(r.Batching.Verdict) + " " + strings.TrimLeft(p.wrap("    ", plainText(text)), " "))
		if r.Gauges != nil {
			p.b.WriteString(p.dimmed(p.wrap("    ", gaugesText(r))))
		}
	}
}

func (p *page) verdictMark(v load.BatchVerdict) string {
	switch v {
	case load.Batches:
		return p.green("+")
	case load.Unknown:
		return p.yellow("?")
	}
	return p.red("!")
}

func gaugesText(r *load.Row) string {
	g := r.Gauges
	out := fmt.Sprintf("%.0f", g.OutMax)
	if g.OutMin != g.OutMax {
		out = fmt.Sprintf("%.0f to %.0f", g.OutMin, g.OutMax)
	}
	var some, zero []string
	for _, v := range g.Values {
		switch {
		case v.PerS > 0:
			some = append(some, fmt.Sprintf("%s %.4g/s", v.Name, v.PerS))
		case strings.HasSuffix(v.Name, "_total"):
		case v.Max == 0:
			zero = append(zero, v.Name)
		case v.Min == v.Max:
			some = append(some, fmt.Sprintf("%s %.3g", v.Name, v.Max))
		default:
			some = append(some, fmt.Sprintf("%s %.3g (%.3g to %.3g)", v.Name, v.Mean, v.Min, v.Max))
		}
	}
	text := fmt.Sprintf("in %s, while %s of %s had a request out: %s", plural(g.Samples, "sample"), out, plural(r.Load.Concurrency, "client"), strings.Join(some, ", "))
	if r.Load.Loop == "open" {
		text = fmt.Sprintf("in %s, while %s requests were out: %s", plural(g.Samples, "sample"), out, strings.Join(some, ", "))
	}
	if len(zero) > 0 {
		text += "; these read 0: " + strings.Join(zero, ", ")
	}
	return text
}

// loadNotes says what the numbers leave out.
func (p *page) loadNotes(rows []*load.Row) {
	p.section("Not to be forgotten")
	for _, r := range rows {
		for _, n := range r.Notes {
			if len(rows) > 1 {
				n = rowName(r) + ": " + n
			}
			p.b.WriteString("  * " + strings.TrimLeft(p.wrap("    ", plainText(n)), " "))
		}
	}
	p.b.WriteString("  * " + strings.TrimLeft(p.wrap("    ", "this load says nothing about "+strings.Join(rows[len(rows)-1].NotExercised, ", ")), " "))
}
