package harness

import (
	"fmt"
	"time"
)

// Config says how many agents work, and when they start: the block fleet of a scenario. The zero
// value is a fleet with nothing to do.
type Config struct {
	// Agents is the number of tasks that are there from the start; each is worked on by an agent of its
	// own. 0: there are none.
	Agents int `json:"agents" yaml:"agents"`

	// Workers is how many agents work at once. 0: all of them.
	Workers int `json:"workers" yaml:"workers"`

	// StartSpread is the time over which the first agents start, each at an instant drawn uniformly
	// from it. 0: all start at once. Agents that wait for a worker start when one is free.
	StartSpread time.Duration `json:"start_spread_ns" yaml:"start_spread"`

	// Arrivals brings more tasks as time goes on. The zero value: there are no more.
	Arrivals Arrivals `json:"arrivals,omitzero" yaml:"arrivals,omitzero"`
}

// DefaultConfig returns the fleet of the incident that wedge exists for: 30 agents, all at once.
func DefaultConfig() Config { return Config{Agents: 30} }

// AgentsLimit is the largest fleet.
const AgentsLimit = 1_000_000

// lengthMax bounds settings that are lengths of time, so that sums of them stay far from overflow.
const lengthMax = 1000 * time.Hour

// Validate says what is wrong with the configuration, in one line that names the field, what was
// found and what is allowed, or returns nil.
func (c *Config) Validate() error {
	switch {
	case c.Agents < 0 || c.Agents > AgentsLimit:
		return fmt.Errorf("agents: found %d, want 0 to %d", c.Agents, AgentsLimit)
	case c.Workers < 0 || c.Workers > AgentsLimit:
		return fmt.Errorf("workers: found %d, want 0 (as many as agents) to %d", c.Workers, AgentsLimit)
	}
	if err := checkLength("start_spread", c.StartSpread, 0); err != nil {
		return err
	}
	if err := c.Arrivals.validate(); err != nil {
		return fmt.Errorf("arrivals.%w", err)
	}
	return nil
}

// workers returns how many agents work at once at the start.
func (c *Config) workers() int {
	if c.Workers == 0 {
		return c.Agents
	}
	return min(c.Workers, c.Agents)
}

// Watchdog says when a stall is raised and what is captured of it: the block watchdog of a scenario.
// The zero value is not valid; start from [DefaultWatchdog].
type Watchdog struct {
	// StallAfter is how long no step may finish, while there is work, before that is a stall.
	StallAfter time.Duration `json:"stall_after_ns" yaml:"stall_after"`

	// Captures are the multiples of StallAfter at which evidence is captured, the first of which is 1.
	Captures []int `json:"captures" yaml:"captures"`

	// GiveUpAfter ends the run when no step has finished for so long. 0: never.
	GiveUpAfter time.Duration `json:"give_up_after_ns" yaml:"give_up_after"`

	// EpisodesKept is how many stalls are kept with their evidence: the first ones and the last.
	EpisodesKept int `json:"episodes_kept" yaml:"episodes_kept"`

	// SampleEvery is the time between two readings of the servers' gauges.
	SampleEvery time.Duration `json:"sample_every_ns" yaml:"sample_every"`

	// Window is how far back from the start of a stall its evidence has samples.
	Window time.Duration `json:"window_ns" yaml:"window"`
}

// DefaultWatchdog returns a watchdog for calls that take minutes.
func DefaultWatchdog() Watchdog {
	return Watchdog{
		StallAfter:   time.Minute,
		Captures:     []int{1, 2, 4},
		GiveUpAfter:  10 * time.Minute,
		EpisodesKept: 8,
		SampleEvery:  5 * time.Second,
		Window:       2 * time.Minute,
	}
}

// Bounds of a watchdog's settings.
const (
	capturesMax     = 16
	captureMultiple = 10_000         // the largest
	captureMax      = 10 * lengthMax // the longest stall that is captured again
	episodesMax     = 10_000
	lengthMin       = time.Millisecond
)

// Validate says what is wrong with the settings, in one line that names the field, what was found and
// what is allowed, or returns nil.
func (c *Watchdog) Validate() error {
	if err := checkLength("stall_after", c.StallAfter, lengthMin); err != nil {
		return err
	}
	if err := c.checkCaptures(); err != nil {
		return err
	}
	if c.GiveUpAfter != 0 && (c.GiveUpAfter < c.StallAfter || c.GiveUpAfter > lengthMax) {
		return fmt.Errorf("give_up_after: found %v, want 0 (never) or stall_after (%v) to %v", c.GiveUpAfter, c.StallAfter, lengthMax)
	}
	if c.EpisodesKept < 1 || c.EpisodesKept > episodesMax {
		return fmt.Errorf("episodes_kept: found %d, want 1 to %d", c.EpisodesKept, episodesMax)
	}
	if err := checkLength("sample_every", c.SampleEvery, lengthMin); err != nil {
		return err
	}
	return checkLength("window", c.Window, 0)
}

func (c *Watchdog) checkCaptures() error {
	if n := len(c.Captures); n < 1 || n > capturesMax {
		return fmt.Errorf("captures: found %d multiples, want 1 to %d", n, capturesMax)
	}
	if c.Captures[0] != 1 {
		return fmt.Errorf("captures[0]: found %d, want 1, since a stall is captured when it is raised", c.Captures[0])
	}
	for i := 1; i < len(c.Captures); i++ {
		if least := c.Captures[i-1] + 1; c.Captures[i] < least || c.Captures[i] > captureMultiple {
			return fmt.Errorf("captures[%d]: found %d, want %d to %d", i, c.Captures[i], least, captureMultiple)
		}
		if most := int(captureMax / c.StallAfter); c.Captures[i] > most {
			return fmt.Errorf("captures[%d]: found %d times stall_after (%v), want at most %d times, which is %v", i, c.Captures[i], c.StallAfter, most, captureMax)
		}
	}
	return nil
}

func checkLength(field string, found, least time.Duration) error {
	if found < least || found > lengthMax {
		return fmt.Errorf("%s: found %v, want %v to %v", field, found, least, lengthMax)
	}
	return nil
}
