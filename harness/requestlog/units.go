package requestlog

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// units is a set of units, by bit.
type units uint8

func (s units) has(u Unit) bool { return s&(1<<u) != 0 }

// only returns the unit of a set of one.
func (s units) only() Unit {
	for u := Nanoseconds; u < unitNumber; u++ {
		if s == 1<<u {
			return u
		}
	}
	return NoUnit
}

// fitting returns the units in which a bare number comes to the time between two
// time stamps. Both are cut to their resolution, so the difference is off by up to
// one of it; a line is written a little after what it tells of.
func fitting(number float64, elapsed, resolution time.Duration) (s units) {
	const writing = 20 * time.Millisecond
	tolerance := resolution.Seconds() + writing.Seconds() + elapsed.Seconds()/50
	for u := Nanoseconds; u < unitNumber; u++ {
		if math.Abs(number*u.seconds()-elapsed.Seconds()) <= tolerance {
			s |= 1 << u
		}
	}
	return s
}

// evidence is what speaks for the unit of a log's bare numbers.
type evidence struct {
	bare, stated int64 // latencies without and with a unit
	statedIn     [unitNumber]int64
	compared     int64             // bare ones with time stamps of both ends
	telling      int64             // of those, such that at most one unit fits
	alone        [unitNumber]int64 // telling ones that this unit fits
	fits         [unitNumber]int64 // compared ones that this unit fits
	checked      int64             // stated ones with time stamps of both ends
	confirmed    int64             // of those, that agree
	coarse       bool              // some stamps had whole seconds only
}

// compare compares a latency with the time between start and end, either of which
// may be zero, and returns the units that fit a bare number: none if it could not
// be compared.
func (e *evidence) compare(l Latency, start, end time.Time) units {
	if !l.Known {
		return 0
	}
	resolution := time.Millisecond
	if start.Nanosecond() == 0 && end.Nanosecond() == 0 {
		resolution = time.Second
		e.coarse = true
	}
	comparable := !start.IsZero() && !end.IsZero() && !end.Before(start)
	elapsed := end.Sub(start)
	if l.Unit != NoUnit {
		e.stated++
		e.statedIn[l.Unit]++
		if comparable {
			e.checked++
			if fitting(l.Number, elapsed, resolution).has(l.Unit) {
				e.confirmed++
			}
		}
		return 1 << l.Unit
	}
	e.bare++
	if !comparable || l.Number == 0 {
		return 0
	}
	fit := fitting(l.Number, elapsed, resolution)
	e.compared++
	for u := Nanoseconds; u < unitNumber; u++ {
		if fit.has(u) {
			e.fits[u]++
		}
	}
	if only := fit.only(); only != NoUnit || fit == 0 {
		e.telling++
		e.alone[only]++
	}
	return fit
}

// A UnitFinding says in which unit a log's latencies are, and how that is known.
type UnitFinding struct {
	// Unit is nanoseconds, microseconds, milliseconds, seconds, "mixed" if there
	// are several, or "unknown".
	Unit string `json:"unit"`
	// Text is a sentence for people, with the evidence.
	Text string `json:"text"`
	// Basis is "time stamps", "stated" (in the log or by its format), "format" (by
	// what is known of the program that wrote it, which the log neither confirms
	// nor refutes), or "none".
	Basis string `json:"basis"`
	// Confidence is "certain", "likely" or "none".
	Confidence string `json:"confidence"`
	// Bare and Stated are how many latencies have no unit, and one.
	Bare   int64 `json:"bare"`
	Stated int64 `json:"stated"`
	// Compared are those bare numbers for which the log has time stamps of both
	// ends, Telling those of them so long that they tell units apart, and Agree
	// those that agree with Unit.
	Compared int64 `json:"compared"`
	Telling  int64 `json:"telling"`
	Agree    int64 `json:"agree"`

	bare Unit // of bare numbers; NoUnit if that is not known or is mixed
}

// telling is how many comparisons make a unit certain.
const tellingEnough = 5

// find judges the evidence. router says that the log is from a router whose
// latencies are known to be microseconds, access that it is of a proxy whose
// format has the unit.
func (e *evidence) find(router, access bool) UnitFinding {
	f := UnitFinding{Unit: "unknown", Basis: "none", Confidence: "none", Bare: e.bare, Stated: e.stated, Compared: e.compared, Telling: e.telling}
	switch {
	case e.bare == 0 && e.stated == 0:
		f.Text = "no line has a latency"
	case e.bare == 0:
		e.findStated(&f, access)
	case e.telling == 0:
		e.findNothing(&f, router)
	default:
		e.findBare(&f)
	}
	if e.bare > 0 && e.stated > 0 {
		f.Text = fmt.Sprintf("mixed: %d latencies with their unit, %d bare numbers, which are %s", e.stated, e.bare, f.Text)
		f.Unit = "mixed"
	}
	return f
}

