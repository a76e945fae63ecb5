package diagnose

import (
	"fmt"
	"slices"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

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

// lockOverToolEvidence has the lock held over a slow save, as tools do that take it while they run.
func lockOverToolEvidence() *harness.Evidence {
	b := stallOf("lock-over-call-2", 12, 12, 300*s, m).tool(12, "save", 80*s).returned("save", 40, 75*s)
	o := b.object("semaphore", "workspace.lock", 1)
	b.hold(o, "agent-01", "save", 70*s)
	for i := 1; i < 12; i++ {
		a := &b.ev.Agents[i]
		a.Waits = "semaphore workspace.lock"
		o.Waiters = append(o.Waiters, sim.Party{Name: a.Name, Since: a.Since})
	}
	return b.gauges(0, 0).done()
}

// parentsThatWait has n parents in a tool since 200 s, each with two sub-agents that ended 150 and 100 s ago and
// a queue for their results.
func parentsThatWait(run string, n int) *builder {
	b := stallOf(run, 12, 30, 900*s, 90*s).tool(n, "sub_agent", 200*s).returned("sub_agent", 20, 60*s)
	for i := range n {
		a := &b.ev.Agents[i]
		box := "results for " + a.Name
		b.object("queue", box, 0)
		a.Waits, a.WaitsOn = box, []string{box}
		for k, ended := range []time.Duration{150 * s, 100 * s} {
			name := fmt.Sprintf("%s.s%d", a.Name, k+1)
			a.WaitsOn = append(a.WaitsOn, name)
			b.ev.Unheard = append(b.ev.Unheard, harness.AgentEnd{Name: name, Parent: a.Name, At: b.ago(ended)})
		}
	}
	return b
}

func lostWakeupEvidence() *harness.Evidence {
	b := parentsThatWait("lost-wakeup-1", 4)
	for i := range 4 {
		b.object("queue", "results for "+b.ev.Agents[i].Name, 0).InUse = 2
	}
	return b.gauges(0, 0).done()
}

func swallowedEvidence() *harness.Evidence {
	b := parentsThatWait("swallowed-error-1", 4)
	for i := range b.ev.Unheard {
		b.ev.Unheard[i].Err = "HTTP status 401: Unauthorized"
	}
	return b.gauges(0, 0).done()
}

// pipeEvidence has five tools that write into full pipes, after calls that took a moment.
func pipeEvidence() *harness.Evidence {
	b := stallOf("pipe-full-1", 8, 16, 900*s, 90*s).tool(5, "append", 200*s).returned("append", 84, 300*time.Millisecond)
	for i := range 5 {
		a := &b.ev.Agents[i]
		name := "output of the tools of " + a.Name
		o := b.object("pipe", name, sim.PipeBytes)
		o.InUse, o.Waiters = sim.PipeBytes, append(o.Waiters, sim.Party{Name: a.Name, What: a.Tool, Since: b.ago(199 * s)})
		a.Waits, a.WaitsOn = "room in pipe "+name, []string{name}
	}
	return b.gauges(0, 0).done()
}

// loopEvidence has agents whose answers arrive and are of no use, while others wait for their slots.
func loopEvidence() *harness.Evidence {
	b := stallOf("no-progress-loop-1", 30, 16, 900*s, 2*m).stream(16, 20*s, 0).slot(14, 12*s)
	for i := range b.ev.Agents {
		b.ev.Agents[i].Tries, b.ev.Agents[i].ToolError = 4+i%3, "write: arguments: not valid JSON (unexpected end of JSON input)"
	}
	w := &b.ev.Window
	w.CallsCompleted, w.Attempts, w.ToolCalls, w.ToolErrors, w.TokensReceived = 84, 100, 84, 84, 71000
	return b.gauges(300, 600, gauge(harness.GaugeDecodeRunning, 16)).done()
}

func toolEvidence() *harness.Evidence {
	return stallOf("tool-hang-1", 30, 16, 1500*s, m).tool(5, "append", 400*s).tool(3, "append", 61*s).
		returned("append", 84, 300*time.Millisecond).
		set(func(ev *harness.Evidence) { ev.Totals.AgentsDone = 22 }).gauges(0, 0).done()
}

func deadConnectionEvidence() *harness.Evidence {
	return stallOf("connection-dead-1", 30, 16, 400*s, m).headers(16, 90*s).slot(14, m).
		set(func(ev *harness.Evidence) { ev.Router.Open = nil; ev.Router.Started, ev.Router.Finished = 84, 84 }).gauges(0, 0).done()
}

// lostEvidence is of a router that logged the start of requests and has forgotten them.
func lostEvidence() *harness.Evidence {
	return stallOf("router-lost-1", 30, 16, 400*s, m).headers(16, 90*s).slot(14, m).
		gauges(0, 0, gauge(harness.GaugeRouterInFlight, 0)).done()
}

// rateEvidence is of a pacer whose slots are held by calls that wait for its rate.
func rateEvidence() *harness.Evidence {
	return stallOf("rate-2", 30, 16, 900*s, m).rate(15, 300*s).stream(1, 50*s, 0).slot(14, m).
		gauges(0, 50, gauge(harness.GaugeDecodeRunning, 1)).done()
}

func decodeHangEvidence() *harness.Evidence {
	return stallOf("long-context-decode-1", 30, 16, 400*s, m).stream(16, 200*s, 80*s).slot(14, m).
		gauges(0, 0, gauge(harness.GaugeDecodeRunning, 16), gauge(harness.GaugeDecodeKV, 0.5)).done()
}

func memoryEvidence() *harness.Evidence {
	return stallOf("decode-memory-1", 30, 16, 400*s, m).headers(16, 90*s).slot(14, m).left(3).
		gauges(0, 0, gauge(harness.GaugePrefillInflight, 1), gauge(harness.GaugeDecodeKV, 0.99), gauge(harness.GaugeDecodePrealloc, 16), gauge(harness.GaugePrefillBootstrap, 16)).done()
}

// pinEvidence is of a prefill engine all of whose slots are held by requests that were left early.
func pinEvidence() *harness.Evidence {
	return stallOf("inflight-pin-1", 30, 16, 400*s, m).headers(16, 90*s).slot(14, m).left(8).passed(40, 100*s).
		gauges(0, 0, gauge(harness.GaugePrefillInflight, 8), gauge(harness.GaugePrefillBootstrap, 5), gauge(harness.GaugeDecodeKV, 0.1), gauge(harness.GaugeEngineAborted, 8)).done()
}

// pinAndRefusals is of pinned entries behind which the router is full, so that it refuses everybody else.
func pinAndRefusals() *harness.Evidence {
	b := stallOf("compound-1", 30, 30, 400*s, m).headers(20, 90*s)
	for range 10 {
		c := b.newCall(pacer.StageBackoff, 500*time.Millisecond, 50*s)
		c.Attempts, c.LastError = 50, "pacer: HTTP status 503: The request queue is full."
	}
	w := &b.ev.Window
	w.Attempts, w.AttemptsStatus, w.Attempts503, w.Attempts503Full, w.Backoffs = 500, 500, 500, 500, 500
	b.ev.Totals.AttemptsStatus, b.ev.Totals.Attempts503, b.ev.Totals.Attempts503Full = 500, 500, 500
	return b.left(8).passed(40, 100*s).
		gauges(0, 0, gauge(harness.GaugeRouterInFlight, 20), gauge(harness.GaugePrefillInflight, 8), gauge(harness.GaugePrefillBootstrap, 12), gauge(harness.GaugeDecodeKV, 0.1), gauge(harness.GaugeEngineAborted, 8)).done()
}

// pinnedAndReleased is of the same engine with something that releases the entries after a minute: it
// went on half a minute ago.
func pinnedAndReleased() *harness.Evidence {
	b := stallOf("pin-watchdog-1", 30, 16, 400*s, 2*m).stream(9, 20*s, 0).headers(7, 90*s).slot(14, m).left(8).passed(40, 100*s).
		gauges(0, 0, gauge(harness.GaugePrefillInflight, 8), gauge(harness.GaugePrefillQueue, 4), gauge(harness.GaugeDecodeKV, 0.1), gauge(harness.GaugeEngineAborted, 8))
	for i := range b.ev.Samples {
		if x := &b.ev.Samples[i]; b.ev.At.Sub(x.At) < 25*s {
			setValue(x, harness.GaugePrefillInflight, 0)
			setValue(x, harness.GaugeDecodeRunning, 9)
			setValue(x, harness.GaugePrefillTokens, 900000+float64(i)*5000)
			setValue(x, harness.GaugeDecodeTokens, 300000+float64(i)*1000)
		}
	}
	// The pause began before the minute that the builder's samples cover.
	return b.before(m).done()
}

// before adds samples of so long before the others, in which all stood as in the first of those.
func (b *builder) before(d time.Duration) *builder {
	first := b.ev.Samples[0]
	var earlier []harness.Sample
	for back := d; back > 0; back -= 5 * s {
		x := first
		x.At, x.Gauges = first.At.Add(-back), slices.Clone(first.Gauges)
		earlier = append(earlier, x)
	}
	b.ev.Samples = append(earlier, b.ev.Samples...)
	return b
}

func setValue(x *harness.Sample, name string, v float64) {
	for i := range x.Gauges {
		if x.Gauges[i].Name == name {
			x.Gauges[i].Value = v
		}
	}
}

// transferEvidence is of transfers that hang: nobody has left a request.
func transferEvidence() *harness.Evidence {
	return stallOf("transfer-1", 30, 16, 400*s, m).headers(16, 90*s).slot(14, m).passed(40, 100*s).
		gauges(0, 0, gauge(harness.GaugePrefillInflight, 8), gauge(harness.GaugeDecodeTransfer, 8), gauge(harness.GaugeDecodeKV, 0.1)).done()
}

// prefillHangEvidence is of a prefill engine that hangs in a chunk: decode has memory for what it waits for.
func prefillHangEvidence() *harness.Evidence {
	return stallOf("prefill-hang-1", 30, 16, 400*s, m).headers(16, 90*s).slot(14, m).passed(40, 100*s).
		gauges(0, 0, gauge(harness.GaugePrefillRunning, 1), gauge(harness.GaugePrefillInflight, 1), gauge(harness.GaugeDecodeTransfer, 15),
			gauge(harness.GaugeDecodeKV, 0.1), gauge(harness.GaugeUnhealthyWorkers, 1)).done()
}

// pairingEvidence is of requests whose two halves do not find each other, while others pass.
func pairingEvidence() *harness.Evidence {
	return stallOf("bad-pairing-1", 30, 16, 400*s, m).headers(12, 200*s).stream(2, 30*s, 0).headers(2, 6*s).slot(14, m).
		headersLog().passed(60, 20*s).
		gauges(900, 90, gauge(harness.GaugePrefillBootstrap, 12), gauge(harness.GaugeDecodePrealloc, 12), gauge(harness.GaugeDecodeRunning, 2), gauge(harness.GaugeDecodeKV, 0.3)).done()
}

// frozenPairingEvidence is the same when all are stuck: nothing runs, and the gauges stand as they were.
func frozenPairingEvidence() *harness.Evidence {
	return stallOf("bad-pairing-2", 30, 16, 600*s, 2*m).headers(16, 200*s).slot(14, m).headersLog().passed(60, 130*s).
		left(3).gauges(0, 0, gauge(harness.GaugePrefillBootstrap, 14), gauge(harness.GaugePrefillInflight, 1), gauge(harness.GaugeDecodePrealloc, 14), gauge(harness.GaugeDecodeRunning, 1), gauge(harness.GaugeDecodeKV, 0.3)).done()
}

// deadWorkerEvidence is of requests that were paired with a prefill worker that is dead: decode alone
// has them.
func deadWorkerEvidence() *harness.Evidence {
	return stallOf("bad-pairing-3", 30, 16, 600*s, 2*m).headers(15, 200*s).stream(1, 30*s, 0).slot(14, m).headersLog().passed(60, 40*s).
		gauges(900, 40, gauge(harness.GaugeDecodePrealloc, 15), gauge(harness.GaugeDecodeRunning, 1), gauge(harness.GaugeDecodeKV, 0.3), gauge(harness.GaugeUnhealthyWorkers, 1)).done()
}

// failedHandshakes is of a deployment in which no pair finds each other, after the engines gave up.
func failedHandshakes() *harness.Evidence {
	b := stallOf("bad-pairing-4", 30, 16, 600*s, 400*s).headers(16, 350*s).slot(14, 350*s).headersLog().gauges(0, 0)
	for i := range b.ev.Samples {
		setValue(&b.ev.Samples[i], harness.GaugeBootstrapFailed, float64(i))
		setValue(&b.ev.Samples[i], harness.GaugeRouterRetries, float64(i))
	}
	return b.done()
}

// zombieEvidence is of a decode engine that goes on for clients that have left.
func zombieEvidence() *harness.Evidence {
	b := stallOf("ignored-abort-1", 30, 16, 600*s, m).stream(16, 60*s, 0).slot(14, m).headersLog().left(40).passed(90, 70*s).
		gauges(300, 700, gauge(harness.GaugeDecodeRunning, 34), gauge(harness.GaugeDecodeKV, 0.5))
	b.ev.Window = harness.Totals{AttemptsTimeout: 12, Left: 12, TimeoutsTotal: 12, TokensReceived: 12000}
	return b.done()
}

// bufferedEvidence is of a proxy that hands answers over whole.
func bufferedEvidence() *harness.Evidence {
	b := stallOf("proxy-buffering-1", 30, 16, 600*s, m).headers(16, 80*s).slot(14, m).passed(60, 90*s)
	b.ev.Totals.AttemptsOK, b.ev.Totals.AnswersLate, b.ev.Totals.AnswersAtOnce = 60, 58, 58
	return b.gauges(0, 500, gauge(harness.GaugeDecodeRunning, 16), gauge(harness.GaugeDecodeKV, 0.3)).done()
}

// blackholeEvidence is of one connection for all, which died a minute and a half ago: streams stopped
// at one instant, and what was sent since has not been heard of.
func blackholeEvidence(sentSince int) *harness.Evidence {
	b := stallOf("connection-dead-2", 30, 16, 600*s, m)
	for i := range 16 - sentSince {
		b.silent(1, 100*s+time.Duration(i)*5*s, 90*s)
	}
	for range sentSince {
		b.newCall(pacer.StageHeaders, 85*s, 85*s)
	}
	b.slot(14, m).headersLog()
	b.ev.Router.Open = nil
	b.gauges(0, 0).before(m)
	for i := range b.ev.Samples { // decode went on for half a minute
		x := &b.ev.Samples[i]
		setValue(x, harness.GaugeDecodeTokens, 300000+min(60*s, x.At.Sub(b.ev.Samples[0].At)).Seconds()*500)
	}
	return b.done()
}

// hungInBatch is of requests that hang in the decode batch before their first token, while moving others
// pass them.
func hungInBatch(moving int) *harness.Evidence {
	rate := 20.0 * float64(moving)
	b := stallOf("long-context-decode-3", 30, 16, 600*s, 2*m).headers(16-moving, 200*s).stream(moving, 50*s, 0).slot(14, m).headersLog().passed(80, 60*s).
		gauges(400*min(1, rate), rate, gauge(harness.GaugeDecodeRunning, 16), gauge(harness.GaugePrefillInflight, 1), gauge(harness.GaugeDecodeKV, 0.3)).before(m)
	for i := range b.ev.Samples {
		x := &b.ev.Samples[i]
		if old := b.ev.At.Sub(x.At); moving == 0 && old > m { // then there was a last one that moved
			x.Streaming = 1
			setValue(x, harness.GaugeDecodeRunning, 17)
			setValue(x, harness.GaugeDecodeTokens, 300000-old.Seconds()*50)
		} else if moving == 0 {
			setValue(x, harness.GaugeDecodeTokens, 300000)
			setValue(x, harness.GaugeDecodeRunning, 17)
		}
	}
	return b.done()
}

// crawlEvidence is of a decode engine whose steps take tens of seconds.
func crawlEvidence() *harness.Evidence {
	return stallOf("long-context-decode-2", 30, 16, 600*s, 2*m).stream(16, 200*s, 12*s).slot(14, m).headersLog().passed(50, 300*s).
		set(func(ev *harness.Evidence) {
			for i := range ev.Calls {
				ev.Calls[i].PromptTokens += 30000
			}
		}).gauges(0, 0.8, gauge(harness.GaugeDecodeRunning, 16), gauge(harness.GaugeDecodeKV, 0.5)).done()
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

func refusedEvidence(status int, queued float64) *harness.Evidence {
	b := stallOf("refusals-1", 30, 0, 900*s, 200*s)
	for range 30 {
		c := b.newCall(pacer.StageBackoff, 2*s, 150*s)
		c.Attempts, c.LastError = 30, fmt.Sprintf("pacer: HTTP status %d: too much", status)
	}
	b.ev.Window = harness.Totals{Attempts: 900, AttemptsStatus: 890, Backoffs: 880, BackoffWait: 880 * 5 * s}
	if status == 503 {
		b.ev.Window.Attempts503 = 890
	} else {
		b.ev.Window.Attempts429 = 890
	}
	b.ev.Totals = b.ev.Window
	b.headers(2, 3*s)
	return b.gauges(0, 0, gauge(harness.GaugeRouterQueued, queued)).done()
}

func slowEvidence() *harness.Evidence {
	return stallOf("slow-but-fine-1", 30, 30, 150*s, m).stream(30, 100*s, 60*time.Millisecond).
		gauges(0, 600, gauge(harness.GaugeDecodeRunning, 30)).done()
}

func reasoningEvidence() *harness.Evidence {
	return stallOf("long-reasoning-1", 30, 30, 120*s, 118*s).headers(30, 118*s).
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
