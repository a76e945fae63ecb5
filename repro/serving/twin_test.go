package serving_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// twinJob is a request of a random schedule, and what becomes of it.
type twinJob struct {
	at, leaveAt          sim.Instant // leaveAt is sim.Never if it stays
	prompt, outputTokens int

	tokens int // made so far
	ended  sim.Instant
	gone   bool // ended, in one way or the other
	done   bool // ended by itself
}

// twin is the decode engine once more, in the dumbest way: it makes one step after the other and one
// token after the other. Everything else is free of charge in the configuration that it is compared
// under.
type twin struct {
	cfg              engine.DecodeConfig
	now              sim.Instant
	waiting, running []*twinJob
	step             []*twinJob  // those who take part in the step under way
	stepEnd          sim.Instant // sim.Never: none is
}

// advance goes on to an instant, with everything that the engine does at it.
func (tw *twin) advance(to sim.Instant) {
	for {
		if tw.stepEnd == sim.Never && len(tw.running) > 0 && tw.now < to {
			tw.step = slices.Clone(tw.running)
			tw.stepEnd = tw.now.Add(tw.stepLength())
		}
		if tw.stepEnd > to {
			break
		}
		tw.now, tw.stepEnd = tw.stepEnd, sim.Never
		for _, j := range tw.step {
			if slices.Contains(tw.running, j) {
				tw.token(j)
			}
		}
		tw.admit()
	}
	tw.now = to
}

func (tw *twin) stepLength() time.Duration {
	d := tw.cfg.StepBase + time.Duration(len(tw.step))*tw.cfg.StepPerRequest
	for _, j := range tw.step {
		d += time.Duration(j.prompt+j.tokens) * tw.cfg.StepPerContextToken
	}
	return max(d, 1)
}

func (tw *twin) token(j *twinJob) {
	j.tokens++
	if j.tokens == j.outputTokens {
		tw.remove(j)
		j.done = true
	}
}

func (tw *twin) remove(j *twinJob) {
	is := func(other *twinJob) bool { return other == j }
	tw.waiting, tw.running = slices.DeleteFunc(tw.waiting, is), slices.DeleteFunc(tw.running, is)
	j.ended, j.gone = tw.now, true
}

func (tw *twin) admit() {
	for len(tw.waiting) > 0 && len(tw.running) < tw.cfg.RunningMax {
		j := tw.waiting[0]
		tw.waiting = tw.waiting[1:]
		tw.running = append(tw.running, j)
		tw.token(j) // the one that prefill has made
	}
}

// TestBatchTwin plays random schedules of requests that come and go on the closed form and on its
// naive twin. All instants and numbers of tokens must be equal, at random moments and in the end.
func TestBatchTwin(t *testing.T) {
	ended, left := 0, 0
	for seed := range uint64(300) {
		cfg, jobs, probes := twinSchedule(seed)
		got := playSchedule(t, seed, cfg, jobs, probes)
		want := twinTrace(cfg.Decode, jobs, probes)
		if !slices.Equal(got, want) {
			for i := range want {
				if i >= len(got) || got[i] != want[i] {
					t.Fatalf("seed %d: line %d is\n\t%q\nwant\n\t%q", seed, i, got[min(i, len(got)-1)], want[i])
				}
			}
			t.Fatalf("seed %d: %d lines more than the twin's", seed, len(got)-len(want))
		}
		for _, j := range jobs {
			if j.done {
				ended++
			} else {
				left++
			}
		}
	}
	if ended < 1000 || left < 100 {
		t.Errorf("%d requests ended and %d left: the schedules test too little", ended, left)
	}
}

func twinSchedule(seed uint64) (serving.Config, []*twinJob, []sim.Instant) {
	draw := sim.NewStream(seed, "twin", "schedule")
	cfg := serving.Default()
	cfg.Router.QueuedMax = 0
	cfg.Prefill.ChunkBase, cfg.Prefill.PerToken, cfg.Prefill.PerTokenPair = 0, 0, 0
	cfg.Prefill.ChunkTokens, cfg.Prefill.RequestsMax = 1_000_000, 0
	cfg.Transfer = engine.TransferConfig{}
	cfg.Decode.RequestsMax = 0
	cfg.Abort, cfg.Gauges.Exact = engine.AbortConfig{}, true
	cfg.Decode.RunningMax = 1 + draw.IntN(12)
	cfg.Decode.StepBase = time.Duration(draw.IntN(30)) * time.Millisecond
	cfg.Decode.StepPerRequest = time.Duration(draw.IntN(2000)) * time.Microsecond
	cfg.Decode.StepPerContextToken = time.Duration(draw.IntN(3) * draw.IntN(2000))
	jobs := make([]*twinJob, 1+draw.IntN(25))
	for i := range jobs {
		// Some come together, some on round instants, where they may meet the end of a step.
		at := sim.Instant(draw.IntN(int(3 * time.Second)))
		at -= at % []sim.Instant{1, sim.Instant(time.Millisecond), sim.Instant(time.Second)}[draw.IntN(3)]
		jobs[i] = &twinJob{at: at, leaveAt: sim.Never, prompt: 1 + draw.IntN(3000), outputTokens: 1 + draw.IntN(100)}
		if draw.IntN(3) == 0 {
			jobs[i].leaveAt = at.Add(time.Duration(draw.IntN(int(3 * time.Second))))
		}
	}
	slices.SortStableFunc(jobs, func(a, b *twinJob) int { return cmp.Compare(a.at, b.at) })
	var probes []sim.Instant
	for range 20 {
		probes = append(probes, sim.Instant(draw.IntN(int(6*time.Second))))
	}
	slices.Sort(probes)
	return cfg, jobs, probes
}

