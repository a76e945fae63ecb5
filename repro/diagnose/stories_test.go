package diagnose

import (
	"fmt"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// story is evidence with the verdict that it must get.
type story struct {
	name    string
	now     func() *harness.Evidence
	before  func() *harness.Evidence // nil: none
	outcome Outcome
	layer   Layer
	cause   Cause
}

const (
	s = time.Second
	m = time.Minute
)

// stories are the hangs and the controls, one for each cause and the cases between them.
func stories() []story {
	return []story{
		{"starvation", starvationEvidence, nil, Starved, LayerPacer, CauseStarvation},
		{"starvation-second-capture", func() *harness.Evidence { return starvationAt(372*s, 120*s, 2) }, func() *harness.Evidence { return starvationAt(312*s, 60*s, 1) }, Starved, LayerPacer, CauseStarvation},
		{"starvation-some-in-prefill", func() *harness.Evidence {
			return stallOf("starvation-2", 30, 16, 70*s, 60*s).stream(11, 40*s, 0).headers(5, 25*s).slot(14, 60*s).
				gauges(4000, 300, gauge(harness.GaugeDecodeRunning, 11), gauge(harness.GaugePrefillQueue, 4), gauge(harness.GaugePrefillRunning, 1)).done()
		}, nil, Starved, LayerPacer, CauseStarvation},
		{"starvation-no-server-evidence", func() *harness.Evidence {
			return blind(stallOf("starvation-3", 30, 16, 312*s, 60*s).stream(16, 200*s, 0).slot(14, 60*s)).done()
		}, nil, Starved, LayerPacer, CauseStarvation},
		{"starvation-hidden-reasoning", func() *harness.Evidence {
			return stallOf("starvation-4", 30, 16, 312*s, 60*s).headers(16, 90*s).slot(14, 60*s).
				gauges(0, 500, gauge(harness.GaugeDecodeRunning, 16)).done()
		}, nil, Starved, LayerPacer, CauseStarvation},
		{"silent-stream", silentEvidence, nil, Wedged, LayerStream, CauseSilentStream},
		{"silent-stream-most", func() *harness.Evidence { return partlySilent(10) }, nil, Wedged, LayerStream, CauseSilentStream},
		{"silent-stream-few", func() *harness.Evidence { return partlySilent(4) }, nil, Starved, LayerPacer, CauseStarvation},
		{"silent-stream-not-finished", func() *harness.Evidence {
			return stallOf("silent-stream-5", 30, 16, 300*s, 2*m).stream(16, 200*s, 100*s).slot(14, 2*m).
				gauges(0, 420, gauge(harness.GaugeDecodeRunning, 16)).done()
		}, nil, Starved, LayerPacer, CauseStarvation},
		{"silent-stream-gauges-only", func() *harness.Evidence {
			return stallOf("silent-stream-2", 30, 16, 900*s, 60*s).silent(16, 300*s, 200*s).slot(14, 60*s).
				set(func(ev *harness.Evidence) { ev.Router, ev.Setup.HasRouterLog = nil, false }).gauges(0, 0).done()
		}, nil, Wedged, LayerStream, CauseSilentStream},
		{"silent-stream-no-server-evidence", func() *harness.Evidence {
			return blind(stallOf("silent-stream-3", 30, 16, 900*s, 60*s).silent(16, 300*s, 200*s).slot(14, 60*s)).done()
		}, nil, Wedged, LayerStream, CauseSilentStream},
		{"decode-serialized", serializedEvidence, nil, Starved, LayerDecode, CauseDecodeSerialized},
		{"decode-serialized-prealloc", func() *harness.Evidence {
			return stallOf("decode-serialized-2", 30, 16, 300*s, 60*s).stream(1, 20*s, 0).headers(15, 280*s).slot(14, 60*s).
				gauges(0, 48, gauge(harness.GaugeDecodeRunning, 1), gauge(harness.GaugeDecodePrealloc, 15), gauge(harness.GaugePrefillBootstrap, 15)).done()
		}, nil, Starved, LayerDecode, CauseDecodeSerialized},
		{"prefill-bottleneck", prefillEvidence, nil, Starved, LayerPrefill, CausePrefillBottleneck},
		{"prefill-bottleneck-behind-slots", func() *harness.Evidence {
			return stallOf("prefill-bottleneck-2", 30, 16, 70*s, 62*s).stream(2, 20*s, 0).headers(14, 60*s).slot(14, 60*s).
				gauges(1300, 60, gauge(harness.GaugeDecodeRunning, 2), gauge(harness.GaugePrefillQueue, 13), gauge(harness.GaugePrefillRunning, 1)).done()
		}, nil, Starved, LayerPrefill, CausePrefillBottleneck},
		{"connection-pool", connectionEvidence, nil, Starved, LayerConnection, CauseConnectionPool},
		{"connection-pool-wall", func() *harness.Evidence {
			return stallOf("connection-pool-2", 30, 16, 120*s, 60*s).stream(4, 50*s, 200*time.Millisecond).connect(12, 58*s).slot(14, 60*s).
				set(func(ev *harness.Evidence) { ev.Setup.ConnectionsMax = 4 }).gauges(0, 190, gauge(harness.GaugeDecodeRunning, 4)).done()
		}, nil, Starved, LayerConnection, CauseConnectionPool},
		{"connection-pool-silent", func() *harness.Evidence {
			return stallOf("connection-pool-3", 30, 16, 400*s, 60*s).silent(4, 300*s, 250*s).connect(12, 200*s).slot(14, 60*s).
				set(func(ev *harness.Evidence) { ev.Setup.ConnectionsMax = 4 }).gauges(0, 0).done()
		}, nil, Wedged, LayerStream, CauseSilentStream},
		{"slot-leak", leakEvidence, nil, Wedged, LayerPacer, CauseSlotLeak},
		{"slot-leak-same-call", sameCallLeakEvidence, nil, Wedged, LayerPacer, CauseSlotLeak},
		{"slot-leak-partly", func() *harness.Evidence {
			return stallOf("slot-leak-3", 30, 16, 700*s, 60*s).stream(12, 200*s, 0).slot(18, 60*s).leak(4, 300*s).
				gauges(0, 400, gauge(harness.GaugeDecodeRunning, 12)).done()
		}, nil, Starved, LayerPacer, CauseStarvation},
		{"nested-slot", nestedEvidence, nil, Deadlocked, LayerPacer, CauseNestedSlot},
		{"nested-slot-not-yet", nestedNotYetEvidence, nil, Starved, LayerPacer, CauseStarvation},
		{"lock-order", lockEvidence, nil, Deadlocked, LayerHarness, CauseLockOrder},
		{"lock-over-call", lockOverCallEvidence, nil, Starved, LayerHarness, CauseLockOverCall},
		{"tool-hang", toolEvidence, nil, Wedged, LayerTool, CauseToolHang},
		{"connection-dead", deadConnectionEvidence, nil, Wedged, LayerConnection, CauseConnectionDead},
		{"long-context-decode", decodeHangEvidence, nil, Wedged, LayerDecode, CauseLongContextDecode},
		{"decode-memory", memoryEvidence, nil, Wedged, LayerDecode, CauseDecodeMemory},
		{"inflight-pin", pinEvidence, nil, Wedged, LayerPrefill, CauseInflightPin},
		{"comment-stream", commentEvidence, nil, Wedged, LayerDecode, CauseCommentStream},
		{"timeout-cascade", cascadeEvidence, nil, Storming, LayerDecode, CauseTimeoutCascade},
		{"retry-storm", func() *harness.Evidence { return refusals(429, 0) }, nil, Storming, LayerPacer, CauseRetryStorm},
		{"router-queue", func() *harness.Evidence { return refusals(503, 32) }, nil, Storming, LayerRouter, CauseRouterQueue},
		{"unanswered-unknown", func() *harness.Evidence {
			return blind(stallOf("unanswered", 4, 0, 200*s, 60*s).headers(4, 120*s)).done()
		}, nil, Slow, LayerNone, CauseUnknown},
		{"silent-stream-idle-limit", func() *harness.Evidence {
			return stallOf("silent-stream-6", 30, 16, 300*s, m).silent(16, 200*s, 40*s).slot(14, m).
				set(func(ev *harness.Evidence) { ev.Setup.IdleLimit = m }).gauges(0, 0).done()
		}, nil, Starved, LayerStream, CauseSilentStream},
		{"silent-stream-before-the-first-token", func() *harness.Evidence {
			b := stallOf("silent-stream-7", 16, 16, 300*s, m)
			for range 16 {
				b.newCall(pacer.StageFirstToken, 100*s, 110*s)
			}
			b.ev.Router.Started, b.ev.Router.Finished = 16, 16
			return b.gauges(0, 0).done()
		}, nil, Wedged, LayerStream, CauseSilentStream},
		{"some-quiet-some-not", func() *harness.Evidence {
			// The counter grows by as much as the visible streams get: nobody can say what of the others.
			return stallOf("quiet-1", 16, 16, 300*s, m).stream(8, 200*s, 0).stream(8, 200*s, 30*s).
				gauges(0, 160, gauge(harness.GaugeDecodeRunning, 16)).done()
		}, nil, Slow, LayerDecode, CauseSlowServer},
		{"gauges-cannot-be-read", func() *harness.Evidence {
			ev := starvationEvidence()
			for i := range ev.Samples {
				ev.Samples[i].Gauges, ev.Samples[i].Err = nil, "connection refused"
			}
			ev.Router, ev.DumpErr = nil, "out of memory"
			return ev
		}, nil, Starved, LayerPacer, CauseStarvation},
		{"headers-unanswered-with-few-gauges", func() *harness.Evidence {
			ev := stallOf("few-1", 4, 0, 900*s, m).headers(4, 700*s).gauges(0, 0).done()
			dropGauge(ev, harness.GaugeDecodeRunning)
			ev.Router = nil
			return ev
		}, nil, Wedged, LayerNone, CauseUnknown},
		{"rate-limited", func() *harness.Evidence {
			b := stallOf("rate-1", 9, 0, 900*s, m)
			for range 9 {
				b.newCall(pacer.StageRate, 50*s, 50*s)
			}
			return b.done()
		}, nil, Slow, LayerPacer, CauseUnknown},
		{"hold-agent-between-calls", func() *harness.Evidence {
			b := stallOf("hold-1", 8, 4, 300*s, m)
			b.ev.Setup.Hold = "agent"
			o := b.object("semaphore", SlotObject, 4)
			for range 4 {
				a := b.newAgent(pacer.StageTool, 8*s)
				b.hold(o, a.Name, a.Name+"-c001", 200*s)
			}
			return b.slot(4, m).done()
		}, nil, Starved, LayerPacer, CauseStarvation},
		{"memory-full-but-moving", func() *harness.Evidence {
			return stallOf("memory-2", 16, 16, 300*s, m).stream(12, 200*s, 0).headers(4, 100*s).
				gauges(0, 400, gauge(harness.GaugeDecodeRunning, 12), gauge(harness.GaugeDecodePrealloc, 4), gauge(harness.GaugeDecodeKV, 0.99)).done()
		}, nil, Slow, LayerDecode, CauseSlowServer},
		{"connections-free-and-yet-no-connection", func() *harness.Evidence {
			return stallOf("dial-1", 8, 8, 300*s, m).connect(8, 90*s).done()
		}, nil, Slow, LayerConnection, CauseUnknown},
		{"slots-held-by-nobody-known", func() *harness.Evidence {
			b := stallOf("unknown-1", 8, 2, 300*s, m).slot(8, m)
			b.ev.Objects[0].InUse = 2
			return b.done()
		}, nil, Wedged, LayerPacer, CauseUnknown},
		{"nobody-works-on-what-is-left", func() *harness.Evidence {
			return stallOf("left-1", 8, 2, 300*s, m).set(func(ev *harness.Evidence) { ev.Totals.AgentsDone = 5 }).done()
		}, nil, Wedged, LayerHarness, CauseUnknown},
		{"some-failed", func() *harness.Evidence {
			return stallOf("failed-1", 8, 2, 300*s, 0).set(func(ev *harness.Evidence) { ev.Episode, ev.Totals.AgentsDone, ev.Totals.AgentsFailed = 0, 5, 3 }).done()
		}, nil, Failed, LayerNone, CauseNone},
		{"no-evidence", func() *harness.Evidence { return nil }, nil, Completed, LayerNone, CauseNone},
		{"control-slow-but-fine", slowEvidence, nil, Slow, LayerDecode, CauseSlowServer},
		{"control-long-reasoning", reasoningEvidence, nil, Slow, LayerDecode, CauseSlowServer},
		{"control-idle", idleEvidence, nil, Completed, LayerNone, CauseNone},
		{"control-bench-16x128", func() *harness.Evidence { return finished(16, 5400*time.Millisecond) }, nil, Completed, LayerNone, CauseNone},
		{"control-healthy", func() *harness.Evidence { return finished(30, 410*s) }, nil, Completed, LayerNone, CauseNone},
	}
}

// blind takes all that is known of the servers out of the evidence.
func blind(b *builder) *builder {
	return b.set(func(ev *harness.Evidence) {
		ev.Router, ev.Samples = nil, nil
		ev.Setup.HasGauges, ev.Setup.HasRouterLog, ev.Setup.SimulatedModel = false, false, false
	})
}

func starvationEvidence() *harness.Evidence { return starvationAt(312400*time.Millisecond, m, 1) }

func starvationAt(at, stalled time.Duration, capture int) *harness.Evidence {
	return stallOf("starvation-1", 30, 16, at, stalled).stream(16, 140*s+stalled, 40*time.Millisecond).slot(14, stalled).
		set(func(ev *harness.Evidence) { ev.Capture = capture }).
		gauges(0, 420, gauge(harness.GaugeDecodeRunning, 16), gauge(harness.GaugeDecodeKV, 0.31)).done()
}

func silentEvidence() *harness.Evidence {
	return stallOf("silent-stream-1", 30, 16, 900*s, m).silent(10, 300*s, 250*s).silent(6, 200*s, 70*s).slot(14, m).gauges(0, 0).done()
}

// partlySilent is a pool of 16 slots of which n are held by silent streams.
func partlySilent(n int) *harness.Evidence {
	return stallOf("silent-stream-4", 30, 16, 600*s, m).silent(n, 300*s, 120*s).stream(16-n, 150*s, 0).slot(14, m).
		gauges(0, 300, gauge(harness.GaugeDecodeRunning, float64(16-n))).done()
}

func serializedEvidence() *harness.Evidence {
	return stallOf("decode-serialized-1", 30, 30, 300*s, m).stream(1, 20*s, 0).headers(29, 280*s).
		gauges(0, 48, gauge(harness.GaugeDecodeRunning, 1), gauge(harness.GaugeDecodeQueue, 29), gauge(harness.GaugeDecodeKV, 0.4)).done()
}

func prefillEvidence() *harness.Evidence {
	return stallOf("prefill-bottleneck-1", 30, 30, 65*s, m).stream(5, 30*s, 0).headers(25, 60*s).
		gauges(5400, 200, gauge(harness.GaugeDecodeRunning, 5), gauge(harness.GaugePrefillQueue, 24), gauge(harness.GaugePrefillRunning, 1)).done()
}

func connectionEvidence() *harness.Evidence {
	b := stallOf("connection-pool-1", 30, 16, 120*s, m).stream(4, 50*s, 0).connect(12, 58*s).slot(14, m)
	o := b.object("semaphore", ConnectionObject, 4)
	for i := range b.ev.Calls {
		switch c := &b.ev.Calls[i]; c.Stage {
		case pacer.StageStream:
			b.hold(o, c.Agent, c.AttemptID, 56*s)
		case pacer.StageConnect:
			o.Waiters = append(o.Waiters, sim.Party{Name: c.Agent, What: c.AttemptID, Since: c.Since})
		}
	}
	return b.set(func(ev *harness.Evidence) { ev.Setup.ConnectionsMax = 4 }).gauges(0, 190, gauge(harness.GaugeDecodeRunning, 4)).done()
}

func leakEvidence() *harness.Evidence {
	return stallOf("slot-leak-1", 30, 16, 1200*s, m).slot(30, 65*s).leak(16, 100*s).
		set(func(ev *harness.Evidence) {
			ev.Totals.AttemptsStatus = 16
			ev.Router.Started, ev.Router.Finished = 140, 140
		}).gauges(0, 0).done()
}

// sameCallLeakEvidence is a leak by calls that are still in flight: each failed attempt kept its
// slot, and the call now waits for another.
func sameCallLeakEvidence() *harness.Evidence {
	b := stallOf("slot-leak-2", 30, 16, 1200*s, m).slot(30, 65*s)
	o := b.object("semaphore", SlotObject, 16)
	for i := range 16 {
		c := &b.ev.Calls[i]
		c.Attempts, c.LastError = 1, "HTTP status 500"
		b.hold(o, c.Agent, c.ID, 90*s)
	}
	return b.gauges(0, 0).done()
}

func nestedEvidence() *harness.Evidence {
	b := stallOf("nested-slot-1", 30, 16, 900*s, m)
	b.ev.Setup.Hold = "agent"
	o := b.object("semaphore", SlotObject, 16)
	b.nestedParents(o, 16)
	for range 14 {
		a := b.newAgent(pacer.StageSlot, 890*s)
		a.Waits = "semaphore " + SlotObject
		o.Waiters = append(o.Waiters, sim.Party{Name: a.Name, Since: a.Since})
	}
	return b.gauges(0, 0).done()
}

// nestedParents adds n agents that hold a slot and wait for a sub-agent that waits for one.
func (b *builder) nestedParents(o *sim.ObjectState, n int) {
	for range n {
		a := b.newAgent(pacer.StageTool, 80*s)
		name := a.Name
		a.Waits = "process " + name + ".s1"
		b.hold(o, name, name+"-c001", 800*s)
		b.ev.Agents = append(b.ev.Agents, harness.AgentState{Name: name + ".s1", Parent: name, Stage: pacer.StageSlot, Since: b.ago(75 * s), Waits: "semaphore " + SlotObject})
		b.ev.Processes = append(b.ev.Processes, sim.ProcessState{Name: name + ".s1", WaitsFor: "semaphore " + SlotObject, Since: b.ago(75 * s)})
		o.Waiters = append(o.Waiters, sim.Party{Name: name + ".s1", What: name + ".s1-c001", Since: b.ago(75 * s)})
	}
}

// nestedNotYetEvidence has holders that wait for sub-agents, and others that are alive.
func nestedNotYetEvidence() *harness.Evidence {
	b := stallOf("nested-slot-2", 30, 16, 500*s, m)
	b.ev.Setup.Hold = "agent"
	b.nestedParents(b.object("semaphore", SlotObject, 16), 6)
	return b.stream(10, 100*s, 0).gauges(0, 300, gauge(harness.GaugeDecodeRunning, 10)).done()
}

func lockEvidence() *harness.Evidence {
	b := stallOf("lock-order-1", 30, 30, 700*s, m).tool(30, "append", 70*s)
	locks := []string{"workspace.lock", "journal.lock"}
	for _, name := range locks {
		b.object("semaphore", name, 1)
	}
	for i := range b.ev.Agents {
		a := &b.ev.Agents[i]
		own, want := b.object("semaphore", locks[i%2], 1), b.object("semaphore", locks[(i+1)%2], 1)
		if i < 2 {
			b.hold(own, a.Name, a.Tool, 72*s)
		} else {
			want = b.object("semaphore", locks[0], 1)
		}
		a.Waits = "semaphore " + want.Name
		want.Waiters = append(want.Waiters, sim.Party{Name: a.Name, What: a.Tool, Since: a.Since})
	}
	return b.gauges(0, 0).done()
}

func lockOverCallEvidence() *harness.Evidence {
	b := stallOf("lock-over-call-1", 12, 12, 300*s, m).stream(1, 100*s, 0).tool(11, "save", 80*s)
	o := b.object("semaphore", "workspace.lock", 1)
	b.hold(o, "agent-01", "c003", 106*s)
	for i := 1; i < 12; i++ {
		a := &b.ev.Agents[i]
		a.Waits = "semaphore workspace.lock"
		o.Waiters = append(o.Waiters, sim.Party{Name: a.Name, Since: a.Since})
	}
	return b.gauges(0, 50, gauge(harness.GaugeDecodeRunning, 1)).done()
}

func toolEvidence() *harness.Evidence {
	return stallOf("tool-hang-1", 30, 16, 1500*s, m).tool(5, "append", 400*s).tool(3, "append", 61*s).
		set(func(ev *harness.Evidence) { ev.Totals.AgentsDone = 22 }).gauges(0, 0).done()
}

func deadConnectionEvidence() *harness.Evidence {
	return stallOf("connection-dead-1", 30, 16, 400*s, m).headers(16, 90*s).slot(14, m).
		set(func(ev *harness.Evidence) { ev.Router.Open = nil; ev.Router.Started, ev.Router.Finished = 84, 84 }).gauges(0, 0).done()
}

func decodeHangEvidence() *harness.Evidence {
	return stallOf("long-context-decode-1", 30, 16, 400*s, m).stream(16, 200*s, 80*s).slot(14, m).
		gauges(0, 0, gauge(harness.GaugeDecodeRunning, 16), gauge(harness.GaugeDecodeKV, 0.5)).done()
}

func memoryEvidence() *harness.Evidence {
	return stallOf("decode-memory-1", 30, 16, 400*s, m).headers(16, 90*s).slot(14, m).
		gauges(0, 0, gauge(harness.GaugeDecodeKV, 0.99), gauge(harness.GaugeDecodePrealloc, 16), gauge(harness.GaugePrefillBootstrap, 16)).done()
}

func pinEvidence() *harness.Evidence {
	return stallOf("inflight-pin-1", 30, 16, 400*s, m).headers(16, 90*s).slot(14, m).
		gauges(0, 0, gauge(harness.GaugePrefillInflight, 16), gauge(harness.GaugeDecodeKV, 0.1)).done()
}

func commentEvidence() *harness.Evidence {
	b := stallOf("comment-stream-1", 30, 16, 400*s, m).stream(16, 200*s, 80*s).slot(14, m)
	for i := range b.ev.Calls {
		if c := &b.ev.Calls[i]; c.Stage == pacer.StageStream {
			c.LastByte, c.Bytes = b.ago(5*s), c.Bytes+600
		}
	}
	return b.gauges(0, 0).done()
}

func cascadeEvidence() *harness.Evidence {
	return stallOf("timeout-cascade-1", 30, 16, 900*s, 200*s).headers(16, 4*s).slot(14, 3*s).
		set(func(ev *harness.Evidence) {
			for i := range ev.Calls {
				ev.Calls[i].Attempts = 4
			}
			ev.Window = harness.Totals{Attempts: 120, AttemptsTimeout: 104, TokensWasted: 90000}
		}).gauges(0, 400, gauge(harness.GaugeDecodeRunning, 16)).done()
}

func refusals(status int, queued float64) *harness.Evidence {
	b := stallOf("refusals-1", 30, 0, 900*s, 200*s)
	for range 30 {
		c := b.newCall(pacer.StageBackoff, 2*s, 150*s)
		c.Attempts, c.LastError = 30, fmt.Sprintf("pacer: HTTP status %d: too much", status)
	}
	b.ev.Window = harness.Totals{Attempts: 900, AttemptsStatus: 890}
	b.headers(2, 3*s)
	return b.gauges(0, 0, gauge(harness.GaugeRouterQueued, queued)).done()
}

func slowEvidence() *harness.Evidence {
	return stallOf("slow-but-fine-1", 30, 30, 150*s, m).stream(30, 100*s, 60*time.Millisecond).
		gauges(0, 600, gauge(harness.GaugeDecodeRunning, 30)).done()
}

func reasoningEvidence() *harness.Evidence {
	return stallOf("long-reasoning-1", 30, 30, 118*s, 118*s).headers(30, 118*s).
		gauges(0, 600, gauge(harness.GaugeDecodeRunning, 30)).done()
}

func idleEvidence() *harness.Evidence {
	return stallOf("idle-1", 0, 16, 600*s, 600*s).gauges(0, 0).set(func(ev *harness.Evidence) { ev.Episode, ev.Capture = 0, 0 }).done()
}

// finished is the end of a run in which all went well.
func finished(agents int, at time.Duration) *harness.Evidence {
	b := stallOf("finished-1", agents, 30, at, 0).gauges(0, 0)
	return b.set(func(ev *harness.Evidence) {
		ev.Episode, ev.Capture, ev.Totals.AgentsDone = 0, 0, agents
		ev.Router.Started, ev.Router.Finished = 84, 84
	}).done()
}
