package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// TestDetection: when an engine notices that a client has left, which shows in when the decode leg is
// aborted. The first token is made at 217.5 ms, and a step takes about 20.5 ms.
func TestDetection(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		detect engine.Detection
		stream bool
		left   time.Duration
		want   string // instant and stage of the end
	}{
		{"", true, 100 * ms, "100ms aborted"},
		{engine.DetectNow, true, 300 * ms, "320ms aborted"}, // after the step under way
		{engine.DetectPoll, true, 100 * ms, "4.011s aborted"},
		{engine.DetectPoll, true, 300 * ms, "2.309s aborted"},
		{engine.DetectPoll, false, 300 * ms, "4.011s aborted"},
		{engine.DetectPoll, true, 4000 * ms, "6.02s aborted"},
		{engine.DetectPoll, false, 4000 * ms, "8.01s aborted"},
		{engine.DetectNextToken, true, 100 * ms, "238ms aborted"},
		{engine.DetectNextToken, true, 300 * ms, "320ms aborted"},
		{engine.DetectNextToken, false, 300 * ms, "41.257s done"},
		{engine.DetectNever, true, 300 * ms, "41.257s done"},
	} {
		t.Run(fmt.Sprint(c.detect, c.stream, c.left), func(t *testing.T) {
			p := newPlay(t, func(cfg *engine.Config) {
				cfg.Abort = engine.AbortConfig{Detect: c.detect, Poll: 4 * time.Second, Lag: 2 * time.Second}
			})
			r := p.prepare("a", 1000, 2000)
			r.job.Stream = c.stream
			r.send()
			p.until(c.left)
			p.told = nil
			r.leave()
			r.leave() // again: nothing
			p.end()
			p.want() // its owner is told nothing any more
			stage, at := r.legs[1].Stage()
			p.is("end", fmt.Sprint(time.Duration(at).Round(ms), " ", stage), c.want)
			p.empty()
			p.is("gone", r.legs[0].Gone() && r.legs[1].Gone(), true)
		})
	}
}

// atStage is a situation in which the first request, a, has just come to where both legs are at.
type atStage struct {
	name   string
	where  string
	change func(c *engine.Config)
	faults []fault.Fault
	until  time.Duration
	crowd  int // requests before it
}

// stages lists one for each stage that a client can leave in.
func stages() []atStage {
	return []atStage{
		{name: "bootstrap", where: "bootstrap prealloc", change: func(c *engine.Config) { c.Decode.KVTokens = 1100 }},
		{name: "slot", where: "bootstrap transfer", crowd: 1, change: func(c *engine.Config) { c.Prefill.RequestsMax = 1 }},
		{name: "waiting", where: "prefill_wait transfer", crowd: 1},
		{name: "chunk", where: "prefill transfer", until: 100 * time.Millisecond},
		{name: "inflight", where: "inflight transfer", until: 240 * time.Millisecond},
		{name: "decode_wait", where: "done decode_wait", crowd: 1, until: time.Second, change: func(c *engine.Config) { c.Decode.RunningMax = 1 }},
		{name: "decode", where: "done decode", until: time.Second},
	}
}

