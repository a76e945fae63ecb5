// Package harness runs a fleet of agents on workers, watches their progress, and captures evidence
// when it stops: the agents' calls, who holds and who waits, the servers' gauges with the load they
// were read under, the router's log, and goroutine dumps.
//
// It may import harness/sim, harness/fault, harness/goroutine, agents and pacer; it knows nothing of
// particular servers, scenarios or verdicts. Those come from above through small interfaces.
package harness
