// Package harness runs a fleet of agents on workers, watches their progress, and captures evidence
// when it stops: the agents' calls, who holds and who waits, the servers' gauges with the load they
// were read under, the router's log, and goroutine dumps.
//
// A [Ledger] observes the pacer and the agents, and writes the [Journal]. A [Fleet] hires agents, one
// process each, so many at once. Its watchdog raises a stall when no step has finished for a while,
// captures [Evidence] then and later in the episode, and closes the episode with the next step. A
// process of its own samples the gauges; a [RouterLog] reads the router's log as it is written. All of
// it goes into a bundle (package harness/bundle), and what was seen of each episode into a [Report].
//
// # Files of a bundle
//
//	run.json         what determines the run; there from the start
//	events.jsonl     one line an event: see Journal
//	samples.jsonl    one line a reading of the gauges: t_s, sent, calls, gauges; error
//	router.log       the router's log, as it came
//	stalls/NN/       an episode: the files of its latest capture, and verdict.json; those of earlier
//	                 captures have the number of the capture in their name, such as calls-1.json
//	end/             the same for the end of the run
//
// The files of a capture are calls.json, waits.json, waits.dot and waits.svg (who waits for whom, drawn,
// if Options.Graph tells), servers.json, goroutines.txt, goroutines.pb.gz and goroutines.json (what the
// dump says about the agents); also goroutineleak.pb.gz, where the runtime has that profile.
// [ReadEvidence] reads them back.
//
// # In both worlds
//
// The package waits through its world, and takes files and dumps from harness/bundle and
// harness/goroutine, so that all of it runs in virtual time as on the wall. On the wall the monitor is
// free while gauges are read, dumps are taken and files are written. An interrupt reaches the fleet
// before it reaches the agents, so that the evidence shows them where they were.
//
// The package may import harness/sim, harness/fault, harness/goroutine, harness/bundle,
// harness/waitgraph, agents and pacer; it knows nothing of particular servers, scenarios or verdicts. Those come from above through
// small interfaces.
package harness