// TestAborts: a client that leaves in each stage, without and with each defect. The columns are the
// stages of its legs at once and a minute later, what is held a minute later, and what is counted.
func TestAborts(t *testing.T) {
	defects := []struct {
		name   string
		change func(a *engine.AbortConfig)
	}{
		{"sound", func(*engine.AbortConfig) {}},
		{"pin_inflight", func(a *engine.AbortConfig) { a.PinInflight = true }},
		{"pin_release", func(a *engine.AbortConfig) { a.PinInflight, a.PinReleaseAfter = true, 30*time.Second }},
		{"bootstrap_deaf", func(a *engine.AbortConfig) { a.BootstrapDeaf = true }},
		{"prompt_to_end", func(a *engine.AbortConfig) { a.PromptToEnd = true }},
		{"waiting_slot_leak", func(a *engine.AbortConfig) { a.WaitingSlotLeak = true }},
		{"zombie_decode", func(a *engine.AbortConfig) { a.ZombieDecode = true }},
	}
	var out strings.Builder
	for _, d := range defects {
		for _, s := range stages() {
			p := newPlay(t, func(c *engine.Config) {
				c.Prefill.ChunkTokens = 600
				if s.change != nil {
					s.change(c)
				}
				d.change(&c.Abort)
			}, s.faults...)
			for range s.crowd {
				p.ask("before", 1000, 50)
			}
			a := p.ask("a", 1000, 10_000)
			p.until(s.until)
			p.is(s.name, a.where(), s.where)
			a.leave()
			at := a.where()
			p.until(s.until + time.Minute)
			pv, dv := p.prefill(), p.decode()
			fmt.Fprintf(&out, "%-18s %-12s %-24s -> %-24s slots %d %d, memory %4d %4d, pinned %d, zombies %d; bootstrap failed %d %d, transfer failed %d %d, aborted %d %d; computed %d\n",
				d.name, s.name, at, a.where(), pv.PrefillSlots, dv.DecodeSlots, pv.PrefillKVTokens, dv.DecodeKVTokens, pv.Pinned, dv.Zombies,
				pv.BootstrapFailed, dv.BootstrapFailed, pv.TransferFailed, dv.TransferFailed, pv.Aborted, dv.Aborted, pv.PrefillTokens)
		}
	}
	golden(t, "aborts", out.String())
}

// TestAbortAtDecodeAlone: what prefill hears of it, and does.
func TestAbortAtDecodeAlone(t *testing.T) {
	for _, c := range []struct {
		until  time.Duration
		change func(c *engine.Config)
		want   string
	}{
		{0, nil, "600ms: a P failed 500"}, // at the end of the chunk
		{500 * time.Millisecond, nil, "600ms: a P failed 500"},
		{1000 * time.Millisecond, nil, "1s: a P failed 500"}, // in the inflight queue
		{0, func(c *engine.Config) { c.Abort.PromptToEnd = true }, "900ms: a P failed 500"},
		{0, func(c *engine.Config) { c.Abort.PeerNotTold = true }, "inflight aborted"},
		{1000 * time.Millisecond, func(c *engine.Config) { c.Abort.PeerNotTold = true }, "inflight aborted"},
		{1000 * time.Millisecond, func(c *engine.Config) { c.Abort.PinInflight = true }, "inflight aborted"},
	} {
		p := newPlay(t, func(cfg *engine.Config) {
			cfg.Prefill = engine.PrefillConfig{Workers: 1, Ranks: 1, LoadBalance: engine.FollowRoom, ChunkTokens: 600,
				PerToken: time.Millisecond, KVTokens: 10_000}
			cfg.Transfer.Latency = time.Second
			if c.change != nil {
				c.change(cfg)
			}
		})
		a := p.ask("a", 900, 100)
		p.until(c.until)
		p.Decodes()[0].Abort(&a.legs[1])
		p.end()
		got := a.where()
		if len(p.told) == 1 {
			got = strings.Replace(strings.TrimSuffix(p.told[0], " INTERNAL_SERVER_ERROR"), " a", ": a", 1)
		}
		p.is(fmt.Sprint("after ", c.until), got, c.want)
		p.is("memory of decode", p.decode().DecodeKVTokens, 0)
		p.Prefills()[0].Abort(&a.legs[0]) // which is what ends it in the end, unless it is pinned
		p.end()
		p.is("left over", p.prefill().Inflight, p.prefill().Pinned)
	}
}

// TestPinFault: a pinned entry holds its slot and memory, as a fault as well.
func TestPinFault(t *testing.T) {
	p := newPlay(t, nil, fault.Fault{Where: fault.Inflight, What: fault.PinOnAbort, ReleaseAfter: time.Minute},
		fault.Fault{Where: fault.Transfer, What: fault.Latency, Delay: 10 * time.Second})
	a := p.ask("a", 1000, 100)
	p.until(5 * time.Second)
	a.leave()
	p.until(65*time.Second - 1)
	p.is("pinned", []int{p.prefill().Pinned, p.prefill().Inflight, p.prefill().PrefillSlots, p.prefill().PrefillKVTokens}, []int{1, 1, 1, 1000})
	p.is("legs", a.where(), "inflight aborted")
	p.is("gone", a.legs[0].Gone(), false)
	p.until(65 * time.Second)
	p.empty()
	p.is("gone", a.legs[0].Gone(), true)
	p.want()
}

