package published

import (
	"fmt"
	"math"

	"example.com/wedge/harness/sim"
)

// loop is a closed loop: so many agents, each with one call out at a time, share a server that lets
// all run at once and is slower for each the more there are. All calls are alike: a prefill, then
// tokens whose gap grows with the number that run. Only backoff may have chance in it.
type loop struct {
	agents   int
	limit    int     // calls under way at once, as a client's limiter grants them; 0: no limit
	prefillS float64 // before the first token, whatever else runs
	tokens   float64 // of an answer
	gapS     float64 // between tokens of a call that is alone
	gapMoreS float64 // by how much longer for each further one
	timeoutS float64 // T
	backoffS float64 // after a timeout
	jitter   bool    // it is spread from 0 to twice as much
	// zombieTokens is how many tokens the answer of a call has whose client has left. 0: an abort frees
	// the server at once.
	zombieTokens float64
	stallFrom,
	stallTo float64 // the server does nothing meanwhile
	horizonS float64
}

// serviceS is how long a call takes while n run: S(n).
func (l *loop) serviceS(n float64) float64 {
	return l.prefillS + l.tokens*(l.gapS+l.gapMoreS*(n-1))
}

// most is n*, the number of calls at which one takes just T.
func (l *loop) most() float64 {
	return 1 + ((l.timeoutS-l.prefillS)/l.tokens-l.gapS)/l.gapMoreS
}

// loopCall is a call at the server. An agent's next call is another one.
type loopCall struct {
	agent   int // -1: its client has left
	sentS   float64
	decodes bool
	left    float64 // of the prefill in seconds, then of the answer in tokens
}

// loopRun is what came of a loop.
type loopRun struct {
	finished      int     // calls, in the last third of the run
	gaveUp        int     // calls, in the last third of the run
	busy          float64 // share of time in which the server had work, in the last third
	insideMost    int     // calls at the server at once
	freeAtS       []float64
	calls         []loopCall
	jitter        sim.Stream
	waitingToSend []int // agents that the limiter holds back, in their order
}

// loopStepS is the step of time. What happens within one happens at its end.
const loopStepS = 0.05

// run plays the loop.
func (l *loop) run() *loopRun {
	r := &loopRun{freeAtS: make([]float64, l.agents), jitter: sim.NewStream(1, "loop", "jitter")}
	for i := range r.freeAtS {
		// They do not all begin at once.
		r.freeAtS[i] = float64(i) * l.serviceS(1) / float64(l.agents)
	}
	busy, steps := 0, 0
	for i := 0; ; i++ {
		now := float64(i) * loopStepS
		if now >= l.horizonS {
			r.busy = float64(busy) / float64(steps)
			return r
		}
		late := now >= l.horizonS*2/3
		l.begin(r, now)
		if late {
			steps++
			if len(r.calls) > 0 {
				busy++
			}
		}
		l.serve(r, now, late)
	}
}

// begin sends what agents want to send, as far as the limiter lets them.
func (l *loop) begin(r *loopRun, now float64) {
	for a, at := range r.freeAtS {
		if at <= now {
			r.waitingToSend = append(r.waitingToSend, a)
			r.freeAtS[a] = math.Inf(1)
		}
	}
	out := 0
	for i := range r.calls {
		if r.calls[i].agent >= 0 {
			out++
		}
	}
	for len(r.waitingToSend) > 0 && (l.limit == 0 || out < l.limit) {
		r.calls = append(r.calls, loopCall{agent: r.waitingToSend[0], sentS: now, left: l.prefillS})
		r.waitingToSend = r.waitingToSend[1:]
		out++
	}
	r.insideMost = max(r.insideMost, len(r.calls))
}

