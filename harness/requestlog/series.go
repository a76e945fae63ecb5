package requestlog

import (
	"cmp"
	"slices"
	"time"
)

type kind uint8

const (
	kindStarted kind = iota
	kindFinished
	kindProbe
	kindNumber
)

const (
	// slotsMax is how many slots of time are kept; when there would be more, two
	// become one.
	slotsMax = 4096
	// rowsMax is how many a report shows.
	rowsMax = 12
)

// series counts events over time, in slots that widen as the log goes on.
type series struct {
	origin time.Time // of the first slot
	width  time.Duration
	slots  [][kindNumber]int64
}

func (s *series) add(at time.Time, k kind) {
	if at.IsZero() {
		return
	}
	if s.width == 0 {
		s.width = time.Second
		s.origin = at.Truncate(time.Second)
	}
	const century = 100 * 365 * 24 * time.Hour
	if away := at.Sub(s.origin); away > century || away < -century {
		return // one of the two is no real time
	}
	for at.Before(s.origin) { // older than all so far
		before := s.origin.Sub(at)/s.width + 1
		if int64(before)+int64(len(s.slots)) <= slotsMax {
			s.slots = append(make([][kindNumber]int64, before), s.slots...)
			s.origin = s.origin.Add(-before * s.width)
			break
		}
		s.widen()
	}
	for at.Sub(s.origin)/s.width >= slotsMax {
		s.widen()
	}
	i := int(at.Sub(s.origin) / s.width)
	for len(s.slots) <= i {
		s.slots = append(s.slots, [kindNumber]int64{})
	}
	s.slots[i][k]++
}

// widen makes one slot of two.
func (s *series) widen() {
	for i := range s.slots {
		if i%2 == 1 {
			for k := range s.slots[i] {
				s.slots[i/2][k] += s.slots[i][k]
			}
		} else {
			s.slots[i/2] = s.slots[i]
		}
	}
	s.slots = s.slots[:(len(s.slots)+1)/2]
	s.width *= 2
}

// A Bucket is what happened in a span of time.
type Bucket struct {
	From time.Time `json:"from"`
	// Width is the length in seconds.
	Width    float64 `json:"width_s"`
	Started  int64   `json:"started"`
	Finished int64   `json:"finished"`
	Probes   int64   `json:"probes"`
}

// buckets returns up to twelve spans of a round width.
func (s *series) buckets() []Bucket {
	if len(s.slots) == 0 {
		return nil
	}
	span := time.Duration(len(s.slots)) * s.width
	width := s.width
	for _, w := range [...]time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute,
		5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour} {
		if width = max(width, w); span/w < rowsMax {
			break
		}
	}
	for span/width >= rowsMax {
		width *= 2
	}
	from := s.origin.Truncate(width)
	if from.Year() < 0 { // of a log without years
		from = s.origin
	}
	var out []Bucket
	for i := range s.slots {
		at := s.origin.Add(time.Duration(i) * s.width)
		for len(out) == 0 || !at.Before(out[len(out)-1].From.Add(width)) {
			out = append(out, Bucket{From: from.Add(time.Duration(len(out)) * width), Width: width.Seconds()})
		}
		b := &out[len(out)-1]
		b.Started += s.slots[i][kindStarted]
		b.Finished += s.slots[i][kindFinished]
		b.Probes += s.slots[i][kindProbe]
	}
	return out
}

// A Gap is a time in which no request started or finished.
type Gap struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Length is in seconds.
	Length float64 `json:"length_s"`
	// Open is how many requests were started and not finished meanwhile, Probes
	// how many health checks were logged.
	Open   int   `json:"open"`
	Probes int64 `json:"probes"`
	// ToEnd says that it lasts to the last line of the log.
	ToEnd bool `json:"to_end"`
}

const (
	// gapMin is the shortest that is told of.
	gapMin  = 30 * time.Second
	gapsMax = 5
)

// gaps finds the longest.
type gaps struct {
	last   time.Time // of a request's line
	probes int64     // since then
	found  []Gap     // from long to short
}

func (g *gaps) probe() { g.probes++ }

// activity notes a line of a request at which open ones are open, itself not yet
// counted.
func (g *gaps) activity(at time.Time, open int) {
	if at.IsZero() {
		return
	}
	if !g.last.IsZero() {
		g.close(at, open, false)
	}
	if at.After(g.last) {
		g.last = at
	}
	g.probes = 0
}

// close ends a gap.
func (g *gaps) close(at time.Time, open int, toEnd bool) {
	length := at.Sub(g.last)
	if length < gapMin {
		return
	}
	g.found = append(g.found, Gap{From: g.last.UTC(), To: at.UTC(), Length: length.Seconds(), Open: open, Probes: g.probes, ToEnd: toEnd})
	slices.SortStableFunc(g.found, func(a, b Gap) int { return cmp.Compare(b.Length, a.Length) })
	g.found = g.found[:min(len(g.found), gapsMax)]
}

// statuses counts how requests ended.
type statuses struct {
	list []Status
}

// A Status is how many requests ended so.
type Status struct {
	// Code is the HTTP status; 0 if the log has none.
	Code int `json:"code"`
	// Flags is what envoy adds.
	Flags string `json:"flags,omitempty"`
	N     int64  `json:"n"`
}

// statusesMax bounds memory: further ones count as the last.
const statusesMax = 256

func (s *statuses) add(code int, flags []byte) {
	for i := range s.list {
		if s.list[i].Code == code && s.list[i].Flags == string(flags) {
			s.list[i].N++
			return
		}
	}
	if len(s.list) == statusesMax {
		s.list[statusesMax-1].N++
		return
	}
	s.list = append(s.list, Status{code, string(flags), 1})
}
