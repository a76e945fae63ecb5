// Package serving simulates the servers behind an OpenAI-compatible API: a router in front of inference
// engines, which package engine simulates. It is a state machine on one timer of a sim.World, so that
// one request costs a handful of events, whatever the number of its tokens, and it is the same in virtual
// time and on the wall.
//
// The router is SGLang's (sgl-model-gateway). With prefill and decode split, it picks a worker of each
// kind by a [Policy], sends the same request to both under one room, waits for the prefill leg, then for
// decode's first token, and only then answers with headers. It repeats what failed with another pair,
// has a circuit breaker and health checks for each worker, a limiter with a queue, and a log of two
// lines for each request, whose latency is that of the headers, in microseconds. A client that leaves before the
// headers leaves only the first of them, and no id is shared between its log and those of the engines.
//
// The life of a request, as [Stage] names it:
//
//	router        the router has it, and no engine: it waits for a token of the limiter, between two
//	              attempts, or a fault holds it
//	bootstrap     at both engines: decode has no memory for it, or it has not come to that yet
//	prefill_wait  waits for its turn
//	prefill       its prompt is computed, in chunks
//	inflight      its KV memory travels to the decode engine
//	decode_wait   waits for room in the running batch
//	decode        in the running batch
//	done          answered in full
//
// What the engines do when memory runs out, when a peer fails and when a client leaves, and which of
// their earlier versions' defects can be switched on, is told in package engine. [Presets] are whole
// configurations: the incident's deployment, engines without the split, vLLM's, and some for measuring.
//
// What is simpler than the original:
//
//   - There is no prefix cache: every prompt is computed in full, and cached tokens are 0. The policies that
//     look at prefixes take requests of one user for one conversation.
//   - A message between two of the servers takes no time, but for the KV transfer.
//   - A request's output is fixed when it arrives: how many tokens, which tool call. Neither the router
//     nor an engine's admission knows it.
//   - Health checks cost nothing and are asked for only while requests are at the servers.
//
// Faults between the servers and a client (a connection that is half open, a body that ends early, an
// event that is no JSON) are decided here, so that both ways to the servers show the same: [Client] in
// memory, a pacer.Backend, and an HTTP front, which submits requests itself: see [Stack.Submit] and
// [Handle].
//
// The package may import repro/serving/engine, harness/sim, harness/fault, and for the types on the boundary
// pacer and go-openai.
package serving
