package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/guest"
)

// document is where the verdict goes as JSON. The zero value is nowhere.
type document struct {
	w    io.Writer
	file *os.File // to be closed; nil: it is none
	name string
}

// openDocument opens the file before anything is run.
func openDocument(name string, stdout io.Writer) (*document, error) {
	switch name {
	case "":
		return &document{}, nil
	case "-":
		return &document{w: stdout, name: "standard output"}, nil
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, &repro.InputError{Source: "--json", Msg: err.Error()}
	}
	return &document{w: file, file: file, name: name}, nil
}

func (d *document) write(value any) error {
	if d.w == nil {
		return nil
	}
	text, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		_, err = d.w.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	return nil
}

func (d *document) close() {
	if d.file != nil {
		_ = d.file.Close() // it was written in one piece
	}
}

// printGuest writes what a person wants to know of a harness that was watched: the verdict first, then
// where its requests are, what its goroutines wait for, the hypotheses, and what to do next.
func printGuest(w io.Writer, r *guest.Result, replay string, verbose bool) error {
	p := &page{style: styleOf(w)}
	v := &r.Verdict
	p.line("")
	p.line("%s  %s", p.bold(plainText(v.Scenario)), p.dim(fmt.Sprintf("seed %d, watched from the servers' side", v.Seed)))
	p.line("")
	p.line("  %s", p.headline(v))
	p.b.WriteString(p.wrap("  ", plainText(v.Summary)))
	p.b.WriteString(p.dimmed(p.wrap("  ", plainText(storyOf(r)))))
	p.elsewhere(r)
	if r.Evidence != nil {
		p.requests(r)
	}
	p.dump(r)
	if r.Evidence != nil {
		p.judged(v, verbose)
	}
	p.next(v)
	p.line("")
	if v.EvidenceDir != "" {
		p.line("evidence  %s", plainText(v.EvidenceDir))
	}
	p.line("replay    %s", plainText(replay))
	_, err := io.WriteString(w, p.b.String())
	return err
}

// judged shows the hypotheses that the servers' side can judge, and names the others.
func (p *page) judged(v *diagnose.Verdict, verbose bool) {
	some := *v
	var unseen []diagnose.Cause
	some.Hypotheses, unseen = guest.Unseen(v.Hypotheses)
	p.hypotheses(&some, verbose)
	if len(unseen) == 0 {
		return
	}
	names := make([]string, len(unseen))
	for i, c := range unseen {
		names[i] = string(c)
	}
	p.b.WriteString(p.dimmed(p.wrap("  ", "? not seen from the servers, a dump of the harness would tell: "+strings.Join(names, ", "))))
}

// headline is the verdict in capitals.
func (p *page) headline(v *diagnose.Verdict) string {
	what := p.outcome(v.Outcome)
	if v.Layer != "" && v.Layer != diagnose.LayerNone {
		what += fmt.Sprintf("  layer %s", p.bold(string(v.Layer)))
	}
	if v.Cause != "" && v.Cause != diagnose.CauseNone {
		what += fmt.Sprintf("  cause %s", p.bold(string(v.Cause)))
	}
	if v.FinalOutcome != v.Outcome {
		what += "  the run " + p.outcome(v.FinalOutcome)
	}
	return what
}

// storyOf says in a line or two what was seen of the whole run.
func storyOf(r *guest.Result) string {
	n := &r.Seen
	refused := ""
	if text := n.StatusText(); text != "" {
		refused = " (" + text + ")"
	}
	text := fmt.Sprintf("Over the whole run: %s for %s, at most %d at once; %d answered in full, %d refused%s, %d cut off by the servers, %d left by the client; %s. ",
		nouns(n.Requests, "request"), nouns(n.Calls, "call"), n.PeakOpen, n.Completed, n.Refused, refused, n.Cut, n.Left, nouns(n.Tokens, "token"))
	switch {
	case r.Interrupted():
		text += "The run was interrupted"
	case r.GivenUp():
		text += "The harness was given up and ended"
	case r.Child.ByItself:
		text += "The harness ended by itself"
	default:
		text += "The time was over, and the harness was ended"
	}
	return text + fmt.Sprintf(" after %s (%s on the machine's clock): %s.", seconds(r.EndedAt.Seconds()), seconds(r.Took.Seconds()), r.Child.Status)
}

// elsewhere lists requests that nobody serves here.
func (p *page) elsewhere(r *guest.Result) {
	if len(r.Seen.Elsewhere) == 0 {
		return
	}
	p.section("Requests that are not served here")
	for _, e := range r.Seen.Elsewhere {
		p.entry(fmt.Sprintf("%d x", e.Count), fmt.Sprintf("%s %s: %d, %s", e.Method, e.Path, e.Status, e.Message))
	}
}

// requests is the table of where the requests are, from the front's side and from the engines'.
func (p *page) requests(r *guest.Result) {
	v := &r.Verdict
	if slices.ContainsFunc(v.Stages, func(s diagnose.StageRow) bool { return s.Calls > 0 }) {
		p.section(fmt.Sprintf("Where the requests are, at %s", seconds(r.Evidence.At.Seconds())))
		p.table(func(t *tabwriter.Writer) {
			fmt.Fprintf(t, "  the client has\tat the servers\trequests\toldest\n")
			for _, s := range v.Stages {
				if s.Calls == 0 {
					continue // the harness itself, between requests
				}
				oldest := seconds(s.OldestS)
				if s.Note != "" {
					oldest += "  " + s.Note
				}
				fmt.Fprintf(t, "  %s\t%s\t%d\t%s\n", clientHas(s.AgentStage), s.ServerStage, s.Calls, oldest)
			}
		})
		p.b.WriteString(p.dimmed(p.wrap("  ", gaugesLine(v))))
	}
	p.sides(&v.Sides)
	if len(r.Episodes) > 1 {
		p.section(fmt.Sprintf("%d stalls", r.Stalls))
		p.table(func(t *tabwriter.Writer) {
			for _, e := range r.Episodes {
				ended := "not ended"
				if e.EndedAtS != nil {
					ended = "ended at " + seconds(*e.EndedAtS)
				}
				fmt.Fprintf(t, "  at %s\t%s\t%s\t%s\n", seconds(e.DetectedAtS), e.Outcome, e.Cause, ended)
			}
		})
	}
}

// clientHas says what the client of a request has had, in the words of its stage.
func clientHas(stage string) string {
	switch stage {
	case "headers":
		return "no response headers yet"
	case "first_token":
		return "headers, no token yet"
	case "stream":
		return "a part of the answer"
	case "backoff":
		return "a failure, and may come back"
	}
	return stage
}

// dump says what the harness's own goroutines wait for.
func (p *page) dump(r *guest.Result) {
	d := r.Dump
	if d == nil {
		return
	}
	p.section("The harness's own goroutines")
	if d.Err != "" {
		p.b.WriteString(p.wrap("  ", plainText(fmt.Sprintf("No dump (%s): %s", d.From, d.Err))))
		return
	}
	text := fmt.Sprintf("%d goroutines, by %s, at %s", d.Goroutines, d.From, seconds(d.AtS))
	if d.File != "" {
		text += ", in " + d.File
	}
	text += "."
	if !strings.Contains(r.Verdict.Summary, d.Reason) {
		text += " " + d.Reason
	}
	p.b.WriteString(p.wrap("  ", plainText(text)))
	for _, f := range d.Findings {
		if !strings.Contains(d.Reason, f) { // what decided is in the reason
			p.b.WriteString("  * " + strings.TrimLeft(p.wrap("    ", plainText(f)), " "))
		}
	}
}