// findStated is for latencies that have their units.
func (e *evidence) findStated(f *UnitFinding, access bool) {
	by := " (stated in the log"
	if access {
		by = " (by the format of the log"
	}
	f.Basis, f.Confidence, f.Agree = "stated", "certain", e.confirmed
	var names []string
	for u := Nanoseconds; u < unitNumber; u++ {
		if e.statedIn[u] > 0 {
			f.Unit = u.String()
			names = append(names, fmt.Sprintf("%s (%d)", u, e.statedIn[u]))
		}
	}
	f.Text = f.Unit + by
	if len(names) > 1 {
		f.Unit = "mixed"
		f.Text = "mixed: " + strings.Join(names, ", ") + by
	}
	if e.checked > 0 {
		f.Text += fmt.Sprintf("; %d of %d agree with the time stamps", e.confirmed, e.checked)
	}
	f.Text += ")"
	if e.checked > 0 && e.confirmed*2 < e.checked {
		f.Confidence = "none"
		f.Text += ": what they measure, or their unit, is something else"
	}
}

// findNothing is for bare numbers that no time stamp tells apart.
func (e *evidence) findNothing(f *UnitFinding, router bool) {
	why := fmt.Sprintf("none of %d bare numbers could be compared, for want of time stamps of both ends", e.bare)
	if e.compared > 0 {
		var left []string
		for u := Nanoseconds; u < unitNumber; u++ {
			if e.fits[u] == e.compared {
				left = append(left, u.String())
			}
		}
		why = fmt.Sprintf("too little evidence: the requests are too short for the time stamps' resolution; %s agree with all %d that could be compared", strings.Join(left, ", "), e.compared)
		if len(left) == 0 {
			why = fmt.Sprintf("too little evidence: no unit agrees with all %d that could be compared", e.compared)
		}
	}
	f.Text = "unknown: " + why
	if router && (e.compared == 0 || e.fits[Microseconds] == e.compared) {
		f.Unit, f.bare, f.Basis, f.Confidence = Microseconds.String(), Microseconds, "format", "likely"
		f.Text = "microseconds, as SGLang's router writes since December 2025; the time stamps neither confirm nor refute it (" + why + ")"
	}
}

// findBare is for bare numbers of which some tell.
func (e *evidence) findBare(f *UnitFinding) {
	best, more, told := NoUnit, 0, int64(0)
	var names []string
	for u := Nanoseconds; u < unitNumber; u++ {
		if e.alone[u] > e.alone[best] || best == NoUnit && e.alone[u] > 0 {
			best = u
		}
		told += e.alone[u]
		if e.alone[u] > 0 && e.alone[u]*20 >= e.telling {
			more++
			names = append(names, fmt.Sprintf("%s (%d)", u, e.alone[u]))
		}
	}
	f.Basis, f.Confidence = "time stamps", "certain"
	agree := "agree with the time stamps"
	if e.telling == 1 {
		agree = "agrees with the time stamps"
	}
	switch {
	case best == NoUnit:
		f.Basis, f.Confidence = "none", "none"
		f.Text = fmt.Sprintf("unknown: in no unit do the latencies agree with the time stamps (%d compared), so they measure something else", e.telling)
	case more > 1:
		f.Unit = "mixed"
		f.Text = fmt.Sprintf("mixed: %s of %d that tell units apart, by the time stamps", strings.Join(names, ", "), e.telling)
		if told < e.bare {
			f.Text += "; the others are left out below"
		}
	default:
		f.Unit, f.bare, f.Agree = best.String(), best, e.alone[best]
		f.Text = fmt.Sprintf("%s (%d of %d %s)", best, f.Agree, e.telling, agree)
		if e.telling < tellingEnough || f.Agree*10 < e.telling*9 {
			f.Confidence = "likely"
			f.Text += ", likely rather than certain"
		}
		if f.Agree*2 < e.telling {
			f.Confidence, f.bare = "none", NoUnit
			f.Unit = "unknown"
			f.Text = fmt.Sprintf("unknown: %s agree with the time stamps in %d of %d cases only", best, f.Agree, e.telling)
		}
	}
}
