package threshold

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// perHour follows the unit of a growth.
const perHour = "/h"

// limit reads the number of a term with its unit. A length of time may be several, as in 1m30s.
func (p *parser) limit(t *term) error {
	negative := p.tok.kind == sign && p.tok.text == "-"
	if negative {
		p.advance()
	}
	start := p.tok
	for {
		if p.tok.kind != digits {
			return p.errorf(p.tok, "found %s, want a number%s", p.tok.show(), t.example())
		}
		n, err := strconv.ParseFloat(p.tok.text, 64)
		if err != nil || strings.ContainsAny(p.tok.text, "_,") {
			return p.errorf(p.tok, "found %s, want a number of digits and at most one point, such as 1.5", p.tok.show())
		}
		number := p.tok
		u := p.unit()
		if err := t.take(n, u.text); err != nil {
			if u.text == "" {
				return p.noUnit(t, number, err)
			}
			return p.errorf(u, "%s", err)
		}
		p.advance()
		if p.tok.kind != digits || p.tok.spaced || t.base != string(seconds) || u.text == "" {
			break
		}
	}
	if negative {
		t.limit = -t.limit
	}
	if t.base == string(share) && (t.limit > 1 || t.limit < -1) && t.unit == "" {
		return p.errorf(start, "found %s for %s, which is a share and at most 1: want 0.9 or 90%%, say", start.text, t.quantity())
	}
	if negative && t.trend == trendNone {
		return p.errorf(start, "found a number below 0, which %s never is", t.quantity())
	}
	return nil
}

// noUnit is the error of a number that lacks its unit: a word behind it may have been meant as one.
func (p *parser) noUnit(t *term, number token, err error) error {
	ahead := p.lexer
	if meant := ahead.next(); meant.kind == word && !slices.Contains([]string{"and", "or"}, strings.ToLower(meant.text)) {
		return p.errorf(meant, "found %s where the unit of %s belongs, want %s", meant.show(), t.quantity(), t.allowed())
	}
	return p.errorf(number, "%s", err)
}

// take adds a number with its unit to the limit.
func (t *term) take(n float64, written string) error {
	base, factor, ok := t.convert(written)
	if !ok || written == "" && n != 0 && t.needsUnit() {
		found := fmt.Sprintf("the unit %q", shortened(written))
		if written == "" {
			found = "no unit"
		}
		return fmt.Errorf("found %s for %s, want %s", found, t.quantity(), t.allowed())
	}
	t.limit += n * factor
	t.base, t.unit, t.factor = base, written, factor
	if written == "" {
		t.unit = t.plainUnit()
	}
	return nil
}

// convert returns the unit that Values are to give for one as it was written, and the factor between them.
func (t *term) convert(written string) (base string, factor float64, ok bool) {
	of := t.unitOf()
	switch t.trend {
	case trendDrift:
		of = share
		if written == "" {
			return string(share), 0.01, true
		}
	case trendGrowth:
		rest, hourly := strings.CutSuffix(written, perHour)
		switch {
		case !hourly && written != "":
			return "", 0, false
		case rest == "%" || written == "":
			return string(share) + perHour, 0.01, true
		case rest == "" && of == count:
			return perHour, 1, true
		case of != seconds && of != bytes || rest == "":
			return "", 0, false
		}
		factor, ok = factorOf(of, rest)
		return string(of) + perHour, factor, ok
	}
	if written == "" {
		return string(of), 1, true
	}
	factor, ok = factorOf(of, written)
	return string(of), factor, ok
}

func factorOf(of unit, written string) (float64, bool) {
	if written == "µs" || written == "μs" { // two different signs for micro
		written = "us"
	}
	i := slices.IndexFunc(units[:], func(u unitName) bool { return u.of == of && u.name == written })
	if i < 0 {
		return 0, false
	}
	return units[i].factor, true
}

// needsUnit says that a number without a unit would not be clear.
func (t *term) needsUnit() bool {
	of := t.unitOf()
	return t.trend != trendNone || of == seconds || of == bytes
}

// plainUnit is how a value is shown where the expression has no unit.
func (t *term) plainUnit() string {
	switch {
	case t.trend == trendGrowth:
		return "%/h"
	case t.trend == trendDrift:
		return "%"
	case t.base == string(seconds):
		return "s"
	case t.base == string(bytes):
		return "B"
	case t.base == string(perSecond):
		return "/s"
	}
	return ""
}

// allowed lists the units that a term may have.
func (t *term) allowed() string {
	of := t.unitOf()
	var names []string
	for _, u := range units {
		if u.of == of && of != count {
			names = append(names, u.name)
		}
	}
	switch {
	case t.trend == trendDrift:
		return "%: a drift is relative to the first third, such as 20%"
	case t.trend == trendGrowth && (of == seconds || of == bytes):
		return "%/h, or one of " + strings.Join(names, perHour+" ") + perHour
	case t.trend == trendGrowth && of == count:
		return "%/h or /h"
	case t.trend == trendGrowth:
		return "%/h"
	case of == count:
		return "none: it is a count"
	case of == share:
		return "% or none"
	case of == perSecond:
		return "none or one of " + strings.Join(names, " ")
	}
	return "one of " + strings.Join(names, " ") + t.example()
}

// example shows how a number may look.
func (t *term) example() string {
	switch of := t.unitOf(); {
	case t.trend == trendGrowth:
		return ", such as 5%/h"
	case t.trend == trendDrift:
		return ", such as 20%"
	case of == seconds:
		return ", such as 120s or 1m30s"
	case of == bytes:
		return ", such as 200MiB"
	case of == share:
		return ", such as 0.9 or 90%"
	}
	return ""
}
