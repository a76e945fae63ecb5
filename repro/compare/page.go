package compare

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"example.com/wedge/repro/compare/report"
)

// WriteReport writes report.html into the directory. It runs a few of the runs again, with values over
// time, for the pictures of single runs.
func WriteReport(ctx context.Context, dir, command string, runs *Runs, r *Results) error {
	page, err := Page(ctx, command, runs, r)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := report.Write(&text, page); err != nil {
		return fmt.Errorf("compare: %s: %w", ReportFile, err)
	}
	return replace(dir, ReportFile, text.Bytes())
}

// Page is what the report shows.
func Page(ctx context.Context, command string, runs *Runs, r *Results) (report.Input, error) {
	in := report.Input{
		Title: headline(r), Advice: r.Advice, Warnings: r.Warnings, Command: command,
		About: fmt.Sprintf("%s on %s, %s, with the same agents, servers and random numbers", r.Compared(), count(len(r.Scenarios), "scenario"), count(r.N, "seed")),
	}
	if r.N == 0 {
		return in, nil
	}
	p := &pictures{runs: runs, r: r, w: newWording(r)}
	in.Facts = p.facts()
	in.Tables = append(in.Tables, p.overallTable())
	in.Sections = append(in.Sections, p.overallSection())
	in.Sections = append(in.Sections, p.loadSections()...)
	in.Sections = append(in.Sections, p.sweepSections()...)
	single, err := p.singleRuns(ctx)
	if err != nil {
		return in, err
	}
	in.Sections = append(in.Sections, single...)
	in.Sections = append(in.Sections, report.Section{Title: "Scenario by scenario", Gist: "Each opens to its table, and to pictures where policies differ."})
	for s := range r.Scenarios {
		in.Sections = append(in.Sections, p.scenarioSection(s))
	}
	return in, nil
}

// headline is the answer in one line.
func headline(r *Results) string {
	if r.N == 0 || len(r.Policies) < 2 {
		return "Nothing to compare yet"
	}
	best := &r.Policies[leastRatio(r.Policies)]
	switch {
	case best.Name == r.Baseline:
		return "Keep " + best.Name
	case !best.RatioCI.Excludes(1):
		return fmt.Sprintf("Nothing is told apart from %s", r.Baseline)
	}
	return fmt.Sprintf("%s: %s less time a task than with %s", best.Name, percent(1-best.Ratio), r.Baseline)
}

// pictures turns results into what a page shows.
type pictures struct {
	runs *Runs
	r    *Results
	w    *wording
}

func (p *pictures) facts() []report.Fact {
	var horizons []string
	seen := map[string]bool{}
	for _, s := range p.runs.Plan.Scenarios {
		if h := s.Horizon.String(); !seen[h] {
			seen[h] = true
			horizons = append(horizons, h)
		}
	}
	var pairing []string
	for i := range p.r.Policies {
		if f := p.r.Policies[i].Of(KeyTaskTime); f.Pairing != nil && i != p.w.base {
			pairing = append(pairing, fmt.Sprintf("%s %.2f", p.r.Policies[i].Name, *f.Pairing))
		}
	}
	facts := []report.Fact{
		{Name: "Seeds", Text: fmt.Sprintf("%s, the same for every policy; %d runs in all", p.r.Seeds, p.r.Runs)},
		{Name: "Unit of analysis", Text: "the seed: differences are taken seed by seed, intervals by 10,000 resamples over seeds, shares of runs by Wilson, p by Wilcoxon's signed-rank test with Holm's correction over policies"},
		{Name: "Pairing", Text: "correlation of the time a task with " + p.r.Baseline + ", seed by seed: " + orNone(strings.Join(pairing, ", ")) + ". After the first retry runs go different ways, and it falls"},
		{Name: "Horizon", Text: strings.Join(horizons, ", ") + "; what had not ended by then, or failed, counts as that long, and is told of as never. Nothing is cut off at the start: a run is the whole life of a fleet"},
		{Name: "Load", Text: "closed loop: an agent asks again when it has its answer. Times are from when an agent wanted something, waits for slots and all attempts included"},
	}
	return append(facts, p.policyFacts()...)
}

// policyFacts say what the policies are. They stand in a list of their own, as a description in a column of a table
// leaves no room for the numbers.
func (p *pictures) policyFacts() []report.Fact {
	var facts []report.Fact
	for i := range p.r.Policies {
		row := &p.r.Policies[i]
		text := row.About
		if row.Source != "" {
			text += " Source: " + row.Source + "."
		}
		if row.Trap != "" {
			text += " Trap: " + row.Trap
		}
		if text != "" {
			facts = append(facts, report.Fact{Name: row.Name, Text: text})
		}
	}
	return facts
}

