package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// unified is an engine that does both once more, in the dumbest way. It has memory for all.
type unified struct {
	cfg                         engine.Config
	now, busy                   sim.Instant // busy until; sim.Never: it is not
	waiting, computing, running []*twinJob
	computed, shares            map[*twinJob]int
	step                        []*twinJob
}

// begin starts what comes next: a chunk if there is one to compute, else a step, or with mixed chunks
// both.
func (u *unified) begin() {
	takes, left := time.Duration(0), u.cfg.Prefill.ChunkTokens
	take := func(j *twinJob) {
		n := min(left, j.prompt-u.computed[j])
		u.shares[j], left = n, left-n
		pairs := float64(n) * (float64(u.computed[j]) + float64(n)/2)
		takes += time.Duration(n)*u.cfg.Prefill.PerToken + time.Duration(pairs*float64(u.cfg.Prefill.PerTokenPair))
	}
	for _, j := range u.computing {
		take(j)
	}
	for left > 0 && len(u.waiting) > 0 && len(u.running)+len(u.computing) < u.cfg.Decode.RunningMax {
		j := u.waiting[0]
		u.waiting, u.computing = u.waiting[1:], append(u.computing, j)
		take(j)
	}
	if len(u.shares) > 0 {
		takes += u.cfg.Prefill.ChunkBase
	}
	if len(u.running) > 0 && (len(u.shares) == 0 || u.cfg.Decode.Mixed) {
		u.step = slices.Clone(u.running)
		length := u.cfg.Decode.StepBase + time.Duration(len(u.step))*u.cfg.Decode.StepPerRequest
		for _, j := range u.step {
			length += time.Duration(j.prompt+j.tokens) * u.cfg.Decode.StepPerContextToken
		}
		takes += max(length, 1)
	}
	if len(u.shares)+len(u.step) > 0 {
		u.busy = u.now.Add(takes)
	}
}

// finish ends what was under way.
func (u *unified) finish() {
	for _, j := range u.step {
		u.token(j)
	}
	for _, j := range slices.Clone(u.computing) {
		if u.computed[j] += u.shares[j]; u.computed[j] == j.prompt {
			u.computing = slices.DeleteFunc(u.computing, func(other *twinJob) bool { return other == j })
			u.running = append(u.running, j)
			u.token(j)
		}
	}
	u.step = nil
	clear(u.shares)
}

func (u *unified) token(j *twinJob) {
	if j.tokens++; j.tokens == j.outputTokens {
		u.running = slices.DeleteFunc(u.running, func(other *twinJob) bool { return other == j })
		j.ended = u.now
	}
}

func (u *unified) advance(to sim.Instant) {
	for {
		if u.busy == sim.Never && u.now < to {
			u.begin()
		}
		if u.busy > to {
			break
		}
		u.now, u.busy = u.busy, sim.Never
		u.finish()
	}
	u.now = to
}

// TestUnifiedTwin plays random schedules on a unified engine and on its naive twin.
func TestUnifiedTwin(t *testing.T) {
	for seed := range uint64(400) {
		draw := sim.NewStream(seed, "twin", "unified")
		cfg := engine.Default()
		cfg.Mode = engine.Unified
		cfg.Decode.Mixed = seed%2 == 0
		cfg.Decode.RunningMax, cfg.Decode.RequestsMax = 1+draw.IntN(8), 0
		cfg.Decode.StepPerContextToken = time.Duration(draw.IntN(2000))
		cfg.Prefill.ChunkTokens = 100 + draw.IntN(1000)
		cfg.Prefill.PerTokenPair = 2 * time.Duration(draw.IntN(10))
		p := newPlay(t, func(c *engine.Config) { *c = cfg })
		u := &unified{cfg: cfg, busy: sim.Never, computed: map[*twinJob]int{}, shares: map[*twinJob]int{}}
		var jobs []*twinJob
		var pairs []*pair
		for i := range 30 {
			at := p.Now().Add(time.Duration(1 + draw.IntN(int(time.Second))))
			p.Advance(at)
			u.advance(at)
			j := &twinJob{prompt: 1 + draw.IntN(3000), outputTokens: 1 + draw.IntN(60)}
			jobs, pairs = append(jobs, j), append(pairs, p.ask(fmt.Sprint(i), j.prompt, j.outputTokens))
			u.waiting = append(u.waiting, j)
			for k, r := range pairs {
				if r.made() != jobs[k].tokens {
					t.Fatalf("seed %d: %d has %d tokens at %v, want %d", seed, k, r.made(), at, jobs[k].tokens)
				}
			}
		}
		p.end()
		u.advance(sim.Instant(time.Hour))
		for k, r := range pairs {
			if _, ended := r.legs[1].Stage(); ended != jobs[k].ended || r.made() != jobs[k].tokens {
				t.Fatalf("seed %d: %d ended with %d tokens at %d, want %d at %d", seed, k, r.made(), ended, jobs[k].tokens, jobs[k].ended)
			}
		}
	}
}
