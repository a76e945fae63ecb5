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
// What has a limit: bootstrap, 300 s from the arrival on, unless decode has reserved memory by then;
// and transfer, 300 s from the reservation, unless the first chunk of the prompt has been computed by
// then. Nothing else has.
//
// What one side hears of the other, if a leg ends before the transfer's end:
//
//	prefill fails, or its client leaves   decode notices 4 to 8 s later, and fails
//	… in prefill_wait                     decode is not told, and has its own limit
//	decode ends in prealloc               prefill is not told, and has its own limit
//	decode ends in transfer               prefill is told at once, and fails
//
// Memory of the decode side is counted token by token. When the next step of a batch does not fit,
// legs are retracted until it does. While retracted legs wait to come back, a decode engine admits
// nobody and does not look at its transfers.
//
// What becomes of a leg whose client has left is up to [AbortConfig] and to the stage that it is in;
// without a defect it holds nothing any more once the chunk or step under way is over.
//
// Order: what is due at one instant happens in the order in which it was put on the agenda. After each
// event the ranks that it has touched let go on what can go on, and then the owners are told.
//
// The package may import harness/sim and harness/fault.
package engine
