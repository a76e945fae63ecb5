package pacer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/adaptive"
	"example.com/wedge/pacer/admission"
)

// randomPolicy turns blocks of a policy on and off.
func randomPolicy(random *rand.Rand) pacer.Policy {
	on := func() bool { return random.IntN(3) == 0 }
	p := randomLimits(random)
	p.MaxAttempts, p.Jitter = 1+random.IntN(4), "full"
	if on() {
		p.CallTotal = time.Duration(1+random.IntN(60)) * s
	}
	if on() {
		p.RetryPhases = []pacer.RetryPhase{pacer.RetryBeforeHeaders}
	}
	if on() {
		p.Partial = pacer.PartialContinue
	}
	p.RetryShed = on()
	if on() {
		p.Breaker = admission.BreakerConfig{Rule: admission.BreakerConsecutive, FailureThreshold: 2, Delay: 5 * s, JudgeBy: admission.JudgeByFirstToken}
	}
	if on() {
		p.Throttle = admission.ThrottleConfig{Rule: admission.ThrottleSRE, K: 1}
	}
	if on() {
		rules := admission.BudgetRules()
		p.RetryBudget = admission.BudgetConfig{Rule: rules[random.IntN(len(rules))]}
	}
	if on() {
		p.Adaptive = []adaptive.Config{{Limit: adaptive.LimitFirstToken, Rule: adaptive.RuleRTO, Initial: 5 * s}}
	}
	if random.IntN(4) > 0 {
		p.Hedge = pacer.Hedge{Share: 1, Max: random.IntN(3), On: []pacer.HedgeOn{"", pacer.HedgeOnHeaders, pacer.HedgeOnAnswer}[random.IntN(3)]}
		switch random.IntN(3) {
		case 0:
			p.Hedge.Tied = true
		case 1:
			p.Hedge.Quantile, p.Hedge.MinSamples = 0.5, 1
			fallthrough
		default:
			p.Hedge.After = time.Duration(1+random.IntN(9)) * s
		}
	}
	return p
}

// audit is an observer that keeps the books of each call, and says what does not add up.
type audit struct {
	calls  map[string]*callAudit
	wrong  []string
	tokens int // received less wasted: what answers have
}

type callAudit struct {
	begun, joined    int
	ends             map[string]bool
	beside, rejected int
	ok               int
	open             bool
}

func (a *audit) of(s *pacer.CallState) *callAudit {
	c := a.calls[s.ID]
	if c == nil {
		c = &callAudit{ends: map[string]bool{}, open: true}
		a.calls[s.ID] = c
	}
	return c
}

func (a *audit) failf(s *pacer.CallState, format string, args ...any) {
	a.wrong = append(a.wrong, s.ID+": "+fmt.Sprintf(format, args...))
}

func (a *audit) StageChanged(s *pacer.CallState, from pacer.Stage) {
	c := a.of(s)
	if !c.open {
		a.failf(s, "in stage %s after its end", s.Stage)
	}
	if s.Stage == pacer.StageConnect && !s.Resumed {
		c.begun++
		if s.Beside > 0 {
			c.joined++
		}
	}
	if s.Attempt() < 0 || s.Stage != pacer.StageDone && s.Attempts > 0 && s.AttemptID != fmt.Sprintf("%s-a%d", s.ID, s.Attempt()) {
		a.failf(s, "attempt %d has the id %s", s.Attempt(), s.AttemptID)
	}
}

func (a *audit) AttemptEnded(s *pacer.CallState, r pacer.AttemptResult) {
	c := a.of(s)
	if c.ends[r.ID] || !c.open || r.ID != s.AttemptID {
		a.failf(s, "attempt %s ends again, or as %s", r.ID, s.AttemptID)
	}
	c.ends[r.ID] = true
	switch r.Outcome {
	case pacer.AttemptOK:
		c.ok++
		a.tokens += r.Tokens
	case pacer.AttemptRejected:
		c.rejected++
	}
	a.tokens += r.Kept
	if r.Beside {
		c.beside++
	}
	if r.Beside && r.Again || r.Again == (r.Stop != "") && r.Outcome != pacer.AttemptOK && !r.Beside {
		a.failf(s, "%+v", r)
	}
}

func (a *audit) CallEnded(s *pacer.CallState, tokens int, err error) {
	c := a.of(s)
	c.open = false
	if len(c.ends) != s.Attempts || c.begun+c.rejected != s.Attempts || c.joined != c.beside || (c.ok == 1) != (err == nil) || c.ok > 1 {
		a.failf(s, "%+v, of %d attempts; error %v", *c, s.Attempts, err)
	}
	a.tokens -= tokens
	if err != nil {
		a.tokens -= s.Kept
	}
}

// TestRandomPolicies plays random calls under random policies: the books of each call add up, and
// nothing is left of it.
func TestRandomPolicies(t *testing.T) {
	for n := range uint64(1000) {
		w := sim.NewVirtual(sim.VirtualOptions{Seed: n})
		if err := w.Run(t.Context(), func(ctx context.Context) { randomCalls(t, w, ctx, n) }); err != nil {
			t.Errorf("seed %d: %v", n, err)
		}
		if n < 100 {
			synctest.Test(t, func(t *testing.T) {
				w := sim.NewWall(sim.WallOptions{Seed: n})
				if err := w.Run(t.Context(), func(ctx context.Context) { randomCalls(t, w, ctx, n) }); err != nil {
					t.Errorf("seed %d: %v", n, err)
				}
			})
		}
		if t.Failed() {
			return
		}
	}
}

func randomCalls(t *testing.T, w sim.World, ctx context.Context, n uint64) {
	random := rand.New(rand.NewPCG(seed, n))
	policy := randomPolicy(random)
	scripts := make([]script, 8)
	for i := range scripts {
		scripts[i] = randomScript(random)
	}
	obs := &audit{calls: map[string]*callAudit{}}
	p, err := pacer.New(w, slots(random.IntN(3), pacer.HoldStream), policy,
		&backend{w: w, play: func(a *pacer.Attempt) script { return scripts[(3*a.Of.Call+a.Number)%len(scripts)] }}, obs, nil)
	if err != nil {
		t.Fatalf("seed %d: %v", n, err)
	}
	var all []*sim.Process
	for i := range 4 {
		start, patience := time.Duration(random.IntN(20))*s, time.Duration(random.IntN(80))*s+500*ms
		all = append(all, w.Spawn(ctx, "agent", func(ctx context.Context) {
			_ = w.Sleep(ctx, start)
			ctx, release := sim.WithTimeout(ctx, w, patience, context.Canceled)
			defer release()
			_, _ = p.Chat(ctx, identity("agent", i+1), request())
		}))
	}
	for _, a := range all {
		_ = a.Wait(ctx)
	}
	settled(t, w, p)
	if len(obs.wrong) > 0 || len(w.Processes()) != 1 || obs.tokens != 0 {
		t.Errorf("seed %d: %q; %d processes, %d tokens over\npolicy %+v", n, obs.wrong, len(w.Processes()), obs.tokens, policy)
	}
	_ = w.Sleep(ctx, time.Hour)
	if len(obs.wrong) > 0 {
		t.Errorf("seed %d: later: %q", n, obs.wrong)
	}
}
