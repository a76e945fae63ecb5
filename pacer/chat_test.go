package pacer_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

const s = time.Second

// TestTimelines plays one call against a scripted server, in both worlds, and compares everything
// that an observer is told.
func TestTimelines(t *testing.T) {
	for _, tc := range timelines {
		t.Run(tc.name, func(t *testing.T) {
			inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
				b := &backend{w: w, play: func(a *pacer.Attempt) script { return tc.scripts[min(a.Number, len(tc.scripts))-1] }}
				rec := &recorder{w: w}
				p, err := pacer.New(w, tc.config, tc.policy, b, rec, nil)
				if err != nil {
					t.Fatal(err)
				}
				_, err = p.Chat(ctx, identity("agent", 1), request())
				if !slices.Equal(rec.lines, tc.want) {
					t.Errorf("seed %d:\n got %s\nwant %s", seed, strings.Join(rec.lines, "\n     "), strings.Join(tc.want, "\n     "))
				}
				if err == nil != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error: %v, want %q", err, tc.err)
				}
				settled(t, w, p)
			})
		})
	}
}

// settled says that nothing is left of any call.
func settled(t *testing.T, w sim.World, p *pacer.Pacer) {
	t.Helper()
	if calls := p.Calls(); len(calls) != 0 {
		t.Errorf("seed %d: %d calls are left in flight: %+v", seed, len(calls), calls)
	}
	for _, o := range w.Objects() {
		if o.InUse != 0 || len(o.Waiters) != 0 {
			t.Errorf("seed %d: %s: %d in use by %v, waiters %v", seed, o.Name, o.InUse, o.Holders, o.Waiters)
		}
	}
}

func TestErrors(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
		policy := quick()
		policy.Idle = 5 * s
		var play script
		p, err := pacer.New(w, slots(1, pacer.HoldStream), policy, &backend{w: w, play: func(*pacer.Attempt) script { return play }}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		play = script{end: errHang}
		_, err = p.Chat(ctx, pacer.Identity{}, request())
		var call *pacer.CallError
		var limit *pacer.LimitError
		if !errors.As(err, &call) || call.ID != "agent-c001" || call.Attempts != 3 {
			t.Errorf("got %#v, want a CallError of agent-c001 after 3 attempts", err)
		}
		if !errors.As(err, &limit) || limit.Limit != pacer.LimitIdle || limit.After != 5*s || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the idle limit, which is a deadline", err)
		}
		play = script{refuse: busy()}
		_, err = p.Chat(ctx, pacer.Identity{}, request())
		var status *pacer.StatusError
		if !errors.As(err, &status) || status.Status != 503 {
			t.Errorf("got %v, want status 503", err)
		}
	})
}

func TestAnswerAndState(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
		b := &backend{w: w, play: func(*pacer.Attempt) script {
			return script{connect: 1 * s, headers: 1 * s, chunks: []chunk{say(1*s, "he"), say(9*s, "llo"), {usage: 3}}}
		}}
		p, err := pacer.New(w, pacer.DefaultConfig(), quick(), b, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got openai.ChatCompletionResponse
		call := w.Spawn(ctx, "agent", func(ctx context.Context) { got, err = p.Chat(ctx, identity("agent-07", 12), request()) })
		_ = w.Sleep(ctx, 5*s)
		at := func(d time.Duration) sim.Instant { return sim.Instant(d) }
		want := pacer.CallState{
			ID: "agent-07-c012", Agent: "agent-07", Task: "task", Round: 1, Step: 12, Stage: pacer.StageStream, Since: at(3 * s),
			AttemptID: "agent-07-c012-a1", Attempts: 1, HoldsSlot: true, PromptTokens: 8,
			Sent: at(1 * s), Headers: at(2 * s), FirstToken: at(3 * s), Tokens: 1, Bytes: 12, Events: 1, LastByte: at(3 * s), LastToken: at(3 * s),
		}
		want.StageTime[pacer.StageConnect], want.StageTime[pacer.StageHeaders], want.StageTime[pacer.StageFirstToken] = s, s, s
		if calls := p.Calls(); len(calls) != 1 || calls[0] != want {
			t.Errorf("got  %+v\nwant %+v", calls, want)
		}
		if holders := w.Objects()[0].Holders; len(holders) != 1 || holders[0].Name != "agent-07" || holders[0].What != "agent-07-c012" {
			t.Errorf("holders: %v", holders)
		}
		_ = call.Wait(ctx)
		if err != nil || got.Choices[0].Message.Content != "hello" || got.Choices[0].Message.Role != "assistant" || got.Usage.CompletionTokens != 3 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// TestLateConnection checks that an earlier call which is told of its connection when it is over, or
// twice, moves nobody: not the call that comes after it.
func TestLateConnection(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
		var attempts []*pacer.Attempt
		b := &backend{w: w, play: func(a *pacer.Attempt) script {
			attempts = append(attempts, a)
			return script{connect: 5 * s, headers: 5 * s, chunks: []chunk{say(0, "hello")}}
		}}
		p, err := pacer.New(w, pacer.DefaultConfig(), quick(), b, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Chat(ctx, identity("agent", 1), request()); err != nil {
			t.Fatal(err)
		}
		second := w.Spawn(ctx, "agent", func(ctx context.Context) { _, err = p.Chat(ctx, identity("agent", 2), request()) })
		_ = w.Sleep(ctx, 2*s)
		attempts[0].Connected()
		want := pacer.CallState{
			ID: "agent-c002", Agent: "agent", Task: "task", Round: 1, Step: 2, Stage: pacer.StageConnect, Since: sim.Instant(10 * s),
			Started: sim.Instant(10 * s), AttemptID: "agent-c002-a1", Attempts: 1, HoldsSlot: true, PromptTokens: 8,
		}
		if calls := p.Calls(); len(calls) != 1 || calls[0] != want {
			t.Errorf("got  %+v\nwant %+v", calls, want)
		}
		if _ = second.Wait(ctx); err != nil {
			t.Error(err)
		}
	})
}
