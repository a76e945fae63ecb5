package repro_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/repro"
	"example.com/wedge/repro/metrics"
)

// measured runs a scenario for its figures alone.
func measured(t testing.TB, name string, sets ...string) *metrics.Run {
	t.Helper()
	return measuredWith(t, metrics.Options{}, name, sets...)
}

func measuredWith(t testing.TB, o metrics.Options, name string, sets ...string) *metrics.Run {
	t.Helper()
	r, err := repro.Run(context.Background(), lookup(t, name, sets...), repro.Options{NoVerdict: true, Measure: &o})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r.Measured
}

func encoded(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMeasuringChangesNothing: every scenario goes as it does without being measured, and its figures
// are the same with a verdict and without, with a series and without, and when it is run again.
func TestMeasuringChangesNothing(t *testing.T) {
	for _, name := range catalogue() {
		run := func(o repro.Options) *repro.Result {
			r, err := repro.Run(context.Background(), lookup(t, name), o)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return r
		}
		plain := run(repro.Options{})
		full := run(repro.Options{Measure: &metrics.Options{}})
		if plain.TraceHash != full.TraceHash || plain.Steps != full.Steps {
			t.Errorf("%s: measuring changes the trace", name)
		}
		want := encoded(t, full.Measured)
		bare := run(repro.Options{NoVerdict: true, Measure: &metrics.Options{}})
		if got := encoded(t, bare.Measured); !bytes.Equal(got, want) {
			t.Errorf("%s: without a verdict\n%s\nwith one\n%s", name, got, want)
		}
		drawn := run(repro.Options{NoVerdict: true, Measure: &metrics.Options{Series: true}})
		if drawn.Measured.Series == nil {
			t.Errorf("%s: no series", name)
		}
		drawn.Measured.Series = nil
		if got := encoded(t, drawn.Measured); !bytes.Equal(got, want) {
			t.Errorf("%s: with a series\n%s\nwithout\n%s", name, got, want)
		}
		agree(t, name, &full.Report.Totals, full.Measured)
		conserved(t, name, full.Measured)
	}
}

// agree checks figures against those that the fleet's ledger has counted on its own.
func agree(t *testing.T, name string, want *harness.Totals, r *metrics.Run) {
	t.Helper()
	for _, row := range []struct {
		what      string
		got, want int
	}{
		{"tasks", r.Work.TasksCompleted, want.AgentsDone}, {"failed tasks", r.Work.TasksFailed, want.AgentsFailed},
		{"attempts", r.Amplification.Attempts, want.Attempts}, {"calls", len(r.Raw.CallS), want.CallsCompleted},
		{"refusals", r.Control.Refused, want.AttemptsStatus}, {"time limits", r.Harm.Killed, want.AttemptsTimeout},
	} {
		if row.got != row.want {
			t.Errorf("%s: %d %s, want %d", name, row.got, row.what, row.want)
		}
	}
}

// conserved checks what must hold in any run.
func conserved(t *testing.T, name string, r *metrics.Run) {
	t.Helper()
	w, h := &r.Waste, &r.Harm
	for _, row := range []struct {
		what string
		ok   bool
	}{
		{"tokens made are used or wasted", w.TokensUseful+w.TokensWasted == w.TokensTotal && w.TokensWasted >= 0},
		{"zombies' tokens are wasted ones", w.ZombieTokens >= 0 && w.ZombieTokens <= w.TokensWasted},
		{"prompts are computed again after the first time", w.PromptTokensAgain >= 0 && w.PromptTokensAgain <= w.PromptTokensTotal},
		{"killed are healthy, dead, failing or not sent", h.HealthyKilled+h.DeadKilled+h.FailingKilled+h.Unsent == h.Killed},
		{"limits have killed all", sumOf(h.ByLimit) == [2]int{h.Killed, h.HealthyKilled}},
		{"dead ones are detected or not", h.Dead == len(h.DetectDeadS)+h.DeadUndetected && h.DeadKilled <= len(h.DetectDeadS)},
		{"tasks end or do not", r.Work.TasksCompleted+r.Work.TasksFailed+r.Tasks.Censored-r.Work.TasksFailed == r.Work.TasksStarted},
		{"calls", r.Calls.N == r.Amplification.Calls && r.Calls.N == len(r.Raw.CallS)+len(r.Raw.CallCensoredS)},
		{"zombies hold slots while they make tokens", (w.ZombieTokens == 0) || w.ZombieSlotS > 0},
		{"silence fits into the run", r.Stall.AllS <= r.EndedAtS+1e-6 && r.Stall.LongestS <= r.EndedAtS+1e-6},
		{"the parts of a call add up", math.Abs(splitSum(r)-r.Calls.MeanS) < 1e-3*(1+r.Calls.MeanS)},
		{"a trigger is recovered from or not", !(r.Recovery.Recovered && r.Recovery.Never)},
	} {
		if !row.ok {
			t.Errorf("%s: it does not hold that %s: %s", name, row.what, encoded(t, r))
		}
	}
}

func sumOf(limits []metrics.LimitHarm) (sum [2]int) {
	for _, l := range limits {
		sum[0] += l.Killed
		sum[1] += l.HealthyKilled
	}
	return sum
}

func splitSum(r *metrics.Run) float64 {
	s := &r.Split
	return s.SlotS + s.RateS + s.ConnectS + s.HeadersS + s.FirstTokenS + s.StreamS + s.BackoffS
}

// TestConservation: the same holds under other policies, whatever they do to a scenario.
func TestConservation(t *testing.T) {
	for seed, sets := range [][]string{
		{"policy.total=60s"}, {"policy.idle=30s", "policy.first_token=20s"}, {"policy.response_header=10s", "policy.max_attempts=5"},
		{"policy.total=120s", "servers.abort.detect=never"}, {"policy.connect=5s", "policy.idle=100s", "policy.idle_by=byte"},
		{"policy.total=45s", "pacer.hold=start", "pacer.hold_in_backoff=true"},
	} {
		for _, name := range catalogue() {
			conserved(t, name+fmt.Sprint(sets), measured(t, name, append(sets, fmt.Sprintf("seed=%d", seed+1))...))
		}
	}
}

// TestConservationUnderEveryBlock: and under every block of a policy and of the pacer.
func TestConservationUnderEveryBlock(t *testing.T) {
	for seed, sets := range [][]string{
		{"policy.partial=continue", "policy.idle=20s", "policy.max_attempts=10"},
		{"pacer.hold=agent", "policy.total=100s"}, {"pacer.hold=first_token", "policy.first_token=10s"},
		{"policy.call_total=200s"}, {"policy.total=60s", "policy.task=600s", "policy.round=300s"},
		{"policy.hedge.after=20s", "policy.hedge.share=0.5", "policy.idle=30s", "policy.max_attempts=6"},
		{"pacer.limit={rule: gradient2}", "policy.total=120s"},
		{"policy.breaker={rule: consecutive, failure_threshold: 2, delay: 1m}", "policy.total=30s", "policy.retry_shed=true", "policy.max_attempts=10"},
		{"policy.adaptive=[{limit: idle, rule: rto, initial: 60s}]", "policy.max_attempts=6"},
	} {
		names := []string{"silent-stream", "connection-dead", "starvation", "compound-pin-storm", "decode-memory", "ignored-abort"}
		if testing.Short() {
			names = names[:2]
		}
		for _, name := range names {
			conserved(t, name+fmt.Sprint(sets), measured(t, name, append(sets, fmt.Sprintf("seed=%d", seed+1))...))
		}
	}
}

// TestHealthyHasNoHarm: nothing is wrong, so no policy with sensible limits kills anything.
func TestHealthyHasNoHarm(t *testing.T) {
	r := measured(t, "healthy", "policy.idle=60s", "policy.first_token=300s", "policy.total=600s")
	if r.Outcome != metrics.Completed || r.Harm.Killed+r.Harm.Dead+r.Waste.TokensWasted+r.Stall.Windows != 0 || r.Amplification.Peak != 1 {
		t.Errorf("%s", encoded(t, r))
	}
}

// TestIdleLimitFindsDeadStreams: an idle limit of 60 s ends streams that are silent, 60 s after they went so,
// and no others.
func TestIdleLimitFindsDeadStreams(t *testing.T) {
	r := measured(t, "silent-stream", "policy.idle=60s", "policy.max_attempts=10")
	if r.Outcome != metrics.Completed || r.Harm.HealthyKilled != 0 || r.Harm.DeadKilled < 10 || r.Harm.DeadKilled != r.Harm.Killed {
		t.Errorf("%s: %s", r.Outcome, encoded(t, r.Harm))
	}
	for _, s := range r.Harm.DetectDeadS {
		if s != 60 {
			t.Errorf("a dead stream was found out after %v s, want 60", s)
		}
	}
	if !r.Recovery.Recovered {
		t.Errorf("not recovered: %+v", r.Recovery)
	}
	if without := measured(t, "silent-stream"); without.Outcome != metrics.Never || without.Harm.DeadUndetected != 16 || !without.Recovery.Never || without.Stall.AllS < 500 {
		t.Errorf("without a limit: %s", encoded(t, without))
	}
}

// TestIdleLimitBelowSilence: the model thinks for 120 s in silence. A limit above that does nothing, one
// below kills healthy calls.
func TestIdleLimitBelowSilence(t *testing.T) {
	above := measured(t, "long-reasoning", "policy.idle=150s")
	if above.Outcome != metrics.Completed || above.Harm.Killed != 0 {
		t.Errorf("above: %s %s", above.Outcome, encoded(t, above.Harm))
	}
	below := measured(t, "long-reasoning", "policy.idle=60s")
	h := &below.Harm
	if h.HealthyKilled < 30 || h.HealthyKilled != h.Killed || len(h.DetectDeadS) != 0 || h.FalseAlarmRate != 1 {
		t.Errorf("below: %s", encoded(t, h))
	}
	if len(h.HealthyLeftS) != h.HealthyKilled || h.ByLimit[0].Limit != "idle" {
		t.Errorf("below: %s", encoded(t, h))
	}
}

// TestTotalLimitAmplifies: with 60 s for calls that take minutes, nothing is ever finished, all is wasted,
// and each call is tried three times.
func TestTotalLimitAmplifies(t *testing.T) {
	r := measured(t, "starvation", "policy.total=60s")
	a := &r.Amplification
	if r.Outcome == metrics.Completed || r.Waste.WastedShare < 0.9 || a.PerCall < 2.5 || a.Peak < 1.5 || a.RetryShare < 0.5 {
		t.Errorf("%s: %s %s", r.Outcome, encoded(t, r.Waste), encoded(t, a))
	}
	if r.Waste.PromptTokensAgain == 0 || r.Harm.HealthyKilled == 0 {
		t.Errorf("%s %s", encoded(t, r.Waste), encoded(t, r.Harm))
	}
	fine := measured(t, "starvation")
	if fine.Outcome != metrics.Completed || fine.Waste.TokensWasted != 0 || fine.Amplification.PerCall != 1 {
		t.Errorf("without a limit: %s", encoded(t, fine))
	}
	if fine.Work.TaskTimeMeanS >= r.Work.TaskTimeMeanS {
		t.Errorf("tasks take %v s without a limit and %v s with it", fine.Work.TaskTimeMeanS, r.Work.TaskTimeMeanS)
	}
}

// TestZombies: with servers that never notice that clients leave, what is left of each answer is made for
// nobody, and the client's view of what is in flight falls behind the servers'.
func TestZombies(t *testing.T) {
	deaf := measured(t, "starvation", "policy.total=60s", "servers.abort.detect=never")
	if deaf.Waste.ZombieTokens == 0 || deaf.Waste.ZombieSlotsMean < 10 || deaf.Control.InflightServerMean < deaf.Control.InflightClientMean+10 {
		t.Errorf("%s %s", encoded(t, deaf.Waste), encoded(t, deaf.Control))
	}
	prompt := measured(t, "starvation", "policy.total=60s", "servers.abort.detect=now")
	if prompt.Waste.ZombieSlotsMean > 0.05 {
		t.Errorf("%s", encoded(t, prompt.Waste))
	}
}

// TestSeriesAddsUp: what is shown over time is what the figures say of the whole.
func TestSeriesAddsUp(t *testing.T) {
	r := measuredWith(t, metrics.Options{Series: true, Every: 5 * time.Second}, "silent-stream", "policy.idle=60s", "policy.max_attempts=10")
	s := r.Series
	sum := func(v []float32) (x float64) {
		for _, f := range v {
			x += float64(f) * s.EveryS
		}
		return x
	}
	for _, row := range []struct {
		what            string
		got, want, give float64
	}{
		{"calls", sum(s.OfferedPerS), float64(r.Amplification.Calls), 0.01},
		{"attempts", sum(s.AttemptsPerS), float64(r.Amplification.Attempts), 0.01},
		{"useful tokens", sum(s.GoodputPerS), float64(r.Waste.TokensUseful), 5},
		{"in flight", sum(s.ClientInflight) / r.EndedAtS, r.Control.InflightClientMean, 0.3},
		{"zombies", sum(s.SlotsZombie), r.Waste.ZombieSlotS, 60},
	} {
		if math.Abs(row.got-row.want) > row.give {
			t.Errorf("%s: %v, want %v", row.what, row.got, row.want)
		}
	}
	idle := 0.0
	for i := range s.ServerRunning {
		if s.SlotsUseful[i] < 0 || s.SlotsUseful[i]+s.SlotsZombie[i]+s.SlotsIdle[i] != s.ServerRunning[i] {
			t.Fatalf("at %d: %v useful, %v zombies, %v idle of %v", i, s.SlotsUseful[i], s.SlotsZombie[i], s.SlotsIdle[i], s.ServerRunning[i])
		}
		idle += float64(s.SlotsIdle[i])
	}
	if idle == 0 {
		t.Error("no place was ever idle, while there were silent streams")
	}
}

// TestHedges: attempts that are beside others count as what they are, and so does what was turned away.
func TestHedges(t *testing.T) {
	tied := measured(t, "starvation", "policy.hedge.tied=true", "policy.hedge.max=1")
	conserved(t, "tied requests", tied)
	if tied.Amplification.Attempts != 2*tied.Amplification.Calls || tied.Amplification.Peak != 2 || tied.Harm.HealthyCancelled != tied.Amplification.Calls {
		t.Errorf("tied requests: %s %s", encoded(t, tied.Amplification), encoded(t, tied.Harm))
	}
	late := measured(t, "starvation", "policy.hedge.after=30s", "policy.hedge.on=answer", "policy.hedge.max=1", "policy.hedge.share=1", "pacer.slots=0")
	conserved(t, "late ones", late)
	if late.Waste.WastedShare < 0.2 || late.Control.InflightClientMean < 30 {
		t.Errorf("late ones: %s %s", encoded(t, late.Waste), encoded(t, late.Control))
	}
	shed := measured(t, "starvation", "pacer.queue.max=4", "policy.retry_shed=true", "policy.max_attempts=1000")
	if shed.Control.Shed < 1000 || shed.Amplification.Attempts != shed.Amplification.Calls || shed.Outcome != metrics.Completed {
		t.Errorf("shed: %s %s", encoded(t, shed.Control), encoded(t, shed.Amplification))
	}
}

// TestOracle: it ends what is dead, at once, and nothing else; so it is as good as no limit where nothing
// dies, and better than any limit where something does.
func TestOracle(t *testing.T) {
	oracle := func(name string) *metrics.Run {
		s := lookup(t, name, "policy.max_attempts=20")
		r, err := repro.Run(context.Background(), s, repro.Options{NoVerdict: true, Oracle: true, Measure: &metrics.Options{}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		conserved(t, name, r.Measured)
		return r.Measured
	}
	for _, name := range []string{"starvation", "long-reasoning", "healthy", "slow-but-fine"} {
		got, want := oracle(name), measured(t, name, "policy.max_attempts=20")
		if !bytes.Equal(encoded(t, got), encoded(t, want)) {
			t.Errorf("%s: the oracle changes what is well:\n%s\n%s", name, encoded(t, got), encoded(t, want))
		}
	}
	silent, limited := oracle("silent-stream"), measured(t, "silent-stream", "policy.idle=60s", "policy.max_attempts=20")
	if silent.Outcome != metrics.Completed || silent.Work.TaskTimeMeanS > limited.Work.TaskTimeMeanS || len(silent.Harm.DetectDeadS) < 10 {
		t.Errorf("silent-stream: %s, %v s a task, with a limit %v s", silent.Outcome, silent.Work.TaskTimeMeanS, limited.Work.TaskTimeMeanS)
	}
	for _, s := range silent.Harm.DetectDeadS {
		if s > 1 {
			t.Errorf("silent-stream: found out after %v s", s)
		}
	}
}

// TestUnsentAndUnheard: an attempt that has no connection yet was not sent, and one on a connection that is
// dead is dead since it was sent, though no server has heard of it.
func TestUnsentAndUnheard(t *testing.T) {
	pool := measured(t, "connection-pool", "policy.connect=60s", "policy.max_attempts=100")
	conserved(t, "connection-pool", pool)
	if h := &pool.Harm; h.Unsent == 0 || h.Unsent != h.Killed || h.ByLimit[0].Limit != "connect" {
		t.Errorf("connection-pool: %s", encoded(t, h))
	}
	gone := measured(t, "connection-dead", "policy.response_header=90s", "policy.max_attempts=3")
	conserved(t, "connection-dead", gone)
	if h := &gone.Harm; h.DeadKilled == 0 || h.HealthyKilled != 0 {
		t.Errorf("connection-dead: %s", encoded(t, h))
	}
	for _, s := range gone.Harm.DetectDeadS {
		if s > 90 {
			t.Errorf("connection-dead: found out after %v s", s)
		}
	}
}

// TestControl: what the client's own control has done.
func TestControl(t *testing.T) {
	if r := measured(t, "starvation"); r.Control.LimitMean != 16 || r.Control.BreakerOpenS != 0 {
		t.Errorf("slots: %s", encoded(t, r.Control))
	}
	broken := measured(t, "starvation", "policy.total=60s", "policy.max_attempts=20", "policy.retry_shed=true",
		"policy.breaker={rule: consecutive, failure_threshold: 3, delay: 2m}")
	conserved(t, "a breaker", broken)
	if c := &broken.Control; c.Rejected == 0 || c.BreakerOpenS < 60 || c.BreakerOpenS > broken.EndedAtS {
		t.Errorf("a breaker: %s", encoded(t, c))
	}
	moving := measured(t, "starvation", "pacer.limit={rule: aimd, initial: 8, min: 2, max: 40}")
	conserved(t, "a limit that moves", moving)
	if c := &moving.Control; c.LimitMean < 2 || c.LimitMean > 40 || math.Abs(c.LimitMean-c.InflightClientMean) > 2 {
		t.Errorf("a limit that moves: %s", encoded(t, c))
	}
}
