package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"unicode/utf8"

	"example.com/wedge/repro/published"
)

// publishedEntry is a result in the list.
type publishedEntry struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	About  string `json:"about"`
}

func printPublishedList(w io.Writer, results []published.Result, asJSON bool) error {
	if asJSON {
		var list []publishedEntry
		for _, r := range results {
			list = append(list, publishedEntry{r.Name, r.Source, r.About})
		}
		text, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			return err
		}
		_, err = w.Write(append(text, '\n'))
		return err
	}
	p := &page{style: styleOf(w)}
	for _, r := range results {
		p.line("%s", p.bold(r.Name))
		p.b.WriteString(p.wrap("  ", r.About))
		p.b.WriteString(p.dimmed(p.wrap("  ", r.Source)))
	}
	p.line("")
	p.line("Replay one with wedge published NAME.")
	_, err := io.WriteString(w, p.b.String())
	return err
}

// printPublished writes a report: what it is of, the verdict, the rows, and what they stand on.
func printPublished(w io.Writer, r *published.Report) error {
	p := &page{style: styleOf(w)}
	wrong := 0
	for _, row := range r.Rows {
		if !row.Right {
			wrong++
		}
	}
	verdict := p.green(fmt.Sprintf("all %d rows are within their tolerance", len(r.Rows)))
	if wrong > 0 {
		verdict = p.red(fmt.Sprintf("%d of %d rows are within their tolerance", len(r.Rows)-wrong, len(r.Rows)))
	}
	p.line("%s  %s", p.bold(r.Name), verdict)
	p.b.WriteString(p.wrap("  ", r.About))
	p.b.WriteString(p.dimmed(p.wrap("  ", r.Source+". "+seedsText(r.Seeds)+".")))
	p.line("")
	p.publishedRows(r.Rows)
	p.line("")
	var seen []published.Grade
	for _, row := range r.Rows {
		if !slices.Contains(seen, row.Grade) {
			seen = append(seen, row.Grade)
			p.b.WriteString(p.dimmed(p.wrap("  ", string(row.Grade)+": "+row.Grade.Meaning()+".")))
		}
	}
	for _, n := range r.Notes {
		p.b.WriteString(p.wrap("  ", n))
	}
	p.line("")
	_, err := io.WriteString(w, p.b.String())
	return err
}

func seedsText(n int) string {
	if n == 1 {
		return "Seed 1"
	}
	return fmt.Sprintf("Seeds 1 to %d", n)
}

// publishedRows is a table where it fits, else an entry of three lines for each row.
func (p *page) publishedRows(rows []published.Row) {
	var width [5]int
	for _, r := range rows {
		for i, cell := range []string{r.What, string(r.Grade), r.Expected, r.Here, r.Tolerance} {
			width[i] = max(width[i], utf8.RuneCountInString(cell)+2)
		}
	}
	if total := width[0] + width[1] + width[2] + width[3] + width[4] + len("  right  "); total > p.style.columns()+20 {
		for _, r := range rows {
			p.line("  %s  %s", p.rightMark(r.Right), r.What)
			p.line("         %-12s %s", r.Grade, r.Expected)
			p.line("         %-12s %s  (%s)", "here", r.Here, r.Tolerance)
		}
		return
	}
	p.table(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  \t\t\texpected\there\ttolerance\n")
		for _, r := range rows {
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\n", p.rightMark(r.Right), r.What, r.Grade, r.Expected, r.Here, r.Tolerance)
		}
	})
}

// rightMark is as wide either way.
func (p *page) rightMark(right bool) string {
	if right {
		return p.green("right")
	}
	return p.red("WRONG")
}
