package threshold

import "errors"

// Values are what was measured of a run.
type Values interface {
	// Value returns an aggregate of a metric over the whole run after its warm-up, in a base unit ("s", "bytes", "share",
	// "count", "per_s", or one of these with "/h": see [Name.Base]). agg is empty for a metric that is a number by itself.
	// missing says in words why there is none; empty: there is one.
	Value(agg, metric, unit string) (value float64, missing string)
	// WindowCount is how many windows there are after the warm-up, and WindowValue is Value of one of them alone, counted from 0.
	WindowCount() int
	WindowValue(i int, agg, metric, unit string) (value float64, missing string)
}

// Expr is an expression that has been read. It is immutable. Make one with [Parse].
type Expr struct{ text string }

// Parse reads an expression. The error is one line, with the column, what was found, and what is allowed.
func Parse(text string) (*Expr, error) { return nil, errors.New("threshold: not yet") }

// String returns the expression as it was written.
func (e *Expr) String() string { return e.text }

// NeedsProcess says that the expression asks for what only readings of the process tell (rss, heap, …): in virtual time these
// are no part of what a seed decides.
func (e *Expr) NeedsProcess() bool { return false }

// Outcome is whether a run meets an expression.
type Outcome struct {
	Expr string `json:"expr"`
	OK   bool   `json:"ok"`
	// Value is what was measured for the term that decided, and Unit its unit as it was written.
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
	// Term is that term, such as "p95(call) < 120s"; equal to Expr if there is but one.
	Term string `json:"term,omitempty"`
	// Text is Value with its unit for people, such as "132s" or "4.2%/h"; empty if it is missing.
	Text string `json:"text,omitempty"`
	// Window is the index, from 0, of the window that decided a term with each(…); -1: none.
	Window int `json:"window"`
	// Missing says why there is no value. The threshold is not OK then: what was not measured was not met.
	Missing string `json:"missing,omitempty"`
}

// Eval says whether a run meets the expression.
func (e *Expr) Eval(v Values) Outcome { return Outcome{} }
