package diagnose

import (
	"time"

	"example.com/wedge/harness"
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
			b := stallOf("silent-stream-3", 30, 16, 900*s, 60*s)
			for i := range 8 { // each stops where it stops
				b.silent(2, 300*s, 200*s+time.Duration(10*i)*s)
			}
			return blind(b.slot(14, 60*s)).done()
		}, nil, Wedged, LayerStream, CauseSilentStream},
		{"silent-at-once-no-server-evidence", func() *harness.Evidence {
			return blind(stallOf("silent-stream-9", 30, 16, 900*s, 60*s).silent(16, 300*s, 200*s).slot(14, 60*s)).done()
		}, nil, Slow, LayerStream, CauseUnknown},
		{"decode-serialized", serializedEvidence, nil, Starved, LayerDecode, CauseDecodeSerialized},
		{"decode-serialized-prealloc", func() *harness.Evidence {
			return stallOf("decode-serialized-2", 30, 16, 300*s, 60*s).stream(1, 20*s, 0).headers(15, 280*s).slot(14, 60*s).
				set(func(ev *harness.Evidence) { ev.Calls[0].Sent = ev.Calls[1].Sent }).
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
		{"lock-over-tool", lockOverToolEvidence, nil, Starved, LayerHarness, CauseLockOverCall},
		{"lost-wakeup", lostWakeupEvidence, nil, Wedged, LayerHarness, CauseLostWakeup},
		{"lost-wakeup-second-capture", func() *harness.Evidence { // nobody notes the ends of sub-agents
			ev := lostWakeupEvidence()
			ev.Unheard = nil
			return ev
		}, func() *harness.Evidence {
			ev := lostWakeupEvidence()
			ev.At, ev.Unheard = ev.At.Add(-m), nil
			return ev
		}, Wedged, LayerHarness, CauseLostWakeup},
		{"swallowed-error", swallowedEvidence, nil, Wedged, LayerHarness, CauseSwallowedError},
		{"pipe-full", pipeEvidence, nil, Wedged, LayerTool, CausePipeFull},
		{"pipe-full-unseen", func() *harness.Evidence { // the pipes are not in the evidence: a tool that hangs
			ev := pipeEvidence()
			ev.Objects = ev.Objects[:1]
			for i := range ev.Agents {
				ev.Agents[i].Since = ev.At.Add(-400 * s)
			}
			return ev
		}, nil, Wedged, LayerTool, CauseToolHang},
		{"no-progress-loop", loopEvidence, nil, Storming, LayerHarness, CauseNoProgressLoop},
		{"no-progress-loop-uncounted", func() *harness.Evidence { // nobody counts the calls of a step
			ev := loopEvidence()
			for i := range ev.Agents {
				ev.Agents[i].Tries, ev.Agents[i].ToolError = 0, ""
			}
			return ev
		}, nil, Storming, LayerHarness, CauseNoProgressLoop},
		{"tool-hang", toolEvidence, nil, Wedged, LayerTool, CauseToolHang},
		{"slow-tool-first-capture", func() *harness.Evidence { return slowToolEvidence(m, 50*s).done() }, nil, Slow, LayerTool, CauseUnknown},
		{"slow-tool-as-before", func() *harness.Evidence { return slowToolEvidence(2*m, 110*s).returned("append", 4, 150*s).done() }, nil, Slow, LayerTool, CauseSlowTool},
		{"slow-tool-returned", func() *harness.Evidence { return slowToolEvidence(2*m, 110*s).endedBy("agent-03", 40*s).done() }, nil, Slow, LayerTool, CauseSlowTool},
		{"tool-hang-never-seen", func() *harness.Evidence { return slowToolEvidence(4*m, 230*s).done() }, nil, Wedged, LayerTool, CauseToolHang},
		{"router-lost", lostEvidence, nil, Wedged, LayerRouter, CauseRouterLost},
		{"router-lost-partly", func() *harness.Evidence {
			return stallOf("router-lost-2", 30, 16, 400*s, m).headers(11, 90*s).stream(5, 100*s, 0).slot(14, m).
				gauges(0, 200, gauge(harness.GaugeDecodeRunning, 5), gauge(harness.GaugeRouterInFlight, 5)).done()
		}, nil, Wedged, LayerRouter, CauseRouterLost},
		{"router-has-them-and-no-engine", func() *harness.Evidence {
			return stallOf("router-lost-3", 30, 16, 400*s, m).headers(16, 90*s).slot(14, m).gauges(0, 0).done()
		}, nil, Wedged, LayerRouter, CauseUnknown},
		{"router-has-them-and-no-engine-that-works", func() *harness.Evidence {
			return stallOf("router-lost-4", 30, 16, 400*s, m).headers(11, 90*s).stream(5, 100*s, 0).slot(14, m).
				gauges(2000, 240, gauge(harness.GaugeDecodeRunning, 5)).done()
		}, nil, Wedged, LayerRouter, CauseRouterLost},
		{"router-queues", func() *harness.Evidence {
			return stallOf("router-queue-2", 30, 0, 400*s, m).headers(16, 90*s).gauges(0, 0, gauge(harness.GaugeRouterQueued, 16)).done()
		}, nil, Slow, LayerRouter, CauseUnknown},
		{"rate-limit", rateEvidence, nil, Starved, LayerPacer, CauseRateLimit},
		{"rate-limit-few", func() *harness.Evidence {
			return stallOf("rate-3", 30, 16, 900*s, m).rate(3, 40*s).stream(13, 100*s, 0).slot(14, m).
				gauges(0, 400, gauge(harness.GaugeDecodeRunning, 13)).done()
		}, nil, Starved, LayerPacer, CauseStarvation},
		{"too-many-requests", func() *harness.Evidence { return retryAfterEvidence(2, 99999*s) }, nil, Slow, LayerPacer, CauseUnknown},
		{"some-failed-of-a-full-queue", func() *harness.Evidence { return failedEvidence(64, 20, 503) }, nil, Slow, LayerDecode, CauseSlowServer},
		{"most-failed-of-a-full-queue", func() *harness.Evidence { return failedEvidence(200, 168, 503) }, nil, Failed, LayerRouter, CauseRouterQueue},
		{"comment-stream-no-server-evidence", func() *harness.Evidence {
			return realServer{stallAfter: m, calls: 2, out: 239 * s, stage: pacer.StageFirstToken, bytes: true, slots: 2, waiting: 2}.evidence()
		}, nil, Wedged, LayerStream, CauseCommentStream},
		{"comments-for-a-moment", func() *harness.Evidence {
			return realServer{stallAfter: 2 * s, calls: 2, out: 4 * s, stage: pacer.StageFirstToken, bytes: true}.evidence()
		}, nil, Slow, LayerNone, CauseUnknown},
		{"connection-dead", deadConnectionEvidence, nil, Wedged, LayerConnection, CauseConnectionDead},
		{"long-context-decode", decodeHangEvidence, nil, Wedged, LayerDecode, CauseLongContextDecode},
		{"decode-memory", memoryEvidence, nil, Wedged, LayerDecode, CauseDecodeMemory},
		{"inflight-pin", pinEvidence, nil, Wedged, LayerPrefill, CauseInflightPin},
		{"comment-stream", commentEvidence, nil, Wedged, LayerStream, CauseCommentStream},
		{"timeout-cascade", cascadeEvidence, nil, Storming, LayerDecode, CauseTimeoutCascade},
		{"retry-storm", func() *harness.Evidence { return refusedEvidence(429, 0) }, nil, Storming, LayerPacer, CauseRetryStorm},
		{"inflight-pin-and-refusals", pinAndRefusals, nil, Wedged, LayerPrefill, CauseInflightPin},
		{"router-queue", func() *harness.Evidence { return refusedEvidence(503, 32) }, nil, Storming, LayerRouter, CauseRouterQueue},
		{"pin-watchdog", pinnedAndReleased, nil, Slow, LayerPrefill, CausePinWatchdog},
		{"transfer-hang", transferEvidence, nil, Wedged, LayerTransfer, CauseTransferHang},
		{"prefill-hang", prefillHangEvidence, nil, Wedged, LayerPrefill, CausePrefillHang},
		{"bad-pairing", pairingEvidence, nil, Wedged, LayerRouter, CauseBadPairing},
		{"bad-pairing-frozen", frozenPairingEvidence, nil, Wedged, LayerRouter, CauseBadPairing},
		{"bad-pairing-dead-worker", deadWorkerEvidence, nil, Wedged, LayerRouter, CauseBadPairing},
		{"bad-pairing-given-up", failedHandshakes, nil, Wedged, LayerRouter, CauseBadPairing},
		{"ignored-abort", zombieEvidence, nil, Slow, LayerDecode, CauseIgnoredAbort},
		{"proxy-buffering", bufferedEvidence, nil, Slow, LayerConnection, CauseProxyBuffering},
		{"connection-dead-streams-only", func() *harness.Evidence { return blackholeEvidence(0) }, nil, Wedged, LayerConnection, CauseConnectionDead},
		{"connection-dead-both", func() *harness.Evidence { return blackholeEvidence(6) }, nil, Wedged, LayerConnection, CauseConnectionDead},
		{"long-context-decode-crawls", crawlEvidence, nil, Wedged, LayerDecode, CauseLongContextDecode},
		{"long-context-decode-before-the-first-token", func() *harness.Evidence { return hungInBatch(3) }, nil, Wedged, LayerDecode, CauseLongContextDecode},
		{"long-context-decode-frozen", func() *harness.Evidence { return hungInBatch(0) }, nil, Wedged, LayerDecode, CauseLongContextDecode},
		{"decode-memory-retracted", func() *harness.Evidence { return retractedEvidence(0) }, nil, Wedged, LayerDecode, CauseDecodeMemory},
		{"decode-memory-retracted-most", func() *harness.Evidence { return retractedEvidence(2) }, nil, Starved, LayerDecode, CauseDecodeMemory},
		{"decode-memory-scarce", scarceMemory, nil, Starved, LayerDecode, CauseDecodeMemory},
		{"connection-dead-withheld", withheldEvidence, nil, Wedged, LayerConnection, CauseConnectionDead},
		{"timeout-cascade-before-headers", headerLimits, nil, Storming, LayerDecode, CauseTimeoutCascade},
		{"retry-storm-no-workers", noWorkers, nil, Storming, LayerPacer, CauseRetryStorm},
		{"failures-of-the-servers", serverFailures, nil, Starved, LayerPrefill, CausePrefillBottleneck},
		{"silent-stream-headers-log", func() *harness.Evidence {
			return stallOf("silent-stream-8", 30, 16, 900*s, m).silent(10, 300*s, 250*s).silent(6, 200*s, 70*s).slot(14, m).headersLog().gauges(0, 0).done()
		}, nil, Wedged, LayerStream, CauseSilentStream},
		{"starvation-headers-log", func() *harness.Evidence {
			return stallOf("starvation-5", 30, 16, 312*s, m).stream(16, 200*s, 0).slot(14, m).headersLog().
				gauges(0, 420, gauge(harness.GaugeDecodeRunning, 16)).done()
		}, nil, Starved, LayerPacer, CauseStarvation},
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
		}, nil, Slow, LayerPacer, CauseRateLimit},
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
