package serving_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// Hang recipes by what engines show and say: those about clients that leave, and about what sticks.

// TestShownTimeouts is recipe 2: clients give up before they are served, and come back. The engines'
// logs are full of aborts.
func TestShownTimeouts(t *testing.T) {
	cook(t, func(c *serving.Config) { c.Decode.RunningMax, c.Decode.RequestsMax, c.Prefill.RequestsMax = 2, 2, 4 }, nil, func(p *recipe) {
		p.ask("long-0", 1000, 90_000)
		p.ask("long-1", 1000, 90_000)
		p.at(10 * time.Second)
		var guests []*guest
		for round := range 6 {
			p.at(10*time.Second + time.Duration(round)*30*time.Second)
			for i := range 10 {
				guests = append(guests, p.send(fmt.Sprint("g", i, "-", round), 1000, 100, true, 30*time.Second))
			}
		}
		p.at(5 * time.Minute)
		p.is("clients", each(guests), "60x its own timeout")
		p.is("prefill says", p.lines("prefill-0", `Prefill bootstrap failed .* Aborted by AbortReq\.$`), 60)
		p.is("decode says", p.lines("decode-0", `Decode handshake failed .* Aborted by AbortReq\.$`), 60)
		p.is("aborts", p.gauge(serving.GaugeEngineAborted), 2*60)
		p.is("router", p.routed(), "62 started, 2 with 200")
	})
}

// TestShownPins is recipe 3: entries of prefill's inflight queue that nobody owns have all the slots.
func TestShownPins(t *testing.T) {
	slow := []fault.Fault{{ID: "slow", Where: fault.Transfer, What: fault.Latency, Delay: time.Minute, To: 30 * time.Second}}
	cook(t, func(c *serving.Config) { c.Abort.PinInflight, c.Prefill.RequestsMax = true, 8 }, slow, func(p *recipe) {
		var left []*guest
		for i := range 8 {
			left = append(left, p.send(fmt.Sprint("left", i), 1000, 100, true, 10*time.Second))
		}
		p.at(time.Minute)
		p.is("those that left", each(left), "8x its own timeout")
		late := p.ask("late", 1000, 100)
		p.at(5 * time.Minute)
		v := p.s.Snapshot()
		p.is("pinned", []int{v.Prefill.Pinned, v.Prefill.Requests}, []int{8, 8})
		p.is("late", late.sees(), "nothing")
		// Of a pinned entry prefill says nothing, and what it shows of the queue is from its latest chunk.
		p.is("prefill says", p.lines("prefill-0", "Aborted by AbortReq"), 0)
		p.is("decode says", p.lines("decode-0", `Decode transfer failed .* Aborted by AbortReq\.$`), 8)
		p.at(365 * time.Second)
		p.is("decode says", p.lines("decode-0", `Decode transfer failed .* timed out after 300\.0s in KVPoll\.WaitingForInput`), 1)
		p.at(380 * time.Second)
		p.is("late", late.sees(), "200, then an error event: 500 INTERNAL_SERVER_ERROR")
		p.within("its silence", late.silence(p.w.Now()), 300*time.Second, 310*time.Second)
	})
}

// TestShownZombies is recipe 6: decode goes on for clients that have left, says so, and shows more
// requests than there are clients, who all get slower.
func TestShownZombies(t *testing.T) {
	cook(t, func(c *serving.Config) { c.Abort.ZombieDecode = true }, nil, func(p *recipe) {
		var left []*guest
		for i := range 30 {
			left = append(left, p.send(fmt.Sprint("left", i), 200, 50_000, true, 10*time.Second))
		}
		live := p.ask("live", 200, 50_000)
		p.at(time.Minute)
		p.is("gauges", p.shows(serving.GaugeRouterInFlight, serving.GaugeDecodeRunning, serving.GaugeEngineAborted), "[1 31 0]")
		p.is("decode says", p.lines("decode-0", `Received output for rid='[0-9a-f]{32}' but the state was deleted$`), 30)
		p.is("router", p.routed(), "31 started, 31 with 200")
		p.is("live", live.sees(), "a stream")
		tokens := p.tokens([]*serving.Handle{live.h})[0]
		p.sleep(time.Minute)
		step := time.Minute / time.Duration(p.tokens([]*serving.Handle{live.h})[0]-tokens)
		p.within("time between the live one's tokens", step, 48*time.Millisecond, 55*time.Millisecond) // alone: 20.5 ms
		p.is("those that left", each(left), "30x its own timeout")
	})
}

// TestShownStuck is recipe 10: a node in which something is stuck and nothing runs writes no more
// lines, shows its last values, and is healthy.
func TestShownStuck(t *testing.T) {
	stuck := []fault.Fault{{ID: "stuck", Where: fault.Transfer, What: fault.Hang, From: 10 * time.Second}}
	cook(t, func(c *serving.Config) { c.Abort.Detect = engine.DetectNever }, stuck, func(p *recipe) {
		var done, guests []*guest
		for i := range 4 {
			done = append(done, p.ask(fmt.Sprint("done", i), 1000, 1000))
		}
		p.at(11 * time.Second)
		for i := range 4 {
			guests = append(guests, p.ask(fmt.Sprint("g", i), 1000, 1000))
		}
		p.at(5 * time.Minute)
		shown, said := fmt.Sprint(p.s.Gauges()), p.engines["prefill-0"].Len()+p.engines["decode-0"].Len()
		p.is("running, as shown", p.gauge(serving.GaugeDecodeRunning) > 0, true)
		p.at(29 * time.Minute)
		p.is("gauges", fmt.Sprint(p.s.Gauges()), shown)
		p.is("lines", p.engines["prefill-0"].Len()+p.engines["decode-0"].Len(), said)
		v := p.s.Snapshot()
		p.is("running, in truth", v.Decode.Running, 0)
		for _, w := range p.s.Workers() {
			ok, after := w.Healthy()
			p.is("health of "+w.Name, []any{ok, after}, "[true 0s]")
		}
		p.is("router", p.routed(), "8 started, 4 with 200")
		p.is("clients", each(done)+"; "+each(guests), "4x finish reason "+finishReason+"; 4x nothing")
	})
}
