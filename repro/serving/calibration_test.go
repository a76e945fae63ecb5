package serving_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
)

// TestCalibration compares the default configuration with every figure of the incident (I-8), and
// prints the table. Where the figure is a range, the model's whole range must lie in it.
func TestCalibration(t *testing.T) {
	const errorMax = 0.15
	t.Logf("%-50s %12s %12s %8s", "figure", "incident", "model", "error")
	for _, row := range []struct {
		figure   string
		from, to float64 // equal if it is not a range
		unit     string
		measure  func(t *testing.T) (least, most float64)
	}{
		{"16 concurrent x 128 tokens: all done", 5.4, 5.4, "s", one(func(t *testing.T) float64 { all, _ := burst(t); return all })},
		{"16 concurrent x 128 tokens: mean", 5.1, 5.1, "s", one(func(t *testing.T) float64 { _, mean := burst(t); return mean })},
		{"pure decode, 64 concurrent", 812, 812, "tok/s", one(func(t *testing.T) float64 { return decodeRate(t, 64) })},
		{"pure decode, 96 concurrent", 845, 845, "tok/s", one(func(t *testing.T) float64 { return decodeRate(t, 96) })},
		{"a stream at low concurrency", 50, 50, "tok/s", one(func(t *testing.T) float64 { return decodeRate(t, 1) })},
		{"30 agents, 3,000-4,500 output tokens", 100, 300, "s", agentRequests},
		{"prefill of one prompt of 32,768 tokens", 6, 6, "s", one(longPrefill)},
		{"decode serialised: one request alone", 40, 40, "s", one(func(t *testing.T) float64 { return serialised(t, 1) })},
		{"decode serialised: all 30", 1200, 1200, "s", one(func(t *testing.T) float64 { return serialised(t, 30) })},
		{"watchdog on pinned inflight entries", 60, 60, "s", one(pinRelease)},
		{"router: requests taken before a 503", 32, 32, "", one(routerLimit)},
	} {
		least, most := row.measure(t)
		off := max((row.from-least)/row.from, (most-row.to)/row.to)
		incident, model := fmt.Sprintf("%.4g", row.from), fmt.Sprintf("%.4g", least)
		if row.from != row.to {
			off = max(off, 0)
			incident, model = fmt.Sprintf("%s-%.4g", incident, row.to), fmt.Sprintf("%s-%.4g", model, most)
		}
		t.Logf("%-50s %12s %12s %7.1f%%", row.figure, incident+" "+row.unit, model+" "+row.unit, 100*off)
		if off > errorMax {
			t.Errorf("%s: model %s %s, incident %s %s: off by more than %.0f%%", row.figure, model, row.unit, incident, row.unit, 100*errorMax)
		}
	}
}

// one is a figure that is not a range.
func one(f func(t *testing.T) float64) func(t *testing.T) (least, most float64) {
	return func(t *testing.T) (float64, float64) {
		v := f(t)
		return v, v
	}
}

// burst is the load test of I-7.
func burst(t *testing.T) (all, mean float64) {
	setup{}.run(t, 1, func(p *play) {
		for _, a := range p.together(16, func(int) openai.ChatCompletionRequest { return prompt(200, 128) }) {
			p.must(a.err)
			all = max(all, a.took().Seconds())
			mean += a.took().Seconds() / 16
		}
	})
	return all, mean
}

// decodeRate returns the tokens a second of n concurrent requests with short prompts, while all of
// them run.
func decodeRate(t *testing.T, n int) (tokensPerSecond float64) {
	su := setup{cfg: func(c *serving.Config) { c.Router.QueuedMax = 0 }}
	su.run(t, 1, func(p *play) {
		watcher := p.w.Spawn(p.ctx, "watcher", func(ctx context.Context) {
			for p.gauge(serving.GaugeDecodeRunning) < float64(n) {
				p.sleep(100 * time.Millisecond)
			}
			const window = 60 * time.Second
			before := p.gauge(serving.GaugeDecodeTokens)
			p.sleep(window)
			if running := p.gauge(serving.GaugeDecodeRunning); running != float64(n) {
				t.Errorf("%v requests run at the end of the window, want %d", running, n)
			}
			tokensPerSecond = (p.gauge(serving.GaugeDecodeTokens) - before) / window.Seconds()
		})
		p.together(n, func(int) openai.ChatCompletionRequest { return prompt(512, 4000) })
		p.must(watcher.Wait(p.ctx))
	})
	return tokensPerSecond
}

// agentRequests has 30 agents make five requests each, with the sizes of the incident, and returns the
// shortest and the longest.
func agentRequests(t *testing.T) (least, most float64) {
	least = 1e9
	setup{model: serving.Model{Output: func(user string, call, promptTokens int) (int, int) { return promptTokens%1501 + 3000, 2000 }}}.run(t, 1, func(p *play) {
		all := make([]*sim.Process, 30)
		for i := range all {
			all[i] = p.w.Spawn(p.ctx, "agent", func(ctx context.Context) {
				draw := p.w.Stream("agent", "sizes").At(i)
				for call := range 5 {
					p.must(p.w.Sleep(ctx, time.Duration(draw.IntN(int(4*time.Second)))))
					a := p.chat(ctx, fmt.Sprintf("a%02d-%d", i, call), prompt(3000*(call+1)+draw.IntN(3000), 0))
					p.must(a.err)
					least, most = min(least, a.took().Seconds()), max(most, a.took().Seconds())
				}
			})
		}
		for _, c := range all {
			p.must(c.Wait(p.ctx))
		}
	})
	return least, most
}

func longPrefill(t *testing.T) (seconds float64) {
	setup{}.run(t, 1, func(p *play) {
		a := p.chat(p.ctx, "r", prompt(32_768, 1))
		p.must(a.err)
		seconds = a.took().Seconds()
	})
	return seconds
}

func serialised(t *testing.T, n int) (seconds float64) {
	setup{cfg: func(c *serving.Config) { c.Decode.RunningMax = 1 }}.run(t, 1, func(p *play) {
		for _, a := range p.together(n, func(int) openai.ChatCompletionRequest { return prompt(1000, 2000) }) {
			p.must(a.err)
			seconds = max(seconds, a.took().Seconds())
		}
	})
	return seconds
}

// pinRelease returns how long a pinned entry stays after its client has left.
func pinRelease(t *testing.T) (seconds float64) {
	su := setup{faults: []fault.Fault{
		{ID: "slow", Where: fault.Transfer, What: fault.Latency, Delay: time.Hour},
		{ID: "pin", Where: fault.Inflight, What: fault.PinOnAbort, ReleaseAfter: 60 * time.Second},
	}}
	su.run(t, 1, func(p *play) {
		ctx, cancel := sim.WithTimeout(p.ctx, p.w, 10*time.Second, context.DeadlineExceeded)
		defer cancel()
		p.chat(ctx, "r", prompt(1000, 100))
		left := p.w.Now()
		for p.gauge(serving.GaugePrefillInflight) > 0 && p.w.Now().Sub(left) < time.Hour {
			p.sleep(time.Second)
		}
		seconds = p.w.Now().Sub(left).Seconds()
	})
	return seconds
}

// routerLimit returns how many requests are taken before one is refused.
func routerLimit(t *testing.T) (taken float64) {
	setup{}.run(t, 1, func(p *play) {
		for _, a := range p.together(40, func(int) openai.ChatCompletionRequest { return prompt(100, 100) }) {
			switch {
			case a.err == nil:
				taken++
			case status(a.err) != 503:
				t.Errorf("refused with %v, want status 503", a.err)
			}
		}
	})
	return taken
}
