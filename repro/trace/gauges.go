package trace

import (
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/record"
	"example.com/wedge/harness/sim"
)

// serverStages are the gauges that count the requests in a stage of the servers, in the order in which a
// request passes them.
var serverStages = [...]string{
	harness.GaugeRouterQueued, harness.GaugeRouterInFlight,
	harness.GaugePrefillBootstrap, harness.GaugePrefillQueue, harness.GaugePrefillRunning, harness.GaugePrefillInflight,
	harness.GaugeDecodePrealloc, harness.GaugeDecodeTransfer, harness.GaugeDecodeQueue, harness.GaugeDecodeRunning,
}

// gauges draws the samples: counters, and the tracks of the servers' stages.
type gauges struct {
	*out
	from   sim.Instant
	series []series // in the order in which they are first read
	load   [2]series
	last   sim.Instant // of the latest sample
}

// series is one gauge.
type series struct {
	name  string
	total bool // it is shown as a rate
	tid   int  // of its track as a stage; 0: it is none
	known bool
	at    sim.Instant // since when it has been
	value float64     // this
	shown float64     // of the counter, as it was written
	drawn bool        // that
}

// writeGauges draws the samples of a bundle from an instant on.
func writeGauges(o *out, fsys fs.FS, from sim.Instant) error {
	g := &gauges{out: o, from: from, load: [2]series{{name: "calls"}, {name: "sent"}}}
	if err := record.ReadSamples(fsys, bundle.SamplesLog, g.sample); err != nil {
		return err
	}
	for i := range g.series {
		g.endStage(&g.series[i], g.last)
	}
	return nil
}

func (g *gauges) sample(s *record.Sample) {
	if s.At < g.from {
		return
	}
	g.last = s.At
	for i, n := range []int{s.Calls, s.Sent} {
		g.load[i].counter(g.out, track{pid: pidRun}, s.At, float64(n))
	}
	if s.Err != "" {
		g.event('i', track{pid: pidServers}, s.At, "gauges could not be read")
		g.field("s", "p")
		g.text("error", s.Err)
		g.end()
		for i := range g.series { // what they were is not known from here on
			g.endStage(&g.series[i], s.At)
			g.series[i].known = false
		}
		return
	}
	for i := range s.Gauges {
		g.gauge(g.seriesOf(i, s.Gauges[i].Name), s.At, s.Gauges[i].Value)
	}
}

// seriesOf returns the series of the i-th gauge of a sample. Samples have them in the same order, mostly.
func (g *gauges) seriesOf(i int, name string) *series {
	if i < len(g.series) && g.series[i].name == name {
		return &g.series[i]
	}
	for i := range g.series {
		if g.series[i].name == name {
			return &g.series[i]
		}
	}
	s := series{name: name, total: strings.HasSuffix(name, "_total")}
	if stage := slices.Index(serverStages[:], name); stage >= 0 {
		s.tid = stage + 1
		g.name("thread", track{pidServers, s.tid}, name, s.tid)
	}
	g.series = append(g.series, s)
	return &g.series[len(g.series)-1]
}

func (g *gauges) gauge(s *series, at sim.Instant, v float64) {
	switch {
	case !s.total:
		s.counter(g.out, track{pid: pidServers}, at, v)
	case s.known && at > s.at && v >= s.value: // a total that falls belongs to a server that has started again
		s.counter(g.out, track{pid: pidServers}, s.at, (v-s.value)/at.Sub(s.at).Seconds())
	}
	switch {
	case s.tid == 0:
		s.at, s.value = at, v
	case !s.known || v != s.value:
		g.endStage(s, at)
		s.at, s.value = at, v
	}
	s.known = true
}

// endStage draws for how long a stage has had so many requests. None is no slice.
func (g *gauges) endStage(s *series, to sim.Instant) {
	if s.tid == 0 || !s.known || s.value <= 0 || s.value != math.Trunc(s.value) || micros(to) <= micros(s.at) {
		return
	}
	g.event('X', track{pidServers, s.tid}, s.at, strconv.FormatFloat(s.value, 'f', -1, 64))
	g.length(s.at, to)
	g.end()
}

// counter writes a value of a counter, if it is another one than before.
func (s *series) counter(o *out, t track, at sim.Instant, v float64) {
	if s.drawn && s.shown == v {
		return
	}
	s.drawn, s.shown = true, v
	name := s.name
	if s.total {
		name = fmt.Sprintf("%s per second", strings.TrimSuffix(s.name, "_total"))
	}
	o.event('C', t, at, name)
	o.value("value", v)
	o.end()
}
