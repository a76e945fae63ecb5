package series_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/wedge/repro/series"
)

// A shape is a series by index and number of readings, with noise of its own.
type shape func(r *rand.Rand, i, n int) float64

const mib = 1 << 20

// normal is noise of a standard deviation.
func normal(r *rand.Rand, sigma float64) float64 { return sigma * r.NormFloat64() }

// flat is a level with noise, now and then with an outlier.
func flat(level, sigma float64) shape {
	return func(r *rand.Rand, _, _ int) float64 {
		x := level + normal(r, sigma)
		if r.IntN(50) == 0 {
			x += 5 * math.Abs(normal(r, sigma))
		}
		return x
	}
}

// sticky is noise of which each value depends on the one before: by phi.
func sticky(level, sigma, phi float64) func() shape {
	return func() shape {
		x := 0.0
		return func(r *rand.Rand, i, _ int) float64 {
			if i == 0 {
				x = normal(r, sigma)
			} else {
				x = phi*x + normal(r, sigma*math.Sqrt(1-phi*phi))
			}
			return level + x
		}
	}
}

// saw is memory that fills up and is collected, so many times in the run, from some phase on.
func saw(low, high, times float64) func() shape {
	return func() shape {
		phase := -1.0
		return func(r *rand.Rand, i, n int) float64 {
			if phase < 0 {
				phase = r.Float64()
			}
			_, f := math.Modf(times*float64(i)/float64(n) + phase)
			return low + (high-low)*f + normal(r, (high-low)/50)
		}
	}
}

func line(start, end, sigma float64) shape {
	return func(r *rand.Rand, i, n int) float64 {
		return start + (end-start)*float64(i)/float64(n-1) + normal(r, sigma)
	}
}

// warmUp rises within a part of the run, and is flat from then on.
func warmUp(start, end, part, sigma float64) shape {
	return func(r *rand.Rand, i, n int) float64 {
		return start + (end-start)*(1-math.Exp(-5*float64(i)/float64(n)/part)) + normal(r, sigma)
	}
}

func step(before, after, at, sigma float64) shape {
	return func(r *rand.Rand, i, n int) float64 {
		if float64(i) < at*float64(n) {
			return before + normal(r, sigma)
		}
		return after + normal(r, sigma)
	}
}

func always(s shape) func() shape { return func() shape { return s } }

// readings are of a process whose memory has a shape, over so many hours.
func readings(r *rand.Rand, s shape, n int, hours float64, collections int) []series.Process {
	out := make([]series.Process, n)
	for i := range out {
		at := hours * 3600 * float64(i+1) / float64(n)
		out[i] = series.Process{AtS: at, RealS: at, RSSBytes: int64(s(r, i, n)), HeapLiveBytes: series.Unknown, Goroutines: series.Unknown,
			OpenFiles: series.Unknown, OpenBodies: series.Unknown, GCCycles: int64(collections * i / n)}
	}
	return out
}

