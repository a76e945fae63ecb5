package harness

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// TestWatch is a timeline: what the watchdog wants at each instant, with no world around it.
func TestWatch(t *testing.T) {
	const m = time.Minute
	type row struct {
		at   time.Duration
		do   string // "step", "look", "start" or "end" of a task
		want string
	}
	for _, c := range []struct {
		name   string
		giveUp time.Duration
		idle   bool // no task has been started at 0
		rows   []row
	}{
		{"steps in time", 0, false, []row{
			{0, "look", "wait 1m0s"},
			{30 * time.Second, "step", "ended 0"},
			{m, "look", "wait 30s"},
			{85 * time.Second, "step", "ended 0"},
			{90 * time.Second, "look", "wait 55s"},
			{144 * time.Second, "look", "wait 1s"},
		}},
		{"a stall with all captures", 0, false, []row{
			{m - 1, "look", "wait 1ns"},
			{m, "look", "capture 1.1"},
			{m, "look", "wait 1m0s"},
			{2 * m, "look", "capture 1.2"},
			{2 * m, "look", "wait 1m0s"},
			{3 * m, "look", "wait 1m0s"},
			{4 * m, "look", "capture 1.3"},
			{4 * m, "look", "wait 1m0s"},
			{40 * m, "look", "wait 1m0s"},
			{41 * m, "step", "ended 1"},
			{41 * m, "look", "wait 1m0s"},
		}},
		{"a second stall", 0, false, []row{
			{m, "look", "capture 1.1"},
			{90 * time.Second, "step", "ended 1"},
			{2 * m, "look", "wait 30s"},
			{150 * time.Second, "look", "capture 2.1"},
			{151 * time.Second, "step", "ended 2"},
			{152 * time.Second, "step", "ended 0"},
		}},
		{"give up", 3 * m, false, []row{
			{m, "look", "capture 1.1"},
			{2 * m, "look", "capture 1.2"},
			{3 * m, "look", "give up"},
			{3 * m, "look", "give up"},
		}},
		{"give up at a capture's instant: the capture first", 2 * m, false, []row{
			{m, "look", "capture 1.1"},
			{2 * m, "look", "capture 1.2"},
			{2 * m, "look", "give up"},
		}},
		{"a machine that was asleep makes one capture, not three", 0, false, []row{
			{5 * m, "look", "capture 1.1"},
			{5 * m, "look", "wait 1m0s"},
		}},
		{"asleep between two captures", 0, false, []row{
			{m, "look", "capture 1.1"},
			{150 * time.Second, "look", "capture 1.2"},
			{4 * m, "look", "capture 1.3"},
		}},
		{"nobody works yet, then somebody, then nobody again", 3 * m, true, []row{
			{m, "look", "wait 1m0s"},
			{10 * m, "look", "wait 1m0s"},
			{610 * time.Second, "start", ""},
			{11 * m, "look", "wait 10s"},
			{670 * time.Second, "look", "capture 1.1"},
			{680 * time.Second, "step", "ended 1"},
			{680 * time.Second, "end", ""},
			{20 * m, "look", "wait 1m0s"},
			{21 * m, "start", ""},
			{21*m + 59*time.Second, "look", "wait 1s"},
			{22 * m, "look", "capture 2.1"},
		}},
		{"who works gives up in a stall", 3 * m, false, []row{
			{m, "look", "capture 1.1"},
			{90 * time.Second, "end", ""},
			{2 * m, "look", "capture 1.2"},
			{150 * time.Second, "start", ""},
			{3 * m, "look", "give up"},
		}},
		{"time stands still and goes back", 0, false, []row{
			{m, "look", "capture 1.1"},
			{m, "look", "wait 1m0s"},
			{m - 1, "look", "wait 1m0s"},
			{m, "step", "ended 1"},
			{m, "step", "ended 0"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := DefaultWatchdog()
			cfg.GiveUpAfter = c.giveUp
			d := newWatch(&cfg, 0)
			if !c.idle {
				d.taskStarted(0)
			}
			for i, r := range c.rows {
				now := sim.Instant(r.at)
				var got string
				switch r.do {
				case "start":
					d.taskStarted(now)
				case "end":
					d.taskEnded()
				case "step":
					got = fmt.Sprintf("ended %d", d.step(now))
				default:
					switch due, wait := d.look(now); due {
					case orderCapture:
						episode, shot := d.capture(now)
						got = fmt.Sprintf("capture %d.%d", episode, shot)
					case orderGiveUp:
						got = "give up"
					default:
						got = fmt.Sprintf("wait %v", wait)
					}
				}
				if got != r.want {
					t.Fatalf("row %d, %v %s: %s, want %s", i, r.at, r.do, got, r.want)
				}
			}
		})
	}
}

// TestWatchAgainstPolling compares the watchdog with a dumb twin that looks at every second.
func TestWatchAgainstPolling(t *testing.T) {
	raised := 0
	for seed := range uint64(30) {
		s := sim.NewStream(seed, "watch", "steps")
		cfg := Watchdog{StallAfter: time.Duration(1+s.IntN(9)) * time.Second, Captures: []int{1, 2, 4}}
		var steps []sim.Instant
		at := sim.Instant(0)
		for range 40 {
			at = at.Add(time.Duration(s.IntN(60)) * time.Second).Add(time.Millisecond * time.Duration(s.IntN(2)))
			steps = append(steps, at)
		}
		var want []sim.Instant
		last, done := sim.Instant(0), 0
		for now := sim.Instant(0); now <= steps[len(steps)-1]; now += sim.Instant(time.Millisecond) {
			for len(steps) > 0 && done < len(steps) && steps[done] < now {
				last = steps[done]
				done++
			}
			for _, n := range cfg.Captures {
				if now == last.Add(time.Duration(n)*cfg.StallAfter) {
					want = append(want, now)
				}
			}
			if done == len(steps) {
				break
			}
		}
		got := captureTimes(&cfg, steps)
		raised += len(got)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: captures at %v, want %v", seed, got, want)
		}
	}
	if raised < 500 {
		t.Errorf("%d captures in all, want more to compare", raised)
	}
}

