package probe

import (
	"fmt"
	"slices"
	"time"

	"example.com/wedge/harness"
)

// frozenDecode says that the decode engine's gauges cannot be of the window, and why; empty: nothing
// speaks against them. Engines set their gauges at points of their own (each so many steps, when
// something arrives), so that they stand still while requests come and go.
func (p *prober) frozenDecode() string {
	if len(p.readings) < 2 {
		return ""
	}
	running, ok := p.constant(harness.GaugeDecodeRunning)
	made, counted := p.grown(harness.GaugeDecodeTokens)
	if !ok || !counted {
		return ""
	}
	from, to := p.window()
	window := span(time.Duration(to - from))
	had, asked := p.constant(harness.GaugeRouterInFlight)
	switch {
	case running == 0 && made > 0 && p.growsThroughout(harness.GaugeDecodeTokens) && p.sentThroughout() > 0:
		return fmt.Sprintf("the decode engine's gauges are frozen and do not count here: decode_running reads 0 in all of %s, but decode_tokens_total rose by %.0f in %s", plural(len(p.readings), "reading"), made, window)
	case running > 0 && made == 0 && asked && had == 0:
		return fmt.Sprintf("the decode engine's gauges are frozen, or it holds requests that the router has forgotten, and they do not count here: decode_running reads %.0f in all of %s, but the router has no request and no token was made in %s", running, plural(len(p.readings), "reading"), window)
	}
	return ""
}

// constant is the value of a gauge that is the same in every reading.
func (p *prober) constant(name string) (float64, bool) {
	first, ok := p.readings[0].value(name)
	for _, r := range p.readings {
		if v, there := r.value(name); !there || v != first {
			return 0, false
		}
	}
	return first, ok
}

// grown is how much a counter grew over the window.
func (p *prober) grown(name string) (float64, bool) {
	a, okA := p.readings[0].value(name)
	b, okB := p.readings[len(p.readings)-1].value(name)
	return b - a, okA && okB && b >= a
}

// growsThroughout says whether a counter grew between any two readings.
func (p *prober) growsThroughout(name string) bool {
	for i := 1; i < len(p.readings); i++ {
		a, _ := p.readings[i-1].value(name)
		if b, _ := p.readings[i].value(name); b <= a {
			return false
		}
	}
	return true
}

// sentThroughout counts the requests that were at the servers all the time.
func (p *prober) sentThroughout() int {
	n := 0
	for _, c := range p.clients {
		n += c.sentThroughout
	}
	if len(p.clients) == 0 {
		n = p.stillCalls()
	}
	return n
}

// decodeGauges are those that the decode engine sets at one point of its own: where one is frozen, all
// are.
func decodeGauges() []string {
	return []string{harness.GaugeDecodeRunning, harness.GaugeDecodeQueue, harness.GaugeDecodeTransfer, harness.GaugeDecodePrealloc, harness.GaugeDecodeKV}
}

// withoutFrozen leaves out the gauges that do not count.
func withoutFrozen(gauges []harness.Gauge) []harness.Gauge {
	return slices.DeleteFunc(slices.Clone(gauges), func(g harness.Gauge) bool { return slices.Contains(decodeGauges(), g.Name) })
}
