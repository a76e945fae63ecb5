package serving_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving"
)

// Hang recipes by what engines show and say: gauges as they are published, which is not how things are,
// and the lines of their logs. Those about room are here. HANGS.md has commands that play them with the
// fleet.

// TestShownMemory is recipe 1: decode's memory is full and the head of its prealloc queue does
// not fit. After 300 s prefill fails all that wait in a burst.
func TestShownMemory(t *testing.T) {
	cook(t, func(c *serving.Config) { c.Decode.KVTokens, c.Decode.StepBase = 85_000, 200*time.Millisecond }, nil, func(p *recipe) {
		holders := []*guest{p.ask("long-0", 33_000, 20_000), p.ask("long-1", 33_000, 20_000)}
		p.at(20 * time.Second)
		var guests []*guest
		for i := range 20 {
			guests = append(guests, p.ask(fmt.Sprint("g", i), 20_000, 100))
		}
		p.at(40 * time.Second)
		// Prefill has computed nothing since, and so shows nothing of those that wait there.
		p.is("gauges", p.shows(serving.GaugeDecodePrealloc, serving.GaugeDecodeRunning, serving.GaugePrefillBootstrap), []int{20, 2, 0})
		p.is("prefill's bootstrap queue", p.s.Snapshot().Prefill.Bootstrap, 20)
		p.is("memory is nearly full", p.gauge(serving.GaugeDecodeKV) > 0.75, true)
		p.is("decode says so", p.lines("decode-0", `token usage: 0\.[789]., pre-allocated usage: 0.00, #prealloc-req: 20`) > 0, true)
		p.is("router", p.routed(), "22 started, 2 with 200")
		p.is("clients", each(guests), "20x nothing")
		p.is("holders", each(holders), "2x a stream")

		p.at(319 * time.Second)
		p.is("failures before 300 s", p.gauge(serving.GaugeBootstrapFailed), 0)
		p.at(340 * time.Second)
		p.is("prefill says", p.lines("prefill-0", `timed out after 300\.0s in KVPoll\.Bootstrapping`), 20)
		p.is("clients", each(guests), "20x 200, then an error event: 500 INTERNAL_SERVER_ERROR")
		p.within("their silence", guests[0].silence(p.w.Now()), 300*time.Second, 310*time.Second)
		p.is("router", p.routed(), "22 started, 22 with 200")
	})
}

// TestShownRetracted is recipe 5: as long as a retracted request waits for room, decode neither admits
// anybody nor looks at its transfers. What runs goes on.
func TestShownRetracted(t *testing.T) {
	cook(t, func(c *serving.Config) { c.Decode.KVTokens, c.Decode.ReserveTokens, c.Decode.ClipTokens = 40_000, 1, 0 }, nil, func(p *recipe) {
		running := []*guest{p.ask("a", 18_000, 12_000), p.ask("b", 19_000, 5_000)}
		for p.gauge(serving.GaugeDecodeRetracted) == 0 {
			p.sleep(100 * time.Millisecond)
		}
		since := p.w.Now()
		guests := []*guest{p.ask("c", 3000, 100), p.ask("d", 3000, 100)}
		p.sleep(time.Minute)
		before := running[0].tokens + running[1].tokens
		p.sleep(time.Minute)
		p.is("gauges", p.shows(serving.GaugeDecodePrealloc, serving.GaugeDecodeRunning, serving.GaugePrefillInflight), []int{2, 1, 0})
		p.is("decode says", p.lines("decode-0", `KV cache pool is full\. Retract requests\. #retracted_reqs: 1`), 1)
		p.is("decode says", p.lines("decode-0", `#prealloc-req: 2, #transfer-req: 0, #retracted-req: 1`) > 20, true)
		p.is("those that run go on", running[0].tokens+running[1].tokens > before+2000, true)
		p.is("new ones", each(guests), "2x nothing")
		p.is("router", p.routed(), "4 started, 2 with 200")
		for running[0].end == 0 && running[1].end == 0 {
			p.sleep(time.Second)
		}
		p.sleep(10 * time.Second)
		p.is("new ones, after one of those is done", each(guests), "2x finish reason "+finishReason)
		p.within("their silence", guests[1].silence(p.w.Now()), 2*time.Minute, p.w.Now().Sub(since))
	})
}

