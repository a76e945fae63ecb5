package pacer_test

import "time"

// broken gives two tokens of text, and then breaks off.
var broken = script{headers: 1 * s, chunks: []chunk{say(1*s, "Once"), say(1*s, " upo")}, end: errReset}

// partialStories are about what becomes of half an answer, and about deadlines that are passed on.
var partialStories = []story{
	{
		name:   "partial: restart asks for all of it again",
		policy: "partial: restart", tokensMax: 100, scripts: map[string]script{"1.1": broken, "": {chunks: []chunk{say(1*s, "Once"), say(1*s, " upo"), say(1*s, "n a "), {usage: 3}}}},
	},
	{
		name:   "partial: continue asks for the rest",
		policy: "partial: continue", tokensMax: 100, scripts: map[string]script{"1.1": broken, "": {chunks: []chunk{say(1*s, "n a "), {usage: 1}}}},
	},
	{
		name:   "partial: continue, twice",
		policy: "partial: continue", tokensMax: 100, scripts: map[string]script{"1.1": broken, "1.2": {chunks: []chunk{say(1*s, "n a ")}, end: errReset}, "": {chunks: []chunk{say(1*s, "time"), {usage: 1}}}},
	},
	{
		name:   "partial: continue, with nothing new in between",
		policy: "partial: continue", tokensMax: 100, scripts: map[string]script{"1.1": broken, "1.2": {refuse: busy()}, "": {chunks: []chunk{say(1*s, "n a "), {usage: 1}}}},
	},
	{
		name:   "partial: continue, but a tool call had begun: all of it again",
		policy: "partial: continue", tokensMax: 100, scripts: map[string]script{"1.1": {chunks: []chunk{say(1*s, "Once"), {after: 1 * s, call: "{"}}, end: errReset}},
	},
	{
		name:   "partial: continue, then a tool call had begun: what was kept is dropped",
		policy: "partial: continue", tokensMax: 100, scripts: map[string]script{"1.1": broken, "1.2": {chunks: []chunk{{after: 1 * s, call: "{"}}, end: errReset}},
	},
	{
		name:   "partial: continue, in vain: what was kept is wasted",
		policy: "partial: continue\nmax_attempts: 2", scripts: map[string]script{"": broken},
	},
	{
		name:   "propagate_deadline: the least of what ends the attempt in any case, less a margin",
		policy: "propagate_deadline: true\ndeadline_margin: 1s\ncall_total: 60s\ntotal: 40s\nfirst_token: 5s", scripts: map[string]script{"1.1": silent, "1.2": {chunks: []chunk{say(1*s, "x")}, end: errReset}},
	},
	{
		name:   "propagate_deadline: the wait for a slot has been taken off",
		policy: "propagate_deadline: true\ncall_total: 60s", slots: 1, starts: []time.Duration{0, 1 * s}, scripts: map[string]script{"1": steady(4, 5*s)},
	},
	{
		name:   "propagate_deadline: without a limit there is nothing to tell",
		policy: "propagate_deadline: true\nidle: 5s",
	},
}
