package repro_test

import "fmt"

// shapes say for each scenario what of it is drawn. Ranges end where the mechanism ends: the comment of
// each bound says why. A scenario without a shape is run with random seeds only.
var shapes = map[string]func(*draws){
	"starvation": func(d *draws) {
		d.fleet(12, 60)
		d.set("fleet.workers", 0)                                       // with fewer workers than slots, nobody waits for one
		d.set("fleet.start_spread", d.seconds(0, 20))                   // while they begin, slots are free
		slots := d.between(2, 30)                                       // the router takes 32
		d.set("fleet.agents", d.between(slots*3/2+1, max(60, slots*2))) // with fewer, nobody waits for a slot
		d.set("pacer.slots", slots)
		d.outputs(2500, 4500)
	},
	"silent-stream": func(d *draws) {
		d.fleet(4, 60)
		d.set("pacer.slots", d.between(4, 30))
		d.outputs(2500, 4500)
		d.window("silence", 3, 15, 2, 6) // at the latest, the shortest run is still at work
		d.set("faults.silence.after_tokens", d.between(50, 1500))
	},
	"decode-serialized": func(d *draws) {
		n := d.between(8, 30)
		d.set("fleet.agents", n)
		d.set("pacer.slots", d.between(max(6, n/2), 30))
		d.set("fleet.start_spread", d.seconds(0, 20))
		d.outputs(2500, 4500)
	},
	"prefill-bottleneck": func(d *draws) {
		n := d.between(20, 40)
		d.set("fleet.agents", n)
		d.set("pacer.slots", min(30, n))                            // the router takes 32
		d.set("workflow.system_tokens", d.between(48_000, 120_000)) // with less, prefill is done before it is late
		d.outputs(3000, 4500)
	},
	"connection-pool": func(d *draws) {
		c := d.between(2, 8)
		d.set("pacer.connections_max", c)
		d.set("pacer.slots", d.between(2*c, 30)) // with as many slots as connections, nobody waits for one
		d.set("fleet.agents", d.between(30, 60))
		d.outputs(2500, 4500)
	},
	"slot-leak": func(d *draws) {
		slots := d.between(4, 20)
		d.set("pacer.slots", slots)
		d.set("fleet.agents", d.between(20, 50))
		// 20 agents make 400 calls: the last slot leaks while there is work left.
		d.set("faults.error.probability", d.share(0.1, 0.3))
		d.outputs(2000, 4500)
	},
	"nested-slot": func(d *draws) {
		slots := d.between(2, 24)
		d.set("pacer.slots", slots)
		d.set("fleet.agents", d.between(slots, 60)) // with fewer parents, a slot is left for the children
		d.set("workflow.sub_agents.per_round", d.between(1, 3))
		d.outputs(1000, 4500)
	},
	"lock-order": func(d *draws) {
		d.set("fleet.agents", d.between(12, 30))
		d.set("fleet.start_spread", d.seconds(0, 20))
		d.set("faults.inverted.probability", d.share(0.5, 1)) // with rare inversions, two need never meet
		d.outputs(500, 4500)
	},
	"lock-over-call": func(d *draws) {
		d.set("fleet.agents", d.between(4, 40))
		d.set("fleet.start_spread", d.seconds(0, 20))
		d.outputs(2500, 4500)
	},
	"lost-wakeup": func(d *draws) {
		d.set("fleet.agents", d.between(12, 40)) // of fewer agents' rings, none may be lost
		d.set("faults.lost.probability", d.share(0.05, 0.3))
		d.set("workflow.sub_agents.per_round", d.between(1, 3))
	},
	"swallowed-error": func(d *draws) {
		d.set("fleet.agents", d.between(12, 40))
		d.set("faults.refused.probability", d.share(0.05, 0.3))
		d.set("workflow.sub_agents.per_round", d.between(1, 3))
	},
	"pipe-full": func(d *draws) {
		d.fleet(2, 50)
		d.set("pacer.slots", d.between(4, 30))
		d.set("workflow.tool_output_bytes", d.between(5_000, 40_000)) // with less, 20 calls do not fill the pipe
	},
	"no-progress-loop": func(d *draws) {
		d.set("fleet.agents", d.between(4, 40))
		d.set("pacer.slots", d.between(4, 30))
		d.set("faults.cut.context_over_tokens", d.between(6_000, 12_000))
		d.set("workflow.message_tokens", "{uniform: [2000, 4000]}") // conversations grow to more than that
	},
	"tool-hang": func(d *draws) {
		d.fleet(4, 60)
		d.set("pacer.slots", d.between(4, 30))
		d.set("faults.hang.probability", d.share(0.03, 0.4))
		d.outputs(1000, 4500)
	},
	"inflight-pin": func(d *draws) {
		n := d.between(8, 20)
		d.set("servers.prefill.requests_max", n)
		agents := d.between(n+4, 30) // fewer than prefill's slots cannot fill them with pins
		d.set("fleet.agents", agents)
		d.set("pacer.slots", agents)
		d.set("policy.response_header", d.seconds(120, 300))
		from := d.seconds(180, 500)
		d.set("faults.slow-transfer.from", from)
		d.set("faults.slow-transfer.to", from+d.seconds(180, 260)) // long enough for each agent to send a request in it
		d.stallAfter(30, 75)
	},
	"pin-watchdog": func(d *draws) {
		// With longer prompts the limit cuts off what queues before prefill, which is another mechanism.
		d.set("workflow.message_tokens", "{uniform: [500, 1500]}")
		d.set("workflow.reasoning_share", 0.75)
		d.set("servers.prefill.requests_max", d.between(6, 10))
		d.set("policy.response_header", d.seconds(60, 90))
		d.set("servers.abort.pin_release_after", d.seconds(45, 90))
		d.set("fleet.agents", d.between(20, 28))
		d.set("pacer.slots", 28)
	},
	"decode-memory": func(d *draws) {
		d.fleet(16, 40)
		d.set("pacer.slots", d.between(8, 24))
		// With 64 messages to read, rarer long ones may not come at all.
		long := d.between(10, 20)
		d.set("workflow.message_tokens", fmt.Sprintf("{mixture: [{weight: %d, uniform: [2000, 4000]}, {weight: %d, constant: %d}]}", 100-long, long, d.between(200_000, 240_000)))
		d.set("faults.memory.kv_tokens", 4_000_000-d.between(120_000, 190_000)) // below, the usual prompts do not fit either
		d.stallAfter(30, 75)
	},
	"router-queue": func(d *draws) {
		d.set("horizon", "5m") // the storm does not change after that, and each minute of it is thousands of attempts
		limit := d.between(3, 12)
		d.set("servers.router.queued_max", limit)
		d.set("pacer.slots", d.between(limit+6, 30)) // whoever has no slot asks for nothing
		d.set("fleet.agents", d.between(30, 50))
		backoff := d.between(4, 10) * 100 // a thousand attempts last for the first answers
		d.set("policy.backoff_base", fmt.Sprintf("%dms", backoff))
		d.set("policy.backoff_max", fmt.Sprintf("%dms", backoff))
		d.outputs(2500, 4500)
	},
	"bad-pairing": func(d *draws) {
		d.fleet(4, 60)
		d.set("pacer.slots", d.between(4, 30))
		d.set("faults.mispair.probability", d.share(0.05, 0.4))
		d.outputs(1000, 4500)
	},
	"timeout-cascade": func(d *draws) {
		n := d.between(24, 30)
		d.set("fleet.agents", n)
		d.set("pacer.slots", n)
		d.set("policy.total", d.seconds(50, 100)) // with more, answers end in time
		d.stallAfter(30, 75)
	},
	"connection-dead": func(d *draws) {
		d.fleet(4, 60)
		d.set("pacer.slots", d.between(4, 30))
		d.set("faults.dead.from", d.seconds(120, 900))
		d.set("policy.idle", d.seconds(30, 120))
		d.outputs(2500, 4500)
	},
	"long-context-decode": func(d *draws) {
		d.fleet(10, 50)
		d.set("pacer.slots", d.between(4, 30))
		// Conversations grow to 30,000 and more.
		d.set("workflow.reasoning_share", d.share(0.5, 0.75))
		d.set("workflow.message_tokens", "{uniform: [2000, 4000]}")
		d.set("faults.crawl.context_over_tokens", d.between(12_000, 26_000))
		d.set("faults.crawl.factor", d.between(1000, 4000))
		d.stallAfter(30, 75)
	},
	"ignored-abort": func(d *draws) {
		n := d.between(18, 30)
		d.set("fleet.agents", n)
		d.set("pacer.slots", n)
		// Longer prompts take longer than the limit, and the work that is wasted on them tips into a storm.
		d.set("workflow.message_tokens", "{uniform: [2000, 4000]}")
		d.set("workflow.reasoning_share", 0.75)
		d.set("policy.first_token", d.seconds(20, 40))
		d.set("faults.thinking.delay", d.seconds(240, 400))
	},
	"comment-stream": func(d *draws) {
		d.fleet(4, 60)
		d.set("pacer.slots", d.between(4, 30))
		d.window("comments", 3, 15, 2, 6)
		d.set("faults.comments.after_tokens", d.between(50, 1500))
		d.set("faults.comments.every", d.seconds(5, 20))
		d.set("policy.idle", d.seconds(40, 120)) // longer than the time between two comments
		d.outputs(2500, 4500)
	},
	"proxy-buffering": func(d *draws) {
		d.fleet(4, 60)
		d.set("pacer.slots", d.between(4, 30))
		d.outputs(2500, 4500)
	},
	"retry-storm": func(d *draws) {
		d.set("horizon", "15m")
		d.set("fleet.agents", d.between(16, 50))
		d.set("pacer.slots", d.between(12, 30))
		d.set("faults.limit.retry_after", d.between(1, 2))
		from := d.seconds(120, 400)
		d.set("faults.limit.from", from)
		d.set("faults.limit.to", from+d.seconds(180, 360)) // shorter than the watchdog's patience is no stall
	},
	"idle-engines": func(d *draws) {
		d.set("fleet.agents", d.between(24, 40)) // the fault names the 18th
		d.set("pacer.slots", d.between(18, 30))
	},

	"compound-slow-timeout-abort": func(d *draws) {
		d.set("fleet.agents", d.between(26, 50))
		d.set("pacer.slots", d.between(14, 20))   // with more, one of the three drowns the others
		d.set("policy.total", d.seconds(70, 100)) // with more, answers end in time
		d.set("workflow.reasoning_share", d.share(0.6, 0.8))
	},
	"compound-dead-leak": func(d *draws) {
		d.set("fleet.agents", d.between(20, 50))
		d.set("pacer.slots", d.between(8, 24)) // of fewer, all may go one way
		d.set("faults.dead.probability", d.share(0.1, 0.2))
		d.set("faults.error.probability", d.share(0.1, 0.2))
	},

	"healthy": func(d *draws) {
		d.fleet(1, 60)
		d.set("pacer.slots", d.between(15, 30))
		d.set("watchdog.stall_after", d.seconds(60, 120)) // longer than any answer
	},
	"slow-but-fine": func(d *draws) {
		n := d.between(1, 30)
		d.set("fleet.agents", n)
		d.set("pacer.slots", d.between(n, 30)) // with fewer, the fleet is starved
		d.outputs(1500, 4500)
	},
	"bench-16x128": func(d *draws) {
		n := d.between(1, 30)
		d.set("fleet.agents", n)
		d.set("pacer.slots", d.between(n, 30))
		d.stallAfter(20, 75)
	},
	"idle": func(d *draws) { d.stallAfter(10, 75) },
	"long-reasoning": func(d *draws) {
		n := d.between(1, 30)
		d.set("fleet.agents", n)
		d.set("pacer.slots", d.between(n, 30))
		// What is thought in the delay does not show, the rest of the answer does: were there none, all of
		// it would come at once, and nothing would tell the model from a proxy that holds the answer back.
		delay := d.between(60, 400)
		d.set("faults.thinking.delay", fmt.Sprintf("%ds", delay))
		d.set("workflow.output_tokens", fmt.Sprintf("{uniform: [%d, %d]}", 50*delay*5/4, 50*delay*2))
		d.stallAfter(20, 75)
	},
}

