// Package metrics measures one run of agents: how much work got done, how long it took, and what it cost.
// It exists to compare policies, so each number has one definition, which stands at its field.
//
// A [Meter] observes a pacer, the agents and, if there are simulated ones, the servers, and gives a [Run]
// when the run is over. All times count from when an agent wanted something, never from when something
// was sent: waits for slots, for rate limits and between attempts are part of a call, and the wait for a worker is
// part of a task that has arrived. What had not ended when the
// run did is counted as unfinished, and its time is a lower bound (censored), never dropped.
//
// What only the servers know (tokens made for clients that have left, whether a call that was killed
// would have finished) is part of a Run and of nothing else: a diagnosis must not read it.
//
// It imports agents, pacer, repro/serving and harness/sim, and the standard library.
package metrics
