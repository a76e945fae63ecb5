package pacer_test

import "time"

// slow has its first output after ten seconds.
var slow = script{headers: 9 * s, chunks: []chunk{say(1*s, "slow"), say(1*s, "ly")}}

// hedgeStories are about attempts that join others.
var hedgeStories = []story{
	{
		name:   "hedge: the second is faster and wins with its first output",
		policy: "hedge: {after: 4s, share: 1}", scripts: map[string]script{"1.1": slow, "1.2": {headers: 1 * s, chunks: []chunk{say(1*s, "fa"), say(9*s, "st"), {usage: 5}}}},
	},
	{
		name:   "hedge: the first wins in the end",
		policy: "hedge: {after: 4s, share: 1}", scripts: map[string]script{"1.1": slow, "1.2": {headers: 1 * s, chunks: []chunk{say(7*s, "too late")}}},
	},
	{
		name:   "hedge: a quick first one is not joined",
		policy: "hedge: {after: 4s, share: 1}", scripts: map[string]script{"1.1": {headers: 1 * s, chunks: []chunk{say(1*s, "a"), say(9*s, "b")}}},
	},
	{
		name:   "hedge: the second is refused, the first goes on",
		policy: "hedge: {after: 4s, share: 1}", scripts: map[string]script{"1.1": slow, "1.2": {headers: 1 * s, refuse: busy()}},
	},
	{
		name:   "hedge: the first is refused while the second is on its way",
		policy: "hedge: {after: 4s, share: 1}", scripts: map[string]script{"1.1": {headers: 5 * s, refuse: busy()}, "1.2": {headers: 5 * s, chunks: []chunk{say(1*s, "x")}}},
	},
	{
		name:   "hedge: both fail, then there is a retry, which is hedged as well",
		policy: "hedge: {after: 4s, share: 2}", scripts: map[string]script{"1.1": {headers: 5 * s, refuse: busy()}, "1.2": {headers: 3 * s, refuse: busy()}, "1.3": slow, "1.4": {headers: 1 * s, chunks: []chunk{say(1*s, "x")}}},
	},
	{
		name:   "hedge: the winner breaks off in its stream, then there is a retry",
		policy: "hedge: {after: 4s, share: 1}", scripts: map[string]script{"1.1": slow, "1.2": {chunks: []chunk{say(1*s, "x")}, end: errReset}, "1.3": dripped},
	},
	{
		name:   "hedge: on headers",
		policy: "hedge: {after: 4s, share: 1, on: headers}", scripts: map[string]script{"1.1": slow, "1.2": {headers: 1 * s, chunks: []chunk{say(30*s, "x")}}},
	},
	{
		name:   "hedge: on answer: both stream, the first to end wins",
		policy: "hedge: {after: 4s, share: 1, on: answer}", scripts: map[string]script{"1.1": {chunks: []chunk{say(1*s, "a"), say(19*s, "b")}}, "1.2": {chunks: []chunk{say(1*s, "c"), say(1*s, "d")}}},
	},
	{
		name:   "hedge: tied: two at once, the first to start cancels the other",
		policy: "hedge: {tied: true}", scripts: map[string]script{"1.1": {connect: 100 * ms, headers: 9 * s, chunks: []chunk{say(1*s, "late")}}, "1.2": {connect: 200 * ms, headers: 2 * s, chunks: []chunk{say(1*s, "x"), say(1*s, "y")}}},
	},
	{
		name:   "hedge: max: two join",
		policy: "hedge: {after: 4s, share: 2, max: 2}", scripts: map[string]script{"1.1": slow, "1.2": slow, "1.3": {headers: 1 * s, chunks: []chunk{say(500*ms, "third")}}},
	},
	{
		name:   "hedge: share: one call in two",
		policy: "hedge: {after: 4s, share: 0.5}", starts: []time.Duration{0, 20 * s, 40 * s}, scripts: map[string]script{"": slow, "2.2": {chunks: []chunk{say(1*s, "x")}}},
	},
	{
		name:   "hedge: quantile: the wait is learnt from the calls before",
		policy: "hedge: {quantile: 0.5, min_samples: 2, share: 1}", starts: []time.Duration{0, 20 * s, 40 * s},
		scripts: map[string]script{"1": {chunks: []chunk{say(3*s, "x")}}, "2": {chunks: []chunk{say(2*s, "x")}}, "3.1": slow, "3.2": {chunks: []chunk{say(1*s, "x")}}},
	},
	{
		name:   "hedge: a retry budget bounds it too",
		policy: "hedge: {after: 4s}\nretry_budget: {rule: brooker, max_tokens: 1}", starts: []time.Duration{0, 20 * s},
		scripts: map[string]script{"": slow, "1.2": {headers: 1 * s, refuse: busy()}},
	},
	{
		name:   "hedge: a limit ends each attempt by itself",
		policy: "max_attempts: 1\nresponse_header: 6s\nhedge: {after: 4s, share: 1}", scripts: map[string]script{"": {headers: 20 * s}},
	},
	{
		name:   "hedge: call_total ends both",
		policy: "call_total: 6s\nhedge: {after: 4s, share: 1}", slots: 1, tie: true, scripts: map[string]script{"": {headers: 20 * s}},
	},
}