// surroundings draws what no scenario is about: how the servers and the log show themselves, how fast the
// engines are, how agents think, and how often the gauges are read.
func (d *draws) surroundings() {
	d.set("watchdog.sample_every", d.seconds(2, 10))
	d.set("workflow.think", fmt.Sprintf("{uniform: [%dms, %dms]}", d.between(200, 2000), d.between(2000, 5000)))
	d.set("servers.gauges.every_steps", d.between(10, 80))
	d.set("servers.gauges.idle_every", d.seconds(10, 60))
	d.set("servers.router.log_json", d.between(0, 2) == 0)
	d.set("servers.router.log_milliseconds", d.between(0, 1) == 0)
	d.set("servers.router.log_latency", []string{"us", "text"}[d.between(0, 1)])
	d.set("servers.abort.poll", d.seconds(2, 6))
	d.set("servers.abort.lag", d.seconds(0, 4))
	d.set("servers.transfer.latency", fmt.Sprintf("%dms", d.between(5, 60)))
	d.set("workflow.reasoning_share", d.share(0.4, 0.9))
	d.set("workflow.message_tokens", fmt.Sprintf("{uniform: [%d, %d]}", d.between(500, 2500), d.between(2500, 6000)))
	d.set("servers.decode.step_per_request", fmt.Sprintf("%dus", d.between(800, 1200)))
}

