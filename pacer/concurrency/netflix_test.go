package concurrency

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// cases are those of testdata/Gen.java. Measuring the base anew is left out, since the library draws
// when to do it by itself.
var cases = map[string]Config{
	"aimd":               {Rule: AIMD, Initial: 20, Min: 5, Max: 60, Timeout: 5500 * time.Millisecond},
	"vegas":              {Rule: Vegas, ProbeMultiplier: samplesMax},
	"vegas-smooth":       {Rule: Vegas, ProbeMultiplier: samplesMax, Smoothing: 0.4, Initial: 10, Max: 60},
	"gradient":           {Rule: Gradient, ProbeInterval: samplesMax},
	"gradient-tight":     {Rule: Gradient, ProbeInterval: samplesMax, Tolerance: 1, Initial: 30, Min: 3, Max: 90},
	"gradient2":          {Rule: Gradient2, Min: 1},
	"gradient2-short":    {Rule: Gradient2, Min: 1, Max: 120, LongWindow: 50, Tolerance: 1, Smoothing: 0.5},
	"gradient2-windowed": {Rule: Gradient2, Min: 1, Tolerance: 1, Window: Window{Samples: 10, Max: 8 * time.Second}},
	"vegas-windowed":     {Rule: Vegas, ProbeMultiplier: samplesMax, Window: Window{Samples: 10, Max: 8 * time.Second}},
}

// TestNetflixIsTheLibrary plays the samples of testdata/Gen.java, and compares the limit after each with
// what the library said.
func TestNetflixIsTheLibrary(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "netflix.txt"))
	if err != nil {
		t.Fatal(err)
	}
	played := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var name, limits string
		var seed uint64
		if _, err := fmt.Sscan(line, &name, &seed); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		_, limits, _ = strings.Cut(line, fmt.Sprintf("%s %d ", name, seed))
		t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) { follow(t, cases[name], seed, limits) })
		played[name] = true
	}
	if len(played) != len(cases) {
		t.Errorf("%d cases are in the file, want %d", len(played), len(cases))
	}
}

func follow(t *testing.T, c Config, seed uint64, limits string) {
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	state := seed
	next := func(n int) int {
		state = state*6364136223846793005 + 1442695040888963407
		return int((state >> 33) % uint64(n))
	}
	l, start, sample := New(c, 0, 0), sim.Instant(0), 0
	for run := range strings.FieldsSeq(limits) {
		var want, times int
		if _, err := fmt.Sscanf(run, "%dx%d", &want, &times); err != nil {
			t.Fatalf("%q: %v", run, err)
		}
		for range times {
			start = start.Add(time.Duration(next(10)) * 100 * time.Millisecond)
			base := 1000
			if sample/150%2 == 1 {
				base = 4000 // the server is slow now
			}
			rtt := time.Duration(base+next(2000)) * time.Millisecond
			limit := l.Limit()
			s := Sample{Latency: rtt, Inflight: 1 + next(limit+limit/4+1), Dropped: next(25) == 0}
			l.Ended(start.Add(rtt), s)
			if l.Limit() != want {
				t.Fatalf("sample %d, %+v: limit %d after %d, want %d", sample, s, l.Limit(), limit, want)
			}
			sample++
		}
	}
	if sample != 600 {
		t.Errorf("%d samples, want 600", sample)
	}
}