// TestZombie is recipe 6: a zombie runs on to its end and slows the others down.
func TestZombie(t *testing.T) {
	p := newLoggedPlay(t, nil, fault.Fault{Where: fault.Decode, What: fault.IgnoreAbort, Only: 1})
	a, b := p.ask("a", 1000, 1000), p.ask("b", 1000, 1000)
	p.until(time.Second)
	a.leave()
	p.until(5 * time.Second)
	p.is("running", []int{p.decode().Running, p.decode().Zombies}, []int{2, 1})
	p.is("b", b.made() > 1, true)
	b.leave()
	p.until(10 * time.Second)
	p.is("running", []int{p.decode().Running, p.decode().Zombies}, []int{1, 1})
	p.end()
	p.empty()
	p.is("a", fmt.Sprint(a.where(), a.made()), "done done1000")

	p = newLoggedPlay(t, func(c *engine.Config) { c.Abort.ZombieDecode = true })
	a, b = p.ask("a", 1000, 1000), p.prepare("b", 1000, 1000)
	b.job.Stream = false
	b.send()
	p.until(time.Second)
	a.leave()
	b.leave()
	p.until(2 * time.Second)
	p.is("running", []int{p.decode().Running, p.decode().Zombies}, []int{1, 1}) // b has no stream
	if log, want := p.logs["decode-0"].String(), "[2026-01-01 00:00:01 TP0] Received output for rid='a' but the state was deleted\n"; !strings.Contains(log, want) {
		t.Errorf("no %q in the log:\n%s", want, log)
	}
}

// TestAbortMatching is the endpoint: by prefix, at once, and their owners are told.
func TestAbortMatching(t *testing.T) {
	p := newPlay(t, func(c *engine.Config) { c.Abort.Detect = engine.DetectNever })
	ab, ac, b := p.ask("ab", 1000, 1000), p.ask("ac", 1000, 1000), p.ask("b", 1000, 1000)
	p.until(time.Second)
	p.told = nil
	late := p.ask("ad", 1000, 1000)
	ac.leave()
	p.is("aborted", p.Decodes()[0].AbortMatching("a"), 3)
	p.want("1s ab D failed 500 INTERNAL_SERVER_ERROR", "1s ad D failed 500 INTERNAL_SERVER_ERROR")
	p.is("message", ab.legs[1].Failure().Message, "Aborted by AbortReq.")
	p.is("gone", []bool{ab.legs[1].Gone(), ac.legs[1].Gone(), late.legs[1].Gone()}, []bool{false, false, true}) // after the step
	p.is("again", p.Decodes()[0].AbortMatching("a"), 2)
	p.until(2 * time.Second)
	p.is("legs", []string{ab.where(), ac.where(), late.where(), b.where()}, []string{"done aborted", "done aborted", "failed aborted", "done decode"})
	p.want("1.196s ad P failed 500 INTERNAL_SERVER_ERROR")
	p.is("all", p.Decodes()[0].AbortMatching(""), 1)
	p.end()
	p.want("2s b D failed 500 INTERNAL_SERVER_ERROR")
	p.empty()
}

// TestAbortInCallbacks: owners may abort and submit when they are told something, also the leg in
// question.
func TestAbortInCallbacks(t *testing.T) {
	p := newPlay(t, nil)
	next := 0
	p.onEnd = func(r *pair, l *engine.Leg) {
		r.leave()
		if next++; next < 20 {
			p.ask(fmt.Sprint("n", next), 100, 1+next)
		}
	}
	p.ask("a", 100, 1) // whose first token is its last
	p.end()
	p.empty()
	p.is("ends", next >= 20, true)
	for _, line := range p.told {
		if strings.Contains(line, "D") {
			t.Errorf("told %q of a leg that was aborted when its peer had ended", line)
		}
	}

	q := newPlay(t, nil)
	r := &quitter{q.prepare("a", 100, 1000)}
	r.legs[1].Owner = r
	r.send()
	q.end()
	q.empty()
	q.want("67ms a P ended", "67ms a D first token")
	q.is("a", r.where(), "done aborted")
	q.is("next", q.Next() == sim.Never, true)
}

// quitter leaves with the first token.
type quitter struct{ *pair }

func (q *quitter) FirstToken(l *engine.Leg) {
	q.pair.FirstToken(l)
	q.leave()
}
