package repro_test

// harnessShapes are shapes of what goes wrong within the harness, and of compounds.
var harnessShapes = map[string]func(*draws){
	"lock-over-call": func(d *draws) {
		d.fleet(6, 30)                         // with fewer, the lock is free now and then
		d.set("pacer.slots", d.between(4, 30)) // one is used
		d.outputs(1500, 4500)
	},
	"lost-wakeup": func(d *draws) {
		d.fleet(10, 50)
		d.set("pacer.slots", d.between(8, 30))
		d.set("workflow.sub_agents.per_round", d.between(1, 4))
		d.set("workflow.sub_agents.steps", d.between(1, 3))
		d.set("faults.lost.probability", d.share(0.08, 0.4)) // 10 agents ring 30 times at least
		d.outputs(600, 3000)
	},
	"swallowed-error": func(d *draws) {
		d.fleet(10, 50)
		d.set("pacer.slots", d.between(8, 30))
		d.set("workflow.sub_agents.per_round", d.between(1, 4))
		d.set("faults.refused.probability", d.share(0.08, 0.3))
		d.outputs(600, 3000)
	},
	"pipe-full": func(d *draws) {
		d.fleet(10, 50)
		d.set("pacer.slots", d.between(4, 30))
		d.set("workflow.tool_output_bytes", 4096*d.between(1, 20)) // a task makes 20 calls: 80 KiB at least
		d.outputs(600, 3500)
	},
	"no-progress-loop": func(d *draws) {
		d.fleet(10, 50)
		d.set("pacer.slots", d.between(4, 30))
		d.set("faults.cut.context_over_tokens", d.between(6_000, 20_000)) // a conversation grows to 30,000
		d.outputs(400, 2000)
	},
	"compound-slow-timeout-abort": func(d *draws) {
		slots := d.between(12, 28)
		d.set("pacer.slots", slots)
		d.set("fleet.agents", d.between(slots*3/2, 60)) // with fewer, nobody waits for a slot
		d.set("policy.total", d.seconds(45, 100))       // an answer takes 130 s with 12 in the batch
	},
	"compound-dead-leak": func(d *draws) {
		slots := d.between(10, 24) // with fewer, one of the two may take them all
		d.set("pacer.slots", slots)
		d.set("fleet.agents", d.between(slots+4, 50))
		d.set("faults.dead.probability", d.share(0.12, 0.2))
		d.set("faults.error.probability", d.share(0.12, 0.2))
		d.outputs(2000, 4500)
	},
	"compound-pin-storm": func(d *draws) {
		d.set("fleet.agents", d.between(34, 40))
		d.set("policy.response_header", d.seconds(180, 280))
		d.outputs(2500, 4500)
	},
}
