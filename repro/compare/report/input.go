package report

// Input is all that a page shows, top to bottom. The zero Input gives an empty page that says so. Text of every field is
// escaped; none may carry HTML.
type Input struct {
	Title    string    // headline: the answer in one line, say "idle-60s: 31 % faster than sdk-default"
	About    string    // one soft line above it: what was compared with what
	Advice   []string  // the answer in words, a paragraph each: which policy, how much better, at what cost, where it loses
	Warnings []string  // what makes the answer doubtful: few seeds, broken pairing, unfinished runs
	Facts    []Fact    // how it was measured: seeds, horizon, pairing correlation, versions
	Tables   []Table   // the numbers; the first is the one to read, any others are folded
	Sections []Section // the pictures
	Command  string    // command line that makes this page again; empty: not shown
}

// Fact is one line of how the comparison was made.
type Fact struct{ Name, Text string }

// Section is a heading, some words and the pictures under it.
type Section struct {
	Title string
	Text  []string
	Plots []Plot
	// Tables stand under the pictures, folded; in a section that is folded itself, above them.
	Tables []Table
	// Folded shows the title only, with Gist after it, until the reader opens the section.
	Folded bool
	Gist   string // a few words on what is in it
}

// Table holds numbers with their intervals, a row for each policy.
type Table struct {
	Title   string
	Note    string // n behind the numbers, what the marks mean
	Corner  string // heading of the column of names; empty: "policy"
	Columns []Column
	Rows    []Row
}

// Column says what its cells measure.
type Column struct {
	Name string
	Unit string // "s" is written as s, min or h by size; "" is a bare number; "%" expects 0.31 for 31 %
	Help string // one sentence, shown under the first table that has it
}

// Row is one policy. Cells beyond the columns are left out; missing ones are shown as "–".
type Row struct {
	Name  string
	About string // soft line under the name
	Cells []Cell
}

// Cell is one number. The zero Cell is the number 0 without an interval.
type Cell struct {
	Text   string  // shown instead of the number when set ("never", "30/30")
	Value  float64 // in the column's unit; NaN or infinite: "–"
	Lo, Hi float64 // 95 % interval; both 0: none
	N      int     // samples behind it; 0: not shown
	Mark   Mark    // set only where the interval of the difference excludes zero
}

// Mark says how a cell compares. The page writes it as a word and a colour.
type Mark int

// The marks of a cell.
const (
	Plain  Mark = iota // nothing claimed
	Best               // best of its column, and the difference is certain
	Better             // better than the baseline, certainly
	Worse              // worse than the baseline, certainly
)

// Plot is a picture that the page can draw at any width: all the …Input types of this package.
type Plot interface {
	svg(Frame) ([]byte, error)
	frame() Frame
	broad() bool // takes the whole width of the page
}
