package diagnose

import (
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// TestDecidingObservation takes out of each story the observation that decides it. The cause must not
// be supported any more.
func TestDecidingObservation(t *testing.T) {
	for _, c := range []struct {
		story, removed string
		remove         func(ev *harness.Evidence)
		want           Status
	}{
		{"starvation", "nobody waits", func(ev *harness.Evidence) {
			ev.Calls, ev.Agents = ev.Calls[:16], ev.Agents[:16]
			ev.Objects[0].Waiters = nil
		}, Refuted},
		{"starvation", "a slot is free", func(ev *harness.Evidence) { ev.Objects[0].Capacity++ }, Refuted},
		{"starvation", "the holders are gone from the servers", loseStreams, Refuted},
		{"silent-stream", "tokens arrive", func(ev *harness.Evidence) {
			eachStream(ev, func(c *pacer.CallState) { c.LastToken = ev.At })
		}, Refuted},
		{"silent-stream", "the router has them and decode runs them", func(ev *harness.Evidence) {
			eachStream(ev, func(c *pacer.CallState) {
				ev.Router.Open = append(ev.Router.Open, harness.RouterRequest{ID: c.AttemptID, Since: c.Started})
			})
			setGauge(ev, harness.GaugeDecodeRunning, 16)
		}, Refuted},
		{"silent-stream-no-server-evidence", "they have not been quiet for long", func(ev *harness.Evidence) {
			eachStream(ev, func(c *pacer.CallState) { c.LastToken = ev.At.Add(-30 * time.Second) })
		}, Open},
		{"transfer-hang", "prefill has sent nothing", func(ev *harness.Evidence) { setGauge(ev, harness.GaugePrefillInflight, 0) }, Refuted},
		{"transfer-hang", "most is not computed yet", func(ev *harness.Evidence) {
			setGauge(ev, harness.GaugePrefillInflight, 1)
			setGauge(ev, harness.GaugeDecodeTransfer, 16)
		}, Refuted},
		{"transfer-hang", "the decode side is full", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeDecodeKV, 0.99) }, Refuted},
		{"transfer-hang", "prefill_inflight", func(ev *harness.Evidence) { dropGauge(ev, harness.GaugePrefillInflight) }, Open},
		{"prefill-hang", "prefill has done all", func(ev *harness.Evidence) { setGauge(ev, harness.GaugePrefillInflight, 15) }, Refuted},
		{"prefill-hang", "prefill_tokens_total", func(ev *harness.Evidence) { dropGauge(ev, harness.GaugePrefillTokens) }, Open},
		{"prefill-hang", "the decode side is full", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeDecodeKV, 0.99) }, Refuted},
		{"decode-serialized", "decode_running", func(ev *harness.Evidence) { dropGauge(ev, harness.GaugeDecodeRunning) }, Open},
		{"decode-serialized", "the batch was larger once", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeDecodeRunning, 16) }, Refuted},
		{"decode-serialized", "nobody waits to join", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeDecodeQueue, 0) }, Refuted},
		{"decode-serialized", "the gauges were read without load", unload, Open},
		{"prefill-bottleneck", "the prefill queue", func(ev *harness.Evidence) {
			dropGauge(ev, harness.GaugePrefillQueue)
			dropGauge(ev, harness.GaugePrefillBootstrap)
		}, Open},
		{"prefill-bottleneck", "the queue is empty", func(ev *harness.Evidence) { setGauge(ev, harness.GaugePrefillQueue, 0) }, Refuted},
		{"prefill-bottleneck", "prefill makes no tokens", func(ev *harness.Evidence) { setGauge(ev, harness.GaugePrefillTokens, 5) }, Refuted},
		{"connection-pool", "no limit is known", func(ev *harness.Evidence) {
			ev.Setup.ConnectionsMax, ev.Objects = 0, ev.Objects[:1]
		}, Open},
		{"connection-pool", "connections are free", func(ev *harness.Evidence) {
			ev.Setup.ConnectionsMax, ev.Objects = 6, ev.Objects[:1]
		}, Open},
		{"connection-pool", "nobody waits for long", func(ev *harness.Evidence) {
			for i := range ev.Calls {
				if c := &ev.Calls[i]; c.Stage == pacer.StageConnect {
					c.Since = ev.At
				}
			}
		}, Refuted},
		{"slot-leak", "the slots are those of calls in flight", func(ev *harness.Evidence) {
			o := &ev.Objects[0]
			for i := range o.Holders {
				c := &ev.Calls[i]
				c.HoldsSlot, c.Stage = true, pacer.StageBackoff
				o.Holders[i].Name, o.Holders[i].What = c.Agent, c.ID
			}
		}, Refuted},
		{"slot-leak", "slots are free", func(ev *harness.Evidence) { ev.Objects[0].Capacity = 40 }, Open},
		{"slot-leak", "the holders are not known", func(ev *harness.Evidence) { ev.Objects = nil }, Open},
		{"nested-slot", "one parent does not wait", func(ev *harness.Evidence) {
			ev.Agents[0].Stage, ev.Agents[0].Waits = pacer.StageThink, "sleep"
		}, Open},
		{"nested-slot", "the children do not wait", func(ev *harness.Evidence) { ev.Objects[0].Waiters = nil }, Refuted},
		{"nested-slot", "a slot is free", func(ev *harness.Evidence) { ev.Objects[0].Capacity++ }, Refuted},
		{"lock-order", "one of the two does not wait", func(ev *harness.Evidence) {
			o := objectNamed(ev.Objects, "journal.lock")
			o.Waiters = o.Waiters[:0]
		}, Refuted},
		{"lock-order", "the waits have only begun", func(ev *harness.Evidence) {
			for i := range ev.Objects {
				for j := range ev.Objects[i].Waiters {
					ev.Objects[i].Waiters[j].Since = ev.At
				}
			}
		}, Refuted},
		{"lock-over-call", "the holder is in no call", func(ev *harness.Evidence) { ev.Calls = nil }, Refuted},
		{"lock-over-call", "the holder's stream has gone quiet", func(ev *harness.Evidence) {
			ev.Calls[0].LastToken, ev.Calls[0].LastByte = ev.At.Add(-95*s), ev.At.Add(-95*s)
			for i := range ev.Samples {
				ev.Samples[i].Gauges = ev.Samples[i].Gauges[:0]
			}
			ev.Router.Open = nil
		}, Refuted},
		{"lock-over-call", "nobody has waited for long", func(ev *harness.Evidence) {
			for i := range ev.Objects[1].Waiters {
				ev.Objects[1].Waiters[i].Since = ev.At.Add(-3 * s)
			}
		}, Refuted},
		{"lock-over-tool", "the holder's tool hangs", func(ev *harness.Evidence) { ev.Tools[0].Longest = s; ev.Agents[0].Since = ev.At.Add(-200 * s) }, Refuted},
		{"lost-wakeup", "the queues are empty", func(ev *harness.Evidence) {
			for i := range ev.Objects {
				ev.Objects[i].InUse = 0
			}
		}, Refuted},
		{"lost-wakeup", "the results have only just come", func(ev *harness.Evidence) {
			for i := range ev.Unheard {
				ev.Unheard[i].At = ev.At.Add(-s)
			}
		}, Refuted},
		{"lost-wakeup", "other sub-agents are at work yet", func(ev *harness.Evidence) {
			for i := range 4 {
				a := ev.Agents[i]
				ev.Agents[i].WaitsOn = append(a.WaitsOn, a.Name+".s3")
				ev.Agents = append(ev.Agents, harness.AgentState{Name: a.Name + ".s3", Parent: a.Name, Stage: pacer.StageThink, Since: ev.At.Add(-s)})
			}
		}, Refuted},
		{"swallowed-error", "the sub-agents ended well", func(ev *harness.Evidence) {
			for i := range ev.Unheard {
				ev.Unheard[i].Err = ""
			}
		}, Refuted},
		{"swallowed-error", "the parents were told", func(ev *harness.Evidence) { ev.Unheard = nil }, Refuted},
		{"pipe-full", "the writes have only begun", func(ev *harness.Evidence) {
			for i := range ev.Objects {
				for k := range ev.Objects[i].Waiters {
					ev.Objects[i].Waiters[k].Since = ev.At.Add(-s)
				}
			}
		}, Refuted},
		{"pipe-full", "somebody else waits for the pipes", func(ev *harness.Evidence) {
			for i := range ev.Objects {
				for k := range ev.Objects[i].Waiters {
					ev.Objects[i].Waiters[k].Name = "logger"
				}
			}
		}, Refuted},
		{"no-progress-loop", "the tool calls could be made", func(ev *harness.Evidence) { ev.Window.ToolErrors = 2 }, Refuted},
		{"no-progress-loop", "half of them could", func(ev *harness.Evidence) { ev.Window.ToolErrors = 42 }, Refuted},
		{"tool-hang", "the tools have only begun", func(ev *harness.Evidence) {
			for i := range ev.Agents {
				ev.Agents[i].Since = ev.At.Add(-time.Second)
			}
		}, Refuted},
		{"tool-hang", "they wait for a lock", func(ev *harness.Evidence) {
			o := sim.ObjectState{Kind: "semaphore", Name: "workspace.lock", Capacity: 1, InUse: 1, Holders: []sim.Party{{Name: "somebody"}}}
			for _, a := range ev.Agents {
				o.Waiters = append(o.Waiters, sim.Party{Name: a.Name, Since: a.Since})
			}
			ev.Objects = append(ev.Objects, o)
		}, Refuted},
		{"tool-hang", "they take that long", func(ev *harness.Evidence) { ev.Tools[0].Longest = 390 * s }, Refuted},
		{"tool-hang", "none has ever returned, first capture", func(ev *harness.Evidence) { ev.Tools = nil }, Open},
		{"tool-hang", "one returned and ended the stall", func(ev *harness.Evidence) {
			ev.EndedAt, ev.EndedBy = ev.At.Add(20*s), "agent-02"
		}, Refuted},
		{"slow-tool-as-before", "none has ever returned", func(ev *harness.Evidence) { ev.Tools = nil }, Open},
		{"slow-tool-as-before", "they take a moment", func(ev *harness.Evidence) {
			ev.Tools[0].Longest = s
			for i := range ev.Agents {
				ev.Agents[i].Since = ev.At.Add(-130 * s)
			}
		}, Refuted},
		{"router-lost", "decode has them", func(ev *harness.Evidence) {
			setGauge(ev, harness.GaugeDecodeRunning, 16)
			growDecode(ev)
		}, Refuted},
		{"router-lost", "the router holds them back", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeRouterQueued, 16) }, Open},
		{"router-lost", "they are young", func(ev *harness.Evidence) {
			for i := range ev.Calls {
				ev.Calls[i].Since = ev.At.Add(-20 * s)
			}
		}, Open},
		{"router-lost", "the gauges", func(ev *harness.Evidence) { ev.Samples = nil }, Open},
		{"router-lost", "the log has none open", func(ev *harness.Evidence) { ev.Router.Open = nil }, Refuted},
		{"rate-limit", "they have just begun to wait", func(ev *harness.Evidence) {
			for i := range ev.Calls {
				if c := &ev.Calls[i]; c.Stage == pacer.StageRate {
					c.Since = ev.At.Add(-s)
				}
			}
		}, Open},
		{"rate-limit", "nobody waits for the rate", func(ev *harness.Evidence) {
			for i := range ev.Calls {
				if c := &ev.Calls[i]; c.Stage == pacer.StageRate {
					c.Stage = pacer.StageHeaders
				}
			}
		}, Refuted},
		{"comment-stream-no-server-evidence", "it has not gone on for long", func(ev *harness.Evidence) {
			for i := range ev.Calls {
				ev.Calls[i].Since = ev.At.Add(-100 * s)
			}
		}, Open},
		{"connection-dead", "the router has them", openAll, Refuted},
		{"connection-dead", "they are young", func(ev *harness.Evidence) {
			for i := range ev.Calls {
				ev.Calls[i].Since = ev.At.Add(-20 * time.Second)
			}
		}, Open},
		{"long-context-decode", "decode makes tokens", growDecode, Refuted},
		{"long-context-decode", "the counter", func(ev *harness.Evidence) { dropGauge(ev, harness.GaugeDecodeTokens) }, Open},
		{"decode-memory", "the memory is not full", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeDecodeKV, 0.5) }, Refuted},
		{"decode-memory", "the gauge", func(ev *harness.Evidence) { dropGauge(ev, harness.GaugeDecodeKV) }, Open},
		{"inflight-pin", "it was 0 once", func(ev *harness.Evidence) {
			last := &ev.Samples[len(ev.Samples)-2]
			for i := range last.Gauges {
				if last.Gauges[i].Name == harness.GaugePrefillInflight {
					last.Gauges[i].Value = 0
				}
			}
		}, Refuted},
		{"inflight-pin", "nobody has left early", func(ev *harness.Evidence) {
			ev.Totals.Left, ev.Totals.AttemptsTimeout = 0, 0
			setGauge(ev, harness.GaugeEngineAborted, 0)
		}, Open},
		{"inflight-pin", "prefill works", func(ev *harness.Evidence) { growCounter(ev, harness.GaugePrefillTokens) }, Open},
		{"inflight-pin", "the memory of decode is full", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeDecodeKV, 0.99) }, Open},
		{"inflight-pin", "it went on before", func(ev *harness.Evidence) { *ev = *pinnedAndReleased() }, Refuted},
		{"pin-watchdog", "nothing was released", func(ev *harness.Evidence) { *ev = *pinEvidence() }, Open},
		{"pin-watchdog", "nobody has left early", func(ev *harness.Evidence) { ev.Totals.Left, ev.Totals.AttemptsTimeout = 0, 0 }, Open},
		{"bad-pairing", "they are not overtaken", func(ev *harness.Evidence) {
			ev.Totals.AnsweredSent = 0
			eachStream(ev, func(c *pacer.CallState) { c.Sent = ev.Calls[0].Sent })
		}, Refuted},
		{"bad-pairing", "memory is short", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeDecodeKV, 0.97) }, Refuted},
		{"bad-pairing", "no queue of the handshake holds them", func(ev *harness.Evidence) {
			setGauge(ev, harness.GaugePrefillBootstrap, 0)
			setGauge(ev, harness.GaugeDecodePrealloc, 0)
		}, Refuted},
		{"bad-pairing", "the gauges", func(ev *harness.Evidence) { ev.Samples = nil }, Open},
		{"bad-pairing-given-up", "no handshake failed", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeBootstrapFailed, 0) }, Open},
		{"ignored-abort", "nobody has left early", func(ev *harness.Evidence) { ev.Totals.Left, ev.Totals.AttemptsTimeout = 0, 0 }, Refuted},
		{"ignored-abort", "the batch is that of the agents", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeDecodeRunning, 16) }, Refuted},
		{"ignored-abort", "the counter stands still", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeDecodeTokens, 5) }, Open},
		{"ignored-abort", "a few more only", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeDecodeRunning, 18) }, Open},
		{"proxy-buffering", "answers came token by token", func(ev *harness.Evidence) { ev.Totals.AnswersAtOnce = 3 }, Refuted},
		{"proxy-buffering", "no answer has come so far", func(ev *harness.Evidence) { ev.Totals.AnswersLate, ev.Totals.AnswersAtOnce = 0, 0 }, Open},
		{"connection-dead-streams-only", "decode stopped with them", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeDecodeTokens, 5) }, Refuted},
		{"connection-dead-streams-only", "they stopped one by one", func(ev *harness.Evidence) {
			ago := 80 * s
			eachStream(ev, func(c *pacer.CallState) {
				ago += 5 * s
				c.LastToken, c.LastByte = ev.At.Add(-ago), ev.At.Add(-ago)
			})
		}, Refuted},
		{"connection-dead-streams-only", "they stopped at the same place", func(ev *harness.Evidence) {
			eachStream(ev, func(c *pacer.CallState) { c.Tokens = 400 })
		}, Refuted},
		{"long-context-decode-crawls", "decode makes tokens", growDecode, Refuted},
		{"decode-memory-retracted", "nothing was retracted", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeDecodeRetracted, 0) }, Refuted},
		{"decode-memory-scarce", "there is memory", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeDecodeKV, 0.5) }, Refuted},
		{"connection-dead-withheld", "the answers were sent a moment ago", func(ev *harness.Evidence) {
			for i := range ev.Calls {
				ev.Calls[i].Since = ev.At.Add(-15 * s)
			}
		}, Open},
		{"timeout-cascade-before-headers", "the idle limit did it", func(ev *harness.Evidence) {
			ev.Window.TimeoutsHeader, ev.Window.TimeoutsIdle = 0, 28
		}, Open},
		{"timeout-cascade-before-headers", "prefill stood still", func(ev *harness.Evidence) {
			*ev = *pinnedAndReleased()
			for i := range ev.Calls {
				ev.Calls[i].Attempts = 2
			}
			ev.Window = harness.Totals{AttemptsTimeout: 40, TimeoutsFirst: 40}
		}, Open},
		{"retry-storm-no-workers", "it was the router's queue", func(ev *harness.Evidence) { *ev = *refusedEvidence(503, 32) }, Refuted},
		{"retry-storm-no-workers", "the servers failed", func(ev *harness.Evidence) { *ev = *serverFailures() }, Open},
		{"inflight-pin", "it ended by itself", func(ev *harness.Evidence) { ev.EndedAt = ev.At.Add(s) }, Supported},
		{"timeout-cascade", "the servers make nothing", func(ev *harness.Evidence) { setGauge(ev, harness.GaugeDecodeTokens, 5) }, Open},
		{"comment-stream", "no bytes arrive", func(ev *harness.Evidence) {
			eachStream(ev, func(c *pacer.CallState) { c.LastByte = c.LastToken })
		}, Refuted},
		{"comment-stream", "the counter", func(ev *harness.Evidence) { dropGauge(ev, harness.GaugeDecodeTokens) }, Open},
		{"timeout-cascade", "no attempt was cut off", func(ev *harness.Evidence) { ev.Window.AttemptsTimeout = 0 }, Refuted},
		{"timeout-cascade", "calls completed", func(ev *harness.Evidence) { ev.Window.CallsCompleted = 5 }, Open},
		{"retry-storm", "nothing was refused", func(ev *harness.Evidence) { ev.Window.AttemptsStatus, ev.Totals.AttemptsStatus = 0, 0 }, Refuted},
		{"retry-storm", "nothing was refused in the stall, and nobody failed", func(ev *harness.Evidence) { ev.Window.AttemptsStatus = 0 }, Refuted},
		{"retry-storm", "only a few were refused", func(ev *harness.Evidence) { ev.Window.AttemptsStatus = 20 }, Open},
		{"router-queue", "the queue is empty and the status another", func(ev *harness.Evidence) {
			setGauge(ev, harness.GaugeRouterQueued, 0)
			forgetErrors(ev)
		}, Refuted},
		{"router-queue", "the gauge and the statuses", func(ev *harness.Evidence) {
			dropGauge(ev, harness.GaugeRouterQueued)
			forgetErrors(ev)
		}, Open},
		{"retry-storm", "the calls are new", firstAttempts, Refuted},
		{"timeout-cascade", "the calls are new", firstAttempts, Refuted},
		{"control-slow-but-fine", "nothing moves", loseStreams, Refuted},
	} {
		t.Run(c.story+"/"+c.removed, func(t *testing.T) {
			st := storyNamed(t, c.story)
			whole := st.verdict()
			if got := status(t, &whole, st.cause); got != Supported {
				t.Fatalf("%s is %s in the whole story, want supported", st.cause, got)
			}
			ev := st.now()
			c.remove(ev)
			v := Diagnose(ev, nil)
			if got := status(t, &v, st.cause); got != c.want {
				t.Errorf("%s is %s without it, want %s\n%s", st.cause, got, c.want, transcript(&v))
			}
			checkWords(t, &v)
		})
	}
}

