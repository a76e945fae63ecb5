// Package engine simulates the inference engines behind a router: prefill and decode engines that
// hand a request on to each other, after SGLang's split of the two, or engines that do both, after
// SGLang without the split, or vLLM. It is a state machine on an agenda, so that a request costs a
// handful of events whatever the number of its tokens; it knows no clock and no processes. Whoever
// owns it (package serving) brings it up to an instant and arms a timer for what is due next.
//
// A request at an engine is a [Leg]. With the split a client's request has two of them, one at a
// prefill and one at a decode engine, which only their room ties together:
//
//	prefill leg   bootstrap     waits until decode has reserved KV memory, and for a metadata slot
//	              prefill_wait  waits for its turn
//	              prefill       its prompt is computed, in chunks
//	              inflight      its KV memory travels; its slot and memory are held until it has arrived
//	              done          answered to the router
//	decode leg    prealloc      waits for the handshake, a request slot, and KV memory; first come first served
//	              transfer      waits for the KV memory to arrive
//	              decode_wait   waits for room in the running batch
//	              decode        in the running batch
//	              done
//
// The package may import harness/sim and harness/fault.
package engine
