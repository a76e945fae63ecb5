package pacer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// TestCancel cancels a call in each of its stages: the cause comes back unchanged, and nothing is
// left of it.
func TestCancel(t *testing.T) {
	why := errors.New("why")
	stages := []pacer.Stage{pacer.StageSlot, pacer.StageRate, pacer.StageConnect, pacer.StageHeaders, pacer.StageFirstToken, pacer.StageStream, pacer.StageBackoff}
	for _, hold := range []pacer.Hold{pacer.HoldStream, pacer.HoldStart, pacer.HoldAgent} {
		for _, stage := range stages {
			t.Run(string(hold)+"/"+stage.String(), func(t *testing.T) {
				inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) { cancelIn(t, w, ctx, hold, stage, why) })
			})
		}
	}
}

func cancelIn(t *testing.T, w sim.World, ctx context.Context, hold pacer.Hold, stage pacer.Stage, why error) {
	config := slots(1, hold)
	config.HoldInBackoff = true
	config.RequestsPerSecond = 0.1 // the call below waits from 0 s to 10 s
	policy := quick()
	policy.Total = time.Hour
	b := &backend{w: w, play: func(a *pacer.Attempt) script {
		switch {
		case a.Of.Agent == "first" && stage == pacer.StageSlot:
			return script{connect: 100 * s, chunks: []chunk{say(0, "x")}}
		case a.Of.Agent == "first":
			return script{chunks: []chunk{say(0, "x")}}
		case stage == pacer.StageBackoff:
			return script{refuse: &pacer.StatusError{Status: 429, HasRetryAfter: true, RetryAfter: 60 * s}}
		}
		return script{connect: 10 * s, headers: 10 * s, chunks: []chunk{say(10*s, "x"), say(10*s, "y")}}
	}}
	rec := &recorder{w: w}
	p, err := pacer.New(w, config, policy, b, rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := w.Spawn(ctx, "first", func(ctx context.Context) { _, _ = p.Chat(ctx, identity("first", 1), request()) })
	_ = w.Sleep(ctx, time.Millisecond)
	callCtx, cancel := w.WithCancel(ctx)
	var got error
	second := w.Spawn(callCtx, "second", func(ctx context.Context) {
		ctx, release, err := p.Hold(ctx, identity("second", 1))
		if err != nil {
			t.Error(err)
		}
		defer release()
		_, got = p.Chat(ctx, identity("second", 1), request())
	})
	at := map[pacer.Stage]time.Duration{pacer.StageSlot: 5 * s, pacer.StageRate: 5 * s, pacer.StageBackoff: 15 * s,
		pacer.StageConnect: 15 * s, pacer.StageHeaders: 25 * s, pacer.StageFirstToken: 35 * s, pacer.StageStream: 45 * s}[stage]
	_ = w.Sleep(ctx, at)
	calls := p.Calls()
	if last := calls[len(calls)-1]; last.Stage != stage || last.Agent != "second" {
		t.Fatalf("seed %d: at %v the call is %+v, want it in stage %s", seed, at, last, stage)
	}
	cancel(why)
	_ = second.Wait(ctx)
	if got != why {
		t.Errorf("seed %d: got %v, want the cause", seed, got)
	}
	if now := w.Now().Sub(0); now != at+time.Millisecond {
		t.Errorf("seed %d: cancelled at %v and noticed at %v", seed, at+time.Millisecond, now)
	}
	_ = first.Wait(ctx)
	settled(t, w, p)
	if last := rec.lines[len(rec.lines)-1]; stage != pacer.StageSlot && !strings.HasSuffix(last, "ended tokens=0 err=true") {
		t.Errorf("seed %d: the observer was told %q at last", seed, last)
	}
}

// A call whose context is cancelled before it starts leaves no trace at all.
func TestCancelledBefore(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
		rec := &recorder{w: w}
		p, err := pacer.New(w, pacer.DefaultConfig(), quick(), &backend{w: w}, rec, nil)
		if err != nil {
			t.Fatal(err)
		}
		why := errors.New("why")
		ctx, cancel := w.WithCancel(ctx)
		cancel(why)
		if _, err := p.Chat(ctx, identity("agent", 1), request()); err != why {
			t.Errorf("got %v, want the cause", err)
		}
		if len(rec.lines) != 0 {
			t.Errorf("the observer was told %q", rec.lines)
		}
		settled(t, w, p)
	})
}
