package engine_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// TestFaults: what each fault does to a request of its own (a) and to one beside it (b), a minute later
// and, for those that have an end, in the end. Without faults the first token of a is at 0.22 s.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		f    fault.Fault
		a, b string // stages and tokens after a minute
		told string // the first thing
	}{
		{fault.Fault{Where: fault.Bootstrap, What: fault.Hang}, "bootstrap prealloc 0", "done done 100", "218ms b P ended"},
		{fault.Fault{Where: fault.Prefill, What: fault.Latency, Delay: 10 * time.Second}, "done done 100", "done done 100", "10.218s a P ended"},
		{fault.Fault{Where: fault.Prefill, What: fault.Hang}, "prefill transfer 0", "prefill_wait transfer 0", ""},
		{fault.Fault{Where: fault.Prefill, What: fault.Status, StatusCode: 503}, "failed failed 0", "done done 100", "0s a P failed 503 SERVICE_UNAVAILABLE"},
		{fault.Fault{Where: fault.Inflight, What: fault.Hang}, "inflight transfer 0", "done done 100", "413ms b P ended"},
		{fault.Fault{Where: fault.Transfer, What: fault.Hang}, "inflight transfer 0", "done done 100", "413ms b P ended"},
		{fault.Fault{Where: fault.Transfer, What: fault.Latency, Delay: 5 * time.Second}, "done done 100", "done done 100", "413ms b P ended"},
		{fault.Fault{Where: fault.Transfer, What: fault.Status, StatusCode: 502}, "failed failed 0", "done done 100", "196ms a P failed 502 BAD_GATEWAY"},
		{fault.Fault{Where: fault.Decode, What: fault.Hang}, "done decode 0", "done done 100", "218ms a P ended"},
		{fault.Fault{Where: fault.Decode, What: fault.Drop}, "done aborted 0", "done done 100", "218ms a P ended"},
		{fault.Fault{Where: fault.Decode, What: fault.Slow, Factor: 100}, "done decode 28", "done decode 27", "218ms a P ended"},
	} {
		name := fmt.Sprint(c.f.Where, " ", c.f.What)
		t.Run(name, func(t *testing.T) {
			c.f.Only = 1
			p := newPlay(t, nil, c.f)
			a, b := p.ask("a", 1000, 100), p.ask("b", 1000, 100)
			p.until(time.Minute)
			p.is("a", fmt.Sprint(a.where(), " ", a.made()), c.a)
			p.is("b", fmt.Sprint(b.where(), " ", b.made()), c.b)
			if c.told != "" {
				p.is("told first", p.told[0], c.told)
			}
			a.leave()
			b.leave()
			p.end()
			p.empty() // also a hang ends when its client leaves
		})
	}
}

// TestSlow: the steps of a batch take as long as the slowest in it makes them, while it is in it.
func TestSlow(t *testing.T) {
	p := newPlay(t, func(c *engine.Config) { c.Decode.StepPerContextToken = 0 },
		fault.Fault{Where: fault.Decode, What: fault.Slow, Factor: 10, ContextOver: 2000},
		fault.Fault{Where: fault.Decode, What: fault.Slow, Factor: 3, ContextOver: 1500})
	step := func(r *pair) time.Duration {
		next := r.legs[1].NextToken(p.Now())
		p.Advance(next)
		return r.legs[1].NextToken(p.Now()).Sub(next)
	}
	a := p.ask("a", 1000, 10_000)
	p.until(time.Second)
	p.is("a step", step(a), 20_470*time.Microsecond)
	b := p.ask("b", 1600, 2)
	p.until(2 * time.Second)
	p.is("b", b.where(), "done done") // it had one step, three times as long
	p.is("a step", step(a), 20_470*time.Microsecond)
	c := p.ask("c", 3000, 1000)
	d := p.ask("d", 1600, 1000)
	p.until(5 * time.Second)
	p.is("a step", step(a), 224_100*time.Microsecond)
	c.leave()
	p.until(6 * time.Second)
	p.is("a step", step(a), 3*21_440*time.Microsecond)
	d.leave()
	p.until(7 * time.Second)
	p.is("a step", step(a), 20_470*time.Microsecond)
}

// TestDecodeHang: one that makes no tokens stays in the batch, which goes on, and takes part in the
// length of its steps.
func TestDecodeHang(t *testing.T) {
	p := newPlay(t, nil, fault.Fault{Where: fault.Decode, What: fault.Hang, Only: 1})
	a, b := p.ask("a", 1000, 100), p.ask("b", 1000, 1000)
	p.until(10 * time.Second)
	p.is("next token of a", a.legs[1].NextToken(p.Now()), sim.Never)
	p.is("load", p.decode().Running, 2)
	p.is("memory", p.decode().DecodeKVTokens, 1000+1000+b.made())
	a.leave()
	p.is("a", a.where(), "done aborted")
	p.is("load", p.decode().Running, 1)
	p.end()
	p.empty()
}

// TestStarve: a fault that takes memory has legs retracted, and holds up admission.
func TestStarve(t *testing.T) {
	p := newPlay(t, func(c *engine.Config) { c.Decode.KVTokens = 10_000 },
		fault.Fault{Where: fault.Decode, What: fault.StarveKV, KVTokens: 8000, From: 5 * time.Second, To: 20 * time.Second, Worker: "decode-0"})
	a, b := p.ask("a", 1000, 1000), p.ask("b", 1500, 1000)
	p.until(6 * time.Second)
	p.is("legs", []string{a.where(), b.where()}, []string{"done decode", "done retracted"})
	c := p.ask("c", 10, 10)
	p.until(20*time.Second - 1)
	p.is("legs", []string{b.where(), c.where()}, []string{"done retracted", "bootstrap prealloc"})
	p.until(21 * time.Second)
	p.is("legs", []string{b.where(), c.where()}, []string{"done decode", "done done"})
	p.end()
	p.empty()
	p.is("tokens", b.made(), 1000)
}

// TestSwitching: faults can come and go during a run.
func TestSwitching(t *testing.T) {
	p := newPlay(t, func(c *engine.Config) { c.Decode.RunningMax = 4 })
	put := func(f fault.Fault) {
		t.Helper()
		f.ID = "x"
		if err := p.faults.Put(f); err != nil {
			t.Fatal(err)
		}
	}
	put(fault.Fault{Where: fault.Decode, What: fault.Serialize})
	for i := range 6 {
		p.ask(fmt.Sprint(i), 100, 1000)
	}
	p.until(5 * time.Second)
	p.is("running", p.decode().Running, 1)
	p.faults.Remove("x")
	p.is("running", p.decode().Running, 4)
	put(fault.Fault{Where: fault.Metrics, What: fault.Freeze})
	v, at := p.Decodes()[0].Published(0)
	p.until(10 * time.Minute)
	w, then := p.Decodes()[0].Published(0)
	v.PrefillTokens, v.DecodeTokens, w.PrefillTokens, w.DecodeTokens = 0, 0, 0, 0
	p.is("gauges", w, v)
	p.is("instant", then, at)
	p.faults.Remove("x")
	p.until(11 * time.Minute)
	w, _ = p.Decodes()[0].Published(0)
	p.is("gauges", w.Running, 0)
	p.empty()
}
