package pacer_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// TestRate sends calls at once, and compares when each attempt starts. A request has eight prompt
// tokens.
func TestRate(t *testing.T) {
	for _, tc := range []struct {
		name   string
		config pacer.Config
		output int // tokens that each request allows
		want   string
	}{
		{"off", pacer.Config{}, 0, "0s 0s 0s 0s"},
		{"requests", pacer.Config{RequestsPerSecond: 0.5}, 0, "0s 2s 4s 6s"},
		{"requests in a burst", pacer.Config{RequestsPerSecond: 0.5, RequestBurst: 2}, 0, "0s 0s 2s 4s"},
		{"tokens", pacer.Config{TokensPerSecond: 2, TokenBurst: 8}, 0, "0s 4s 8s 12s"},
		{"tokens with output", pacer.Config{TokensPerSecond: 2, TokenBurst: 16}, 8, "0s 8s 16s 24s"},
		{"more tokens than the burst", pacer.Config{TokensPerSecond: 2, TokenBurst: 8}, 1000, "8m20s 16m44s 25m8s 33m32s"},
		{"tokens, a minute's burst", pacer.Config{TokensPerSecond: 0.4}, 0, "0s 0s 0s 20s"},
		{"both: the slower counts", pacer.Config{RequestsPerSecond: 1, TokensPerSecond: 4, TokenBurst: 24}, 0, "0s 1s 2s 3s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
				tc.config.Hold = pacer.HoldStream
				var starts []string
				b := &backend{w: w, play: func(*pacer.Attempt) script {
					w.Lock()
					defer w.Unlock()
					starts = append(starts, time.Duration(w.Now()).String())
					return script{chunks: []chunk{say(0, "x")}}
				}}
				p, err := pacer.New(w, tc.config, quick(), b, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				var all []*sim.Process
				for i := range 4 {
					all = append(all, w.Spawn(ctx, "agent", func(ctx context.Context) {
						_ = w.Sleep(ctx, time.Duration(i)) // in order
						req := request()
						req.MaxCompletionTokens = tc.output
						_, _ = p.Chat(ctx, identity("agent", i+1), req)
					}))
				}
				for _, a := range all {
					_ = a.Wait(ctx)
				}
				for i, start := range starts {
					d, _ := time.ParseDuration(start)
					starts[i] = d.Round(time.Millisecond).String()
				}
				if got := strings.Join(starts, " "); got != tc.want {
					t.Errorf("attempts start at %s, want %s", got, tc.want)
				}
			})
		})
	}
}

// TestRateStage shows the wait as a stage that holds the slot, each retry paced again, and a
// cancelled wait handing its place on.
func TestRateStage(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World, ctx context.Context) {
		config := slots(1, pacer.HoldStream)
		config.RequestsPerSecond = 0.1
		policy := quick()
		b := &backend{w: w, play: func(a *pacer.Attempt) script {
			if a.Number == 1 {
				return script{refuse: busy()}
			}
			return script{chunks: []chunk{say(0, "x")}}
		}}
		rec := &recorder{w: w}
		p, err := pacer.New(w, config, policy, b, rec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Chat(ctx, identity("a", 1), request()); err != nil {
			t.Error(err)
		}
		want := []string{"0s connect +slot", "0s headers +slot", "0s a1 status 503 took=0s tokens=0 again=1s", "0s backoff", "1s rate +slot",
			"10s connect +slot", "10s headers +slot", "10s first_token +slot", "10s stream +slot", "10s a2 ok took=0s tokens=1", "10s done", "10s ended tokens=1 err=false"}
		if !slices.Equal(rec.lines, want) {
			t.Errorf("got %s\nwant %s", strings.Join(rec.lines, "\n    "), strings.Join(want, "\n     "))
		}
		short, stop := sim.WithTimeout(ctx, w, 5*s, context.Canceled) // waits from 10 s for a place at 20 s
		if _, err := p.Chat(short, identity("a", 2), request()); err != context.Canceled {
			t.Errorf("got %v, want the cause", err)
		}
		stop()
		policy.MaxAttempts = 1
		_, _ = p.Chat(ctx, identity("a", 3), request())
		if !slices.ContainsFunc(rec.lines, func(l string) bool { return strings.HasPrefix(l, "20s connect") }) {
			t.Errorf("the cancelled place at 20 s was lost: %v", rec.lines)
		}
		settled(t, w, p)
	})
}

// TestBackoffDraws shows that the waits of a call do not depend on what other calls do.
func TestBackoffDraws(t *testing.T) {
	delays := func(others int) string {
		var out []string
		w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
		err := w.Run(t.Context(), func(ctx context.Context) {
			rec := &recorder{w: w}
			p, err := pacer.New(w, pacer.DefaultConfig(), pacer.DefaultPolicy(), &backend{w: w, play: func(*pacer.Attempt) script { return script{refuse: busy()} }}, rec, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range others {
				_, _ = p.Chat(ctx, identity(fmt.Sprintf("other-%d", i), 1), request())
			}
			from := len(rec.lines)
			_, _ = p.Chat(ctx, identity("agent", 1), request())
			for _, line := range rec.lines[from:] {
				if _, delay, ok := strings.Cut(line, "again="); ok {
					out = append(out, delay)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(out, " ")
	}
	alone, among := delays(0), delays(3)
	if alone != among || len(strings.Fields(alone)) != 2 {
		t.Errorf("seed %d: waits %q alone, %q among others", seed, alone, among)
	}
}