// serve moves all calls on by a step, and takes away what has ended or been given up.
func (l *loop) serve(r *loopRun, now float64, late bool) {
	decoding := 0
	for i := range r.calls {
		if r.calls[i].decodes {
			decoding++
		}
	}
	gap := l.gapS + l.gapMoreS*float64(max(0, decoding-1))
	stalled := now >= l.stallFrom && now < l.stallTo
	kept := r.calls[:0]
	for _, c := range r.calls {
		if !stalled {
			c.move(loopStepS, gap, l)
		}
		switch over := now + loopStepS; {
		case c.decodes && c.left <= 0:
			if c.agent >= 0 {
				r.freeAtS[c.agent] = over
				if late {
					r.finished++
				}
			}
			continue
		case c.agent >= 0 && over-c.sentS >= l.timeoutS:
			wait := l.backoffS
			if l.jitter {
				wait *= 2 * r.jitter.Float64()
			}
			r.freeAtS[c.agent] = over + wait
			if late {
				r.gaveUp++
			}
			if l.zombieTokens == 0 {
				continue
			}
			c.agent = -1
			if c.decodes {
				c.left += l.zombieTokens - l.tokens
			}
		}
		kept = append(kept, c)
	}
	r.calls = kept
}

// move moves a call on by dt seconds.
func (c *loopCall) move(dt, gap float64, l *loop) {
	if c.decodes {
		c.left -= dt / gap
		return
	}
	if c.left -= dt; c.left > 0 {
		return
	}
	tokens := l.tokens
	if c.agent < 0 {
		tokens = l.zombieTokens
	}
	c.decodes, c.left = true, tokens+c.left/gap
}

// closedLoop plays what the formulas for S(n) and n* say.
func (p *replay) closedLoop() {
	base := loop{prefillS: 2, tokens: 300, gapS: .02, gapMoreS: .004, timeoutS: 30, horizonS: 900}
	base.agents = 40
	n := base.most()
	say := func(what string, l loop, want string, right func(*loopRun) bool) {
		r := l.run()
		p.holds(what, GradeClosedForm, want, fmt.Sprintf("%d finish, %d give up, server busy %.0f %%, at most %d inside", r.finished, r.gaveUp, 100*r.busy, r.insideMost), right(r))
	}
	finish := func(r *loopRun) bool { return r.finished > 0 && r.gaveUp == 0 }
	die := func(r *loopRun) bool { return r.finished == 0 && r.busy > .99 }
	s40, s15 := base.serviceS(40), base.serviceS(15)
	say(fmt.Sprintf("closed loop, T 30 s, 40 agents: S(40) = %.0f s > T", s40), base, "none finish, busy all the time", die)
	few := base
	few.agents = 15
	say(fmt.Sprintf("15 agents: S(15) = %.0f s < T", s15), few, "all finish", finish)
	limited := base
	limited.limit = int(n)
	say(fmt.Sprintf("40 agents, a limiter at n* = %d", int(n)), limited, "all finish", finish)
	limited.limit = int(n) + 3
	say(fmt.Sprintf("40 agents, a limiter at n* + 3 = %d", int(n)+3), limited, "none finish, busy all the time", die)
	waits := base
	waits.backoffS = base.timeoutS * (40/n - 1) * 1.3
	say(fmt.Sprintf("40 agents, a backoff of %.0f s > T(N/n*−1), the same for all", waits.backoffS), waits, "none finish: all are in step", func(r *loopRun) bool { return r.finished == 0 })
	waits.jitter = true
	say(fmt.Sprintf("40 agents, the same backoff spread from 0 to %.0f s", 2*waits.backoffS), waits, "some finish", func(r *loopRun) bool { return r.finished > 0 })
	few.stallFrom, few.stallTo = 100, 160
	say("15 agents, the server stalls for 60 s, aborts free it at once", few, "all finish again", finish)
	few.zombieTokens = few.tokens
	say("15 agents, the same, abandoned calls run on to the end of their answer", few, "all finish again, more inside than agents", func(r *loopRun) bool { return finish(r) && r.insideMost > 15 })
	few.zombieTokens = 4 * few.tokens
	say("15 agents, the same, abandoned calls run on to a limit of 4 answers", few, "none finish, more inside than agents", func(r *loopRun) bool { return die(r) && r.insideMost > 15 })
}
