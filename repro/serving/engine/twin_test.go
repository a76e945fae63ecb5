package engine_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// twinJob is a request of a random schedule, and what becomes of it.
type twinJob struct {
	at, leaveAt          sim.Instant // leaveAt is sim.Never if it stays
	prompt, outputTokens int

	tokens  int // made so far
	has     int // memory
	leaving bool
	ended   sim.Instant
	how     string // it ended; empty: it has not
}

// twin is a decode engine once more, in the dumbest way: it makes one step after the other and one
// token after the other, and counts memory each time anew. Prefill and transfer take no time in the
// configuration that it is compared under.
type twin struct {
	cfg                         engine.DecodeConfig
	now                         sim.Instant
	prealloc, sending, landed   []*twinJob
	waiting, running, retracted []*twinJob
	step                        []*twinJob  // those who take part in the step under way
	stepEnd                     sim.Instant // sim.Never: none is
	retractions                 int
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
			if j.tokens++; j.tokens == j.outputTokens {
				tw.end(j, "done")
			}
		}
		for _, j := range slices.Clone(tw.running) {
			if j.leaving {
				tw.end(j, "left")
			}
		}
		tw.proceed()
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

func (tw *twin) end(j *twinJob, how string) {
	for _, q := range []*[]*twinJob{&tw.prealloc, &tw.landed, &tw.waiting, &tw.running, &tw.retracted} {
		*q = slices.DeleteFunc(*q, func(other *twinJob) bool { return other == j })
	}
	j.has, j.ended, j.how = 0, tw.now, how
}

// used is the memory taken: of running ones what they have, and a token comes to it with each.
func (tw *twin) used() int {
	n := 0
	for _, j := range slices.Concat(tw.sending, tw.landed, tw.waiting) {
		n += j.has
	}
	for _, j := range tw.running {
		n += tw.holds(j)
	}
	return n
}

// holds is the memory of a running request. One that has joined during a step needs none for the token
// that it has come with before it takes a step itself.
func (tw *twin) holds(j *twinJob) int {
	if tw.stepEnd != sim.Never && !slices.Contains(tw.step, j) {
		return j.prompt + j.tokens - 1
	}
	return j.prompt + j.tokens
}

// proceed lets requests go on wherever there is room now. What is admitted arrives at once, one after
// the other.
func (tw *twin) proceed() {
	tw.runBatch()
	tw.admit()
	for len(tw.sending) > 0 {
		tw.landed = append(tw.landed, tw.sending[0])
		tw.sending = tw.sending[1:]
		tw.runBatch()
		tw.admit()
	}
}

func (tw *twin) runBatch() {
	for again := true; again; {
		tw.retract()
		tw.resume()
		if len(tw.retracted) == 0 {
			for _, j := range slices.Concat(tw.prealloc, tw.landed) {
				if j.leaving {
					tw.end(j, "left")
				}
			}
			tw.waiting = append(tw.waiting, tw.landed...)
			tw.landed = nil
		}
		again = false
		for len(tw.waiting) > 0 && len(tw.running) < tw.cfg.RunningMax {
			j := tw.waiting[0]
			tw.waiting = tw.waiting[1:]
			tw.running = append(tw.running, j)
			if j.tokens == 0 {
				j.tokens = 1 // that prefill has made
			}
			if j.tokens == j.outputTokens {
				tw.end(j, "done")
			}
			again = true
		}
	}
}

func (tw *twin) admit() {
	for len(tw.retracted) == 0 && len(tw.prealloc) > 0 {
		j := tw.prealloc[0]
		if j.prompt+tw.cfg.ReserveTokens > tw.cfg.KVTokens-tw.used()-tw.kept(tw.cfg.ReserveTokens) {
			return
		}
		tw.prealloc = tw.prealloc[1:]
		j.has = j.prompt
		tw.sending = append(tw.sending, j)
	}
}

