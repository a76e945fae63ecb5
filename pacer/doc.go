// Package pacer sends an agent's LLM calls: [Pacer.Chat] takes a slot, keeps the rate, makes an
// attempt under time limits, retries what is worth retrying, and hands back one answer put together
// from the streamed chunks. Every wait on the way is a [Stage] with its time recorded, so that
// "where is the call, since when" has an answer at any instant.
//
//	slot → rate → connect → headers → first_token → stream → done
//	  ↑                └────────┴──────────┴──────────┘
//	  └──────────── backoff ─────────── failed
//
// What a pacer does is data: [Config] says how much it lets through at once and when a slot is held,
// [Policy] which limits apply to an attempt and what happens after it failed. The decisions are pure
// functions of the policy, what happened and the instant; Chat performs their effects. What has
// happened before, to any call of the pacer, decides too if the policy has a budget for retries, a
// throttle, a breaker or limits that learn: an attempt that they turn away is one that ends unsent.
//
// A call makes its attempts one after the other, unless the policy hedges: then others join an attempt
// that is slow, and the first of them to get far enough goes on alone. The call's stage is that of the
// latest while several are under way.
//
// Whom it talks to is a [Backend]: package httpbackend speaks to any OpenAI-compatible server, and
// simulated servers implement it in memory. All waiting goes through a sim.World, so the same code
// runs on the machine's clock and in virtual time.
//
// The package imports its parts (pacer/adaptive, admission, concurrency and queue), harness/sim,
// harness/fault, the message types of go-openai, the headers of net/http, and golang.org/x/time/rate,
// which it drives with explicit instants.
package pacer
