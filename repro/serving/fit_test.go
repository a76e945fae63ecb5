package serving_test

import (
	"math"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/repro/serving"
)

// pace is how fast a number of concurrent streams with short prompts come, while as many of them run
// as may.
type pace struct {
	running, waiting int           // streams that made tokens, and streams that made none yet
	step             time.Duration // between two tokens of a running stream
	tokensPerSecond  float64       // of all
}

// asIfAllRan is what who knows only the throughput takes for the time between two tokens.
func (v *pace) asIfAllRan() time.Duration {
	return time.Duration(float64(v.running+v.waiting) / v.tokensPerSecond * float64(time.Second))
}

// paceOf measures n concurrent streams for a minute.
func paceOf(t *testing.T, change func(c *serving.Config), n int) (v pace) {
	const window = time.Minute
	su := setup{cfg: func(c *serving.Config) {
		c.Router.QueuedMax = 0
		change(c)
	}}
	su.run(t, 1, func(p *play) {
		handles := make([]*serving.Handle, n)
		for i := range handles {
			handles[i] = p.s.Submit(serving.Request{ID: "r", Prompt: serving.Prompt{Tokens: 512}, OutputTokensMax: 4000, Stream: true})
		}
		for full := min(n, p.s.Config().Decode.RunningMax); p.gauge(serving.GaugeDecodeRunning) < float64(full); {
			p.sleep(100 * time.Millisecond)
		}
		before := p.tokens(handles)
		p.sleep(window)
		sum := 0
		for i, tokens := range p.tokens(handles) {
			made := tokens - before[i]
			if made == 0 {
				v.waiting++
				continue
			}
			v.running++
			v.step = window / time.Duration(made)
			sum += made
		}
		v.tokensPerSecond = float64(sum) / window.Seconds()
		for _, h := range handles {
			h.Cancel()
		}
		p.atRest()
	})
	return v
}

// tokens returns how many tokens have reached each client.
func (p *play) tokens(handles []*serving.Handle) []int {
	p.w.Lock()
	defer p.w.Unlock()
	made := make([]int, len(handles))
	for i, h := range handles {
		made[i] = h.Progress().Tokens
	}
	return made
}

// burstMean returns how many seconds 16 concurrent requests of 128 tokens take in the mean.
func burstMean(t *testing.T, change func(c *serving.Config)) (mean float64) {
	setup{cfg: change}.run(t, 1, func(p *play) {
		for _, a := range p.together(16, func(int) openai.ChatCompletionRequest { return prompt(200, 128) }) {
			p.must(a.err)
			mean += a.took().Seconds() / 16
		}
	})
	return mean
}

// TestFit compares two explanations of the incident's throughput, and prints them: steps that take longer
// the more streams run, as the defaults have it, and a running batch of at most 64. Throughput does
// not tell them apart; what does is the time between two tokens when 96 ask.
func TestFit(t *testing.T) {
	const errorMax = 0.15
	linear := func(*serving.Config) {}
	capped := func(c *serving.Config) {
		c.Decode.RunningMax = 64
		// Through the incident's 20.0 ms alone and 78.8 ms with 64.
		c.Decode.StepBase, c.Decode.StepPerRequest, c.Decode.StepPerContextToken = 19_070*time.Microsecond, 930*time.Microsecond, 0
	}
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	close := func(model, incident float64) bool { return math.Abs(model-incident) <= errorMax*incident }
	at96 := map[string]pace{}
	t.Logf("%2s  %-9s  %14s  %-8s  %7s %7s  %9s  %12s  %14s", "B", "incident", "incident tok/s", "model", "running", "waiting", "step (ms)", "tok/s", "as if all ran")
	for _, row := range []struct {
		streams         int
		incident        string
		step            float64 // ms, as if all ran
		tokensPerSecond float64
	}{
		{1, "20.0 ms", 20.0, 50},
		{16, "<=39.8 ms", 39.8, 16 * 128 / 5.1}, // 128 tokens in 5.1 s, prefill included
		{64, "78.8 ms", 78.8, 812},
		{96, "113.6 ms", 113.6, 845},
	} {
		for _, model := range []struct {
			name   string
			change func(c *serving.Config)
		}{{"linear", linear}, {"capped", capped}} {
			v := paceOf(t, model.change, row.streams)
			t.Logf("%2d  %-9s  %14.0f  %-8s  %7d %7d  %9.1f  %5.0f (%+4.1f%%)  %6.1f (%+4.1f%%)", row.streams, row.incident, row.tokensPerSecond, model.name, v.running, v.waiting,
				ms(v.step), v.tokensPerSecond, 100*(v.tokensPerSecond/row.tokensPerSecond-1), ms(v.asIfAllRan()), 100*(ms(v.asIfAllRan())/row.step-1))
			rate := v.tokensPerSecond
			if row.streams == 16 { // the incident's figure has the prefill in it
				mean := burstMean(t, model.change)
				rate = 16 * 128 / mean
				t.Logf("%2d  128 tokens take %.2f s in the mean with their prefill, in the incident 5.1 s: %.0f tok/s (%+.1f%%)", row.streams, mean, rate, 100*(rate/row.tokensPerSecond-1))
			}
			if step := ms(v.asIfAllRan()); !close(rate, row.tokensPerSecond) || !close(step, row.step) {
				t.Errorf("%s, %d streams: %.0f tok/s and %.1f ms as if all ran, the incident had %.0f and %s", model.name, row.streams, rate, step, row.tokensPerSecond, row.incident)
			}
			at96[model.name] = v
		}
	}
	if v := at96["linear"]; v.running != 96 || !close(ms(v.step), 114) {
		t.Errorf("linear, 96 streams: %d run with %v between tokens, want all with about 114 ms", v.running, v.step)
	}
	if v := at96["capped"]; v.running != 64 || v.waiting != 32 || !close(ms(v.step), 79) {
		t.Errorf("capped, 96 streams: %d run and %d wait with %v between tokens, want 64 and 32 with about 79 ms", v.running, v.waiting, v.step)
	}
}
