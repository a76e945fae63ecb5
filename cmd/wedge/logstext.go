package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/wedge/harness/requestlog"
)

// printLogs writes what a person wants to know of a log: what is open, what took how long and in
// which unit the log says so, when things stopped, what it cannot tell, and what to do next.
func printLogs(w io.Writer, r *requestlog.Report, shown logsShown) error {
	p := &page{style: styleOf(w)}
	p.logsHead(r)
	p.logsOpen(r, shown.open)
	p.logsFinished(r)
	p.logsLatency(r)
	p.logsSlowest(r, shown.slowest)
	p.logsRate(r)
	p.logsGaps(r)
	p.list("What this log cannot tell", r.CannotTell)
	p.list("Next", r.Next)
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *page) logsHead(r *requestlog.Report) {
	var names []string
	for _, f := range r.Files {
		names = append(names, plainText(f.Name))
	}
	var kinds []string
	for _, c := range append(append([]requestlog.Count{}, r.Formats...), r.Containers...) {
		kinds = append(kinds, fmt.Sprintf("%s (%d)", c.Name, c.Lines))
	}
	p.line("%s  %s", p.bold(strings.Join(names, ", ")), p.dim(fmt.Sprintf("%d lines: %s", r.Lines, strings.Join(kinds, ", "))))
	if a := r.Activity; a.First != nil && a.Last != nil {
		p.line("%s", p.dim(fmt.Sprintf("from %s to %s (%s)", logStamp(a.First), logStamp(a.Last), seconds(a.Last.Sub(*a.First).Seconds()))))
	}
	p.line("")
	p.b.WriteString(p.wrap("  ", plainText(r.Summary)))
}

func logStamp(at *time.Time) string {
	if at == nil {
		return "-"
	}
	return at.Format("2006-01-02 15:04:05")
}

func (p *page) logsOpen(r *requestlog.Report, openMax int) {
	if !r.Requests.ListsStarts || len(r.Open) == 0 {
		return
	}
	p.section("Started and not finished")
	p.table(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  id\tsince\topen for\n")
		for i, o := range r.Open {
			if i == openMax {
				break
			}
			age := "-"
			if o.Since != nil {
				age = seconds(o.Age)
			}
			if o.N > 1 {
				age += fmt.Sprintf("  (%d under this id)", o.N)
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\n", plainText(o.ID), logStamp(o.Since), age)
		}
	})
	if more := len(r.Open) - openMax; more > 0 {
		p.line("  %s", p.dim(fmt.Sprintf("and %d more (--open %d, or --json)", r.Requests.Open-openMax, r.Requests.Open)))
	}
}

func (p *page) logsFinished(r *requestlog.Report) {
	p.section("Requests")
	p.columns(func(t *tabwriter.Writer) {
		q := &r.Requests
		if q.ListsStarts {
			fmt.Fprintf(t, "  started\t%d\t%s\n", q.Started, lastAt(r.Activity.LastStarted))
		}
		fmt.Fprintf(t, "  finished\t%d\t%s\n", q.Finished, lastAt(r.Activity.LastFinished))
		for _, s := range r.Statuses {
			fmt.Fprintf(t, "    %s\t%d\t\n", statusText(s), s.N)
		}
		if q.ListsStarts {
			fmt.Fprintf(t, "  open\t%d\t\n", q.Open)
		}
		if q.Strays > 0 {
			fmt.Fprintf(t, "  finished without a start\t%d\t\n", q.Strays)
		}
		if q.Probes > 0 {
			fmt.Fprintf(t, "  lines of health checks\t%d\t%s\n", q.Probes, lastAt(r.Activity.LastProbe))
		}
		if r.OtherLines > 0 {
			fmt.Fprintf(t, "  lines about something else\t%d\t\n", r.OtherLines)
		}
	})
}

func lastAt(at *time.Time) string {
	if at == nil {
		return ""
	}
	return "last at " + logStamp(at)
}

