package requestlog

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"
)

const (
	// samplesMax is how many latencies are kept; beyond that every second one is
	// dropped, then every second of the rest, and so on.
	samplesMax = 1 << 20
	// slowestMax is how many of the largest are kept with their ids, of each kind.
	slowestMax = 10
	// p99Samples is how many samples a 99th percentile takes to mean something.
	p99Samples = 1000
)

// A sample is a latency that waits for the unit of the log to be known.
type sample struct {
	number float64
	unit   Unit  // stated
	fits   units // by the time stamps, if it is bare
}

// seconds returns the length, if its unit is known: bare is that of the log's
// bare numbers.
func (s *sample) seconds(bare Unit, mixed bool) (float64, bool) {
	unit := s.unit
	if unit == NoUnit {
		unit = bare
	}
	if unit == NoUnit && mixed {
		unit = s.fits.only()
	}
	return s.number * unit.seconds(), unit != NoUnit
}

// A slow is one of the largest.
type slow struct {
	sample
	id     string
	at     time.Time
	status int
}

// latencies are those of finished requests.
type latencies struct {
	kept    []sample
	stride  int64 // one of so many is kept
	seen    int64
	slowest [2 * unitNumber][]slow // by slot, each from large to small
}

// slot is where a latency is compared with others: by the unit that is stated, or by the one that the time stamps tell of
// a bare number. Numbers of different units say nothing of which is longer.
func (s *sample) slot() Unit {
	if s.unit != NoUnit {
		return s.unit
	}
	return unitNumber + s.fits.only()
}

func (l *latencies) add(ev *Event, fits units) {
	if !ev.Latency.Known {
		return
	}
	s := sample{ev.Latency.Number, ev.Latency.Unit, fits}
	if l.stride == 0 {
		l.stride = 1
	}
	if l.seen%l.stride == 0 {
		l.kept = append(l.kept, s)
	}
	l.seen++
	if len(l.kept) == samplesMax {
		half := l.kept[:0]
		for i := 0; i < samplesMax; i += 2 {
			half = append(half, l.kept[i])
		}
		l.kept = half
		l.stride *= 2
	}
	top := &l.slowest[s.slot()]
	if len(*top) == slowestMax && (*top)[slowestMax-1].number >= s.number {
		return
	}
	i := 0
	for i < len(*top) && (*top)[i].number >= s.number {
		i++
	}
	*top = slices.Insert(*top, i, slow{s, string(ev.ID), ev.At, ev.Status})
	*top = (*top)[:min(len(*top), slowestMax)]
}

// A Distribution is of lengths of time, in seconds.
type Distribution struct {
	// N is how many finished requests have a latency whose unit is known, Unknown
	// how many have one whose unit is not.
	N       int64 `json:"n"`
	Unknown int64 `json:"unknown_unit"`
	// Sampled is how many of them the figures are made of, if not all.
	Sampled int64   `json:"sampled,omitempty"`
	Min     float64 `json:"min_s"`
	P50     float64 `json:"p50_s"`
	P90     float64 `json:"p90_s"`
	P95     float64 `json:"p95_s"`
	// P99 is absent below 1,000 samples: it would be little more than the largest.
	P99 *float64 `json:"p99_s,omitempty"`
	Max float64  `json:"max_s"`
}

// A Slow is one of the slowest requests.
type Slow struct {
	ID string `json:"id"`
	// At is the time of the finished line.
	At     *time.Time `json:"at,omitempty"`
	Status int        `json:"status,omitempty"`
	// Logged is the latency as the log has it.
	Logged  string  `json:"logged"`
	Seconds float64 `json:"latency_s"`
}

// distribution makes figures of what was kept; nil if there are none.
func (l *latencies) distribution(bare Unit, mixed bool) *Distribution {
	var s []float64
	for i := range l.kept {
		if x, ok := l.kept[i].seconds(bare, mixed); ok {
			s = append(s, x)
		}
	}
	if len(s) == 0 {
		return nil
	}
	slices.Sort(s)
	at := func(p float64) float64 { return s[max(0, int(math.Ceil(p*float64(len(s))))-1)] }
	d := &Distribution{N: int64(len(s)) * l.stride, Unknown: int64(len(l.kept)-len(s)) * l.stride, Min: s[0], P50: at(0.5), P90: at(0.9), P95: at(0.95), Max: s[len(s)-1]}
	if l.stride > 1 {
		d.Sampled = int64(len(s))
		d.N = min(d.N, l.seen)
	}
	if len(s) >= p99Samples {
		p99 := at(0.99)
		d.P99 = &p99
	}
	for _, slow := range l.slow(bare, mixed) { // the largest are kept apart
		d.Max = max(d.Max, slow.Seconds)
	}
	return d
}

// slow returns the slowest, from slow to fast.
func (l *latencies) slow(bare Unit, mixed bool) []Slow {
	var out []Slow
	for _, top := range l.slowest {
		for i := range top {
			s, ok := top[i].seconds(bare, mixed)
			if !ok {
				continue
			}
			logged := strconv.FormatFloat(top[i].number, 'f', -1, 64)
			if u := top[i].unit; u != NoUnit {
				logged += " " + [...]string{"", "ns", "µs", "ms", "s"}[u]
			}
			out = append(out, Slow{top[i].id, stamp(top[i].at), top[i].status, logged, s})
		}
	}
	return slowest(out)
}

// slowest sorts, and keeps as many as are reported.
func slowest(list []Slow) []Slow {
	slices.SortStableFunc(list, func(a, b Slow) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return list[:min(len(list), slowestMax)]
}

// stamp is a time for a report; nil for none.
func stamp(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}
