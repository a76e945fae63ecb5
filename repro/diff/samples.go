package diff

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"example.com/wedge/harness/bundle"
)

// sample is a line of samples.jsonl.
type sample struct {
	T      float64         `json:"t_s"`
	Sent   int             `json:"sent"`
	Gauges json.RawMessage `json:"gauges"`
}

// gauges sums up the samples of one run.
type gauges struct {
	order []string
	by    map[string]*sums
	n     int // samples under load
	load  float64
}

// sums is one gauge.
type sums struct {
	n             int
	sum, max      float64
	first, last   float64
	firstT, lastT float64
}

// samples compares the gauges.
func samples(r *Report, a, b *source) error {
	one, err := readGauges(a)
	if err != nil {
		return err
	}
	two, err := readGauges(b)
	if err != nil {
		return err
	}
	for _, g := range []struct {
		s *source
		g *gauges
	}{{a, one}, {b, two}} {
		if g.g.n == 0 {
			r.miss("gauges: %s has no samples that were taken while requests were out", g.s.dir)
		}
	}
	if one.n == 0 || two.n == 0 {
		return nil
	}
	for _, name := range one.order {
		x, y := one.summary(name), two.summary(name)
		if two.by[name] != nil && differs(x, y) {
			r.Gauges = append(r.Gauges, GaugeChange{Name: name, A: x, B: y})
		}
	}
	return nil
}

// differs says whether two readings are worth a line: by more than a hundredth.
func differs(x, y GaugeSummary) bool {
	apart := func(a, b float64) bool { return math.Abs(a-b) > 0.01*math.Max(math.Abs(a), math.Abs(b)) }
	return apart(x.Mean, y.Mean) || apart(x.Max, y.Max)
}

func readGauges(s *source) (*gauges, error) {
	g := &gauges{by: map[string]*sums{}}
	f, err := s.file(bundle.SamplesLog)
	if f == nil {
		return g, err
	}
	defer func() { _ = f.Close() }() // it was only read
	in := bufio.NewScanner(f)
	in.Buffer(nil, lineMax)
	for line := 1; in.Scan(); line++ {
		var one sample
		if err := json.Unmarshal(in.Bytes(), &one); err != nil {
			if !in.Scan() { // a run that was killed leaves a line cut off at the end
				break
			}
			return nil, s.wrong(bundle.SamplesLog, fmt.Errorf("line %d: no valid JSON: %w", line, err))
		}
		if one.Sent > 0 {
			g.add(&one)
		}
	}
	if err := in.Err(); err != nil {
		return nil, s.wrong(bundle.SamplesLog, err)
	}
	return g, nil
}

func (g *gauges) add(one *sample) {
	g.n++
	g.load += float64(one.Sent)
	for _, l := range leaves(one.Gauges) {
		var value float64
		if _, err := fmt.Sscan(l.value, &value); err != nil {
			continue
		}
		s := g.by[l.path]
		if s == nil {
			s = &sums{first: value, firstT: one.T, max: value}
			g.by[l.path] = s
			g.order = append(g.order, l.path)
		}
		s.n++
		s.sum += value
		s.max = math.Max(s.max, value)
		s.last, s.lastT = value, one.T
	}
}

func (g *gauges) summary(name string) GaugeSummary {
	s := g.by[name]
	if s == nil {
		return GaugeSummary{}
	}
	out := GaugeSummary{Samples: s.n, Load: g.load / float64(g.n), Mean: s.sum / float64(s.n), Max: s.max}
	if strings.HasSuffix(name, "_total") {
		out.Max = s.last - s.first
		out.Mean = part(out.Max, s.lastT-s.firstT)
	}
	return out
}
