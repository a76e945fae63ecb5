package sim_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"example.com/wedge/harness/sim"
)

var _ rand.Source = (*sim.Stream)(nil)

// TestStreamGolden pins values. They must never change: a seed that is printed in somebody's report
// must reproduce the run years later.
func TestStreamGolden(t *testing.T) {
	s := sim.NewStream(1, "agent-07", "output_tokens")
	third := s.At(3)
	empty := sim.NewStream(0, "", "")
	var zero sim.Stream
	minus := s.At(-1)
	got := fmt.Sprintf("%x %x %x %x %x %x", s.Uint64(), s.Uint64(), third.Uint64(), minus.Uint64(), empty.Uint64(), zero.Uint64())
	if want := "b9827b0c336dd1d1 872de635a00e7f81 e8634a6dacba0332 1255b34717439d5c 13231ed3374dadbe e220a8397b1dcdaf"; got != want {
		t.Errorf("numbers %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(s.Float64(), s.IntN(1000), s.IntN(1)), "0.6287287649284442 422 0"; got != want {
		t.Errorf("draws %s, want %s", got, want)
	}
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	if got, want := fmt.Sprint(w.Choose("runnable", 1000), w.Choose("x", 1000), w.Choose("runnable", 1000)), "885 253 67"; got != want {
		t.Errorf("choices %s, want %s", got, want)
	}
}

func TestStreamIsAValue(t *testing.T) {
	s := sim.NewStream(1, "a", "b")
	s.Uint64()
	copied := s
	sub := s.At(5)
	_ = sub.Uint64()
	if s.Uint64() != copied.Uint64() {
		t.Error("a copy goes on differently, or At has moved its stream")
	}
	if again := sim.NewStream(1, "a", "b").At(5); func() uint64 { a := s.At(5); return a.Uint64() }() != again.Uint64() {
		t.Error("At depends on how far the stream has gone")
	}
	wall, virtual := sim.NewWall(sim.WallOptions{Seed: 9}), sim.NewVirtual(sim.VirtualOptions{Seed: 9})
	a, b := wall.Stream("e", "p"), virtual.Stream("e", "p")
	if a.Uint64() != b.Uint64() {
		t.Error("the two worlds draw differently")
	}
}

// TestStreamKeys: keys that look alike give other numbers.
func TestStreamKeys(t *testing.T) {
	seen := map[uint64]string{}
	for seed := range uint64(50) {
		for _, entity := range []string{"", "a", "b", "ab", "agent-1", "agent-11", "a\xff"} {
			for _, purpose := range []string{"", "a", "b", "c", "bc", "1", "\xffb"} {
				s := sim.NewStream(seed, entity, purpose)
				for n := -2; n < 10; n++ {
					sub := s.At(n)
					key := fmt.Sprintf("(%d, %q, %q).At(%d)", seed, entity, purpose, n)
					if other, ok := seen[sub.Uint64()]; ok {
						t.Errorf("%s and %s draw the same", key, other)
					}
					seen[sub.Uint64()] = key
				}
			}
		}
	}
}

// families are ways to get many numbers that ought to be independent: along a stream, and across
// streams whose keys differ by little.
var families = []struct {
	name string
	draw func(i int) uint64
}{
	{"along a stream", func() func(int) uint64 {
		s := sim.NewStream(1, "e", "p")
		return func(int) uint64 { return s.Uint64() }
	}()},
	{"across seeds", func(i int) uint64 { s := sim.NewStream(uint64(i), "e", "p"); return s.Uint64() }},
	{"across entities", func(i int) uint64 { s := sim.NewStream(1, fmt.Sprint("agent-", i), "p"); return s.Uint64() }},
	{"across purposes", func(i int) uint64 { s := sim.NewStream(1, "e", fmt.Sprint(i)); return s.Uint64() }},
	{"across sub-streams", func(i int) uint64 { s := sim.NewStream(1, "e", "p").At(i); return s.Uint64() }},
	{"across sub-sub-streams", func(i int) uint64 { s := sim.NewStream(1, "e", "p").At(i / 10).At(i % 10); return s.Uint64() }},
}

// TestStreamUniform looks at each byte's distribution, each bit's odds, and how many bits two numbers
// in a row have in common. The bounds are six standard deviations wide.
func TestStreamUniform(t *testing.T) {
	const n = 50_000
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			var counts [8][256]float64
			var ones [64]float64
			common, last := 0.0, f.draw(-1)
			for i := range n {
				v := f.draw(i)
				for b := range 8 {
					counts[b][byte(v>>(8*b))]++
				}
				for b := range 64 {
					ones[b] += float64(v >> b & 1)
				}
				common += float64(64 - bits.OnesCount64(v^last))
				last = v
			}
			for b := range counts {
				chi2 := 0.0
				for _, c := range counts[b] {
					chi2 += (c - n/256.0) * (c - n/256.0) / (n / 256.0)
				}
				if math.Abs(chi2-255) > 6*math.Sqrt(2*255) {
					t.Errorf("byte %d: chi² %.0f with 255 degrees of freedom", b, chi2)
				}
			}
			for b, c := range ones {
				if math.Abs(c-n/2) > 6*math.Sqrt(n)/2 {
					t.Errorf("bit %d is set %.0f times in %d", b, c, n)
				}
			}
			if math.Abs(common-32*n) > 6*math.Sqrt(64*n)/2 {
				t.Errorf("two in a row have %.3f bits in common, want 32", common/n)
			}
		})
	}
}

func TestStreamRanges(t *testing.T) {
	s := sim.NewStream(1, "e", "ranges")
	sum := 0.0
	var seen [7]int
	for range 70_000 {
		f := s.Float64()
		if f < 0 || f >= 1 {
			t.Fatalf("Float64: %v", f)
		}
		sum += f
		seen[s.IntN(7)]++
	}
	if mean := sum / 70_000; math.Abs(mean-0.5) > 6/math.Sqrt(12*70_000) {
		t.Errorf("mean of Float64: %v", mean)
	}
	for i, c := range seen {
		if c < 9_400 || c > 10_600 {
			t.Errorf("IntN(7) was %d %d times in 70,000", i, c)
		}
	}
	for _, n := range []int{0, -1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("IntN(%d) did not panic", n)
				}
			}()
			s.IntN(n)
		}()
	}
}

// TestInstant covers the arithmetic at its edges.
func TestInstant(t *testing.T) {
	max, min := sim.Instant(math.MaxInt64), sim.Instant(0)
	for _, c := range []struct{ got, want any }{
		{min.Add(5), sim.Instant(5)},
		{max.Add(1), sim.Never},
		{sim.Instant(10).Add(math.MaxInt64), sim.Never},
		{sim.Instant(10).Add(-20), sim.Instant(-10)},
		{sim.Instant(1500e6).Seconds(), 1.5},
		{sim.Instant(64e9).String(), "1m4s"},
		{sim.Never.String(), "never"},
		{sim.Instant(90e9).Time().String(), "2026-01-01 00:01:30 +0000 UTC"},
		{sim.InstantOf(sim.Instant(123).Time()), sim.Instant(123)},
		{fmt.Sprint(sim.Instant(3e9).Sub(1e9)), "2s"},
	} {
		if c.got != c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}
