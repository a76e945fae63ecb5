package published

import (
	"fmt"
	"math"

	"example.com/wedge/pacer"
)

// Schema names the form of a report's JSON.
const Schema = "wedge.published/1"

// Grade says whose figure something is held against.
type Grade string

// The grades, from the strongest to the weakest.
const (
	// GradePublished is a figure that others have published.
	GradePublished Grade = "published"
	// GradeRecalled is one that others have published, quoted from memory or summaries and not read again.
	GradeRecalled Grade = "recalled"
	// GradeMeasured is what was measured at the real thing.
	GradeMeasured Grade = "measured"
	// GradeClosedForm follows from a formula.
	GradeClosedForm Grade = "closed form"
	// GradeToy is what an earlier, independent throw-away model of wedge's authors gave: it shows that
	// two programs agree, not that either is right.
	GradeToy Grade = "toy model"
	// GradeShape is the course that a publication or a simulator's description leads one to expect,
	// without a figure.
	GradeShape Grade = "shape"
)

// Meaning says in a few words whose figures a grade stands for.
func (g Grade) Meaning() string {
	switch g {
	case GradePublished:
		return "others have published it"
	case GradeRecalled:
		return "others have published it; quoted from memory or summaries"
	case GradeMeasured:
		return "measured at the real thing"
	case GradeClosedForm:
		return "follows from a formula"
	case GradeToy:
		return "from an earlier throw-away model of wedge's authors: shows that two programs agree"
	case GradeShape:
		return "the course that a publication lets one expect, without a figure"
	}
	return ""
}

// Result is something that was published and can be replayed.
type Result struct {
	Name   string // as on the command line
	Source string // where it was published
	About  string // one line: what it shows

	seeds int // runs of each row if nothing else is asked for
	play  func(*replay)
}

// All returns the results, in the order in which they are listed.
func All() []Result {
	return []Result{msfModel(), retryPanels(), singleServer(), closedForms(), metafor(), openAIGo(), timeoutCliff(), zombieSlots()}
}

// Find returns the result of a name.
func Find(name string) (Result, bool) {
	for _, r := range All() {
		if r.Name == name {
			return r, true
		}
	}
	return Result{}, false
}

// SeedsMax bounds [Options.Seeds].
const SeedsMax = 10_000

// Options says how to replay. The zero value is useful.
type Options struct {
	// Seeds is how many runs stand behind each row that has chance in it; their seeds are 1, 2, … up
	// to it. 0 means the result's own number.
	Seeds int
	// Each calls do(0) … do(n-1), in any order and at once if it likes, and returns when all are
	// done. nil calls them one after the other. Reports do not depend on it.
	Each func(n int, do func(i int))
	// OpenAIGo is the policy that stands for openai-go in the result of that name. nil means that of
	// the function [OpenAIGo]; a preset may be put to the test instead.
	OpenAIGo *pacer.Policy
}

// Row holds one figure against another.
type Row struct {
	What      string `json:"what"`
	Grade     Grade  `json:"grade"`     // of Expected
	Expected  string `json:"expected"`  // what was published, measured or computed
	Here      string `json:"here"`      // what came out
	Tolerance string `json:"tolerance"` // how far apart they may be
	Right     bool   `json:"right"`     // whether they are within it
}

// Report is what a replay gave.
type Report struct {
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	Source  string   `json:"source"`
	About   string   `json:"about"`
	Seeds   int      `json:"seeds"`
	Rows    []Row    `json:"rows"`
	Right   bool     `json:"right"` // all rows are
	Notes   []string `json:"notes,omitempty"`
	Figures []Figure `json:"-"`
}

// Run replays the result.
func (r *Result) Run(o Options) *Report {
	if o.Seeds == 0 {
		o.Seeds = r.seeds
	}
	if o.Each == nil {
		o.Each = func(n int, do func(int)) {
			for i := range n {
				do(i)
			}
		}
	}
	p := &replay{Options: o, report: &Report{Schema: Schema, Name: r.Name, Source: r.Source, About: r.About, Seeds: o.Seeds, Right: true}}
	r.play(p)
	if o.Seeds < r.seeds {
		p.note("With fewer than %d seeds, rows may miss their tolerance by chance.", r.seeds)
	}
	return p.report
}

// replay is a report in the making.
type replay struct {
	Options
	report *Report
}

// each runs do for every one of n rows and every seed, and returns what it gave by row and seed.
func each[T any](p *replay, n int, do func(row int, seed uint64) T) [][]T {
	out := make([][]T, n)
	for i := range out {
		out[i] = make([]T, p.Seeds)
	}
	p.Each(n*p.Seeds, func(i int) {
		row, seed := i/p.Seeds, i%p.Seeds
		out[row][seed] = do(row, uint64(seed+1))
	})
	return out
}

func (p *replay) row(r Row) {
	p.report.Rows = append(p.report.Rows, r)
	p.report.Right = p.report.Right && r.Right
}

func (p *replay) note(format string, args ...any) {
	p.report.Notes = append(p.report.Notes, fmt.Sprintf(format, args...))
}

func (p *replay) figure(f Figure) { p.report.Figures = append(p.report.Figures, f) }

// about holds a number against another, which may differ by off, in the same unit.
func (p *replay) about(what string, grade Grade, want, here, off float64, format string) {
	text := func(x float64) string { return fmt.Sprintf(format, x) }
	p.row(Row{what, grade, text(want), text(here), "± " + text(off), math.Abs(want-here) <= off})
}

// percent holds a number against another, from which it may differ by some share of that.
func (p *replay) percent(what string, grade Grade, want, here, share float64, format string) {
	p.row(Row{what, grade, fmt.Sprintf(format, want), fmt.Sprintf(format, here), fmt.Sprintf("± %.3g %%", 100*share), math.Abs(want-here) <= share*math.Abs(want)})
}

// same holds a fact against another: they must be equal.
func (p *replay) same(what string, grade Grade, want, here string) {
	p.row(Row{what, grade, want, here, "the same", want == here})
}

// holds notes a statement, which is right or not.
func (p *replay) holds(what string, grade Grade, want, here string, right bool) {
	p.row(Row{what, grade, want, here, "as stated", right})
}

// mean is the arithmetic mean; NaN of nothing.
func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}