func orNone(text string) string {
	if text == "" {
		return "no figure, as the times of one of the two do not vary"
	}
	return text
}

// overallTable is the table over all scenarios.
func (p *pictures) overallTable() report.Table {
	t := report.Table{
		Title:   "All scenarios",
		Note:    fmt.Sprintf("n = %d seeds, each scenario counts the same. The time a task is the geometric mean of its ratio to that of %s.", p.r.N, p.r.Baseline),
		Columns: []report.Column{{Name: "time a task", Unit: "%", Help: "more (+) or less (-) than with " + p.r.Baseline}, {Name: "p, Holm", Help: "Wilcoxon's signed-rank test, corrected for the number of policies"}},
	}
	keys := MainKeys()[1:]
	for _, m := range metricsOf(keys) {
		t.Columns = append(t.Columns, report.Column{Name: m.Name, Unit: m.Unit, Help: m.Help})
	}
	t.Columns = append(t.Columns, report.Column{Name: "never", Help: "runs in which some task had not ended"})
	for i := range p.r.Policies {
		row := &p.r.Policies[i]
		cells := []report.Cell{{Text: "baseline"}, {Text: "–"}}
		if i != p.w.base {
			cells[0] = report.Cell{Value: row.Ratio - 1, Lo: row.RatioCI.Low - 1, Hi: row.RatioCI.High - 1, Mark: markFor(row.Best, row.RatioCI.Excludes(1) && !row.Bracket, row.Ratio < 1)}
		}
		if i != p.w.base && !row.Bracket {
			cells[1] = report.Cell{Value: row.PHolm}
		}
		cells = append(cells, cellsOf(keys, row.Figures)...)
		cells = append(cells, report.Cell{Text: fmt.Sprintf("%d/%d", row.Never, row.Completed.N)})
		t.Rows = append(t.Rows, report.Row{Name: row.Label(), Cells: cells})
	}
	return t
}

// scenarioTable is the table of a scenario.
func (p *pictures) scenarioTable(s int) report.Table {
	block := &p.r.Scenarios[s]
	t := report.Table{Note: fmt.Sprintf("n = %d seeds; behind a quantile stands its own n, and with too few for it there is none. A task or call that failed or never ended counts as longer than any.", p.r.N)}
	keys := MainKeys()
	for _, m := range metricsOf(keys) {
		t.Columns = append(t.Columns, report.Column{Name: m.Name, Unit: m.Unit}) // the first table explains them
	}
	t.Columns = append(t.Columns, report.Column{Name: "task p95", Unit: "s"}, report.Column{Name: "call p99", Unit: "s"}, report.Column{Name: "pairing"}, report.Column{Name: "never"})
	for i := range block.Cells {
		c := &block.Cells[i]
		cells := append(cellsOf(keys, c.Figures), quantileCell(c.Tasks.P95, c.Tasks.N), quantileCell(c.Calls.P99, c.Calls.N))
		if f := c.Of(KeyTaskTime).Pairing; f != nil {
			cells = append(cells, report.Cell{Value: *f})
		} else {
			cells = append(cells, report.Cell{Text: "–"})
		}
		cells = append(cells, report.Cell{Text: fmt.Sprintf("%d/%d", c.Never, c.Completed.N)})
		t.Rows = append(t.Rows, report.Row{Name: p.r.Policies[i].Label(), Cells: cells})
	}
	return t
}

func cellsOf(keys []string, figures []Figure) []report.Cell {
	var cells []report.Cell
	for _, key := range keys {
		f := figureOf(figures, key)
		c := report.Cell{Value: f.Mean, Mark: markFor(f.Best, f.Better || f.Worse, f.Better)}
		if f.CI.Low != f.CI.High {
			c.Lo, c.Hi = f.CI.Low, f.CI.High
		}
		cells = append(cells, c)
	}
	return cells
}

func markFor(best, differs, better bool) report.Mark {
	switch {
	case best:
		return report.Best
	case differs && better:
		return report.Better
	case differs:
		return report.Worse
	}
	return report.Plain
}

func quantileCell(q *Quantile, n int) report.Cell {
	switch {
	case q == nil:
		return report.Cell{Text: "–", N: n}
	case q.Never:
		return report.Cell{Text: "never", N: n}
	case q.HighNever:
		return report.Cell{Value: q.S, N: n}
	}
	return report.Cell{Value: q.S, Lo: q.LowS, Hi: q.HighS, N: n}
}

// metricsOf are the metrics of keys.
func metricsOf(keys []string) []Metric {
	var found []Metric
	for _, key := range keys {
		for _, m := range Metrics() {
			if m.Key == key {
				found = append(found, m)
			}
		}
	}
	return found
}