// playSchedule plays a schedule on the servers.
func playSchedule(t *testing.T, seed uint64, cfg serving.Config, jobs []*twinJob, probes []sim.Instant) (trace []string) {
	su := setup{cfg: func(c *serving.Config) { *c = cfg }, model: serving.Model{Output: func(user string, _, _ int) (int, int) {
		return jobs[number(user)].outputTokens, 0
	}}}
	ends := make([]string, len(jobs))
	su.run(t, seed, func(p *play) {
		for i, j := range jobs {
			p.w.Spawn(p.ctx, fmt.Sprint(i), func(ctx context.Context) {
				p.must(p.w.Sleep(ctx, j.at.Sub(0)))
				h := p.s.Submit(serving.Request{ID: fmt.Sprint(i), User: fmt.Sprint(i), Prompt: serving.Prompt{Tokens: j.prompt}, Stream: true})
				if j.leaveAt < sim.Never {
					var stop func()
					ctx, stop = sim.WithTimeout(ctx, p.w, j.leaveAt.Sub(p.w.Now()), context.DeadlineExceeded)
					defer stop()
				}
				err := h.WaitHeaders(ctx)
				for err == nil {
					var part serving.Part
					if part, _, err = h.Take(); part.Finish != "" {
						break
					}
					if err == nil {
						err = h.Wait(ctx, sim.Never)
					}
				}
				h.Cancel()
				p.w.Lock()
				ends[i] = fmt.Sprintf("%d: %d tokens at %d, done %v", i, h.Progress().Tokens, p.w.Now(), err == nil)
				p.w.Unlock()
			})
		}
		for _, at := range probes {
			p.sleep(at.Sub(p.w.Now()))
			trace = append(trace, probe(at, p.s.Snapshot().Decode.Tokens, p.s.Truth()))
		}
		p.sleep(time.Hour)
		p.atRest()
	})
	return append(trace, ends...)
}

func probe(at sim.Instant, made int64, truth []serving.Truth) string {
	line := fmt.Sprintf("probe %d, %d tokens made", at, made)
	for _, r := range truth {
		line += fmt.Sprintf(" %s:%d", r.ID, r.Tokens)
	}
	return line
}

func number(s string) (n int) {
	_, _ = fmt.Sscan(s, &n)
	return n
}

// twinTrace plays the same schedule on the twin.
func twinTrace(cfg engine.DecodeConfig, jobs []*twinJob, probes []sim.Instant) (trace []string) {
	tw := &twin{cfg: cfg, stepEnd: sim.Never}
	type event struct {
		at sim.Instant
		do func()
	}
	var events []event
	for _, j := range jobs {
		events = append(events, event{j.at, func() {
			tw.waiting = append(tw.waiting, j)
			tw.admit()
		}})
		events = append(events, event{j.leaveAt, func() {
			if !j.done {
				tw.remove(j)
				tw.admit()
			}
		}})
	}
	for _, at := range probes {
		events = append(events, event{at, func() {
			var truth []serving.Truth
			made := 0
			for i, j := range jobs {
				made += j.tokens
				if j.at <= at && !j.gone {
					truth = append(truth, serving.Truth{ID: fmt.Sprint(i), Tokens: j.tokens})
				}
			}
			trace = append(trace, probe(at, int64(made), truth))
		}})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	for _, e := range events {
		if e.at < sim.Never {
			tw.advance(e.at)
			e.do()
		}
	}
	tw.advance(sim.Instant(time.Hour))
	for i, j := range jobs {
		trace = append(trace, fmt.Sprintf("%d: %d tokens at %d, done %v", i, j.tokens, j.ended, j.done))
	}
	return trace
}
