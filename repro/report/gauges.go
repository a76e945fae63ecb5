package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"

	"example.com/wedge/harness/bundle"
)

// Bounds of what is kept of samples.
const (
	samplesMax     = 1024 // of the run: from twice as many on, two are made one
	gaugesMax      = 40
	lineBytesMax   = 1 << 20
	badLinesSaid   = 3
	sampleFieldMax = 200 // runes of a name
)

// sample is one line of samples.jsonl.
type sample struct {
	AtS    float64            `json:"t_s"`
	Sent   float64            `json:"sent"`
	Calls  float64            `json:"calls"`
	Gauges map[string]float64 `json:"gauges"`
	Err    string             `json:"error"`
}

// gaugeSet is the gauges of a run over time.
type gaugeSet struct {
	at          []float64
	sent, calls []float64
	names       []string // in the order of their appearance
	values      map[string][]float64
	failed      int // readings that failed
	whyFailed   string
	every       int // how many samples are made one
	pending     int
	endS        float64
}

// readGauges reads samples.jsonl; nil if there is nothing in it.
func readGauges(s *source) *gaugeSet {
	g := &gaugeSet{values: map[string][]float64{}, every: 1}
	s.lines(bundle.SamplesLog, func(line []byte) error {
		var one sample
		if err := json.Unmarshal(line, &one); err != nil {
			return err
		}
		if !finite(one.AtS) || one.AtS < g.endS {
			return fmt.Errorf("t_s: found %v, want no less than before", one.AtS)
		}
		g.add(&one, order(line))
		return nil
	})
	if len(g.at) == 0 {
		return nil
	}
	return g
}

// lines hands each line of a log, in one file or in rotated ones, to take. Lines that it refuses are told of, the first
// ones with where they stand.
func (s *source) lines(name string, take func([]byte) error) {
	files, err := bundle.Logs(s.fs, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.wrong(name, reason(err))
	}
	for i, file := range files {
		s.linesOf(file, i+1 == len(files), take)
	}
}

func (s *source) linesOf(name string, last bool, take func([]byte) error) {
	f, err := s.fs.Open(name)
	if err != nil {
		s.wrong(name, reason(err))
		return
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, lineBytesMax)
	bad := 0
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		whole := err == nil
		if err != nil && !errors.Is(err, io.EOF) {
			s.wrong(name, fmt.Sprintf("line %d: is read no further: %v", n, err))
			return
		}
		if !whole && len(line) > 0 && last {
			s.wrong(name, "ends in the middle of a line: the run was killed, and what it knew last is lost")
			return
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := take(line); err != nil {
				if bad++; bad <= badLinesSaid {
					s.wrong(name, fmt.Sprintf("line %d is left out: %s", n, clean(err.Error())))
				}
			}
		}
		if !whole {
			break
		}
	}
	if bad > badLinesSaid {
		s.wrong(name, fmt.Sprintf("%s more are left out", thousands(bad-badLinesSaid)))
	}
}

// order is the names of the gauges as they stand in the line: a map does not keep their order.
func order(line []byte) (names []string) {
	d := json.NewDecoder(bytes.NewReader(line))
	depth, inside := 0, false
	for {
		token, err := d.Token()
		if err != nil {
			return names
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '{' {
				depth++
			} else if t == '}' {
				if depth--; inside {
					return names
				}
			}
		case string:
			if depth == 1 && t == "gauges" {
				inside = true
			} else if depth == 2 && inside {
				names = append(names, t)
				_, _ = d.Token() // its value
			}
		}
	}
}

func (g *gaugeSet) add(one *sample, names []string) {
	g.endS = one.AtS
	if one.Err != "" {
		g.failed++
		g.whyFailed = clean(one.Err)
	}
	if g.pending++; g.pending < g.every && len(g.at) > 0 {
		return // a spike between is lost: that is what a long run costs
	}
	g.pending = 0
	if len(g.at) == 2*samplesMax {
		g.halve()
	}
	n := len(g.at)
	g.at, g.sent, g.calls = append(g.at, one.AtS), append(g.sent, one.Sent), append(g.calls, one.Calls)
	for _, name := range names {
		if _, ok := g.values[name]; !ok && len(g.names) < gaugesMax {
			g.names = append(g.names, name)
			g.values[name] = slices.Repeat([]float64{math.NaN()}, n)
		}
	}
	for _, name := range g.names {
		v, ok := one.Gauges[name]
		if !ok {
			v = math.NaN()
		}
		g.values[name] = append(g.values[name], v)
	}
}

