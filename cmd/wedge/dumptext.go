package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"example.com/wedge/harness/goroutine/waits"
)

// How much of a dump is shown without --all.
const (
	groupsShown  = 12
	framesShown  = 5
	objectsShown = 10
	idsShown     = 8
	skipsShown   = 5
	linesShown   = 3
)

// Lines of at least lineMin waiters are shown, of dumps of at most linesGoroutinesMax goroutines.
const (
	lineMin            = 3
	linesGoroutinesMax = 100_000
)

// sureEnough is the confidence below which a finding is shown as a question.
const sureEnough = 0.5

// printDump writes what a person wants to know of a dump: the verdict first, what it rests on, what to
// do next, and then the goroutines.
func printDump(w io.Writer, r *dumpReport, all bool) error {
	p := &dumpPage{page: page{style: styleOf(w)}, all: all}
	p.head(r)
	p.findings(r)
	p.next(r)
	p.movement(r)
	p.stages(r)
	p.objects(r)
	p.lines(r)
	p.groups(r)
	p.account(r)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// dumpPage writes the report on a dump.
type dumpPage struct {
	page
	all bool
}

func (p *dumpPage) head(r *dumpReport) {
	for i, s := range r.Snapshots {
		about := []string{plural(s.Goroutines, "goroutine"), s.Form}
		if s.Source != "" {
			about = append(about, s.Source)
		}
		if s.Truncated {
			about = append(about, "cut off")
		}
		word := ""
		if len(r.Snapshots) > 1 {
			word = []string{"before  ", "between ", "after   "}[min(i, 1)+min(i/(len(r.Snapshots)-1), 1)]
		}
		name := s.Name
		if s.Number > 1 || len(r.Snapshots) > 1 && r.Snapshots[0].Name == r.Snapshots[len(r.Snapshots)-1].Name {
			name += fmt.Sprintf(" #%d", s.Number)
		}
		p.line("%s%s  %s", word, p.bold(plainText(name)), p.dim(plainText(strings.Join(about, ", "))))
	}
	p.line("")
	what := p.waitsOutcome(r.Verdict.Outcome)
	if r.Verdict.Decided != "" && r.Verdict.Decided != "nothing" && r.Verdict.Outcome != string(waits.Unknown) {
		what += "  " + p.dim("decided by "+r.Verdict.Decided)
	}
	p.line("  %s", what)
	p.b.WriteString(p.wrap("  ", plainText(r.Verdict.Reason)))
	for _, m := range r.Messages {
		p.entry("it printed", m)
	}
	for _, t := range r.Tests {
		p.entry("test running", fmt.Sprintf("%s, for %s", t.Name, seconds(t.AgeS)))
	}
}

// waitsOutcome writes an outcome in capitals, painted by how bad it is.
func (s style) waitsOutcome(o string) string {
	text := strings.ToUpper(o)
	switch waits.Outcome(o) {
	case waits.Deadlocked, waits.Wedged:
		return s.red(text)
	case waits.Starved, waits.Slow, waits.Unknown:
		return s.yellow(text)
	}
	return s.green(text)
}

func (p *dumpPage) findings(r *dumpReport) {
	if len(r.Findings) == 0 {
		return
	}
	p.section("Findings")
	for _, f := range r.Findings {
		mark, note := p.red("!"), ""
		switch {
		case f.Symptom:
			mark, note = p.dim("·"), ", a symptom of what is above"
		case f.Confidence < sureEnough:
			mark = p.yellow("?")
		}
		p.line("  %s %s  %s", mark, p.bold(f.Class), p.dim(fmt.Sprintf("confidence %.0f %%%s", f.Confidence*100, note)))
		p.b.WriteString(p.wrap("    ", plainText(f.Text)))
		if f.Because != "" {
			p.b.WriteString(p.dimmed(p.wrap("    ", plainText("inferred: "+f.Because))))
		}
		members := "goroutines " + p.ids(f.Members)
		if len(f.Members) == 1 {
			members = "goroutine " + p.ids(f.Members)
		}
		if len(f.Objects) > 0 {
			members += "; " + strings.Join(f.Objects[:min(len(f.Objects), idsShown)], ", ")
		}
		if len(f.Members) > 0 && f.Members[0] != 0 {
			p.b.WriteString(p.dimmed(p.wrap("    ", plainText(members))))
		}
	}
}

// ids writes the first ids of a list.
func (p *dumpPage) ids(ids []int64) string {
	var words []string
	for i, id := range ids {
		if i == idsShown && !p.all && len(ids) > idsShown+1 {
			words = append(words, fmt.Sprintf("and %d more", len(ids)-i))
			break
		}
		words = append(words, fmt.Sprint(id))
	}
	return strings.Join(words, ", ")
}

func (p *dumpPage) next(r *dumpReport) {
	p.bullets("What to do next", r.Verdict.Next)
	p.bullets("Not known", append(slices.Clone(r.Verdict.Missing), lacksWords(r)...))
}

// lacksWords says what the form of the text cannot tell.
func lacksWords(r *dumpReport) []string {
	if len(r.Lacks) == 0 {
		return nil
	}
	form := r.Snapshots[len(r.Snapshots)-1].Form
	return []string{fmt.Sprintf("a text of the form %q has %s", form, strings.Join(r.Lacks, ", "))}
}

func (p *dumpPage) bullets(title string, points []string) {
	if len(points) == 0 {
		return
	}
	p.section(title)
	for _, point := range points {
		p.b.WriteString("  * " + strings.TrimLeft(p.wrap("    ", plainText(point)), " "))
	}
}

func (p *dumpPage) movement(r *dumpReport) {
	m := r.Movement
	if m == nil {
		return
	}
	p.section("What moved between the first and the last dump")
	p.line("  %s where they were, %s elsewhere, %s gone, %s new", thousands(m.Still), thousands(m.Changed), thousands(m.Gone), thousands(m.New))
	shown := 0
	for _, g := range m.ByGroup {
		if g.Quiet && !p.all {
			continue
		}
		if shown++; shown > groupsShown && !p.all {
			break
		}
		p.entry("still", fmt.Sprintf("%d of %d [%s] at %s", g.Still, g.Count, g.State, g.Place))
	}
}

func (p *dumpPage) stages(r *dumpReport) {
	if len(r.Stages) == 0 {
		return
	}
	p.section("Where the calls are")
	p.table(func(t *tabwriter.Writer) {
		fmt.Fprintf(t, "  stage\tgoroutines\n")
		for _, s := range r.Stages {
			fmt.Fprintf(t, "  %s\t%s\n", plainText(strings.ReplaceAll(s.Stage, "_", " ")), thousands(s.Goroutines))
		}
	})
}

func (p *dumpPage) objects(r *dumpReport) {
	if len(r.Objects) == 0 {
		return
	}
	p.section("What is waited for")
	for i, o := range r.Objects {
		if i == objectsShown && !p.all {
			p.line("  %s", p.dim(fmt.Sprintf("and %d more (--all)", len(r.Objects)-i)))
			break
		}
		waiters := waitWords(len(o.Waiters)) + ": " + p.ids(o.Waiters)
		if slices.Contains(o.Waiters, 0) {
			waiters = "" // the text does not name them
		}
		p.line("  %s  %s", p.bold(plainText(o.Name)), waiters)
		for k, h := range o.Holders {
			if k == 3 && !p.all {
				p.line("    %s", p.dim(fmt.Sprintf("and %d more", len(o.Holders)-k)))
				break
			}
			p.b.WriteString(p.wrap("    ", plainText(fmt.Sprintf("%s goroutine %d (%.0f %%: %s)", o.role(), h.Goroutine, h.Confidence*100, h.Why))))
		}
	}
}

// lines says who stands behind whom. A dump of a great many waiters is too large to draw for it.
func (p *dumpPage) lines(r *dumpReport) {
	if r.Goroutines > linesGoroutinesMax {
		return
	}
	g := r.graph()
	convoys := g.Convoys(lineMin)
	if len(convoys) == 0 {
		return
	}
	p.section("Lines")
	for i := range convoys[:min(len(convoys), linesShown)] {
		p.b.WriteString("  * " + strings.TrimLeft(p.wrap("    ", plainText(g.Sentence(&convoys[i]))), " "))
	}
}

// role says what a holder is to the object. It is always inferred.
func (o *dumpObject) role() string {
	switch waits.ObjectKind(o.Kind) {
	case waits.Mutex, waits.RWMutex, waits.Semaphore, waits.Pool, waits.Once:
		return "held, it seems, by"
	}
	return "to be ended, perhaps, by"
}

// groups lists the goroutines by stack. Those at rest are one line without --all.
func (p *dumpPage) groups(r *dumpReport) {
	p.section("Goroutines by stack")
	shown, hidden, hiddenCount, quiet, quietCount := 0, 0, 0, 0, 0
	for i := range r.Groups {
		g := &r.Groups[i]
		switch {
		case !p.all && isQuiet(waits.Class(g.Class)) && g.Stuck == 0:
			quiet, quietCount = quiet+1, quietCount+g.Count
			continue
		case !p.all && shown == groupsShown:
			hidden, hiddenCount = hidden+1, hiddenCount+g.Count
			continue
		}
		shown++
		p.group(g)
	}
	if hidden > 0 {
		p.line("  %s", p.dim(fmt.Sprintf("and %s in %s (--all shows them)", plural(hiddenCount, "goroutine"), plural(hidden, "more stack"))))
	}
	if quiet > 0 {
		p.line("  %s", p.dim(fmt.Sprintf("at rest: %s in %s (--all shows them)", plural(quietCount, "goroutine"), plural(quiet, "stack"))))
	}
}

func (p *dumpPage) group(g *dumpGroup) {
	about := []string{g.Class}
	if g.Waits != "" {
		about = append(about, "waits for "+g.Waits)
	}
	if g.Stage != "" {
		about = append(about, "stage "+strings.ReplaceAll(g.Stage, "_", " "))
	}
	if m := g.minutes(); m != "" {
		about = append(about, m+" by the header")
	}
	stuck := ""
	if g.Stuck > 0 {
		stuck = "  " + p.red(fmt.Sprintf("%d stuck", g.Stuck))
	}
	p.line("  %s × %s  %s%s", p.bold(thousands(g.Count)), plainText(g.state()), p.dim(plainText(strings.Join(about, ", "))), stuck)
	if len(g.IDs) > 0 && g.IDs[0] != 0 {
		p.line("      %s", p.dim("ids "+p.ids(g.IDs)))
	}
	for _, l := range g.Labels {
		p.line("      %s", p.dim(plainText(shorten(oneLine("label "+l.Key+": "+strings.Join(l.Values, ", ")), p.style.columns()))))
	}
	stack := g.Stack
	if !p.all {
		stack = g.told()
	}
	for i, f := range stack {
		if i == framesShown && !p.all && len(stack) > framesShown+1 {
			p.line("      %s", p.dim(fmt.Sprintf("… and %s", plural(len(stack)-i, "call"))))
			break
		}
		p.line("      %s  %s", plainText(f.Func), p.dim(plainText(f.place())))
	}
	if len(g.Creators) > 0 {
		p.line("      %s", p.dim(plainText("started by "+strings.Join(g.Creators[:min(len(g.Creators), 3)], ", "))))
	}
}

// state is the state in brackets, as dumps have it.
func (g *dumpGroup) state() string {
	if g.State == "" {
		if g.Count == 1 {
			return "goroutine"
		}
		return "goroutines"
	}
	return "[" + g.State + "]"
}

// told are the calls of the stack without those of the runtime at both ends, if others are left.
func (g *dumpGroup) told() []dumpFrame {
	own := func(f dumpFrame) bool {
		for _, plumbing := range []string{"runtime.", "internal/", "sync.runtime_", "sync.(*Mutex).", "sync.(*RWMutex)."} {
			if strings.HasPrefix(f.Func, plumbing) {
				return false
			}
		}
		return true
	}
	from := slices.IndexFunc(g.Stack, own)
	if from < 0 {
		return g.Stack
	}
	to := len(g.Stack)
	for !own(g.Stack[to-1]) {
		to--
	}
	return g.Stack[from:to]
}

// place is the file's last elements with the line.
func (f *dumpFrame) place() string {
	if f.File == "" {
		return ""
	}
	parts := strings.Split(f.File, "/")
	return fmt.Sprintf("%s:%d", strings.Join(parts[max(0, len(parts)-2):], "/"), f.Line)
}

// account says what became of every byte.
func (p *dumpPage) account(r *dumpReport) {
	p.section("The text")
	for _, a := range r.Text {
		line := fmt.Sprintf("%s of %s bytes used", thousands(int(a.Used)), thousands(int(a.Bytes)))
		if a.Skipped > 0 {
			line += fmt.Sprintf(", %s not", thousands(int(a.Skipped)))
		}
		if a.Truncated {
			line += "; it ends in the middle of a goroutine, so that some may be missing"
		}
		p.entry(a.Name, line)
		for i, s := range a.First {
			if i == skipsShown && !p.all {
				p.line("    %s", p.dim(fmt.Sprintf("and %d more places (--all)", len(a.First)-i)))
				break
			}
			p.line("    %s", p.dim(fmt.Sprintf("at byte %s, %s: %s", thousands(int(s.Offset)), thousands(int(s.Bytes)), plainText(shorten(fmt.Sprintf("%q", s.Text), p.style.columns()-30)))))
		}
		for _, l := range a.Layers {
			p.line("    %s", p.dim(fmt.Sprintf("undone: %s, %s lines", l.Name, thousands(int(l.Lines)))))
		}
	}
}
