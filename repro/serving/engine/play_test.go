package engine_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
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
	faults *fault.Set
	told   []string
	logs   map[string]*bytes.Buffer // nil: no logs
	rooms  int64
	onEnd  func(r *pair, l *engine.Leg)
}

// newPlay makes engines of the default configuration with a change. The default here has engines that
// notice at once when a client leaves.
func newPlay(t *testing.T, change func(c *engine.Config), faults ...fault.Fault) *play {
	t.Helper()
	p := &play{t: t}
	p.start(change, faults)
	return p
}

// newLoggedPlay is newPlay with logs.
func newLoggedPlay(t *testing.T, change func(c *engine.Config), faults ...fault.Fault) *play {
	t.Helper()
	p := &play{t: t, logs: map[string]*bytes.Buffer{}}
	p.start(change, faults)
	return p
}

func (p *play) start(change func(c *engine.Config), faults []fault.Fault) {
	p.t.Helper()
	for i := range faults {
		if faults[i].ID == "" {
			faults[i].ID = fmt.Sprint("f", i)
		}
	}
	set, err := fault.NewSet(sim.NewVirtual(sim.VirtualOptions{Seed: 1}), faults)
	if err != nil {
		p.t.Fatal(err)
	}
	cfg := engine.Default()
	cfg.Abort = engine.AbortConfig{}
	if change != nil {
		change(&cfg)
	}
	var log func(string) io.Writer
	if p.logs != nil {
		log = func(worker string) io.Writer {
			p.logs[worker] = new(bytes.Buffer)
			return p.logs[worker]
		}
	}
	p.Engines, err = engine.New(cfg, set, log)
	if err != nil {
		p.t.Fatal(err)
	}
	p.faults = set
	set.OnChange(p.Refresh)
}

// pair is a request with its legs.
type pair struct {
	p    *play
	name string
	job  engine.Job
	legs [2]engine.Leg // prefill and decode; a unified engine has the second alone
}

// side names a leg.
func (r *pair) side(l *engine.Leg) string {
	if l == &r.legs[0] {
		return r.name + " P"
	}
	return r.name + " D"
}

func (r *pair) tell(l *engine.Leg, what string) {
	r.p.told = append(r.p.told, fmt.Sprintf("%v %s %s", time.Duration(r.p.Now()).Round(time.Millisecond), r.side(l), what))
}

func (r *pair) FirstToken(l *engine.Leg) { r.tell(l, "first token") }
func (r *pair) Marked(l *engine.Leg)     { r.tell(l, fmt.Sprintf("mark %d", l.MarkTokens)) }
func (r *pair) Ended(l *engine.Leg) {
	if f := l.Failure(); f != nil {
		r.tell(l, fmt.Sprintf("failed %d %s", f.Status, f.Type))
	} else {
		r.tell(l, "ended")
	}
	if r.p.onEnd != nil {
		r.p.onEnd(r, l)
	}
}

// prepare makes a request that has not been sent.
func (p *play) prepare(name string, prompt, output int) *pair {
	p.rooms++
	r := &pair{p: p, name: name, job: engine.Job{
		PromptTokens: prompt, OutputTokens: output, TokensMax: output, Stream: true,
		Room: p.rooms, Occasion: fault.Occasion{Key: name, ContextTokens: prompt},
	}}
	for i := range r.legs {
		r.legs[i] = engine.Leg{Job: &r.job, Owner: r}
	}
	if len(p.Unified()) == 0 {
		r.legs[0].Peer, r.legs[0].PeerAt = &r.legs[1], p.Decodes()[0]
		r.legs[1].Peer, r.legs[1].PeerAt = &r.legs[0], p.Prefills()[0]
	}
	return r
}

// ask sends a request to both engines, or to the unified one.
func (p *play) ask(name string, prompt, output int) *pair {
	r := p.prepare(name, prompt, output)
	r.send()
	return r
}

func (r *pair) send() {
	if u := r.p.Unified(); len(u) > 0 {
		u[0].Submit(&r.legs[1])
		return
	}
	r.legs[1].PeerAt.Submit(&r.legs[0])
	r.legs[0].PeerAt.Submit(&r.legs[1])
}

// leave says that the client of a request has left.
func (r *pair) leave() {
	for i := range r.legs {
		if w, _ := r.legs[i].Worker(); w != nil {
			w.Abort(&r.legs[i])
		}
	}
}

// where says in which stages the legs are.
func (r *pair) where() string {
	a, _ := r.legs[0].Stage()
	b, _ := r.legs[1].Stage()
	if len(r.p.Unified()) > 0 {
		return b.String()
	}
	return a.String() + " " + b.String()
}

func (r *pair) made() int {
	n, _ := r.legs[1].Made(r.p.Now())
	return n
}

// until lets all that is due happen up to an instant, given since the start.
func (p *play) until(d time.Duration) { p.Advance(sim.Instant(d)) }

// end lets all come to its end, and says when that was.
func (p *play) end() time.Duration {
	for p.Next() != sim.Never {
		p.Advance(p.Next())
	}
	return time.Duration(p.Now())
}

// want checks what the owner has been told since the last time.
func (p *play) want(lines ...string) {
	p.t.Helper()
	if got, want := strings.Join(p.told, "\n"), strings.Join(lines, "\n"); got != want {
		p.t.Errorf("told\n%s\nwant\n%s", got, want)
	}
	p.told = nil
}

// is checks one thing that is printed as text.
func (p *play) is(what string, got, want any) {
	p.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		p.t.Errorf("at %v: %s is %v, want %v", time.Duration(p.Now()), what, got, want)
	}
}

// prefill and decode return what is at the first rank of the first workers.
func (p *play) prefill() engine.Load { return p.Prefills()[0].Load(0) }
func (p *play) decode() engine.Load {
	if u := p.Unified(); len(u) > 0 {
		return u[0].Load(0)
	}
	return p.Decodes()[0].Load(0)
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
			v.Aborted += l.Aborted
		}
	}
	return v
}

// held is what must be 0 when nothing is left.
func held(v engine.Load) int {
	return v.Bootstrap + v.PrefillWait + v.Prefilling + v.Inflight + v.Prealloc + v.Transfer + v.DecodeWait + v.Running +
		v.Retracted + v.Pinned + v.Zombies + v.PrefillSlots + v.DecodeSlots + v.PrefillKVTokens + v.DecodeKVTokens + v.PendingTokens
}

// empty checks that nothing is left at the engines.
func (p *play) empty() {
	p.t.Helper()
	if v := p.load(); held(v) != 0 {
		p.t.Errorf("at %v: left over: %+v", time.Duration(p.Now()), v)
	}
}
