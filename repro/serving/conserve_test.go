package serving_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
)

// TestConservation plays random scripts of clients that come, go and meet faults on small servers,
// and checks what must hold whatever happens: gauges never negative nor beyond their limits, tokens
// never fewer than before, every request ended in exactly one way, and nothing left in the end. Two
// runs of one seed must be identical.
func TestConservation(t *testing.T) {
	outcomes := map[string]int{}
	for seed := range uint64(150) {
		hash, log := conserve(t, seed, outcomes)
		again, logAgain := conserve(t, seed, map[string]int{})
		if hash != again || !bytes.Equal(log, logAgain) {
			t.Fatalf("seed %d: two runs differ", seed)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for _, o := range []string{"complete", "refused", "reset", "left"} {
		if outcomes[o] < 50 {
			t.Errorf("%d requests were %s: the scripts test too little (%v)", outcomes[o], o, outcomes)
		}
	}
}

// TestConservationWall plays a few of the scripts in a wall world, where clients are goroutines.
func TestConservationWall(t *testing.T) {
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			conserveIn(t, sim.NewWall(sim.WallOptions{Seed: seed}), seed, map[string]int{})
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// every fault that the servers know.
func everyFault() []fault.Fault {
	return []fault.Fault{
		{Where: fault.Connection, What: fault.Latency, Delay: 2 * time.Second},
		{Where: fault.Connection, What: fault.Reset},
		{Where: fault.Router, What: fault.Status, StatusCode: 500},
		{Where: fault.Router, What: fault.Latency, Delay: 2 * time.Second},
		{Where: fault.Router, What: fault.Drop},
		{Where: fault.Prefill, What: fault.Latency, Delay: 2 * time.Second},
		{Where: fault.Prefill, What: fault.Hang},
		{Where: fault.Inflight, What: fault.Hang},
		{Where: fault.Inflight, What: fault.PinOnAbort, ReleaseAfter: 5 * time.Second},
		{Where: fault.Transfer, What: fault.Latency, Delay: 2 * time.Second},
		{Where: fault.Transfer, What: fault.Hang},
		{Where: fault.Decode, What: fault.Hang},
		{Where: fault.Stream, What: fault.Silence, AfterTokens: 30},
		{Where: fault.Stream, What: fault.Reset, AfterTokens: 20},
		{Where: fault.Stream, What: fault.Reasoning, Delay: 2 * time.Second},
	}
}

func smallServers(draw *sim.Stream) func(c *serving.Config) {
	return func(c *serving.Config) {
		c.Router.QueuedMax = draw.IntN(3) * 8
		c.Prefill.ChunkTokens = 100 + draw.IntN(2000)
		c.Prefill.RequestsMax = draw.IntN(3) * 3
		c.Prefill.KVTokens = 2000 + draw.IntN(4000)
		c.Decode.RunningMax = 1 + draw.IntN(6)
		c.Decode.RequestsMax = draw.IntN(3) * 5
		c.Decode.KVTokens = 2500 + draw.IntN(6000)
	}
}

func conserve(t *testing.T, seed uint64, outcomes map[string]int) (hash uint64, log []byte) {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
	log = conserveIn(t, w, seed, outcomes)
	return w.Hash(), log
}

func conserveIn(t *testing.T, w sim.World, seed uint64, outcomes map[string]int) (log []byte) {
	draw := sim.NewStream(seed, "conserve", "script")
	su := setup{cfg: smallServers(&draw)}
	for i, f := range everyFault() {
		if draw.IntN(3) == 0 {
			f.ID, f.Probability = fmt.Sprint(i), 0.25
			su.faults = append(su.faults, f)
		}
	}
	p := su.in(t, w, func(p *play) {
		all := make([]*sim.Process, 12)
		for i := range all {
			own := p.w.Stream("client", "script").At(i)
			all[i] = p.w.Spawn(p.ctx, fmt.Sprintf("client-%d", i), func(ctx context.Context) {
				for n := range 3 + own.IntN(4) {
					p.must(p.w.Sleep(ctx, time.Duration(own.IntN(int(3*time.Second)))))
					o := p.randomExchange(ctx, &own, fmt.Sprintf("c%d-%d", i, n))
					p.w.Lock()
					outcomes[o]++
					p.w.Unlock()
				}
			})
		}
		watcher := p.w.Spawn(p.ctx, "watcher", p.watchGauges)
		for _, c := range all {
			p.must(c.Wait(p.ctx))
		}
		p.must(watcher.Wait(p.ctx))
		p.sleep(time.Minute)
		p.atRest()
	})
	p.checkLog()
	return p.log.Bytes()
}

// randomExchange sends a request of random size, leaves it after a random time, and says how it
// ended.
func (p *play) randomExchange(ctx context.Context, draw *sim.Stream, id string) string {
	limited, stop := sim.WithTimeout(ctx, p.w, time.Duration(1+draw.IntN(30))*time.Second, context.DeadlineExceeded)
	defer stop()
	st, err := p.client.Open(limited, &pacer.Attempt{ID: id}, prompt(1+draw.IntN(2500), 1+draw.IntN(200)))
	if err != nil {
		return outcome(err)
	}
	defer st.Close()
	watched := p.w.Spawn(ctx, "progress", func(ctx context.Context) { p.watchProgress(ctx, st) })
	var chunk openai.ChatCompletionStreamResponse
	var a answer
	for err == nil {
		if chunk, err = st.Recv(); err == nil {
			a.add(&chunk)
		}
	}
	p.must(watched.Wait(ctx))
	p.w.Lock()
	defer p.w.Unlock()
	if tokens := st.Progress().Tokens; err == io.EOF && tokens*pacer.BytesPerToken != len(a.reasoning)+len(a.content) {
		p.t.Errorf("%s: %d tokens, but %d bytes of text", id, tokens, len(a.reasoning)+len(a.content))
	}
	return outcome(err)
}

func outcome(err error) string {
	switch {
	case err == io.EOF:
		return "complete"
	case status(err) != 0:
		return "refused"
	case errors.Is(err, serving.ErrReset):
		return "reset"
	case errors.Is(err, context.DeadlineExceeded):
		return "left"
	}
	return "unknown: " + err.Error()
}

// watchProgress looks at a stream for a while.
func (p *play) watchProgress(ctx context.Context, st pacer.Stream) {
	var last pacer.Progress
	for range 20 {
		p.w.Lock()
		now, pr := p.w.Now(), st.Progress()
		p.w.Unlock()
		if pr.Tokens < last.Tokens || pr.Bytes < last.Bytes || pr.LastToken < last.LastToken || pr.LastToken > now {
			p.t.Errorf("at %v: progress %+v after %+v", now, pr, last)
		}
		last = pr
		p.must(p.w.Sleep(ctx, 117*time.Millisecond))
	}
}

// watchGauges looks at the servers for two minutes.
func (p *play) watchGauges(ctx context.Context) {
	cfg := p.s.Config()
	limits := map[string]int{
		serving.GaugeRouterInFlight: cfg.Router.QueuedMax,
		serving.GaugeDecodeRunning:  cfg.Decode.RunningMax,
		serving.GaugeDecodeKV:       1,
	}
	totals := map[string]float64{}
	for range 600 {
		sum, inFlight, bootstrap, prealloc := 0.0, 0.0, 0.0, 0.0
		for _, g := range p.s.Gauges() {
			if limit := limits[g.Name]; g.Value < 0 || limit > 0 && g.Value > float64(limit) {
				p.t.Errorf("at %v: %s is %v, want 0 to %d", p.w.Now(), g.Name, g.Value, limit)
			}
			if strings.HasSuffix(g.Name, "_total") {
				if g.Value < totals[g.Name] {
					p.t.Errorf("at %v: %s falls from %v to %v", p.w.Now(), g.Name, totals[g.Name], g.Value)
				}
				totals[g.Name] = g.Value
			}
			switch g.Name {
			case serving.GaugeRouterInFlight:
				inFlight = g.Value
			case serving.GaugePrefillBootstrap:
				bootstrap = g.Value
			case serving.GaugeDecodePrealloc:
				prealloc = g.Value
			case serving.GaugeRouterQueued, serving.GaugeDecodeTransfer, serving.GaugeDecodeQueue, serving.GaugeDecodeRunning:
				sum += g.Value
			}
		}
		// A request is in both queues, unless one of the engines has refused it.
		sum += max(bootstrap, prealloc) + float64(p.s.Snapshot().Decode.Retracted)
		if sum < inFlight { // there may be more: engines notice late that a client has left
			p.t.Errorf("at %v: the stages have %v requests, the router %v", p.w.Now(), sum, inFlight)
		}
		p.checkTruth()
		p.must(p.w.Sleep(ctx, 203*time.Millisecond))
	}
}

// checkTruth compares what each request is known to be in with the servers' own counts. Engines may
// have more: requests of clients that have left, until they notice.
func (p *play) checkTruth() {
	v, stages := p.s.Snapshot(), map[serving.Stage]int{}
	for _, r := range p.s.Truth() {
		stages[r.Stage]++
	}
	got := []int{v.Router.Queued, v.Prefill.Bootstrap, v.Prefill.Queue, v.Decode.Queue, v.Decode.Running,
		v.Decode.Transfer, v.Decode.Requests}
	transfer := stages[serving.StagePrefillWait] + stages[serving.StagePrefill] + stages[serving.StageInflight]
	want := []int{stages[serving.StageRouter], stages[serving.StageBootstrap], stages[serving.StagePrefillWait],
		stages[serving.StageDecodeWait], stages[serving.StageDecode],
		transfer, transfer + stages[serving.StageDecodeWait] + stages[serving.StageDecode]}
	for i := range got {
		if got[i] < want[i] || i == 0 && got[i] != want[i] {
			p.t.Errorf("at %v: the servers count %v, the requests are %v", p.w.Now(), got, want)
			break
		}
	}
	if limit := p.s.Config().Prefill.RequestsMax; v.Prefill.Requests < 0 || limit > 0 && v.Prefill.Requests > limit {
		p.t.Errorf("at %v: prefill has %d slots taken of %d", p.w.Now(), v.Prefill.Requests, limit)
	}
	if v.Prefill.KVTokens < 0 || v.Prefill.KVTokens > p.s.Config().Prefill.KVTokens {
		p.t.Errorf("at %v: prefill has %d tokens reserved", p.w.Now(), v.Prefill.KVTokens)
	}
}

// checkLog checks that each request has one started line and at most one finished line, in order.
func (p *play) checkLog() {
	lines := map[string]int{}
	for line := range strings.Lines(p.log.String()) {
		_, rest, _ := strings.Cut(line, `request_id="`)
		id, rest, _ := strings.Cut(rest, `"`)
		finished := strings.Contains(rest, " latency=")
		if lines[id]++; (lines[id] == 1) == finished || lines[id] > 2 {
			p.t.Errorf("line %d of %s is out of place: %s", lines[id], id, line)
		}
	}
}
