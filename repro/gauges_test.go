package repro_test

import (
	"slices"
	"testing"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// TestGaugeNames: the servers and the evidence do not know each other, and yet call the gauges the same.
func TestGaugeNames(t *testing.T) {
	want := []string{
		harness.GaugeRouterInFlight, harness.GaugeRouterQueued, harness.GaugePrefillBootstrap, harness.GaugePrefillQueue,
		harness.GaugePrefillRunning, harness.GaugePrefillInflight, harness.GaugeDecodePrealloc, harness.GaugeDecodeTransfer,
		harness.GaugeDecodeQueue, harness.GaugeDecodeRunning, harness.GaugeDecodeKV, harness.GaugePrefillTokens, harness.GaugeDecodeTokens,
		harness.GaugeDecodeRetracted, harness.GaugeBootstrapFailed, harness.GaugeTransferFailed, harness.GaugeEngineAborted,
		harness.GaugeRouterRetries, harness.GaugeUnhealthyWorkers, harness.GaugeOpenBreakers,
	}
	stack, err := serving.New(sim.NewVirtual(sim.VirtualOptions{}), serving.Default(), serving.Model{}, nil, serving.Logs{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range stack.Gauges() {
		got = append(got, g.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the servers have %q, evidence has %q", got, want)
	}
}
