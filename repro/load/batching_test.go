package load

import (
	"errors"
	"strings"
	"testing"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// TestBatchingOfReadings judges readings that simulated servers do not give easily.
func TestBatchingOfReadings(t *testing.T) {
	gauge := func(name string, value float64) serving.Gauge { return serving.Gauge{Name: name, Value: value} }
	for _, c := range []struct {
		out    int
		read   []serving.Gauge
		failed error
		whole  *Quantiles
		want   BatchVerdict
		words  string
	}{
		{30, []serving.Gauge{gauge(serving.GaugeRouterInFlight, 2), gauge(serving.GaugeDecodeRunning, 0)}, nil, nil, NotAtServers, "2.0 on average are at the router while 30 are out"},
		{30, []serving.Gauge{gauge(serving.GaugeDecodeRunning, 5)}, nil, nil, Unknown, "no gauge says where the others are"},
		{30, []serving.Gauge{gauge(serving.GaugeRouterInFlight, 30), gauge(serving.GaugeRouterQueued, 28), gauge(serving.GaugeDecodeRunning, 2)}, nil, nil, BeforeDecode, "2 run while 30 requests are out, and 28.0 on average wait at the router"},
		{30, []serving.Gauge{gauge(serving.GaugeRouterInFlight, 30)}, nil, nil, Unknown, "show no gauge of running requests"},
		{30, []serving.Gauge{gauge(serving.GaugeRouterInFlight, 2), gauge(serving.GaugeDecodeRunning, 0)}, nil, &Quantiles{P50: 0.0012}, Unknown, "half the answers took less than 1.2 ms"},
		{0, nil, errors.New("refused"), nil, Unknown, "no gauges could be read: refused"},
		{0, nil, nil, nil, Unknown, "only 0 samples were taken"},
	} {
		s := &sampler{from: &inMemory{}}
		if c.failed != nil {
			s.failed, s.err = 4, c.failed
		}
		for i := range 4 {
			if c.out > 0 {
				s.any.add(sim.Instant(i), c.out, c.read)
			}
		}
		if got := batching(s, c.whole); got.Verdict != c.want || !strings.Contains(got.Text, c.words) {
			t.Errorf("got  %+v\nwant %s with %q", got, c.want, c.words)
		}
	}
	if got := batching(&sampler{}, nil); got.Verdict != Unknown || !strings.Contains(got.Text, "--metrics-url") {
		t.Errorf("%+v", got)
	}
}
