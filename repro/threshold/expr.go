package threshold

// Values are what was measured of a run. Its arguments are those of an expression: a metric; the aggregate of it, "p95", "p99.9",
// "avg" …, empty for a metric that stands alone; and the trend that is asked for, "growth" or "drift", or empty. unit is
// what the value is to be in: that of the metric ([Name].Unit); or "1/s" for a rate; for a growth that with "/h" behind it, or
// "share/h" for one in % of where it began; for a drift "share".
type Values interface {
	// Value is over the whole run after its warm-up. missing says in words why there is no value; empty: there is one.
	Value(trend, agg, metric, unit string) (value float64, missing string)
	// WindowCount is how many windows there are after the warm-up, and WindowValue is Value of one of them alone, counted
	// from 0, without a trend.
	WindowCount() int
	WindowValue(i int, agg, metric, unit string) (value float64, missing string)
}

// Expr is an expression that has been read. It is immutable, and safe for concurrent use. Make one with [Parse].
type Expr struct {
	text string
	root node
}

// String returns the expression as it was written.
func (e *Expr) String() string { return e.text }

// NeedsProcess says that the expression asks for readings of this process (rss, heap …). In virtual time these are no
// part of what a seed decides.
func (e *Expr) NeedsProcess() bool {
	return e.root.any(func(t *term) bool { return t.metric.shape == reading })
}

// Outcome is whether a run meets an expression.
type Outcome struct {
	Expr string `json:"expr"`
	OK   bool   `json:"ok"`
	// Value is what was measured for the term that decided, in Unit, which is as in the expression.
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
	// Text is Value with its unit for people, such as "132s" or "4.2%/h"; empty if it is missing.
	Text string `json:"text,omitempty"`
	// Term is the term that decided, such as "p95(call) < 120s"; empty if it is all of Expr.
	Term string `json:"term,omitempty"`
	// Window is the number, counted from 1 after the warm-up, of the window that decided a term with each(…); 0: none.
	Window int `json:"window,omitempty"`
	// Missing says why there is no value. The threshold is not OK then: what was not measured was not met.
	Missing string `json:"missing,omitempty"`
}

// Eval says whether a run meets the expression. The term that decided is, of those with &&, the first one that is not met,
// and of those with ||, the first one that is; else the first.
func (e *Expr) Eval(v Values) Outcome {
	out := e.root.eval(v)
	out.Expr = e.text
	if out.Term == e.text {
		out.Term = ""
	}
	return out
}

// node is a part of an expression: a term, or several parts with && or || between them.
type node struct {
	term  *term // nil: parts
	or    bool  // || between them, else &&
	parts []node
}

func (n *node) any(is func(*term) bool) bool {
	if n.term != nil {
		return is(n.term)
	}
	for i := range n.parts {
		if n.parts[i].any(is) {
			return true
		}
	}
	return false
}

func (n *node) eval(v Values) Outcome {
	if n.term != nil {
		return n.term.eval(v)
	}
	var first Outcome
	for i := range n.parts {
		out := n.parts[i].eval(v)
		if out.OK == n.or {
			return out
		}
		if i == 0 {
			first = out
		}
	}
	return first
}