func status(t *testing.T, v *Verdict, c Cause) Status {
	t.Helper()
	for _, h := range v.Hypotheses {
		if h.Cause == c {
			return h.Status
		}
	}
	t.Fatalf("no hypothesis %s", c)
	return ""
}

func eachStream(ev *harness.Evidence, f func(c *pacer.CallState)) {
	for i := range ev.Calls {
		if c := &ev.Calls[i]; c.Stage == pacer.StageStream {
			f(c)
		}
	}
}

// loseStreams makes all streams silent, and the servers forget them.
func loseStreams(ev *harness.Evidence) {
	ev.Router.Open, ev.Router.Finished = nil, ev.Router.Started
	eachStream(ev, func(c *pacer.CallState) {
		c.LastToken, c.LastByte = ev.At.Add(-90*time.Second), ev.At.Add(-90*time.Second)
	})
	setGauge(ev, harness.GaugeDecodeRunning, 0)
	setGauge(ev, harness.GaugeDecodeTokens, 7)
}

// openAll makes the router have every request that is out.
func openAll(ev *harness.Evidence) {
	ev.Router.Open = nil
	for i := range ev.Calls {
		if c := &ev.Calls[i]; sent(c) {
			ev.Router.Open = append(ev.Router.Open, harness.RouterRequest{ID: c.AttemptID, Since: c.Started})
		}
	}
}

