package demand

import (
	"math"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

const h = time.Hour

// day has everything that a demand can have.
func day() Config {
	return Config{
		Agents: 10,
		Stages: []Stage{{Over: h, To: 30}, {Over: h, To: 50, Step: true}, {Over: 2 * h, To: 20}},
		Spikes: []Spike{{At: 90 * time.Minute, Lasts: 10 * time.Minute, Times: 2}, {Every: 6 * h, Lasts: h, Times: 0.5}},
		Daily:  Daily{Low: 0.2, PeakAt: 10 * h},
	}
}

func TestLevel(t *testing.T) {
	c := day()
	noDay := c
	noDay.Daily = Daily{}
	for _, row := range []struct {
		name string
		c    Config
		at   time.Duration
		want float64
	}{
		{"nothing", Config{}, h, 0},
		{"flat", Config{Agents: 7}, 100 * h, 7},
		{"before the start", noDay, -h, 10},
		{"start", noDay, 0, 10},
		{"half a ramp", noDay, h / 2, 20},
		{"step at once", noDay, h, 50},
		{"spike", noDay, 95 * time.Minute, 100},
		{"spike over", noDay, 100 * time.Minute, 50},
		{"ramp down from the step", noDay, 3 * h, 35},
		{"after the last", noDay, 5 * h, 20},
		{"again and again", noDay, 6 * h, 10},
		{"between", noDay, 7 * h, 20},
		{"again", noDay, 12*h + h/2, 10},
		{"peak of the day", c, 10 * h, 20},
		{"next peak", c, 34 * h, 20},
		{"night", c, 22*h + 90*time.Minute, 20 * (0.2 + 0.8*(1+math.Cos(2*math.Pi*13.5/24))/2)},
		{"deepest night", c, 22 * h, 20 * 0.2},
		{"hours count", Config{Loop: Open, TasksPerH: 60, Daily: Daily{Low: 0, Period: 2 * h}}, h, 0},
	} {
		if got := row.c.Level(row.at); math.Abs(got-row.want) > 1e-9 {
			t.Errorf("%s: level at %v: got %v, want %v", row.name, row.at, got, row.want)
		}
	}
}

func TestWithAgents(t *testing.T) {
	for _, row := range []struct {
		name string
		c    Config
		want float64
	}{
		{"a demand that does not say how many", Config{}, 30},
		{"a demand that says how many", Config{Agents: 4}, 4},
		{"an open loop", Config{Loop: Open, TasksPerH: 9}, 9},
	} {
		c := row.c.WithAgents(30)
		if got := c.Level(h); got != row.want {
			t.Errorf("%s: got %v, want %v", row.name, got, row.want)
		}
	}
}

// TestNextChange walks through the changes: between two of them the level moves little.
func TestNextChange(t *testing.T) {
	c := day()
	looks := 0
	for at := time.Duration(0); at < 30*h; looks++ {
		next := c.NextChange(at)
		if next <= at || next > at+lookMax {
			t.Fatalf("next change after %v: got %v, want later, and within %v while the day goes on", at, next, lookMax)
		}
		if from, to := c.Level(at), c.Level(next-1); math.Abs(from-to) > 0.6 {
			t.Errorf("level moves from %v to %v between %v and %v", from, to, at, next)
		}
		at = next
	}
	if looks > 3000 {
		t.Errorf("looked %d times in 30 h, want about once a minute", looks)
	}
}

func TestNextChangeOfFlat(t *testing.T) {
	c := Config{Agents: 3}
	if got := c.NextChange(0); got != Never {
		t.Errorf("a level that stays: got %v, want never", got)
	}
	c.Stages = []Stage{{Over: h, To: 3}, {Over: h, To: 9, Step: true}}
	for _, row := range []struct{ at, want time.Duration }{{0, h}, {h, 2 * h}, {2 * h, Never}} {
		if got := c.NextChange(row.at); got != row.want {
			t.Errorf("steps, after %v: got %v, want %v", row.at, got, row.want)
		}
	}
	c = Config{Agents: 3, Stages: []Stage{{Over: 10 * time.Millisecond, To: 9}}}
	if got := c.NextChange(0); got != 10*time.Millisecond {
		t.Errorf("a ramp shorter than a look: got %v, want its end", got)
	}
	c = Config{Agents: 3, Spikes: []Spike{{Every: h, Lasts: time.Minute, Times: 2}}}
	for _, row := range []struct{ at, want time.Duration }{
		{0, h}, {h, h + time.Minute}, {h + time.Minute, 2 * h}, {2*h - 1, 2 * h},
	} {
		if got := c.NextChange(row.at); got != row.want {
			t.Errorf("spikes, after %v: got %v, want %v", row.at, got, row.want)
		}
	}
}

// TestNextArrival holds the number of arrivals in each stretch against the integral of the level.
func TestNextArrival(t *testing.T) {
	c := Config{
		Loop: Open, TasksPerH: 1000,
		Stages: []Stage{{Over: h, To: 4000}, {Over: h, To: 0, Step: true}, {Over: h, To: 2000}},
		Spikes: []Spike{{At: 3*h + 30*time.Minute, Lasts: 10 * time.Minute, Times: 5}},
		Daily:  Daily{Low: 0.5, PeakAt: 2 * h, Period: 5 * h},
	}
	const seed, part = 7, 10 * time.Minute
	draw := sim.NewStream(seed, "test", "arrivals")
	var found [60]float64
	last := time.Duration(0)
	for at := c.NextArrival(0, &draw); at < 10*h; at = c.NextArrival(at, &draw) {
		if at < last {
			t.Fatalf("seed %d: an arrival at %v after one at %v", seed, at, last)
		}
		last = at
		found[at/part]++
	}
	for i, n := range found {
		want := 0.0
		for s := range 600 {
			want += c.Level(time.Duration(i)*part+time.Duration(s)*time.Second) / 3600
		}
		if math.Abs(n-want) > 5*math.Sqrt(want)+1 {
			t.Errorf("seed %d: %v arrivals between %v and %v, want about %.0f", seed, n, time.Duration(i)*part, time.Duration(i+1)*part, want)
		}
	}
}

func TestNoMoreArrivals(t *testing.T) {
	c := Config{Loop: Open, TasksPerH: 3600, Stages: []Stage{{Over: h, To: 0}}}
	draw := sim.NewStream(1, "test", "arrivals")
	n := 0
	for at := c.NextArrival(0, &draw); at != Never; at = c.NextArrival(at, &draw) {
		if n++; at >= h || n > 3600 {
			t.Fatalf("arrival %d at %v, want none once the level is 0", n, at)
		}
	}
	if n < 1000 {
		t.Errorf("got %d arrivals, want about 1800", n)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []Config{{}, day(), {Loop: Closed, Agents: 1e6}, {Loop: Open, TasksPerH: 1}, {Loop: Open, Stages: []Stage{{Over: h, To: 1}}}} {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	nan := math.NaN()
	for _, row := range []struct {
		c    Config
		want string
	}{
		{Config{Loop: "half"}, `loop: found "half", want closed or open`},
		{Config{Loop: Open, Agents: 3}, "agents: found 3 in an open loop, want tasks_per_h: agents are what a closed loop counts"},
		{Config{TasksPerH: 3}, "tasks_per_h: found 3 in a closed loop, want agents, or loop: open"},
		{Config{Agents: -1}, "agents: found -1, want 0 (the fleet's workers) to 1000000"},
		{Config{Agents: nan}, "agents: found NaN, want 0 (the fleet's workers) to 1000000"},
		{Config{Loop: Open, TasksPerH: 1e10}, "tasks_per_h: found 1e+10, want 0 to 1000000000"},
		{Config{Loop: Open}, "tasks_per_h: found 0 and no stage that goes above, want how many tasks arrive in an hour"},
		{Config{Stages: []Stage{{To: 3}}}, "stages[0].over: found 0s, want 1ms to 10000h0m0s"},
		{Config{Stages: []Stage{{Over: h, To: nan}}}, "stages[0].to: found NaN, want 0 to 1000000"},
		{Config{Spikes: []Spike{{Lasts: h, Times: 2}}}, "spikes[0].at: found neither it nor every, want when the spike begins"},
		{Config{Spikes: []Spike{{Every: h, Lasts: h, Times: 2}}}, "spikes[0].lasts: found 1h0m0s, want less than every (1h0m0s)"},
		{Config{Spikes: []Spike{{Every: h, Lasts: time.Minute}}}, "spikes[0].times: found 0, want 0.001 to 1000"},
		{Config{Agents: 1e5, Spikes: []Spike{{At: h, Lasts: h, Times: 2}, {At: h, Lasts: h, Times: 6}}}, "spikes[1].times: found 6, by which the level can be 1200000, want at most 1000000 in all"},
		{Config{Daily: Daily{Low: 1}}, "daily.low: found 1, want the share that is left at night, 0 or more and less than 1"},
		{Config{Daily: Daily{Period: time.Second}}, "daily.period: found 1s, want 1m0s to 10000h0m0s"},
		{Config{Daily: Daily{PeakAt: -h}}, "daily.peak_at: found -1h0m0s, want 0s to 10000h0m0s"},
	} {
		err := row.c.Validate()
		if err == nil || err.Error() != row.want {
			t.Errorf("%+v:\ngot  %v\nwant %s", row.c, err, row.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: want one line", err)
		}
	}
}

// FuzzDemand holds that whatever is valid has an end to each look, and levels within bounds.
func FuzzDemand(f *testing.F) {
	f.Add(10.0, int64(h), 30.0, true, int64(h), int64(6*h), int64(time.Minute), 2.0, 0.2, int64(0), int64(5*h), uint64(1), true)
	f.Add(0.0, int64(1), 0.5, false, int64(0), int64(1e6), int64(1e6), 1000.0, 0.0, int64(h), int64(0), uint64(2), false)
	f.Fuzz(func(t *testing.T, level float64, over int64, to float64, step bool, at, every, lasts int64, times, low float64, period, now int64, seed uint64, open bool) {
		c := Config{
			Agents: level, Stages: []Stage{{Over: time.Duration(over), To: to, Step: step}},
			Spikes: []Spike{{At: time.Duration(at), Every: time.Duration(every), Lasts: time.Duration(lasts), Times: times}},
			Daily:  Daily{Low: low, Period: time.Duration(period)},
		}
		if open {
			c.Loop, c.TasksPerH, c.Agents = Open, level, 0
		}
		if c.Validate() != nil || now < 0 || time.Duration(now) > lengthMax {
			return
		}
		when := time.Duration(now)
		if v := c.Level(when); !within(v, 0, c.Peak()) || c.Peak() > c.levelMax() {
			t.Errorf("%+v: level at %v is %v", c, when, v)
		}
		if next := c.NextChange(when); next <= when {
			t.Errorf("%+v: next change after %v is at %v", c, when, next)
		}
		draw := sim.NewStream(seed, "test", "fuzz")
		if next := c.NextArrival(when, &draw); open && next < when {
			t.Errorf("%+v: next arrival after %v is at %v", c, when, next)
		}
	})
}
