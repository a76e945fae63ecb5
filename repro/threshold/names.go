package threshold

// Name is a metric or an aggregate.
type Name struct {
	Name    string
	Kind    Kind
	Base    string   // unit in which [Values] gives it: "s", "bytes", "share", "count", "per_s"; or "share/h", "bytes/h", "count/h"
	Units   []string // that may be written after the number
	Aggs    []string // that may be applied to it; empty: it is a number by itself
	Meaning string   // one line
}

// Kind says what a Name is.
type Kind string

// The kinds.
const (
	KindMetric    Kind = "metric"
	KindAggregate Kind = "aggregate"
	KindUnit      Kind = "unit"
)

// Names returns all that an expression may use, for help and completion, in the order in which they are to be shown.
func Names() []Name { return nil }