// fleet draws how many agents there are, and over which time they begin.
func (d *draws) fleet(least, most int) {
	n := d.between(least, most)
	d.set("fleet.agents", n)
	d.set("fleet.start_spread", d.seconds(0, 120))
	if d.between(0, 3) == 0 {
		d.set("fleet.workers", d.between((n+1)/2, n))
	}
}

// outputs draws the lengths of answers, and a patience that is shorter than most of them take: a stream
// that is nearly alone makes a token each 20.5 ms.
func (d *draws) outputs(least, most int) {
	lo := d.between(least, (least+most)/2)
	hi := d.between(lo, most)
	d.set("workflow.output_tokens", fmt.Sprintf("{uniform: [%d, %d]}", lo, hi))
	d.stallAfter(min(20, lo/100), max(20, lo/60))
}

// stallAfter draws the watchdog's patience.
func (d *draws) stallAfter(least, most int) {
	d.set("watchdog.stall_after", d.seconds(least, most))
}

// window draws when a fault applies, in minutes.
func (d *draws) window(id string, fromLeast, fromMost, forLeast, forMost int) {
	from := d.seconds(60*fromLeast, 60*fromMost)
	d.set("faults."+id+".from", from)
	d.set("faults."+id+".to", from+d.seconds(60*forLeast, 60*forMost))
}
