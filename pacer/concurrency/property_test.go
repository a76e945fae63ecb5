package concurrency

import (
	"math/rand/v2"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// Whatever it is told, a limit stays within its bounds, and two that are told the same say the same.
func TestBounds(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		for _, rule := range Rules() {
			least := 1 + r.IntN(20)
			most := least + r.IntN(200)
			c := Config{Rule: rule, Initial: least + r.IntN(most-least+1)}
			if rule != Static {
				c.Min, c.Max = least, most
				c.Signal = []string{Latency, FirstToken, PerToken}[r.IntN(3)]
				c.Drops = []string{"", Shrink, Ignore, Record}[r.IntN(4)]
			}
			if rule != Static && rule != Failsafe && r.IntN(2) == 0 {
				c.Window = Window{Samples: 1 + r.IntN(12)}
			}
			if err := c.Validate(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			draw := r.Float64()
			a, b := New(c, 16, draw), New(c, 16, draw)
			low := c.WithDefaults(16)
			now := sim.Instant(0)
			for range 400 {
				now = now.Add(time.Duration(r.Int64N(int64(3 * time.Second))))
				s := sample(r, a.Limit())
				a.Ended(now, s)
				b.Ended(now, s)
				if n := a.Limit(); n < low.Min || n > low.Max || n != b.Limit() {
					t.Fatalf("seed %d, rule %s: limit %d (twin %d), want the same from %d to %d", seed, rule, n, b.Limit(), low.Min, low.Max)
				}
			}
		}
	}
}

// sample is anything, and at times nonsense.
func sample(r *rand.Rand, limit int) Sample {
	latency := time.Duration(r.ExpFloat64() * float64(time.Minute))
	if r.IntN(50) == 0 {
		latency = 0
	}
	return Sample{
		Latency: latency, FirstToken: latency / 10, Began: r.IntN(4) > 0, Tokens: r.IntN(500), Inflight: r.IntN(2 * limit),
		Full: r.IntN(2) == 0, Dropped: r.IntN(4) == 0, Canceled: r.IntN(10) == 0, Draw: r.Float64(),
	}
}

// A server takes longer the more it has in flight above its capacity. By the time to the first token
// the limit stays in that region.
func TestRulesFindASaturatedServer(t *testing.T) {
	const capacity = 20
	for _, rule := range []string{Vegas, Gradient, AIMD} {
		c := Config{Rule: rule, Initial: 10, Min: 4, Max: 400, Signal: FirstToken}
		if rule == AIMD {
			c.Timeout = 3 * time.Second
		}
		l, now, most := New(c, 0, 0.5), sim.Instant(0), 0
		for i := range 3000 {
			n := l.Limit()
			first := time.Second * time.Duration(max(capacity, n)) / capacity
			now = now.Add(first)
			l.Ended(now, Sample{Latency: time.Minute, Began: true, FirstToken: first, Inflight: n, Full: true})
			if i > 100 {
				most = max(most, l.Limit())
			}
		}
		if n := l.Limit(); n < capacity/2 || most > 6*capacity {
			t.Errorf("%s: the limit is %d in the end and was up to %d, for a server of %d", rule, n, most, capacity)
		}
	}
}
