package admission

import (
	"fmt"
	"time"
)

// param is a parameter of a configuration: exactly one of the pointers is set.
type param struct {
	name   string
	reads  bool // whether the rule reads it
	number *float64
	count  *int
	span   *time.Duration

	stock       float64 // what 0 means, in nanoseconds for a span
	least, most float64 // of a value other than 0; nanoseconds for a span
}

// Bounds of a span. The least is there because a number without a unit is read as nanoseconds.
const (
	spanLeast = time.Millisecond
	spanMost  = 30 * 24 * time.Hour
)

func number(name string, reads bool, p *float64, stock, least, most float64) param {
	return param{name: name, reads: reads, number: p, stock: stock, least: least, most: most}
}

func count(name string, reads bool, p *int, stock, most int) param {
	return param{name: name, reads: reads, count: p, stock: float64(stock), least: 1, most: float64(most)}
}

func span(name string, reads bool, p *time.Duration, stock time.Duration) param {
	return param{name: name, reads: reads, span: p, stock: float64(stock), least: float64(spanLeast), most: float64(spanMost)}
}

// value returns the value as a number and as text.
func (p *param) value() (float64, string) {
	switch {
	case p.number != nil:
		return *p.number, fmt.Sprint(*p.number)
	case p.count != nil:
		return float64(*p.count), fmt.Sprint(*p.count)
	default:
		return float64(*p.span), fmt.Sprint(*p.span)
	}
}

// fill sets a 0 that the rule reads to what it means.
func fill(params []param) {
	for _, p := range params {
		if x, _ := p.value(); x != 0 || !p.reads {
			continue
		}
		switch {
		case p.number != nil:
			*p.number = p.stock
		case p.count != nil:
			*p.count = int(p.stock)
		default:
			*p.span = time.Duration(p.stock)
		}
	}
}

// check says which parameter is out of its bounds, or set although the rule does not read it.
func check(params []param, rule string) error {
	for _, p := range params {
		x, text := p.value()
		switch {
		case x == 0:
		case !p.reads && rule == "":
			return fmt.Errorf("%s: found %s, want none without a rule", p.name, text)
		case !p.reads:
			return fmt.Errorf("%s: found %s, want none with rule %s, which does not read it", p.name, text, rule)
		case !(x >= p.least && x <= p.most):
			return fmt.Errorf("%s: found %s, want 0 (the default) or %s", p.name, text, p.bounds())
		}
	}
	return nil
}

func (p *param) bounds() string {
	if p.span != nil {
		return fmt.Sprintf("a duration from %v to %v", time.Duration(p.least), time.Duration(p.most))
	}
	return fmt.Sprintf("a number from %v to %v", p.least, p.most)
}

// unset is for switches, which have no bounds.
func unset(name string, set, reads bool, rule string) error {
	if set && !reads {
		return fmt.Errorf("%s: found true, want false with rule %q, which does not read it", name, rule)
	}
	return nil
}

// names joins names for a message.
func names[T ~string](all []T) string {
	text := ""
	for i, name := range all {
		if i > 0 {
			text += ", "
		}
		text += string(name)
	}
	return text
}
