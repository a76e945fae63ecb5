package concurrency

import (
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// step is a row of a timeline: at an instant, some attempts end alike, and then the limit is so much.
type step struct {
	at    time.Duration
	times int
	s     Sample
	want  int
}

func took(d time.Duration, inflight int) Sample { return Sample{Latency: d, Inflight: inflight} }

func dropped(d time.Duration, inflight int) Sample {
	return Sample{Latency: d, Inflight: inflight, Dropped: true}
}

func play(t *testing.T, c Config, steps []step) {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	l := New(c, 16, 0.5)
	for i, st := range steps {
		for range max(1, st.times) {
			l.Ended(sim.Instant(st.at), st.s)
		}
		if got := l.Limit(); got != st.want {
			t.Errorf("row %d, at %v: limit %d, want %d", i, st.at, got, st.want)
		}
	}
}

const second = time.Second

func TestStatic(t *testing.T) {
	play(t, Config{Rule: Static}, []step{
		{at: 1 * second, s: took(100*second, 16), want: 16},
		{at: 2 * second, s: dropped(100*second, 16), want: 16},
	})
}

func TestAIMD(t *testing.T) {
	play(t, Config{Rule: AIMD, Min: 5, Initial: 20, Max: 22}, []step{
		{at: 1 * second, s: took(second, 10), want: 21},             // half in use: one more
		{at: 2 * second, s: took(second, 10), want: 21},             // less than half
		{at: 3 * second, s: took(5*second, 20), want: 22},           // the timeout itself is in time
		{at: 4 * second, s: took(second, 22), want: 22},             // at its most
		{at: 5 * second, s: took(5*second+1, 22), want: 19},         // ⌊0.9 · 22⌋
		{at: 6 * second, s: dropped(second, 1), want: 17},           // a drop counts however few are in flight
		{at: 7 * second, times: 20, s: dropped(second, 1), want: 5}, // at its least
		{at: 8 * second, s: Sample{Latency: 100 * second, Canceled: true}, want: 5},
	})
}

// With the library's timeout of 5 s, every call of a language model is a drop.
func TestAIMDOfTheLibraryOnlyShrinks(t *testing.T) {
	play(t, Config{Rule: AIMD, Min: 1}, []step{{at: second, times: 60, s: took(60*second, 20), want: 1}})
	play(t, Config{Rule: AIMD, Min: 1, Signal: FirstToken}, []step{
		{at: second, times: 60, s: Sample{Latency: 60 * second, Began: true, FirstToken: 2 * second, Inflight: 40}, want: 80},
	})
}

func TestVegas(t *testing.T) {
	play(t, Config{Rule: Vegas}, []step{
		{at: 1 * second, s: took(100*second, 20), want: 20},   // the base
		{at: 2 * second, s: took(80*second, 20), want: 20},    // a better base
		{at: 3 * second, s: took(80*second, 20), want: 26},    // no queue: + 6 log₁₀
		{at: 4 * second, s: took(85*second, 26), want: 27},    // queue ⌈26·(1-80/85)⌉ = 2: + log₁₀
		{at: 5 * second, s: took(100*second, 27), want: 27},   // 6: between 3 and 6 log₁₀
		{at: 6 * second, s: took(160*second, 27), want: 26},   // 14: - log₁₀
		{at: 7 * second, s: took(80*second, 12), want: 26},    // less than half in use
		{at: 8 * second, s: dropped(80*second, 12), want: 25}, // a drop
	})
}

// The base is measured anew after 0.75 · 30 · 20 = 450 samples: then slow calls are the new normal.
func TestVegasProbes(t *testing.T) {
	play(t, Config{Rule: Vegas}, []step{
		{at: 1 * second, s: took(80*second, 9), want: 20},
		{at: 2 * second, times: 448, s: took(160*second, 9), want: 20},
		{at: 3 * second, s: took(160*second, 20), want: 20}, // the 450th: the base
		{at: 4 * second, s: took(160*second, 20), want: 26},
	})
}

func TestGradient(t *testing.T) {
	play(t, Config{Rule: Gradient, ProbeInterval: 10}, []step{
		{at: 1 * second, s: took(10*second, 50), want: 57},   // slope 1: + √50
		{at: 2 * second, s: took(20*second, 57), want: 64},   // twice the base is tolerated: + √57
		{at: 3 * second, s: took(40*second, 64), want: 59},   // slope 0.5: 0.8 · 64 + 0.2 · (32 + 8)
		{at: 4 * second, s: took(10*second, 20), want: 59},   // less than half in use
		{at: 5 * second, s: dropped(10*second, 1), want: 58}, // 0.8 · L + 0.2 · 0.9 L
		{at: 6 * second, times: 10, s: took(10*second, 1), want: 58},
		{at: 7 * second, s: took(10*second, 58), want: 7}, // the 16th: starts from √58
		{at: 8 * second, s: took(40*second, 7), want: 11}, // 40 s is the base: + 4
	})
}

func TestGradient2(t *testing.T) {
	play(t, Config{Rule: Gradient2, Min: 1}, []step{
		{at: 1 * second, s: took(60*second, 20), want: 20},                    // + 0.2 · 4
		{at: 2 * second, times: 4, s: took(60*second, 20), want: 24},          //
		{at: 3 * second, s: took(60*second, 11), want: 24},                    // less than half in use
		{at: 4 * second, s: took(120*second, 24), want: 24},                   // long 68.6, slope 0.86
		{at: 5 * second, s: dropped(600*second, 24), want: 22},                // as if it had been a success: slope 0.5
		{at: 6 * second, times: 20, s: took(600*second, 24), want: 12},        // ten times as long as ever before
		{at: 7 * second, times: 1000, s: dropped(900*second, 500), want: 200}, // the new normal: it grows while everything times out
	})
	play(t, Config{Rule: Gradient2, Min: 1, Drops: Shrink}, []step{
		{at: 7 * second, times: 200, s: dropped(900*second, 500), want: 1},
	})
}

func TestFailsafe(t *testing.T) {
	full := func(d time.Duration, inflight int) Sample { return Sample{Latency: d, Inflight: inflight, Full: true} }
	play(t, Config{Rule: Failsafe}, []step{
		{at: 1 * second, times: 49, s: full(60*second, 20), want: 20},
		{at: 2 * second, s: full(60*second, 20), want: 21},               // 50 samples: no queue
		{at: 3 * second, times: 50, s: full(60*second, 21), want: 21},    // the window lasts 30 s at least
		{at: 33 * second, s: full(60*second, 21), want: 22},              //
		{at: 64 * second, times: 50, s: dropped(9*second, 22), want: 22}, // drops are thrown away
		{at: 65 * second, times: 50, s: full(600*second, 22), want: 21},  // a queue of 20 · (1 - 240/600)
	})
}

func TestSignals(t *testing.T) {
	for _, tc := range []struct {
		signal string
		s      Sample
		want   time.Duration // 0: tells nothing
	}{
		{Latency, Sample{Latency: 60 * second, Began: true, FirstToken: 3 * second, Tokens: 600}, 60 * second},
		{FirstToken, Sample{Latency: 60 * second, Began: true, FirstToken: 3 * second, Tokens: 600}, 3 * second},
		{PerToken, Sample{Latency: 60 * second, Began: true, FirstToken: 3 * second, Tokens: 600}, second / 10},
		{FirstToken, Sample{Latency: 60 * second}, 0},
		{FirstToken, Sample{Latency: 60 * second, Dropped: true}, 60 * second},
		{PerToken, Sample{Latency: 60 * second}, 0},
		{PerToken, Sample{Latency: 60 * second, Dropped: true}, 60 * second},
	} {
		l := New(Config{Rule: Vegas, Signal: tc.signal}, 0, 0)
		if got, known := l.signal(tc.s); known != (tc.want > 0) || known && got != tc.want {
			t.Errorf("%s of %+v: %v (%v), want %v", tc.signal, tc.s, got, known, tc.want)
		}
	}
}

// With 10 in flight for 60 s each, a window of 1 s never has its 10 samples, and each is thrown away.
func TestWindowNeverFills(t *testing.T) {
	c := Config{Rule: Gradient2, Min: 1, Window: Window{Samples: 10}}
	l := New(c, 0, 0)
	for i := range 600 {
		l.Ended(sim.Instant(time.Duration(60+6*i)*second), took(60*second, 20))
	}
	if got := l.Limit(); got != 20 {
		t.Errorf("after 600 calls: limit %d, want 20", got)
	}
	play(t, c, []step{
		{at: 1 * second, s: took(60*second, 20), want: 20},           // the first window ends at once
		{at: 2 * second, times: 9, s: took(60*second, 20), want: 20}, // until 2 s
		{at: 2*second + 1, s: took(60*second, 20), want: 20},         // 0.8 more
		{at: 3 * second, times: 30, s: took(60*second, 20), want: 20},
		{at: 4 * second, times: 30, s: took(60*second, 20), want: 21},
	})
}
