package threshold

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The functions that take a quantity rather than a metric.
const eachName = "each"

// quantity reads what is measured: METRIC, AGG(METRIC), or one of these in each(…), growth(…) or drift(…).
func (p *parser) quantity(t *term) error {
	name := p.tok
	if name.kind != word {
		hint := ""
		if name.kind == digits {
			hint = "; what is measured comes first, and the number after it"
		}
		return p.errorf(name, "found %s, want a metric, such as stalls or p95(call)%s", name.show(), hint)
	}
	p.advance()
	if !p.take("(") {
		return p.named(t, name)
	}
	switch {
	case name.text == eachName && !t.each && t.trend == trendNone:
		t.each = true
	case (name.text == string(trendGrowth) || name.text == string(trendDrift)) && t.trend == trendNone && !t.each:
		t.trend = trend(name.text)
	case name.text == eachName || name.text == string(trendGrowth) || name.text == string(trendDrift):
		return p.errorf(name, "found %s within %s(…), want only one of each, growth and drift, and that outermost", name.text, t.outermost())
	default:
		if err := p.aggregate(t, name); err != nil {
			return err
		}
		return p.closing(name)
	}
	if err := p.quantity(t); err != nil {
		return err
	}
	return p.closing(name)
}

func (t *term) outermost() string {
	if t.each {
		return eachName
	}
	return string(t.trend)
}

func (p *parser) closing(name token) error {
	if !p.take(")") {
		return p.errorf(p.tok, `found %s, want ")" after what %s is of`, p.tok.show(), name.text)
	}
	return nil
}

// aggregate reads the metric that an aggregate is of.
func (p *parser) aggregate(t *term, name token) error {
	if metricOf(name.text) != nil {
		return p.errorf(name, `found the metric %s before "(", want an aggregate of it, such as max(%s)`, name.text, name.text)
	}
	agg, err := aggregateOf(name.text)
	if err != nil {
		return p.errorf(name, "%s", err)
	}
	of := p.tok
	if of.kind != word {
		return p.errorf(of, "found %s, want the metric that %s is of", of.show(), name.text)
	}
	p.advance()
	if t.metric = metricOf(of.text); t.metric == nil {
		return p.trendWithin(of, name.text)
	}
	has := t.metric.shape.aggs(t.metric)
	kind := agg
	if agg[0] == 'p' {
		kind = quantile
	}
	if !slices.Contains(has, kind) {
		if len(has) == 0 {
			return p.errorf(name, "found %s of %s, want %s alone", name.text, of.text, of.text)
		}
		return p.errorf(name, "found %s of %s, want one of %s", name.text, of.text, strings.Join(has, ", "))
	}
	t.agg = agg
	return nil
}

// trendWithin is the error of what is no metric, within an aggregate: the trend of one, perhaps.
func (p *parser) trendWithin(of token, agg string) error {
	for _, tr := range [...]trend{trendGrowth, trendDrift} {
		short, ok := strings.CutSuffix(of.text, "_"+string(tr))
		switch m := metricOf(short); {
		case !ok || m == nil:
			continue
		case m.shape == reading || m.shape == number:
			return p.errorf(of, "found %s within %s(…), want it alone", of.text, agg)
		default:
			return p.errorf(of, "found %s within %s(…), want %s outermost, as in %s(%s(%s))", of.text, agg, tr, tr, agg, short)
		}
	}
	return p.unknownMetric(of)
}

// named reads a metric without an aggregate; one with _growth or _drift at its end is short for the function.
func (p *parser) named(t *term, name token) error {
	text := name.text
	for _, tr := range [...]trend{trendGrowth, trendDrift} {
		short, ok := strings.CutSuffix(text, "_"+string(tr))
		if !ok || metricOf(short) == nil {
			continue
		}
		if t.each || t.trend != trendNone {
			return p.errorf(name, "found %s within %s(…), want only one of each, growth and drift", text, t.outermost())
		}
		text, t.trend = short, tr
	}
	t.metric = metricOf(text)
	if t.metric != nil {
		return nil
	}
	if _, err := aggregateOf(name.text); err == nil {
		return p.errorf(name, "found %s alone, want what it is of, such as %s(call)", name.text, name.text)
	}
	return p.unknownMetric(name)
}

func (p *parser) unknownMetric(found token) error {
	var names, trends []string
	for i := range metrics {
		names = append(names, metrics[i].name)
		trends = append(trends, metrics[i].name+"_"+string(trendGrowth), metrics[i].name+"_"+string(trendDrift))
	}
	if near := nearest(found.text, append(trends, names...)); near != "" {
		return p.errorf(found, "found %s, which is no metric; did you mean %s?", found.show(), near)
	}
	return p.errorf(found, "found %s, want a metric: one of %s", found.show(), strings.Join(names, ", "))
}

func metricOf(name string) *metric {
	for i := range metrics {
		if metrics[i].name == name {
			return &metrics[i]
		}
	}
	return nil
}

// aggregateOf returns an aggregate by its name; the median is p50.
func aggregateOf(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "p"); ok && rest != "" && isDigit(rest[0]) {
		q, err := strconv.ParseFloat(rest, 64)
		plain := strings.Trim(rest, "0123456789.") == "" // not 1e1 or 0x1p4
		if err != nil || q <= 0 || q >= 100 || !plain {
			return "", fmt.Errorf("found %q, want a quantile between 0 and 100, such as p95 or p99.9; min and max are the ends", shortened(name))
		}
		return "p" + strconv.FormatFloat(q, 'f', -1, 64), nil
	}
	var names []string
	for _, a := range aggregates {
		if a.name == name && name != quantile {
			if name == "med" {
				return "p50", nil
			}
			return name, nil
		}
		names = append(names, a.name)
	}
	hint := ""
	switch near := nearest(name, append(names, "p50", "p90", "p95", "p99")); {
	case near != "":
		hint = "; did you mean " + near + "?"
	case name == "mean" || name == "average":
		hint = "; for the mean write avg"
	}
	return "", fmt.Errorf("found %q, want an aggregate: one of %s%s", shortened(name), strings.Join(names, ", "), hint)
}

// settle makes one form of what may be said in several, and refuses what says nothing.
func (t *term) settle() error {
	m := t.metric
	switch {
	case t.agg == "count" && m.shape != distribution:
		t.agg = ""
	case t.trend != trendNone && m.shape == reading && t.agg != "":
		return fmt.Errorf("found %s of an aggregate of %s, want %s_%s: it is over all readings", t.trend, m.name, m.name, t.trend)
	case t.agg == "" && m.shape == distribution:
		if t.trend == trendNone {
			return fmt.Errorf("found %s alone, want an aggregate of it, such as p95(%s) or avg(%s)", m.name, m.name, m.name)
		}
		t.agg = "p50"
	case t.agg == "" && m.shape == level && t.trend != trendNone:
		t.agg = "avg"
	case t.agg == "" && (m.shape == level || m.shape == reading) && t.trend == trendNone:
		t.agg = "max"
	}
	return nil
}

// quantity returns what is measured, for errors.
func (t *term) quantity() string {
	out := t.metric.name
	if t.agg != "" {
		out = t.agg + "(" + out + ")"
	}
	if t.trend != trendNone {
		out = string(t.trend) + "(" + out + ")"
	}
	if t.each {
		out = eachName + "(" + out + ")"
	}
	return out
}
