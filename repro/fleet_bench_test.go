package repro_test

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"example.com/wedge/repro"
)

// BenchmarkFleet runs large fleets in virtual time, all agents at work at once, and reports memory per
// agent with its stack (the peak of live heap and stacks) and the events of the kernel.
func BenchmarkFleet(b *testing.B) {
	for _, agents := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("agents=%d", agents), func(b *testing.B) {
			sets := largeFleet(agents)
			var peak, events uint64
			for b.Loop() {
				stop := watchMemory()
				r, err := repro.Run(context.Background(), lookup(b, "starvation", sets...), repro.Options{})
				peak = max(peak, stop())
				if err != nil {
					b.Fatal(err)
				}
				if done := r.Report.Totals.AgentsDone; done != agents {
					b.Fatalf("%d of %d agents done: %s", done, agents, r.Story())
				}
				events = r.Steps
			}
			b.ReportMetric(float64(peak)/float64(agents), "B/agent")
			b.ReportMetric(float64(events)/float64(agents), "events/agent")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
		})
	}
}

// largeFleet are the settings of a fleet whose servers are large enough for it: each agent makes four
// calls of a few hundred tokens.
func largeFleet(agents int) []string {
	return []string{
		fmt.Sprintf("fleet.agents=%d", agents), "workflow.rounds=1", "pacer.slots=0", "servers.router.queued_max=0",
		"servers.prefill.requests_max=0", "servers.prefill.kv_tokens=1000000000", "servers.prefill.per_token=1us", "servers.prefill.chunk_base=0s",
		"servers.decode.running_max=100000", "servers.decode.requests_max=0", "servers.decode.kv_tokens=1000000000",
		"servers.decode.step_per_request=1us", "servers.decode.step_per_context_token=0s",
		"workflow.system_tokens=200", "workflow.message_tokens=200", "workflow.output_tokens={uniform: [300, 450]}",
	}
}

// BenchmarkWallFleet runs a thousand agents over real HTTP on loopback, a minute a second. It fails if
// anything of wedge's own stands in the way long enough to be called a stall.
func BenchmarkWallFleet(b *testing.B) {
	const agents = 1_000
	var r *repro.Result
	for b.Loop() {
		var err error
		r, err = repro.Run(context.Background(), lookup(b, "starvation", largeFleet(agents)...), repro.Options{Clock: repro.ClockWall, Scale: 60})
		if err != nil {
			b.Fatal(err)
		}
		if r.Report.Totals.AgentsDone != agents || r.Report.Stalls > 0 {
			b.Fatal(r.Story())
		}
	}
	real := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(float64(r.Report.Totals.CallsCompleted)/real, "calls/s")
	b.ReportMetric(float64(r.Report.Totals.TokensReceived)/real, "tokens/s")
	b.ReportMetric(r.Report.End.At.Seconds()/real, "simulated-s/s")
}

// watchMemory measures the live heap and the stacks until the returned function is called, which
// returns by how much they grew at most.
func watchMemory() (stop func() uint64) {
	read := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64() + s[1].Value.Uint64()
	}
	runtime.GC()
	before := read()
	done, result := make(chan struct{}), make(chan uint64)
	go func() {
		peak := before
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				result <- peak - before
				return
			case <-tick.C:
				peak = max(peak, read())
			}
		}
	}()
	return func() uint64 {
		close(done)
		return <-result
	}
}
