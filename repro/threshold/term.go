package threshold

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"
)

// term is a comparison.
type term struct {
	text   string
	metric *metric
	agg    string // empty: it stands alone
	trend  trend
	each   bool
	op     string
	limit  float64 // in base units
	base   string  // what Values are to give
	unit   string  // as written; empty: none was
	factor float64 // a number in unit, times it, is in base
}

// trend is what is asked of a quantity over time.
type trend string

const (
	trendNone   trend = ""
	trendGrowth trend = "growth"
	trendDrift  trend = "drift"
)

// unitOf is what a quantity without a trend is measured in.
func (t *term) unitOf() unit {
	switch t.agg {
	case "count", "failed":
		return count
	case "rate":
		return perSecond
	}
	return t.metric.unit
}

func (t *term) eval(v Values) Outcome {
	if !t.each {
		value, missing := v.Value(string(t.trend), t.agg, t.metric.name, t.base)
		return t.outcome(value, missing, 0)
	}
	n := v.WindowCount()
	var worst Outcome
	why := ""
	for i := range n {
		value, missing := v.WindowValue(i, t.agg, t.metric.name, t.base)
		if missing != "" {
			why = cmp.Or(why, "no window has a value: "+missing)
			continue
		}
		out := t.outcome(value, "", i+1)
		if worst.Window == 0 || t.worse(&out, &worst) {
			worst = out
		}
	}
	if worst.Window == 0 {
		return t.outcome(0, cmp.Or(why, "there is no window after the warm-up"), 0)
	}
	return worst
}

// worse says whether a window is a better example than another of what each(…) is about.
func (t *term) worse(a, b *Outcome) bool {
	if a.OK != b.OK {
		return b.OK
	}
	switch t.op {
	case "<", "<=":
		return a.Value > b.Value
	case ">", ">=":
		return a.Value < b.Value
	case "==":
		return math.Abs(a.Value*t.factor-t.limit) > math.Abs(b.Value*t.factor-t.limit)
	}
	return false
}

func (t *term) outcome(value float64, missing string, window int) Outcome {
	out := Outcome{Term: t.text, Unit: t.unit, Missing: missing, Window: window}
	if missing != "" {
		return out
	}
	out.Value = value / t.factor
	out.OK = t.holds(value)
	out.Text = t.show(value)
	return out
}

func (t *term) holds(value float64) bool {
	switch t.op {
	case "<":
		return value < t.limit
	case "<=":
		return value <= t.limit
	case ">":
		return value > t.limit
	case ">=":
		return value >= t.limit
	case "!=":
		return value != t.limit
	}
	return value == t.limit
}

// show returns a value for people, in the unit of the expression.
func (t *term) show(value float64) string {
	if t.base == string(seconds) && t.unit == "s" && value >= 600 && value < 1e9 {
		return time.Duration(value * float64(time.Second)).Round(time.Second).String()
	}
	text := strconv.FormatFloat(value/t.factor, 'g', 4, 64)
	if v := value / t.factor; v >= 1e4 && v < 1e15 || v <= -1e4 && v > -1e15 {
		text = strconv.FormatFloat(v, 'f', 0, 64)
	}
	return fmt.Sprint(text, t.unit)
}