// TestLeakVerdicts tells shapes apart, each in many seeds. Where some seeds may come out otherwise, that is said.
func TestLeakVerdicts(t *testing.T) {
	const leak, ok, stepped, unclear = series.VerdictLeaking, series.VerdictOK, series.VerdictStepped, series.VerdictUnclear
	for _, tt := range []struct {
		name        string
		shape       func() shape
		n           int
		hours       float64
		collections int
		seeds       int
		want        series.Verdict
		most        int // seeds that may come out otherwise
		leaking     int // seeds that may be called leaking although want is not that
	}{
		{"flat", always(flat(100*mib, 4*mib)), 96, 24, 1000, 1000, ok, 0, 0},
		{"flat, few readings", always(flat(100*mib, 4*mib)), 20, 0.1, 100, 1000, ok, 0, 0},
		{"flat, many readings", always(flat(100*mib, 20*mib)), 600, 0.2, 1000, 300, ok, 0, 0},
		{"flat, in a minute", always(flat(100*mib, 10*mib)), 60, 1. / 60, 100, 1000, ok, 0, 0},
		{"sticky noise", sticky(100*mib, 8*mib, 0.5), 96, 1, 1000, 1000, ok, 0, 0},
		{"very sticky noise", sticky(100*mib, 8*mib, 0.9), 96, 1, 1000, 1000, ok, 20, 5},
		{"saw-tooth, 3 teeth", saw(60*mib, 120*mib, 3), 96, 1, 1000, 1000, ok, 0, 0},
		{"saw-tooth, 4.6 teeth", saw(60*mib, 120*mib, 4.6), 96, 1, 1000, 1000, ok, 0, 0},
		{"saw-tooth, 40 teeth", saw(60*mib, 120*mib, 40), 96, 1, 1000, 1000, ok, 0, 0},
		{"saw-tooth, 173 teeth", saw(60*mib, 120*mib, 173), 96, 1, 1000, 1000, ok, 0, 0},
		{"warm-up, then flat", always(warmUp(20*mib, 100*mib, 0.3, mib)), 96, 1, 1000, 1000, ok, 0, 0},
		{"no noise at all", always(flat(100*mib, 0)), 96, 1, 1000, 1, ok, 0, 0},
		{"slow leak", always(line(100*mib, 112*mib, 2*mib)), 96, 1, 1000, 300, leak, 12, 0},
		{"slow leak, a day", always(line(100*mib, 300*mib, 20*mib)), 96, 24, 1000, 300, leak, 6, 0},
		{"leak on top of a saw-tooth", func() shape {
			teeth, slope := saw(0, 20*mib, 37)(), line(100*mib, 160*mib, mib)
			return func(r *rand.Rand, i, n int) float64 { return teeth(r, i, n) + slope(r, i, n) }
		}, 120, 1, 1000, 300, leak, 6, 0},
		{"leak that is too slow to matter", always(line(100*mib, 102*mib, 0.1*mib)), 96, 1, 1000, 100, ok, 0, 0},
		{"shrinking", always(line(200*mib, 100*mib, 2*mib)), 96, 1, 1000, 100, ok, 0, 0},
		{"step", always(step(100*mib, 140*mib, 0.6, 2*mib)), 96, 1, 1000, 300, stepped, 6, 0},
		{"step down", always(step(140*mib, 100*mib, 0.6, 2*mib)), 96, 1, 1000, 300, ok, 0, 0},
		{"levels off", always(warmUp(100*mib, 200*mib, 1.5, mib/2)), 96, 1, 1000, 100, unclear, 20, 20},
		{"leak, but nothing was collected", always(line(100*mib, 140*mib, mib)), 96, 1, 1, 100, unclear, 0, 0},
		{"too short", always(line(100*mib, 200*mib, mib)), 12, 1, 1000, 10, unclear, 0, 0},
	} {
		other, leaking := 0, 0
		if testing.Short() {
			tt.seeds = min(tt.seeds, 50)
		}
		var example series.Finding
		for seed := range tt.seeds {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			f := series.Leak(readings(r, tt.shape(), tt.n, tt.hours, tt.collections))[0]
			if f.Verdict == leak {
				leaking++
			}
			if f.Verdict != tt.want {
				other++
				example = f
			} else if seed == 0 {
				t.Logf("%s: %s: %s", tt.name, f.Verdict, f.Why)
			}
		}
		if other > tt.most || tt.want != leak && leaking > tt.leaking {
			t.Errorf("%s: %d of %d seeds not %q (at most %d), %d leaking (at most %d); such as %+v", tt.name, other, tt.seeds, tt.want, tt.most, leaking, tt.leaking, example)
		} else if other > 0 {
			t.Logf("%s: %d of %d seeds otherwise, %d leaking, such as %s: %s", tt.name, other, tt.seeds, leaking, example.Verdict, example.Why)
		}
	}
}

// TestLeakOfItems: small whole numbers, as of goroutines and files.
func TestLeakOfItems(t *testing.T) {
	for _, tt := range []struct {
		name  string
		items func(r *rand.Rand, i, n int) int64
		want  series.Verdict
	}{
		{"none", func(*rand.Rand, int, int) int64 { return 0 }, series.VerdictOK},
		{"a constant", func(*rand.Rand, int, int) int64 { return 42 }, series.VerdictOK},
		{"not known", func(*rand.Rand, int, int) int64 { return series.Unknown }, series.VerdictUnclear},
		{"as there are calls", func(r *rand.Rand, _, _ int) int64 { return 40 + r.Int64N(200) }, series.VerdictOK},
		{"from 0, one for each ten readings", func(_ *rand.Rand, i, _ int) int64 { return int64(i / 10) }, series.VerdictLeaking},
		{"few more", func(_ *rand.Rand, i, n int) int64 { return int64(20 + 6*i/n) }, series.VerdictOK},
		{"a leak below the noise of calls", func(r *rand.Rand, i, _ int) int64 { return 40 + r.Int64N(20) + int64(i/2) }, series.VerdictLeaking},
	} {
		r := rand.New(rand.NewPCG(7, 7))
		all := readings(r, flat(mib, 0), 96, 1, 100)
		for i := range all {
			all[i].OpenBodies = tt.items(r, i, len(all))
		}
		if f := series.Leak(all)[4]; f.Name != "open_bodies" || f.Verdict != tt.want {
			t.Errorf("%s: got %+v, want %s", tt.name, f, tt.want)
		} else {
			t.Logf("%s: %s: %s", tt.name, f.Verdict, f.Why)
		}
	}
}

