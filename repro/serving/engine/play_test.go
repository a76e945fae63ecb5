package engine_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// play is engines, and an owner that writes down what it is told.
type play struct {
	t *testing.T
	*engine.Engines
	w      sim.World
	faults *fault.Set
}

// newPlay makes engines of the default configuration with a change.
func newPlay(t *testing.T, change func(c *engine.Config), faults ...fault.Fault) *play {
	t.Helper()
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	set, err := fault.NewSet(w, faults)
	if err != nil {
		t.Fatal(err)
	}
	cfg := engine.Default()
	if change != nil {
		change(&cfg)
	}
	e, err := engine.New(cfg, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &play{t: t, Engines: e, w: w, faults: set}
}

// pair is a request with its legs.
type pair struct {
	p    *play
	name string
	job  engine.Job
	legs [2]engine.Leg // prefill and decode; a unified engine has the second alone
	told []string
}

func (r *pair) tell(l *engine.Leg, what string) {
	side := "decode"
	if l == &r.legs[0] {
		side = "prefill"
	}
	r.told = append(r.told, fmt.Sprintf("%s %s at %v", side, what, time.Duration(r.p.Now())))
}

func (r *pair) FirstToken(l *engine.Leg) { r.tell(l, "first token") }
func (r *pair) Marked(l *engine.Leg)     { r.tell(l, fmt.Sprintf("mark %d", l.MarkTokens)) }
func (r *pair) Ended(l *engine.Leg) {
	if f := l.Failure(); f != nil {
		r.tell(l, fmt.Sprintf("failed %d", f.Status))
		return
	}
	r.tell(l, "ended")
}

// ask sends a request to both engines, or to the unified one.
func (p *play) ask(name string, prompt, output int) *pair {
	r := &pair{p: p, name: name, job: engine.Job{
		PromptTokens: prompt, OutputTokens: output, TokensMax: output, Stream: true,
		Room: int64(len(name)), Occasion: fault.Occasion{Key: name, ContextTokens: prompt},
	}}
	for i := range r.legs {
		r.legs[i] = engine.Leg{Job: &r.job, Owner: r}
	}
	if u := p.Unified(); len(u) > 0 {
		u[0].Submit(&r.legs[1])
		return r
	}
	pw, dw := p.Prefills()[0], p.Decodes()[0]
	r.legs[0].Peer, r.legs[0].PeerAt = &r.legs[1], dw
	r.legs[1].Peer, r.legs[1].PeerAt = &r.legs[0], pw
	pw.Submit(&r.legs[0])
	dw.Submit(&r.legs[1])
	return r
}

// leave says that the client of a request has left.
func (r *pair) leave() {
	for i := range r.legs {
		if w, _ := r.legs[i].Worker(); w != nil {
			w.Abort(&r.legs[i])
		}
	}
}

func (p *play) until(d time.Duration) { p.Advance(sim.Instant(d)) }

// end lets all come to its end, and says when that was.
func (p *play) end() time.Duration {
	for p.Next() != sim.Never {
		p.Advance(p.Next())
	}
	return time.Duration(p.Now())
}

// load returns what is at all workers together.
func (p *play) load() engine.Load {
	var v engine.Load
	for _, w := range p.Workers() {
		for r := range w.Ranks() {
			l := w.Load(r)
			v.Bootstrap += l.Bootstrap
			v.PrefillWait += l.PrefillWait
			v.Prefilling += l.Prefilling
			v.Inflight += l.Inflight
			v.Prealloc += l.Prealloc
			v.Transfer += l.Transfer
			v.DecodeWait += l.DecodeWait
			v.Running += l.Running
			v.Retracted += l.Retracted
			v.Pinned += l.Pinned
			v.Zombies += l.Zombies
			v.PrefillSlots += l.PrefillSlots
			v.DecodeSlots += l.DecodeSlots
			v.PrefillKVTokens += l.PrefillKVTokens
			v.DecodeKVTokens += l.DecodeKVTokens
			v.PendingTokens += l.PendingTokens
			v.PrefillTokens += l.PrefillTokens
			v.DecodeTokens += l.DecodeTokens
			v.RetractedSum += l.RetractedSum
		}
	}
	return v
}

// held is what must be 0 when nothing is left.
func held(v engine.Load) int {
	return v.Bootstrap + v.PrefillWait + v.Prefilling + v.Inflight + v.Prealloc + v.Transfer + v.DecodeWait + v.Running +
		v.Retracted + v.Pinned + v.PrefillSlots + v.DecodeSlots + v.PrefillKVTokens + v.DecodeKVTokens + v.PendingTokens
}
