// Package serving simulates the servers behind an OpenAI-compatible API: a router, and the engines of
// package engine, after SGLang's router and its split of prefill and decode. It is a state machine on
// timers of a sim.World, so that one request costs a handful of events, whatever the number of its
// tokens, and it is the same in virtual time and on the wall.
//
// What the router does with a request:
//
//	a line in its log
//	refused        too many are in flight (router.queued_max), or the prompt is longer than the model's context
//	limiter        a token is to be had, or it waits in a queue for one
//	dispatch       a prefill and a decode engine are chosen by the policy, among those that are healthy and whose
//	               circuit is closed; both get the request at once, as two legs that their room ties together
//	prefill leg    comes first: it is answered when its KV memory has arrived at decode
//	decode leg     its first token brings the response headers, and the second line of the log
//	answer         passed on token by token, or whole
//
// A leg that fails before the headers is answered with an error status if the request is not a stream;
// the router tries again with another pair, up to five times. The leg of a stream is answered with
// status 200 and an error event in it: of a prefill leg the router does not notice that, and of a
// decode leg the client has to. While prefill is waited for, an answer of decode is put aside, however
// bad. See RouterConfig for what bounds each of these, and for how earlier versions did it.
//
// Engines name a request by ids of their own, which only they and the chunks of the answer have: no id
// leads from the router's log to an engine's.
//
// What a client sees of an answer is a view on the tokens that have been made, computed when somebody
// looks: faults of streams and of connections change the view and not the engines' work, but for those
// that break the connection. The tokens themselves are a closed form, see package engine.
//
// A request's output is fixed when it arrives: how many tokens, which tool call.
//
// [Client] is the servers' client in memory, a pacer.Backend. An HTTP front submits requests itself,
// see [Stack.Submit] and [Handle].
//
// The package may import harness/sim, harness/fault, engine, and for the types on the boundary pacer and go-openai.
package serving