// TestShownRetractedForEver is the end of recipe 5: memory of transfers that are not looked at leaves too
// little for the one that was retracted, with nothing running at all.
func TestShownRetractedForEver(t *testing.T) {
	slow := []fault.Fault{{ID: "slow", Where: fault.Transfer, What: fault.Latency, Delay: 100 * time.Second, ContextOver: 0, Agent: "slow"}}
	change := func(c *serving.Config) {
		c.Decode.KVTokens, c.Decode.ReserveTokens, c.Decode.ClipTokens = 4000, 500, 0
	}
	cook(t, change, slow, func(p *recipe) {
		first := []*guest{p.ask("a", 100, 2000), p.ask("b", 100, 2000)}
		p.at(time.Second)
		var guests []*guest
		for range 5 {
			guests = append(guests, p.ask("slow", 10, 100))
		}
		p.at(5 * time.Minute)
		made := p.gauge(serving.GaugeDecodeTokens)
		p.at(1795 * time.Second)
		p.is("first", each(first), "1x finish reason "+finishReason+"; 1x a stream")
		p.is("others", each(guests), "5x nothing")
		v := p.s.Snapshot()
		p.is("engines", []int{v.Decode.Running, v.Decode.Retracted, v.Decode.Transfer, v.Prefill.Inflight}, []int{0, 1, 5, 0})
		p.is("nothing moves", p.gauge(serving.GaugeDecodeTokens)-made, 0)
		p.is("router", p.routed(), "7 started, 2 with 200")

		p.at(2000 * time.Second) // the router's limit of a call has cut off the one that nothing else would end
		p.is("retries", p.gauge(serving.GaugeRouterRetries), 5)
		p.is("first", each(first), "1x finish reason "+finishReason+"; 1x a cut")
		p.is("others", each(guests), "5x finish reason "+finishReason)
	})
}

// TestShownLongPrompts is recipe 7: long prompts one after the other. Their chunks take so long that
// /health is too late for the router, which then has no prefill worker any more, and says so with 503.
func TestShownLongPrompts(t *testing.T) {
	const tokens = 131_072
	const takes = 30*time.Millisecond + tokens*180*time.Microsecond
	change := func(c *serving.Config) {
		c.Prefill.ChunkTokens, c.Prefill.PerToken, c.Prefill.PerTokenPair = tokens, 180*time.Microsecond, 0
	}
	cook(t, change, nil, func(p *recipe) {
		var guests []*guest
		for i := range 25 {
			guests = append(guests, p.ask(fmt.Sprint("g", i), tokens, 10))
		}
		for p.gauge(serving.GaugeUnhealthyWorkers) == 0 && p.w.Now().Sub(0) < time.Hour {
			p.sleep(time.Second)
		}
		p.within("the router loses prefill after", p.w.Now().Sub(0), 3*time.Minute, 5*time.Minute)
		p.is("prefill says", p.lines("prefill-0", fmt.Sprintf(`#new-seq: 1, #new-token: %d,`, tokens)), p.lines("prefill-0", "Prefill batch"))
		for _, i := range []int{0, 3, 6} {
			turn := time.Duration(i+1) * takes
			p.within(fmt.Sprint("silence of client ", i), guests[i].silence(p.w.Now()), turn, turn+time.Second)
		}
		refused := p.ask("late", 100, 10)
		p.sleep(10 * time.Second)
		p.is("late", refused.sees(), "HTTP status 503: No available servers: No available prefill workers (all circuits open or unhealthy)")
		p.within("its silence", refused.silence(p.w.Now()), 300*time.Millisecond, time.Second) // five attempts
		p.is("decode", p.shows(serving.GaugeDecodeRunning, serving.GaugeDecodeTransfer), "[1 20]")
		p.at(15 * time.Minute)
		p.is("what the engines had goes on", each(guests), "12x finish reason "+finishReason+"; 13x 200, then an error event: 500 INTERNAL_SERVER_ERROR")
		p.is("decode says", p.lines("decode-0", `Decode transfer failed .* timed out after 300\.0s in KVPoll\.WaitingForInput`), 13)
		p.is("gauges", p.shows(serving.GaugePrefillQueue, serving.GaugeUnhealthyWorkers), "[0 0]")
		p.is("router", p.routed(), "26 started, 25 with 200, 1 with 503")
	})
}
