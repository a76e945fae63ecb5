package demand

import (
	"math"
	"time"
)

// Loop says what the level of a demand counts.
type Loop string

// The loops. The zero value is Closed.
const (
	Closed Loop = "closed" // agents at work: a new task begins when one has ended
	Open   Loop = "open"   // tasks that arrive in an hour, whether or not earlier ones have ended
)

// Config is a demand over time: the block load of a soak. The level is that of the stages, times the
// spikes that are on, times the day's share. The zero value is a closed loop of the fleet's workers, all
// the time: see [Config.WithAgents].
type Config struct {
	Loop Loop `json:"loop,omitempty" yaml:"loop,omitempty"` // "" means closed
	// Agents is how many are at work at the start, of a closed loop. 0: as many as the fleet has workers.
	Agents float64 `json:"agents,omitzero" yaml:"agents,omitzero"`
	// TasksPerH is how many tasks arrive in an hour at the start, of an open loop.
	TasksPerH float64 `json:"tasks_per_h,omitzero" yaml:"tasks_per_h,omitzero"`
	// Stages follow each other from the start on. After the last one its level stays.
	Stages []Stage `json:"stages,omitempty" yaml:"stages,omitempty"`
	// Spikes are stretches of more or less, for a while.
	Spikes []Spike `json:"spikes,omitempty" yaml:"spikes,omitempty"`
	// Daily makes nights of less. The zero value: day and night are the same.
	Daily Daily `json:"daily,omitzero" yaml:"daily,omitzero"`
}

// Stage is a stretch of time that ends at a level of its own.
type Stage struct {
	Over time.Duration `json:"over_ns" yaml:"over"` // how long it lasts
	To   float64       `json:"to" yaml:"to"`        // agents, or tasks an hour
	// Step has the level at once, for the whole stage. false: it goes there in a straight line from the level
	// before.
	Step bool `json:"step,omitempty" yaml:"step,omitempty"`
}

// Spike multiplies the level for a while, once or again and again.
type Spike struct {
	// At is when it begins. 0: after one Every.
	At time.Duration `json:"at_ns,omitzero" yaml:"at,omitzero"`
	// Every is the time from one beginning to the next. 0: there is one only.
	Every time.Duration `json:"every_ns,omitzero" yaml:"every,omitzero"`
	Lasts time.Duration `json:"lasts_ns" yaml:"lasts"`
	Times float64       `json:"times" yaml:"times"` // what the level is multiplied by
}

// Daily is a cycle: a cosine between 1 at the peak and Low half a period later.
type Daily struct {
	Low float64 `json:"low,omitzero" yaml:"low,omitzero"` // share of the level that is left at night, less than 1
	// PeakAt is an instant at which there is a peak, counted from the start.
	PeakAt time.Duration `json:"peak_at_ns,omitzero" yaml:"peak_at,omitzero"`
	Period time.Duration `json:"period_ns,omitzero" yaml:"period,omitzero"` // 0: 24 hours
}

// On says whether there is a cycle. One that goes down to nothing, with its peak at the start, is told from
// none by its period.
func (d *Daily) On() bool { return *d != Daily{} }

func (d *Daily) period() time.Duration {
	if d.Period == 0 {
		return 24 * time.Hour
	}
	return d.Period
}

// share returns what the cycle leaves of the level at t.
func (d *Daily) share(t time.Duration) float64 {
	if !d.On() {
		return 1
	}
	p := d.period()
	turn := float64((t-d.PeakAt)%p) / float64(p)
	return d.Low + (1-d.Low)*(1+math.Cos(2*math.Pi*turn))/2
}

// OpenLoop says whether the level counts tasks that arrive.
func (c *Config) OpenLoop() bool { return c.Loop == Open }

// WithAgents returns the demand with so many agents at the start where it does not say how many.
func (c Config) WithAgents(n int) Config {
	if c.Agents == 0 && !c.OpenLoop() {
		c.Agents = float64(n)
	}
	return c
}

// base returns the level at the start.
func (c *Config) base() float64 {
	if c.OpenLoop() {
		return c.TasksPerH
	}
	return c.Agents
}

// Level returns how many agents should be at work at t, or how many tasks arrive in an hour. It is never
// below 0.
func (c *Config) Level(t time.Duration) float64 {
	level := c.stagesAt(t)
	for i := range c.Spikes {
		if c.Spikes[i].on(t) {
			level *= c.Spikes[i].Times
		}
	}
	return level * c.Daily.share(t)
}

// Peak returns a level that is never exceeded.
func (c *Config) Peak() float64 {
	peak := c.base()
	for i := range c.Stages {
		peak = max(peak, c.Stages[i].To)
	}
	for i := range c.Spikes {
		peak *= max(c.Spikes[i].Times, 1)
	}
	return peak
}

// stagesAt returns the level of the stages alone.
func (c *Config) stagesAt(t time.Duration) float64 {
	level := c.base()
	for i := range c.Stages {
		s := &c.Stages[i]
		if t < s.Over {
			if s.Step {
				return s.To
			}
			return level + (s.To-level)*float64(max(t, 0))/float64(s.Over)
		}
		t -= s.Over
		level = s.To
	}
	return level
}

// first returns when the spike begins for the first time.
func (s *Spike) first() time.Duration {
	if s.At == 0 {
		return s.Every
	}
	return s.At
}

// on says whether the spike is on at t.
func (s *Spike) on(t time.Duration) bool {
	since := t - s.first()
	if since < 0 {
		return false
	}
	if s.Every > 0 {
		since %= s.Every
	}
	return since < s.Lasts
}