// halve keeps every second sample.
func (g *gaugeSet) halve() {
	half := func(v []float64) []float64 {
		kept := v[:0]
		for i := 0; i < len(v); i += 2 {
			kept = append(kept, v[i])
		}
		return kept
	}
	g.at, g.sent, g.calls = half(g.at), half(g.sent), half(g.calls)
	for _, name := range g.names {
		g.values[name] = half(g.values[name])
	}
	g.every *= 2
}

// gaugesView is the gauges as the template has them.
type gaugesView struct {
	Charts  []chartView
	Flat    []flatGauge // those that never moved
	Failed  int
	Why     string
	Samples int
	Every   int
}

// flatGauge is a gauge that read the same all the time.
type flatGauge struct{ Name, Value string }

// view makes a chart of each gauge that moved, with the load behind it.
func (g *gaugeSet) view(bands []band, endS float64) *gaugesView {
	if g == nil {
		return nil
	}
	v := &gaugesView{Failed: g.failed, Why: g.whyFailed, Samples: len(g.at), Every: g.every}
	endS = math.Max(endS, g.endS)
	for _, name := range g.names {
		low, high := extremes(g.values[name])
		title := clean(name)
		if r := []rune(title); len(r) > sampleFieldMax {
			title = string(r[:sampleFieldMax]) + "…"
		}
		if low == high || low > high {
			v.Flat = append(v.Flat, flatGauge{title, map[bool]string{true: number(low), false: "never read"}[low == high]})
			continue
		}
		v.Charts = append(v.Charts, g.chart(title, g.values[name], bands, endS).view())
	}
	return v
}

func extremes(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if finite(v) {
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	return low, high
}

// chart is one gauge. What only counts up is shown as so many a second. Behind it stands the load, in its own measure,
// since a gauge that reads 0 says nothing unless something was asked of the servers.
func (g *gaugeSet) chart(title string, values []float64, bands []band, endS float64) *chart {
	c := &chart{Title: strings.ReplaceAll(title, "_", " "), EndS: endS, AtS: g.at, Bands: bands, Kind: "small"}
	if strings.HasSuffix(title, "_total") {
		c.Title, c.Unit = strings.TrimSuffix(c.Title, " total"), "/s"
		values = rates(g.at, values)
	} else if strings.HasSuffix(title, "_usage") {
		c.Share = true
	} else {
		c.Whole = true
	}
	_, high := extremes(values)
	_, load := extremes(g.sent)
	behind := curve{Name: "requests out", Class: "load", V: g.sent, Area: true}
	if load > 0 && (!c.Whole || load > 4*high || high > 20*load) {
		// In another measure: as high as the picture where it is highest.
		top := (&chart{Series: []curve{{V: values}}, AtS: g.at, Whole: c.Whole, Share: c.Share, Unit: c.Unit}).top()
		behind.V = make([]float64, len(g.sent))
		for i, n := range g.sent {
			behind.V[i] = n / load * top
		}
		c.Scaled = scaled{load, top}
		c.Note = fmt.Sprintf("requests out: full height is %s", number(load))
	}
	c.Series = []curve{behind, {Name: c.Title, Class: "gauge", V: values}}
	return c
}

// rates is how fast a counter grew since the sample before.
func rates(at, values []float64) []float64 {
	out := make([]float64, len(values))
	for i := range values {
		out[i] = math.NaN()
		if i > 0 && at[i] > at[i-1] {
			out[i] = math.Max(0, (values[i]-values[i-1])/(at[i]-at[i-1])) // a server that was restarted counts from 0
		}
	}
	return out
}
