package probe_test

import (
	"strings"
	"testing"

	"example.com/wedge/harness"
	"example.com/wedge/repro/probe"
)

func TestGauges(t *testing.T) {
	url := moving(t, func(n int) string { return frozenPage(n, 100*n) })
	g, err := probe.NewGauges(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		read, err := g.Gauges(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]float64{}
		for _, one := range read {
			values[one.Name] = one.Value
		}
		if values[harness.GaugeDecodeRunning] != float64(n) || values[harness.GaugeDecodeTokens] != float64(100*n) {
			t.Errorf("reading %d: %v", n, values)
		}
	}
	for _, text := range []string{"", "localhost", "http://user:sk-secret@host/metrics"} {
		if _, err := probe.NewGauges(text); err == nil || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%q: error %v", text, err)
		}
	}
	if _, err := probe.NewGauges(); err == nil {
		t.Error("no URL is no error")
	}
}