func (tw *twin) kept(reserve int) int {
	kept := reserve * (len(tw.running) + len(tw.waiting) + len(tw.sending) + len(tw.landed))
	held := 0
	for _, j := range tw.running {
		held += tw.holds(j)
	}
	for _, j := range tw.running {
		kept = max(kept, j.prompt+min(j.outputTokens, tw.cfg.ClipTokens)-held)
	}
	return kept
}

func (tw *twin) retract() {
	for tw.stepEnd == sim.Never && len(tw.running) > 0 && tw.used() > tw.cfg.KVTokens {
		victim := tw.running[0]
		for _, j := range tw.running {
			if c := cmp.Or(cmp.Compare(j.tokens, victim.tokens), -cmp.Compare(j.prompt, victim.prompt)); c <= 0 {
				victim = j
			}
		}
		switch {
		case victim.leaving:
			tw.end(victim, "left")
		case len(tw.running) == 1:
			tw.end(victim, "failed")
		default:
			tw.running = slices.DeleteFunc(tw.running, func(j *twinJob) bool { return j == victim })
			tw.retracted = append(tw.retracted, victim)
			tw.retractions++
		}
	}
}

func (tw *twin) resume() {
	reserve := max(1, tw.cfg.ReserveTokens)
	for len(tw.retracted) > 0 {
		j := tw.retracted[0]
		if j.prompt+j.tokens+reserve > tw.cfg.KVTokens-tw.used()-tw.kept(reserve) {
			return
		}
		tw.retracted = tw.retracted[1:]
		j.has = j.prompt + j.tokens
		tw.waiting = append(tw.waiting, j)
	}
}

func (tw *twin) leave(j *twinJob) {
	switch {
	case j.how != "":
	case slices.Contains(tw.running, j), slices.Contains(slices.Concat(tw.prealloc, tw.landed), j) && len(tw.retracted) > 0:
		j.leaving = true
	default:
		tw.end(j, "left")
	}
}

