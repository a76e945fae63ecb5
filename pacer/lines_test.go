package pacer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/concurrency"
	"example.com/wedge/pacer/queue"
)

// TestLineIsASemaphore: with first come first served and a limit that stays, everything happens as it
// does without a line, to the last instant.
func TestLineIsASemaphore(t *testing.T) {
	for n := range uint64(30) {
		var logs [2]string
		for i := range logs {
			random := rand.New(rand.NewPCG(seed, n))
			config := slots(1+random.IntN(3), []pacer.Hold{pacer.HoldStream, pacer.HoldStart, pacer.HoldFirstToken, pacer.HoldAgent}[random.IntN(4)])
			config.HoldInBackoff = random.IntN(2) == 0
			if i == 1 {
				config.Queue.Order = queue.FIFO
			}
			policy := pacer.DefaultPolicy()
			policy.Connect, policy.FirstToken, policy.Idle, policy.Total, policy.CallTotal = 4*s, 8*s, 3*s, 12*s, 30*s
			w := sim.NewVirtual(sim.VirtualOptions{Seed: n})
			rec := &recorder{w: w}
			err := w.Run(t.Context(), func(ctx context.Context) {
				p, err := pacer.New(w, config, policy, &backend{w: w, play: func(*pacer.Attempt) script { return randomScript(random) }}, rec, nil)
				if err != nil {
					t.Fatal(err)
				}
				var agents []*sim.Process
				for i := range 6 {
					agents = append(agents, w.Spawn(ctx, "agent", func(ctx context.Context) {
						randomAgent(ctx, w, p, fmt.Sprintf("agent-%d", i), random, map[string]int{})
					}))
				}
				for _, a := range agents {
					_ = a.Wait(ctx)
				}
				settled(t, w, p)
			})
			if err != nil {
				t.Fatalf("seed %d: %v", n, err)
			}
			logs[i] = strings.Join(rec.lines, "\n")
		}
		if logs[0] != logs[1] {
			t.Fatalf("seed %d: with a semaphore\n%s\nwith a line\n%s", n, logs[0], logs[1])
		}
	}
}

// TestLinesComeBack runs random agents through random lines against random servers, with cancels and
// deadlines: nobody is lost, and all slots are free in the end.
func TestLinesComeBack(t *testing.T) {
	outcomes := map[string]int{}
	for n := range uint64(120) {
		random := rand.New(rand.NewPCG(seed, n))
		config := slots(1+random.IntN(3), []pacer.Hold{pacer.HoldStream, pacer.HoldStart, pacer.HoldFirstToken, pacer.HoldAgent}[random.IntN(4)])
		config.HoldInBackoff = random.IntN(2) == 0
		config.Queue = randomQueue(random)
		if rules := concurrency.Rules(); random.IntN(2) == 0 {
			config.Limit = concurrency.Config{Rule: rules[random.IntN(len(rules))]}
			if config.Limit.Rule != concurrency.Static {
				config.Limit.Initial, config.Limit.Min, config.Limit.Max = 2, 1, 5
				config.Limit.Signal = []string{concurrency.Latency, concurrency.FirstToken, concurrency.PerToken}[random.IntN(3)]
				config.Limit.Drops = concurrency.Shrink
			}
		}
		policy := pacer.DefaultPolicy()
		policy.Connect, policy.ResponseHeader, policy.FirstToken, policy.Idle, policy.Total = 4*s, 5*s, 8*s, 3*s, 12*s
		policy.RetryShed = random.IntN(2) == 0
		if random.IntN(2) == 0 {
			policy.CallTotal = 25 * s
		}
		if random.IntN(3) == 0 {
			policy.Hedge = pacer.Hedge{After: 3 * s, Share: 1}
		}
		runAtRandom(t, fmt.Sprintf("seed %d/%d: %+v", seed, n, config), config, policy, n, random, outcomes)
	}
	for _, kind := range []string{"ok", "cancelled", "*pacer.LimitError", "*pacer.StatusError", "*pacer.ShedError"} {
		if outcomes[kind] < 10 {
			t.Errorf("seed %d: only %d calls ended with %s: %v", seed, outcomes[kind], kind, outcomes)
		}
	}
}

func randomQueue(random *rand.Rand) queue.Config {
	c := queue.Config{Order: queue.Orders()[random.IntN(len(queue.Orders()))]}
	if c.Order == queue.AdaptiveLIFO {
		c.LIFOAbove = 2
	}
	switch random.IntN(5) {
	case 0:
		c.Max = 1 + random.IntN(4)
	case 1:
		c.Wait = 5 * s
	case 2:
		c.CoDel, c.Target, c.Interval = queue.CoDelServer, s, 5*s
	case 3:
		c.CoDel, c.Target, c.Interval = queue.CoDelRFC8289, s, 5*s
	case 4:
		c.RejectFrom, c.RejectTo = 1, 2
	}
	c.DropDead = random.IntN(2) == 0
	return c
}

// BenchmarkLine measures one call of 30 agents for 16 slots, by what they wait at.
func BenchmarkLine(b *testing.B) {
	for _, bench := range []struct {
		name   string
		config pacer.Config
	}{
		{"semaphore", slots(16, pacer.HoldStream)},
		{"fifo", pacer.Config{Slots: 16, Hold: pacer.HoldStream, Queue: queue.Config{Order: queue.FIFO}}},
		{"fair", pacer.Config{Slots: 16, Hold: pacer.HoldStream, Queue: queue.Config{Order: queue.Fair, Wait: 60 * s}}},
		{"vegas", pacer.Config{Hold: pacer.HoldStream, Limit: concurrency.Config{Rule: concurrency.Vegas}}},
		{"failsafe", pacer.Config{Hold: pacer.HoldStream, Limit: concurrency.Config{Rule: concurrency.Failsafe}}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			const agents = 30
			w := sim.NewVirtual(sim.VirtualOptions{Seed: seed})
			p, err := pacer.New(w, bench.config, pacer.DefaultPolicy(), &backend{w: w, play: answers(s)}, deaf{}, nil)
			if err != nil {
				b.Fatal(err)
			}
			req := request()
			err = w.Run(context.Background(), func(ctx context.Context) {
				var all []*sim.Process
				for i := range agents {
					agent := fmt.Sprintf("agent-%02d", i)
					all = append(all, w.Spawn(ctx, agent, func(ctx context.Context) {
						for n := range b.N/agents + 1 {
							if _, err := p.Chat(ctx, identity(agent, n+1), req); err != nil {
								b.Error(err)
							}
						}
					}))
				}
				for _, a := range all {
					_ = a.Wait(ctx)
				}
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