// unload makes all samples be taken while nothing was out.
func unload(ev *harness.Evidence) {
	for i := range ev.Samples {
		ev.Samples[i].Sent = 0
	}
}

func growDecode(ev *harness.Evidence) { growCounter(ev, harness.GaugeDecodeTokens) }

func growCounter(ev *harness.Evidence, name string) {
	for i := range ev.Samples {
		setValue(&ev.Samples[i], name, 1000*float64(i))
	}
}

func forgetErrors(ev *harness.Evidence) {
	ev.Window.Attempts503, ev.Totals.Attempts503 = 0, 0
	for i := range ev.Calls {
		ev.Calls[i].LastError = ""
	}
}

// firstAttempts makes every call one that has not failed so far.
func firstAttempts(ev *harness.Evidence) {
	for i := range ev.Calls {
		c := &ev.Calls[i]
		c.Attempts, c.Stage, c.LastError = 1, pacer.StageHeaders, ""
	}
}

func setGauge(ev *harness.Evidence, name string, v float64) {
	for i := range ev.Samples {
		for j := range ev.Samples[i].Gauges {
			if g := &ev.Samples[i].Gauges[j]; g.Name == name {
				g.Value = v
			}
		}
	}
}

func dropGauge(ev *harness.Evidence, name string) { setGauge(ev, name, -1) }