// windows have calls whose times have a shape, and a load of agents.
func windows(r *rand.Rand, call, agents shape, n int, hours float64) []series.Window {
	out := make([]series.Window, n)
	for i := range out {
		x := math.Max(call(r, i, n), 0)
		a := agents(r, i, n)
		out[i] = series.Window{
			Index: i + 1, FromS: hours * 3600 * float64(i) / float64(n), ToS: hours * 3600 * float64(i+1) / float64(n),
			Agents: series.Level{Mean: a}, Tasks: series.Tasks{Begun: int(10 * a)}, Calls: series.Calls{OK: 100},
			Times: []series.Distribution{{Name: series.TimeCall, N: 100, P50S: x, P95S: 2 * x, P99S: 3 * x}},
		}
	}
	return out
}

func TestDriftVerdicts(t *testing.T) {
	thirty := flat(30, 0.2)
	day := func(r *rand.Rand, i, n int) float64 {
		return 30 + 15*math.Sin(2*math.Pi*float64(i)/float64(n)) + normal(r, 1)
	}
	for _, tt := range []struct {
		name   string
		call   func() shape
		agents shape
		seeds  int
		want   series.Verdict
		most   int
	}{
		{"flat", always(flat(100, 15)), thirty, 1000, series.VerdictOK, 0},
		{"sticky", sticky(100, 20, 0.6), thirty, 1000, series.VerdictOK, 0},
		{"slower", always(line(100, 180, 15)), thirty, 300, series.VerdictDrifting, 6},
		{"faster", always(line(180, 100, 15)), thirty, 300, series.VerdictDrifting, 6},
		{"slower, but not by much", always(line(100, 120, 3)), thirty, 100, series.VerdictOK, 0},
		{"a step", always(step(100, 180, 0.5, 10)), thirty, 300, series.VerdictStepped, 6},
		{"as the day goes", always(day), day, 1000, series.VerdictOK, 0},
		{"as the load does", always(line(100, 180, 15)), line(30, 60, 1), 300, series.VerdictUnclear, 6},
		{"one bad hour", func() shape {
			return func(r *rand.Rand, i, n int) float64 {
				if i > 40 && i < 46 {
					return 500
				}
				return 100 + normal(r, 10)
			}
		}, thirty, 300, series.VerdictOK, 0},
	} {
		other := 0
		if testing.Short() {
			tt.seeds = min(tt.seeds, 50)
		}
		var example series.Finding
		for seed := range tt.seeds {
			r := rand.New(rand.NewPCG(uint64(seed), 2))
			f := series.Drift(windows(r, tt.call(), tt.agents, 96, 24))[0]
			if f.Name != "p50(call)" {
				t.Fatal(f.Name)
			}
			if f.Verdict != tt.want {
				other++
				example = f
			} else if seed == 0 {
				t.Logf("%s: %s: %s", tt.name, f.Verdict, f.Why)
			}
		}
		if other > tt.most {
			t.Errorf("%s: %d of %d seeds not %q (at most %d), such as %+v", tt.name, other, tt.seeds, tt.want, tt.most, example)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	young := windows(r, line(100, 180, 5), thirty, 96, 24)
	for i := range young {
		young[i].Tasks = series.Tasks{Begun: 1, Done: i % 2, Open: 30}
	}
	drift, leak := series.Judge(young, readings(r, line(100*mib, 180*mib, mib), 96, 24, 1000))
	for _, f := range []series.Finding{drift[0], leak[0]} {
		if f.Verdict != series.VerdictUnclear || !strings.Contains(f.Why, "only 48 tasks have ended, with up to 30 under way") {
			t.Errorf("of a run that has not settled: %+v", f)
		}
	}
	for i := range young {
		young[i].Tasks.Done = 1
	}
	drift, leak = series.Judge(young, readings(r, line(100*mib, 180*mib, mib), 96, 24, 1000))
	if drift[0].Verdict != series.VerdictDrifting || leak[0].Verdict != series.VerdictLeaking {
		t.Errorf("of a run that has: %+v, %+v", drift[0], leak[0])
	}
	for _, f := range series.Drift(nil) {
		if f.Verdict != series.VerdictUnclear || f.Why == "" {
			t.Errorf("of no windows: %+v", f)
		}
	}
	if got := fmt.Sprint(len(series.Leak(nil))); got != "5" {
		t.Errorf("findings of no readings: %s", got)
	}
}
