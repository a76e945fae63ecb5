package demand

import (
	"fmt"
	"time"
)

// Bounds of a demand.
const (
	// AgentsMax is the most agents that a level may ask for.
	AgentsMax = 1_000_000
	// TasksPerHMax is the most tasks an hour that a level may ask for.
	TasksPerHMax = 1e9

	lengthMax = 10_000 * time.Hour // of anything that is a length of time
	lengthMin = time.Millisecond
	timesMin  = 0.001
	timesMax  = 1000
	itemsMax  = 1000 // stages, and spikes
)

// Validate says what is wrong with the demand, in one line that names the field, what was found and what
// is allowed, or returns nil.
func (c *Config) Validate() error {
	switch {
	case c.Loop != "" && c.Loop != Closed && c.Loop != Open:
		return fmt.Errorf("loop: found %q, want %s or %s", c.Loop, Closed, Open)
	case c.OpenLoop() && c.Agents != 0:
		return fmt.Errorf("agents: found %v in an open loop, want tasks_per_h: agents are what a closed loop counts", c.Agents)
	case !c.OpenLoop() && c.TasksPerH != 0:
		return fmt.Errorf("tasks_per_h: found %v in a closed loop, want agents, or loop: open", c.TasksPerH)
	case !within(c.Agents, 0, AgentsMax):
		return fmt.Errorf("agents: found %v, want 0 (the fleet's workers) to %d", c.Agents, AgentsMax)
	case !within(c.TasksPerH, 0, TasksPerHMax):
		return fmt.Errorf("tasks_per_h: found %v, want 0 to %.0f", c.TasksPerH, TasksPerHMax)
	case len(c.Stages) > itemsMax:
		return fmt.Errorf("stages: found %d, want at most %d", len(c.Stages), itemsMax)
	case len(c.Spikes) > itemsMax:
		return fmt.Errorf("spikes: found %d, want at most %d", len(c.Spikes), itemsMax)
	}
	peak := c.base()
	for i := range c.Stages {
		if err := c.Stages[i].validate(c.levelMax()); err != nil {
			return fmt.Errorf("stages[%d].%w", i, err)
		}
		peak = max(peak, c.Stages[i].To)
	}
	if c.OpenLoop() && peak == 0 {
		return fmt.Errorf("tasks_per_h: found 0 and no stage that goes above, want how many tasks arrive in an hour")
	}
	return c.validateShape(peak)
}

// validateShape checks what the level of the stages is multiplied by.
func (c *Config) validateShape(peak float64) error {
	for i := range c.Spikes {
		s := &c.Spikes[i]
		if err := s.validate(); err != nil {
			return fmt.Errorf("spikes[%d].%w", i, err)
		}
		peak *= max(s.Times, 1)
		if !within(peak, 0, c.levelMax()) {
			return fmt.Errorf("spikes[%d].times: found %v, by which the level can be %.0f, want at most %.0f in all", i, s.Times, peak, c.levelMax())
		}
	}
	if err := c.Daily.validate(); err != nil {
		return fmt.Errorf("daily.%w", err)
	}
	return nil
}

func (c *Config) levelMax() float64 {
	if c.OpenLoop() {
		return TasksPerHMax
	}
	return AgentsMax
}

func (s *Stage) validate(levelMax float64) error {
	if err := length("over", s.Over, lengthMin); err != nil {
		return err
	}
	if !within(s.To, 0, levelMax) {
		return fmt.Errorf("to: found %v, want 0 to %.0f", s.To, levelMax)
	}
	return nil
}

func (s *Spike) validate() error {
	if err := length("at", s.At, 0); err != nil {
		return err
	}
	if err := length("every", s.Every, 0); err != nil {
		return err
	}
	if err := length("lasts", s.Lasts, lengthMin); err != nil {
		return err
	}
	switch {
	case s.Every == 0 && s.At == 0:
		return fmt.Errorf("at: found neither it nor every, want when the spike begins")
	case s.Every != 0 && s.Lasts >= s.Every:
		return fmt.Errorf("lasts: found %v, want less than every (%v)", s.Lasts, s.Every)
	case !within(s.Times, timesMin, timesMax):
		return fmt.Errorf("times: found %v, want %v to %d", s.Times, timesMin, timesMax)
	}
	return nil
}

func (d *Daily) validate() error {
	if !d.On() {
		return nil
	}
	if !(d.Low >= 0 && d.Low < 1) {
		return fmt.Errorf("low: found %v, want the share that is left at night, 0 or more and less than 1", d.Low)
	}
	if err := length("peak_at", d.PeakAt, 0); err != nil {
		return err
	}
	if d.Period != 0 {
		return length("period", d.Period, time.Minute)
	}
	return nil
}

// within is false for what is no number.
func within(v, least, most float64) bool { return v >= least && v <= most }

func length(field string, found, least time.Duration) error {
	if found < least || found > lengthMax {
		return fmt.Errorf("%s: found %v, want %v to %v", field, found, least, lengthMax)
	}
	return nil
}
