package series

import (
	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
)

// gaugesMax bounds how many gauges are told apart, against a server that makes up ever new names.
const gaugesMax = 1024

// gauges keeps what was read of the servers.
type gauges struct {
	list []gauge // in the order in which their names were first seen
	at   sim.Instant
	read bool
}

type gauge struct {
	name   string
	latest float64
	n      int // in the window
	sum    float64
	max    float64
}

// take takes in a reading. Readings have their gauges in the same order, mostly, so that each is looked for where it was.
func (g *gauges) take(now sim.Instant, reading []harness.Gauge) {
	g.at, g.read = now, true
	for i := range reading {
		p := g.find(i, reading[i].Name)
		if p == nil {
			continue
		}
		v := reading[i].Value
		if p.n == 0 || v > p.max {
			p.max = v
		}
		p.latest = v
		p.n++
		p.sum += v
	}
}

func (g *gauges) find(hint int, name string) *gauge {
	if hint < len(g.list) && g.list[hint].name == name {
		return &g.list[hint]
	}
	for i := range g.list {
		if g.list[i].name == name {
			return &g.list[i]
		}
	}
	if len(g.list) == gaugesMax {
		return nil
	}
	g.list = append(g.list, gauge{name: name})
	return &g.list[len(g.list)-1]
}

// window returns what was read in the window, and starts the next.
func (g *gauges) window() []Gauge {
	var out []Gauge
	for i := range g.list {
		p := &g.list[i]
		if p.n > 0 {
			out = append(out, Gauge{Name: p.name, N: p.n, Last: p.latest, Mean: p.sum / float64(p.n), Max: p.max})
		}
		p.n, p.sum, p.max = 0, 0, 0
	}
	return out
}

// latest returns what was read last of each.
func (g *gauges) latest() []harness.Gauge {
	var out []harness.Gauge
	for i := range g.list {
		out = append(out, harness.Gauge{Name: g.list[i].name, Value: g.list[i].latest})
	}
	return out
}
