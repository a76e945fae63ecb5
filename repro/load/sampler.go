package load

import (
	"context"
	"slices"

	"example.com/wedge/repro/serving"

	"example.com/wedge/harness/sim"
)

// gauges is where gauges are read.
type gauges interface {
	Gauges(ctx context.Context) ([]serving.Gauge, error)
}

// sampler reads the servers' gauges and keeps them with the load that they were read under. Its
// process alone uses it.
type sampler struct {
	from   gauges // nil: there are none
	any    reading
	full   reading // while at least nine tenths of the clients had a request out
	failed int
	err    error // of the first failure
}

// reading sums up samples.
type reading struct {
	samples     int
	out         spread // requests that were out
	gauges      []series
	first, last sim.Instant
}

// spread is what became of a number over the samples.
type spread struct {
	n             int
	min, max, sum float64
}

func (s *spread) add(v float64) {
	if s.n == 0 {
		s.min, s.max = v, v
	}
	s.n++
	s.min, s.max, s.sum = min(s.min, v), max(s.max, v), s.sum+v
}

// mean is within the bounds, whatever rounding does to the sum.
func (s *spread) mean() float64 { return min(max(s.sum/float64(max(s.n, 1)), s.min), s.max) }

// series is one gauge over the samples.
type series struct {
	name        string
	values      spread
	first, last float64
}

func (r *reading) add(now sim.Instant, out int, read []serving.Gauge) {
	if r.samples == 0 {
		r.first = now
	}
	r.samples++
	r.last = now
	r.out.add(float64(out))
	for _, g := range read {
		i := slices.IndexFunc(r.gauges, func(s series) bool { return s.name == g.Name })
		if i < 0 {
			i = len(r.gauges)
			r.gauges = append(r.gauges, series{name: g.Name, first: g.Value})
		}
		r.gauges[i].values.add(g.Value)
		r.gauges[i].last = g.Value
	}
}

func (r *reading) find(name string) (spread, bool) {
	for _, s := range r.gauges {
		if s.name == name {
			return s.values, true
		}
	}
	return spread{}, false
}

// sample is the body of the process that reads the gauges.
func (g *generator) sample(ctx context.Context) {
	for g.w.Sleep(ctx, g.plan.SampleEvery) == nil {
		g.w.Lock()
		p := Progress{At: g.w.Now(), Sent: g.rec.sent, OK: g.rec.ok, Failed: g.rec.failed, Out: g.rec.out}
		g.w.Unlock()
		if g.watch != nil {
			g.watch(p)
		}
		g.sampler.take(ctx, p, g.plan)
	}
}

func (s *sampler) take(ctx context.Context, p Progress, plan *Plan) {
	if s.from == nil || p.Out == 0 {
		return // a gauge that is read under no load says nothing
	}
	read, err := s.from.Gauges(ctx)
	if err != nil {
		if sim.Cause(ctx) == nil {
			s.failed++
			if s.err == nil {
				s.err = err
			}
		}
		return
	}
	s.any.add(p.At, p.Out, read)
	if plan.Rate == 0 && 10*p.Out >= 9*plan.Clients {
		s.full.add(p.At, p.Out, read)
	}
}

// best returns the samples that say most: those under full load, if there are enough.
func (s *sampler) best() *reading {
	if s.full.samples >= samplesMin {
		return &s.full
	}
	return &s.any
}

// samplesMin is how many samples say something about what the servers do.
const samplesMin = 3