// captureTimes plays steps as the watchdog's process does: it sleeps for as long as it is told.
func captureTimes(cfg *Watchdog, steps []sim.Instant) (at []sim.Instant) {
	d := newWatch(cfg, 0)
	d.taskStarted(0)
	wake := sim.Instant(0)
	for _, step := range steps {
		for wake <= step {
			due, wait := d.look(wake)
			if due == orderCapture {
				d.capture(wake)
				at = append(at, wake)
				continue
			}
			wake = wake.Add(wait)
		}
		d.step(step)
	}
	return at
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(c *Config, d *Watchdog)
		want string
	}{
		{"defaults", func(*Config, *Watchdog) {}, ""},
		{"nothing to do", func(c *Config, _ *Watchdog) { c.Agents = 0 }, ""},
		{"agents", func(c *Config, _ *Watchdog) { c.Agents = -1 }, "agents: found -1, want 0 to 1000000"},
		{"workers", func(c *Config, _ *Watchdog) { c.Workers = -3 }, "workers: found -3, want 0 (as many as agents) to 1000000"},
		{"start_spread", func(c *Config, _ *Watchdog) { c.StartSpread = -time.Second }, "start_spread: found -1s, want 0s to 1000h0m0s"},
		{"stall_after", func(_ *Config, d *Watchdog) { d.StallAfter = 0 }, "stall_after: found 0s, want 1ms to 1000h0m0s"},
		{"no captures", func(_ *Config, d *Watchdog) { d.Captures = nil }, "captures: found 0 multiples, want 1 to 16"},
		{"first capture", func(_ *Config, d *Watchdog) { d.Captures = []int{2} }, "captures[0]: found 2, want 1, since a stall is captured when it is raised"},
		{"captures that fall", func(_ *Config, d *Watchdog) { d.Captures = []int{1, 4, 4} }, "captures[2]: found 4, want 5 to 10000"},
		{"captures beyond the clock", func(_ *Config, d *Watchdog) {
			d.StallAfter, d.GiveUpAfter, d.Captures = 1000*time.Hour, 0, []int{1, 9000}
		},
			"captures[1]: found 9000 times stall_after (1000h0m0s), want at most 10 times, which is 10000h0m0s"},
		{"give_up_after", func(_ *Config, d *Watchdog) { d.GiveUpAfter = time.Second }, "give_up_after: found 1s, want 0 (never) or stall_after (1m0s) to 1000h0m0s"},
		{"never", func(_ *Config, d *Watchdog) { d.GiveUpAfter = 0 }, ""},
		{"episodes_kept", func(_ *Config, d *Watchdog) { d.EpisodesKept = 0 }, "episodes_kept: found 0, want 1 to 10000"},
		{"sample_every", func(_ *Config, d *Watchdog) { d.SampleEvery = -1 }, "sample_every: found -1ns, want 1ms to 1000h0m0s"},
		{"window", func(_ *Config, d *Watchdog) { d.Window = 1e18 }, "window: found 277777h46m40s, want 0s to 1000h0m0s"},
	} {
		cfg, dog := DefaultConfig(), DefaultWatchdog()
		c.set(&cfg, &dog)
		err := cfg.Validate()
		if err == nil {
			err = dog.Validate()
		}
		if got := fmt.Sprint(err); got != c.want && !(err == nil && c.want == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
