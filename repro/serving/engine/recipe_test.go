package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/repro/serving/engine"
)

// The hang recipes of SGLang that begin in the engines. Recipe 4 is TestDecodeFirst, 5 TestRetractedFirst
// and TestRetractedForEver, 6 TestZombie, 10 TestFrozen.

// TestRecipeMemory is recipe 1: decode's memory is full, the head of its prealloc queue does not fit,
// and prefill's bootstrap queue grows until its requests fail in bursts after 300 s.
func TestRecipeMemory(t *testing.T) {
	p := newPlay(t, func(c *engine.Config) { c.Decode.KVTokens = 40_000 })
	for i := range 2 {
		p.ask(fmt.Sprint("long", i), 18_000, 100_000)
	}
	p.until(10 * time.Second)
	p.is("running", p.decode().Running, 2)
	for i := range 20 {
		p.until(10*time.Second + time.Duration(i)*100*time.Millisecond)
		p.ask(fmt.Sprint("b", i), 5000, 100)
	}
	p.until(30 * time.Second)
	v, pv := p.decode(), p.prefill()
	p.is("stuck", []int{v.Prealloc, pv.Bootstrap, pv.PrefillWait, pv.Prefilling, pv.Inflight}, []int{20, 20, 0, 0, 0})
	p.is("memory is nearly full", v.DecodeKVTokens > 37_000, true)
	p.told = nil
	p.until(309 * time.Second)
	p.want()
	p.until(313 * time.Second)
	failed := 0
	for _, line := range p.told {
		if strings.Contains(line, "P failed 500 INTERNAL_SERVER_ERROR") {
			failed++
		}
	}
	p.is("failed in a burst", failed, 20)
}

// TestRecipeLeak is recipe 3: with an engine that does not tell its peer, or pins, each client that
// leaves in its time takes a slot with it, until nothing is admitted any more.
func TestRecipeLeak(t *testing.T) {
	for name, change := range map[string]func(a *engine.AbortConfig){
		"peer_not_told":     func(a *engine.AbortConfig) { a.PeerNotTold = true },
		"pin_inflight":      func(a *engine.AbortConfig) { a.PinInflight = true },
		"waiting_slot_leak": func(a *engine.AbortConfig) { a.WaitingSlotLeak = true },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t, func(c *engine.Config) {
				c.Prefill.RequestsMax = 8
				c.Transfer.Latency = time.Second
				change(&c.Abort)
			})
			for i := range 8 {
				at := time.Duration(i) * 10 * time.Second
				p.until(at)
				if name == "waiting_slot_leak" {
					p.ask("before", 100, 10)
				}
				r := p.ask(fmt.Sprint("r", i), 1000, 1000)
				if name != "waiting_slot_leak" {
					p.until(at + time.Second) // in the inflight queue
				}
				if name == "peer_not_told" {
					p.Decodes()[0].Abort(&r.legs[1]) // prefill has not noticed
				} else {
					r.leave()
				}
			}
			p.until(90 * time.Second)
			p.told = nil
			victim := p.ask("victim", 100, 10)
			p.until(350 * time.Second)
			v := p.prefill()
			if name == "waiting_slot_leak" { // it takes two requests at a time to lose a slot, so one stays
				p.is("slots", v.PrefillSlots, 7)
				p.is("victim", victim.where(), "done done")
				return
			}
			p.is("slots", []int{v.PrefillSlots, v.PrefillWait, v.Prefilling, p.decode().Running}, []int{8, 0, 0, 0})
			p.is("victim", victim.where(), "bootstrap transfer")
			p.want()
		})
	}
}

// TestRecipeLongPrompts is recipe 7: long prompts one after the other. Each line of the log is a full
// chunk of one request, /health takes longer than a router waits, and the first token comes after
// position x prefill time.
func TestRecipeLongPrompts(t *testing.T) {
	p := newLoggedPlay(t, func(c *engine.Config) {
		c.Prefill.ChunkTokens, c.Prefill.PerToken, c.Prefill.PerTokenPair = 32_768, 180*time.Microsecond, 0
	})
	for i := range 10 {
		p.ask(fmt.Sprint("r", i), 32_768, 10)
	}
	p.until(time.Second)
	ok, after := p.Prefills()[0].Healthy()
	p.is("health takes too long for a router", ok && after > 4900*time.Millisecond, true)
	p.is("decode's does not", func() bool { _, after := p.Decodes()[0].Healthy(); return after == 0 }(), true)
	p.end()
	p.is("chunks", strings.Count(p.logs["prefill-0"].String(), "#new-seq: 1, #new-token: 32768,"), 10)
	var first []string
	for _, line := range p.told {
		if at, what, _ := strings.Cut(line, " "); strings.HasSuffix(what, "first token") {
			first = append(first, at)
		}
	}
	p.is("first tokens", first, "[6.014s 11.942s 17.87s 23.798s 29.727s 35.655s 41.583s 47.511s 53.44s 59.368s]")
}
