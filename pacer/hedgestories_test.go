package pacer_test

import (
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

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

// TestHedgedState looks at a call with two attempts under way: what it shows is the later one, and after
// that has failed the earlier one again, with all that belongs to it.
func TestHedgedState(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
		policy := quick()
		policy.Hedge = pacer.Hedge{After: 5 * s, Share: 1}
		p, err := pacer.New(w, slots(1, pacer.HoldStream), policy, &backend{w: w, play: func(a *pacer.Attempt) script {
			if a.Number == 2 {
				return script{connect: 1 * s, headers: 3 * s, refuse: busy()}
			}
			return script{headers: 4 * s, chunks: []chunk{say(8*s, "x"), say(2*s, "y")}}
		}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		call := w.Spawn(ctx, "agent", func(ctx context.Context) { _, _ = p.Chat(ctx, identity("agent", 1), request()) })
		for _, want := range []string{
			"4.5s: first_token of a1 since 4s, sent 0s, headers 4s, first 0s, 0 tokens, 0 beside, 0 behind, 0 hedges",
			"5.5s: connect of a2 since 5s, sent 0s, headers 0s, first 0s, 0 tokens, 1 beside, 0 behind, 1 hedges",
			"8.5s: headers of a2 since 6s, sent 6s, headers 0s, first 0s, 0 tokens, 1 beside, 0 behind, 1 hedges",
			"9.5s: first_token of a1 since 9s, sent 0s, headers 4s, first 0s, 0 tokens, 0 beside, 1 behind, 0 hedges",
			"13s: stream of a1 since 12s, sent 0s, headers 4s, first 12s, 1 tokens, 0 beside, 1 behind, 0 hedges",
		} {
			at, _, _ := strings.Cut(want, ":")
			until, _ := time.ParseDuration(at)
			_ = w.Sleep(ctx, until-w.Now().Sub(0))
			hedges := 0
			for _, process := range w.Processes() {
				if process.Name == "hedge of agent-c001" {
					hedges++
				}
			}
			c := p.Calls()[0]
			got := fmt.Sprintf("%v: %s of a%d since %v, sent %v, headers %v, first %v, %d tokens, %d beside, %d behind, %d hedges", until, c.Stage,
				c.Attempt(), c.Since, c.Sent, c.Headers, c.FirstToken, c.Tokens, c.Beside, c.Behind, hedges)
			if got != want || !c.HoldsSlot || c.AttemptID != fmt.Sprintf("agent-c001-a%d", c.Attempt()) {
				t.Errorf("seed %d: got  %s %+v\nwant %s", seed, got, c, want)
			}
		}
		_ = call.Wait(ctx)
		settled(t, w, p)
	})
}

// TestHedgeLabels says whose attempt a process plays that joined another one.
func TestHedgeLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWall(sim.WallOptions{Seed: seed})
		policy := quick()
		policy.Hedge = pacer.Hedge{After: 5 * s, Share: 1}
		err := w.Run(t.Context(), func(ctx context.Context) {
			p, err := pacer.New(w, slots(1, pacer.HoldStream), policy, &backend{w: w, play: func(*pacer.Attempt) script { return slow }}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			call := w.Spawn(ctx, "agent", func(ctx context.Context) { _, _ = p.Chat(ctx, identity("agent", 1), request()) })
			_ = w.Sleep(ctx, 6*s)
			const want = `labels: {"agent":"agent", "attempt":"agent-c001-a2", "call":"agent-c001", "stage":"headers", "task":"task"}`
			var dump strings.Builder
			if err := pprof.Lookup("goroutine").WriteTo(&dump, 1); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(dump.String(), want) {
				t.Errorf("%s is missing from\n%s", want, &dump)
			}
			_ = call.Wait(ctx)
		})
		if err != nil {
			t.Error(err)
		}
	})
}