func statusText(s requestlog.Status) string {
	text := fmt.Sprintf("status %d", s.Code)
	if name := http.StatusText(s.Code); name != "" {
		text += " " + name
	}
	if s.Code == 0 {
		text = "no status"
	}
	if s.Flags != "" {
		text += " (" + plainText(s.Flags) + ")"
	}
	return text
}

func (p *page) logsLatency(r *requestlog.Report) {
	p.section("Latency, in seconds")
	mark := p.green("+")
	switch r.Unit.Confidence {
	case "likely":
		mark = p.yellow("?")
	case "none":
		mark = p.red("!")
	}
	p.b.WriteString("  " + mark + " " + strings.TrimLeft(p.wrap("    ", "unit in the log: "+r.Unit.Text), " "))
	if r.Latency == nil && r.LatencyFailed == nil {
		return
	}
	few := false
	p.columns(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  \tn\tmin\tp50\tp90\tp95\tp99\tmax\n")
		for _, row := range []struct {
			name string
			d    *requestlog.Distribution
		}{{"answered", r.Latency}, {"failed", r.LatencyFailed}} {
			d := row.d
			if d == nil {
				continue
			}
			p99 := "-"
			if d.P99 != nil {
				p99 = digits(*d.P99)
			}
			few = few || d.P99 == nil
			fmt.Fprintf(t, "  %s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", row.name, d.N, digits(d.Min), digits(d.P50), digits(d.P90), digits(d.P95), p99, digits(d.Max))
		}
	})
	if few {
		p.line("  %s", p.dim("no p99 of fewer than 1,000 requests: it would be hardly more than the maximum"))
	}
}

func (p *page) logsSlowest(r *requestlog.Report, shown int) {
	if len(r.Slowest) == 0 || shown == 0 {
		return
	}
	p.line("")
	p.columns(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  slowest\tas logged\tstatus\tfinished at\tid\n")
		for i, s := range r.Slowest {
			if i == shown {
				break
			}
			status := "-"
			if s.Status > 0 {
				status = fmt.Sprint(s.Status)
			}
			fmt.Fprintf(t, "  %s s\t%s\t%s\t%s\t%s\n", digits(s.Seconds), s.Logged, status, logStamp(s.At), plainText(s.ID))
		}
	})
}

func (p *page) logsRate(r *requestlog.Report) {
	if len(r.Rate) == 0 {
		return
	}
	p.section(fmt.Sprintf("Over time, in steps of %s", time.Duration(r.Rate[0].Width*1e9)))
	p.columns(func(t *tabwriter.Writer) {
		started := "\tstarted"
		if !r.Requests.ListsStarts {
			started = ""
		}
		fmt.Fprintf(t, "  from%s\tfinished\tfinished/s\thealth checks\n", started)
		for _, b := range r.Rate {
			if started != "" {
				started = "\t" + count(int(b.Started))
			}
			fmt.Fprintf(t, "  %s%s\t%s\t%.3g\t%s\n", logStamp(&b.From), started, count(int(b.Finished)), float64(b.Finished)/b.Width, count(int(b.Probes)))
		}
	})
}

func (p *page) logsGaps(r *requestlog.Report) {
	if len(r.Gaps) == 0 {
		return
	}
	p.section("Longest times without a request's line")
	p.columns(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  from\tfor\topen meanwhile\thealth checks\n")
		for _, g := range r.Gaps {
			end := ""
			if g.ToEnd {
				end = ", to the end of the log"
			}
			open := "-"
			if r.Requests.ListsStarts {
				open = fmt.Sprint(g.Open)
			}
			fmt.Fprintf(t, "  %s\t%s%s\t%s\t%s\n", logStamp(&g.From), seconds(g.Length), end, open, count(int(g.Probes)))
		}
	})
}

// list is a section of sentences.
func (p *page) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	p.section(title)
	for _, item := range items {
		p.b.WriteString("  * " + strings.TrimLeft(p.wrap("    ", plainText(item)), " "))
	}
}