func twinSchedule(seed uint64) (engine.Config, []*twinJob, []sim.Instant) {
	draw := sim.NewStream(seed, "twin", "schedule")
	cfg := engine.Default()
	cfg.Prefill.ChunkBase, cfg.Prefill.PerToken, cfg.Prefill.PerTokenPair = 0, 0, 0
	cfg.Prefill.ChunkTokens, cfg.Prefill.RequestsMax, cfg.Prefill.BootstrapTimeout = 1_000_000, 0, 0
	cfg.Transfer = engine.TransferConfig{}
	cfg.Abort = engine.AbortConfig{}
	d := &cfg.Decode
	d.RequestsMax = 0
	d.RunningMax = 1 + draw.IntN(12)
	d.ReserveTokens, d.ClipTokens = draw.IntN(2)*draw.IntN(50), draw.IntN(2)*draw.IntN(200)
	if draw.IntN(3) > 0 {
		d.KVTokens = 3000 + draw.IntN(5000)
	}
	d.StepBase = time.Duration(draw.IntN(30)) * time.Millisecond
	d.StepPerRequest = time.Duration(draw.IntN(2000)) * time.Microsecond
	d.StepPerContextToken = time.Duration(draw.IntN(3) * draw.IntN(2000))
	jobs := make([]*twinJob, 1+draw.IntN(25))
	for i := range jobs {
		// Some come together, some on round instants, where they may meet the end of a step.
		at := sim.Instant(draw.IntN(int(3 * time.Second)))
		at -= at % []sim.Instant{1, sim.Instant(time.Millisecond), sim.Instant(time.Second)}[draw.IntN(3)]
		jobs[i] = &twinJob{at: at, leaveAt: sim.Never, prompt: 1 + draw.IntN(3000), outputTokens: 1 + draw.IntN(100)<<draw.IntN(4)}
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

// twinEvent is what happens to both at an instant.
type twinEvent struct {
	at    sim.Instant
	job   int // -1: a look at all
	leave bool
}

func twinEvents(jobs []*twinJob, probes []sim.Instant) []twinEvent {
	var all []twinEvent
	for i, j := range jobs {
		all = append(all, twinEvent{at: j.at, job: i})
		if j.leaveAt < sim.Never {
			all = append(all, twinEvent{at: j.leaveAt, job: i, leave: true})
		}
	}
	for _, at := range probes {
		all = append(all, twinEvent{at: at, job: -1})
	}
	all = append(all, twinEvent{at: sim.Instant(time.Hour), job: -1})
	slices.SortStableFunc(all, func(a, b twinEvent) int { return cmp.Compare(a.at, b.at) })
	return all
}

// engineTrace plays a schedule on the engines.
func engineTrace(t *testing.T, cfg engine.Config, jobs []*twinJob, probes []sim.Instant) (trace []string) {
	p := newPlay(t, func(c *engine.Config) { *c = cfg })
	all := make([]*pair, len(jobs))
	for _, e := range twinEvents(jobs, probes) {
		p.Advance(e.at)
		switch {
		case e.leave:
			all[e.job].leave()
		case e.job >= 0:
			all[e.job] = p.ask(fmt.Sprint(e.job), jobs[e.job].prompt, jobs[e.job].outputTokens)
		default:
			v := p.load()
			line := fmt.Sprintf("%d: memory %d, retracted %d", e.at, v.DecodeKVTokens, v.RetractedSum)
			for i, r := range all {
				if r == nil {
					continue
				}
				made, _ := r.legs[1].Made(p.Now())
				line += fmt.Sprintf(" %d:%d", i, made)
			}
			trace = append(trace, line)
		}
	}
	for i, r := range all {
		stage, ended := r.legs[1].Stage()
		how := map[engine.Stage]string{engine.StageDone: "done", engine.StageAborted: "left", engine.StageFailed: "failed"}[stage]
		made, _ := r.legs[1].Made(p.Now())
		if how == "" {
			ended = 0
		}
		trace = append(trace, fmt.Sprintf("%d: %d tokens, %q at %d", i, made, how, ended))
	}
	return trace
}

// twinTrace plays the same schedule on the twin.
func twinTrace(tw *twin, jobs []*twinJob, probes []sim.Instant) (trace []string) {
	for _, e := range twinEvents(jobs, probes) {
		tw.advance(e.at)
		switch {
		case e.leave:
			tw.leave(jobs[e.job])
			tw.proceed()
		case e.job >= 0:
			tw.prealloc = append(tw.prealloc, jobs[e.job])
			tw.proceed()
		default:
			line := fmt.Sprintf("%d: memory %d, retracted %d", e.at, tw.used(), tw.retractions)
			for i, j := range jobs {
				if j.at <= e.at {
					line += fmt.Sprintf(" %d:%d", i, j.tokens)
				}
			}
			trace = append(trace, line)
		}
	}
	for i, j := range jobs {
		trace = append(trace, fmt.Sprintf("%d: %d tokens, %q at %d", i, j.tokens, j.how, j.ended))
	}
	return trace
}

// TestBatchTwin plays random schedules of requests that come and go on the closed form and on its
// naive twin. All instants, tokens and memory must be equal, at random moments and in the end.
func TestBatchTwin(t *testing.T) {
	ends := map[string]int{}
	for seed := range uint64(1000) {
		cfg, jobs, probes := twinSchedule(seed)
		tw := &twin{cfg: cfg.Decode, stepEnd: sim.Never}
		want := twinTrace(tw, jobs, probes)
		got := engineTrace(t, cfg, jobs, probes)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("seed %d: line %d is\n\t%s\nwant\n\t%s", seed, i, got[i], want[i])
			}
		}
		ends["retracted"] += tw.retractions
		for _, j := range jobs {
			ends[j.how]++
		}
	}
	t.Log(ends)
	for how, least := range map[string]int{"done": 2000, "left": 200, "failed": 10, "retracted": 200} {
		if ends[how] < least {
			t.Errorf("%d requests were %s: the schedules test too little", ends[how], how)
		}
	}
}
