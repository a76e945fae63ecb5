package harness

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// BenchmarkRun is a virtual run with the shape of the default one, 30 agents of 20 calls each, by how
// much of the harness is on. Its agents do nothing but sleep and report, so that the differences are
// the harness's own; a step of real agents, pacer and servers takes about 10 µs more.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name             string
		watched, journal bool
		bundle, dumps    bool
	}{
		{name: "ledger only"},
		{name: "watched", watched: true},
		{name: "watched, journal", watched: true, journal: true},
		{name: "watched, dumps", watched: true, dumps: true},
		{name: "all, with a bundle", watched: true, journal: true, bundle: true, dumps: true},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			stalls := 0
			for b.Loop() {
				w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
				o := Options{Dumps: c.dumps}
				var log io.Writer = io.Discard
				if c.bundle {
					bd, err := bundle.Create(filepath.Join(b.TempDir(), "b"), bundle.Run{}, bundle.Options{Inline: true, Replace: true})
					if err != nil {
						b.Fatal(err)
					}
					defer bd.Close()
					o.Bundle, log = bd, bd.Log(bundle.EventsLog)
				}
				var j *Journal
				if c.journal {
					j = NewJournal(w, log)
				}
				stalls += benchRun(b, w, o, j, 30, 20, c.watched).Stalls
			}
			b.ReportMetric(float64(stalls)/float64(b.N), "stalls/run")
		})
	}
}

// BenchmarkFleet is a large fleet: time and memory by agent.
func BenchmarkFleet(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("agents=%d", n), func(b *testing.B) {
			var before, during runtime.MemStats
			bytes := 0.0
			for b.Loop() {
				w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
				runtime.GC()
				runtime.ReadMemStats(&before)
				w.AfterFunc(100*time.Second, func() {
					runtime.GC()
					runtime.ReadMemStats(&during)
				})
				if r := benchRun(b, w, Options{}, nil, n, 2, true); r.Totals.AgentsDone != n {
					b.Fatal(describe(r))
				}
				bytes += float64(during.HeapInuse+during.StackInuse) - float64(before.HeapInuse+before.StackInuse)
			}
			b.ReportMetric(bytes/float64(b.N)/float64(n), "B/agent")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/agent")
		})
	}
}

// benchRun plays agents whose calls take 100 to 300 s, without any pacer.
func benchRun(b *testing.B, w sim.World, o Options, j *Journal, n, calls int, watched bool) *Report {
	l := NewLedger(w, j)
	o.Name, o.Fleet.Agents, o.Watchdog, o.Horizon = "bench-1", n, DefaultWatchdog(), 100*time.Hour
	if watched {
		o.Servers = gaugesFunc(func(context.Context) ([]Gauge, error) { return benchGauges[:], nil })
	} else {
		o.Watchdog.StallAfter, o.Watchdog.SampleEvery, o.Watchdog.GiveUpAfter = 100*time.Hour, 100*time.Hour, 0
	}
	o.Calls = func() []pacer.CallState { return nil }
	o.Run = func(ctx context.Context, name string, task agents.Task) error {
		return benchAgent(ctx, w, l, name, task.ID, calls)
	}
	f, err := New(w, l, o)
	if err != nil {
		b.Fatal(err)
	}
	var r *Report
	if err := w.Run(context.Background(), func(ctx context.Context) { r, err = f.Run(ctx) }); err != nil {
		b.Fatal(err)
	}
	return r
}

var benchGauges = [13]Gauge{
	{GaugeRouterInFlight, 16}, {GaugeRouterQueued, 0}, {GaugePrefillBootstrap, 0}, {GaugePrefillQueue, 2}, {GaugePrefillRunning, 1}, {GaugePrefillInflight, 0}, {GaugeDecodePrealloc, 0},
	{GaugeDecodeTransfer, 0}, {GaugeDecodeQueue, 0}, {GaugeDecodeRunning, 13}, {GaugeDecodeKV, 0.4375}, {GaugePrefillTokens, 123456}, {GaugeDecodeTokens, 345678},
}

func benchAgent(ctx context.Context, w sim.World, l *Ledger, name, task string, calls int) error {
	st := &agents.State{Name: name, Task: task}
	call := &pacer.CallState{ID: name + "-c001", AttemptID: name + "-c001-a1", Agent: name, Task: task, Attempts: 1}
	draws := w.Stream(name, "bench")
	agentBook, callBook := l.AgentObserver(), l.CallObserver()
	w.Lock()
	agentBook.AgentStarted(st)
	w.Unlock()
	for range calls {
		from := pacer.StageThink
		for _, to := range [...]pacer.Stage{pacer.StageSlot, pacer.StageConnect, pacer.StageHeaders, pacer.StageFirstToken, pacer.StageStream} {
			w.Lock()
			call.Stage, call.Since = to, w.Now()
			callBook.StageChanged(call, from)
			w.Unlock()
			from = to
		}
		if err := w.Sleep(ctx, time.Duration(100+draws.IntN(200))*time.Second); err != nil {
			return err
		}
		w.Lock()
		callBook.AttemptEnded(call, pacer.AttemptResult{ID: call.AttemptID, Outcome: pacer.AttemptOK, Took: 123456789, Tokens: 3456})
		call.Stage = pacer.StageDone
		callBook.StageChanged(call, from)
		callBook.CallEnded(call, 3456, nil)
		agentBook.ToolCalled(st, agents.ToolCall{Tool: "append", Took: 95e6, InRange: true})
		agentBook.StepDone(st)
		w.Unlock()
	}
	w.Lock()
	agentBook.AgentEnded(st, nil)
	w.Unlock()
	return nil
}
