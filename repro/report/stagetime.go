package report

import (
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// stageBuckets is into how many stretches the run is divided at most: a run of any length takes the same memory.
const stageBuckets = 600

// stageTime adds up the time that agents spend in each stage, by stretches of the run. The zero value is ready. Time in
// tasks stands under StageDone.
type stageTime struct {
	every time.Duration // length of a stretch
	sums  [][pacer.StageCount]time.Duration
	until sim.Instant
}

// stageFirst is the length of stretches before there are too many of them.
const stageFirst = 10 * time.Millisecond

func (t *stageTime) add(stage pacer.Stage, from, to sim.Instant) {
	if from < 0 || to <= from || int(stage) >= int(pacer.StageCount) {
		return
	}
	if t.every == 0 {
		t.every = stageFirst
	}
	t.until = max(t.until, to)
	for int64(to-1)/int64(t.every) >= stageBuckets {
		t.double()
	}
	for from < to {
		i := int(int64(from) / int64(t.every))
		for len(t.sums) <= i {
			t.sums = append(t.sums, [pacer.StageCount]time.Duration{})
		}
		next := min(to, sim.Instant(int64(i+1)*int64(t.every)))
		t.sums[i][stage] += next.Sub(from)
		from = next
	}
}

// double makes two stretches one.
func (t *stageTime) double() {
	t.every *= 2
	n := (len(t.sums) + 1) / 2
	for i := range n {
		sum := t.sums[2*i]
		if 2*i+1 < len(t.sums) {
			for stage, d := range t.sums[2*i+1] {
				sum[stage] += d
			}
		}
		t.sums[i] = sum
	}
	t.sums = t.sums[:n]
}

// mean is how many agents were in each stage, on average over each stretch: at, in seconds, is where a stretch begins.
// The last one may be shorter than the others.
func (t *stageTime) mean() (at []float64, agents [pacer.StageCount][]float64) {
	for i, sum := range t.sums {
		begin := sim.Instant(int64(i) * int64(t.every))
		long := min(t.every, t.until.Sub(begin))
		think := sum[pacer.StageDone]
		for stage := pacer.StageTool; stage < pacer.StageDone; stage++ {
			think -= sum[stage]
		}
		sum[pacer.StageThink], sum[pacer.StageDone] = max(think, 0), 0
		at = append(at, begin.Seconds())
		for stage := range agents {
			agents[stage] = append(agents[stage], float64(sum[stage])/float64(max(long, 1)))
		}
	}
	return at, agents
}
