// Package serving simulates the servers behind an OpenAI-compatible API: a router, a prefill engine
// and a decode engine that hand a request on to each other, after SGLang's split of the two. It is
// a state machine on timers of a sim.World, so that one request costs a handful of events, whatever
// the number of its tokens, and it is the same in virtual time and on the wall.
//
// The life of a request:
//
//	router        counted in; refused with 503 beyond the limit; a line in the log
//	bootstrap     waits until decode has reserved KV memory and both engines have a request slot
//	prefill_wait  waits for its turn, first come first served
//	prefill       its prompt is computed, in chunks that several requests may share
//	inflight      its KV memory travels to the decode engine
//	decode_wait   waits for room in the running batch
//	decode        in the running batch; each step of the batch makes a token of each request
//	done          answered in full; a second line in the log
//
// What this first form leaves out, on purpose and without getting in the way of it:
//
//   - The router gives a request to both engines at once. The prefill engine's bootstrap queue and the
//     decode engine's prealloc queue then hold the same requests in the same order, since their
//     handshake takes no time here. One queue stands for both, and both gauges read its length. As in
//     the original, a head that does not fit holds up everybody behind it.
//   - KV memory on the decode side is reserved for the prompt and the whole output at once, as if the
//     output's length were known. So nothing is ever retracted, and a full pool shows as waits in
//     bootstrap only.
//   - There is one prefill engine and one decode engine, without a prefix cache.
//   - A client that leaves is noticed at once, and its request ends at once in each stage, unless a
//     fault says otherwise. The engine finishes the chunk or step under way all the same.
//   - The first token becomes visible when the request joins the running batch, since the prefill
//     engine has made it; until then there are no response headers either.
//   - The queues' gauges are true at each instant. The originals freeze while an engine is stuck.
//
// A request's output is fixed when it arrives: how many tokens, which tool call. Its progress
// between two changes of the running batch is a closed form (see batch), so that progress can be
// asked for at any instant at the cost of a square root.
//
// [Client] is the servers' client in memory, a pacer.Backend. An HTTP front submits requests itself,
// see [Stack.Submit] and [Handle].
//
// The package may import harness/sim, harness/fault, and for the types on the boundary pacer and go-openai.
package serving
