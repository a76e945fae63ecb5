package serving_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/serving/engine"
)

// preset returns a change of the configuration to a preset, and further.
func preset(t *testing.T, name string, change func(c *serving.Config)) func(c *serving.Config) {
	t.Helper()
	cfg, err := serving.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&cfg)
	}
	return func(c *serving.Config) { *c = cfg }
}

// TestPresets checks that each preset is valid, serves, and comes to rest.
func TestPresets(t *testing.T) {
	for _, line := range serving.Presets() {
		name, what, _ := strings.Cut(line, "\t")
		if name == "" || what == "" {
			t.Errorf("a preset is %q", line)
		}
		setup{cfg: preset(t, name, func(c *serving.Config) { c.Gauges.Exact = true })}.run(t, 1, func(p *play) {
			if c := p.s.Config(); c.Preset != name {
				t.Errorf("%s is called %q", name, c.Preset)
			}
			for i := range 20 {
				if got := p.serve(p.ctx, streamed(fmt.Sprint(i), 1000, 20), time.Hour); got.err != nil || got.tokens != 20 {
					t.Errorf("%s: %d tokens, %v", name, got.tokens, got.err)
				}
			}
			if name == "instant" && p.w.Now() > sim.Instant(time.Millisecond) {
				t.Errorf("instant took %v", p.w.Now())
			}
			p.atRest()
		})
	}
	if _, err := serving.Preset("none"); err == nil || !strings.Contains(err.Error(), "sglang-pd") {
		t.Errorf("an unknown preset: %v", err)
	}
}

// cliff has 20 clients send requests to 4 slots of 1 s for 30 s, each again at once when it is answered
// or its patience ends.
func cliff(t *testing.T, detect engine.Detection, patience time.Duration) (replies, timeouts int) {
	const until = sim.Instant(30 * time.Second)
	su := setup{cfg: preset(t, "slots", func(c *serving.Config) { c.Abort.Detect = detect })}
	su.run(t, 1, func(p *play) {
		all := make([]*sim.Process, 20)
		for i := range all {
			all[i] = p.w.Spawn(p.ctx, fmt.Sprint(i), func(ctx context.Context) {
				for n := 0; p.w.Now() < until; n++ {
					limited, stop := sim.WithTimeout(ctx, p.w, patience, context.DeadlineExceeded)
					got := p.serve(limited, whole(fmt.Sprint(i, "-", n), 100, 0), time.Hour)
					stop()
					switch {
					case p.w.Now() >= until:
					case got.err == nil:
						replies++
					case errors.Is(got.err, context.DeadlineExceeded):
						timeouts++
					default:
						t.Error(got.err)
					}
				}
			})
		}
		for _, c := range all {
			p.must(c.Wait(p.ctx))
		}
	})
	return replies, timeouts
}

// TestTimeoutCliff: as soon as a client's patience is shorter than the queue, servers that do not free
// the slots of those who have left answer nobody any more. With slots that are freed, capacity stays,
// but for what has been done for those whose patience ended while they were served.
func TestTimeoutCliff(t *testing.T) {
	t.Logf("%10s %30s %30s %12s", "patience", "never freed: replies, timeouts", "freed at once", "measured")
	for _, row := range []struct {
		patience time.Duration
		measured int // replies of a real server that does not free slots
		freed    int // at least
	}{
		{10 * time.Second, 116, 110}, {6 * time.Second, 115, 110}, {4 * time.Second, 11, 70}, {2 * time.Second, 4, 45},
	} {
		replies, timeouts := cliff(t, engine.DetectNever, row.patience)
		freed, left := cliff(t, engine.DetectNow, row.patience)
		t.Logf("%10v %18d, %10d %18d, %10d %12d", row.patience, replies, timeouts, freed, left, row.measured)
		if off := replies - row.measured; off < -2 || off > 2 {
			t.Errorf("patience %v: %d replies, want about %d", row.patience, replies, row.measured)
		}
		if freed < row.freed {
			t.Errorf("patience %v, slots freed: %d replies, want at least %d", row.patience, freed, row.freed)
		}
	}
}

// TestAbandonedStreams: 16 streams abandoned in 1,800 s, each of which goes on for 477 s on average,
// hold 4.24 of 32 slots, as was measured and as Little's law has it.
func TestAbandonedStreams(t *testing.T) {
	const (
		window   = 1800 * time.Second
		windows  = 20
		step     = 20 * time.Millisecond
		extra    = 477 * time.Second
		patience = 3 * time.Second
	)
	draws := sim.NewStream(1, "abandoned", "streams")
	longer := func() time.Duration { return extra/2 + time.Duration(draws.IntN(int(extra))) }
	su := setup{cfg: preset(t, "sglang", func(c *serving.Config) {
		even(c)
		c.Decode.RunningMax, c.Decode.StepBase = 32, step
		c.Abort.ZombieDecode = true
		c.Model.ContextTokensMax = 1_000_000
	}), model: serving.Model{Output: func(string, int, int) (int, int) { return int((patience + longer()) / step), 0 }}}
	mean := 0.0
	su.run(t, 1, func(p *play) {
		p.w.Spawn(p.ctx, "clients", func(ctx context.Context) {
			for i := 0; p.w.Now() < sim.Instant(windows*window); i++ {
				p.w.Spawn(ctx, fmt.Sprint(i), func(ctx context.Context) {
					limited, stop := sim.WithTimeout(ctx, p.w, patience, context.DeadlineExceeded)
					defer stop()
					if st, err := p.client.Open(limited, &pacer.Attempt{ID: fmt.Sprint(i)}, prompt(100, 0)); err == nil {
						for err == nil {
							_, err = st.Recv()
						}
						if errors.Is(err, io.EOF) {
							t.Error("a stream was not abandoned")
						}
						_ = st.Close()
					}
				})
				p.must(p.w.Sleep(ctx, window/16))
			}
		})
		p.until(window) // the first zombies have come
		n := 0
		for ; p.w.Now() < sim.Instant(windows*window); n++ {
			v := p.s.Snapshot()
			mean += float64(v.Decode.Zombies)
			if live := v.Router.InFlight; v.Decode.Running-v.Decode.Zombies > live {
				t.Fatalf("at %v: %d running and %d zombies with %d clients", p.w.Now(), v.Decode.Running, v.Decode.Zombies, live)
			}
			p.sleep(5 * time.Second)
		}
		mean /= float64(n)
	})
	t.Logf("abandoned streams hold %.2f of 32 slots on average; 4.24 measured, 16·477/1800 = %.2f", mean, 16*extra.Seconds()/window.Seconds())
	if mean < 4.24-0.4 || mean > 4.24+0.4 {
		t.Errorf("%.2f slots, want 4.24 ± 0.4", mean)
	}
}
