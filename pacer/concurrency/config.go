package concurrency

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The rules by which a limit moves.
const (
	Static    = "static"    // never
	AIMD      = "aimd"      // Netflix concurrency-limits AIMDLimit
	Vegas     = "vegas"     // Netflix concurrency-limits VegasLimit
	Gradient  = "gradient"  // Netflix concurrency-limits GradientLimit
	Gradient2 = "gradient2" // Netflix concurrency-limits Gradient2Limit
	Failsafe  = "failsafe"  // failsafe-go 0.9.8 adaptivelimiter
)

// The signals that stand for the round-trip time of a rule.
const (
	// Latency is the time from the start of an attempt to its last byte, as the libraries have it. With language
	// models it is mostly the length of the output.
	Latency = "latency"
	// FirstToken is the time from there to the first output: queue and prefill. The sample is taken
	// when that comes.
	FirstToken = "first_token"
	// PerToken is the latency divided by the number of output tokens.
	PerToken = "per_token"
)

// What a drop means: an attempt that a time limit, the network or an overloaded server has ended.
const (
	Shrink = "shrink" // overload: the limit is lowered
	Ignore = "ignore" // nothing: the sample is thrown away
	Record = "record" // a sample like any other, as long as it lasted
)

// Config is the block `limit` of a pacer's configuration: how many calls may be in flight, and by
// which rule that number moves. The zero value is off: the number of slots is the limit then.
// A field that is 0 or empty stands for the default of the rule's library; a field that the rule
// does not have is refused.
type Config struct {
	// Rule is one of [Rules]. Empty: off.
	Rule string `json:"rule,omitempty" yaml:"rule,omitzero"`
	// Signal is what the rule takes for a round-trip time. Empty: latency.
	Signal string `json:"signal,omitempty" yaml:"signal,omitzero"`
	// Initial, Min and Max are the limit at the start and its bounds, in calls. Defaults: 20, 20, 200 of
	// aimd and gradient2; 20, 1, 1000 of vegas; 50, 1, 1000 of gradient; 20, 1, 200 of failsafe. Static
	// has Initial only, whose 0 stands for the number of slots.
	Initial int `json:"initial,omitempty" yaml:"initial,omitzero"`
	Min     int `json:"min,omitempty" yaml:"min,omitzero"`
	Max     int `json:"max,omitempty" yaml:"max,omitzero"`
	// Drops says what a drop means. Empty: what it means to the rule's library, which is shrink for aimd,
	// vegas and gradient, record for gradient2, and ignore for failsafe.
	Drops string `json:"drops,omitempty" yaml:"drops,omitzero"`

	// BackoffRatio is by what a drop multiplies the limit. Default 0.9. Not of vegas, which takes off
	// log10 of the limit.
	BackoffRatio float64 `json:"backoff_ratio,omitempty" yaml:"backoff_ratio,omitzero"`
	// Timeout is the round-trip time from which a sample of aimd counts as a drop. Default 5 s.
	Timeout time.Duration `json:"timeout_ns,omitempty" yaml:"timeout,omitzero"`
	// Smoothing is the weight of a new limit against the old one, above 0 and up to 1. Defaults: 1 of
	// vegas, 0.2 of gradient and gradient2.
	Smoothing float64 `json:"smoothing,omitempty" yaml:"smoothing,omitzero"`
	// Tolerance is how many times its base the round-trip time may be before the limit of gradient and
	// gradient2 is lowered. Defaults 2 and 1.5.
	Tolerance float64 `json:"tolerance,omitempty" yaml:"tolerance,omitzero"`
	// QueueSize is by how many calls gradient2 lets the limit grow at a time. Default 4. Of gradient it is
	// the least; there the square root of the limit counts if it is more.
	QueueSize int `json:"queue_size,omitempty" yaml:"queue_size,omitzero"`
	// LongWindow is over how many samples gradient2 averages the base. Default 600.
	LongWindow int `json:"long_window,omitempty" yaml:"long_window,omitzero"`
	// ProbeInterval is after how many samples gradient measures its base anew: this many to twice as
	// many. Default 1000.
	ProbeInterval int `json:"probe_interval,omitempty" yaml:"probe_interval,omitzero"`
	// ProbeMultiplier is after how many times its limit in samples vegas measures its base anew: half to
	// all of it. Default 30.
	ProbeMultiplier int `json:"probe_multiplier,omitempty" yaml:"probe_multiplier,omitzero"`

	// Window gathers samples before the rule sees one. Off by default; failsafe has one of its own.
	Window Window `json:"window,omitzero" yaml:"window,omitzero"`
	// Adaptive is what only failsafe has.
	Adaptive Adaptive `json:"adaptive,omitzero" yaml:"adaptive,omitzero"`
}

// Window is Netflix's WindowedLimit: the rule is told the mean of a window's samples, the most
// calls in flight, and whether there was a drop. A window that ends with fewer samples than Samples
// is thrown away. The zero value is off.
type Window struct {
	// Samples is the least number of samples. 0: no window. The library's default is 10, that of its Go
	// port 100.
	Samples int `json:"samples,omitempty" yaml:"samples,omitzero"`
	// Min and Max bound the length of a window, which is twice the shortest round-trip time in the one
	// before. Default 1 s each.
	Min time.Duration `json:"min_ns,omitempty" yaml:"min,omitzero"`
	Max time.Duration `json:"max_ns,omitempty" yaml:"max,omitzero"`
}

// Adaptive is what failsafe-go's adaptive limiter can be told.
type Adaptive struct {
	// RecentMin, RecentMax and RecentSamples say when the limit is looked at: once a window is twice as
	// old as its shortest round-trip time, within these bounds, and has that many samples. Defaults 1 s,
	// 30 s, 50.
	RecentMin     time.Duration `json:"recent_min_ns,omitempty" yaml:"recent_min,omitzero"`
	RecentMax     time.Duration `json:"recent_max_ns,omitempty" yaml:"recent_max,omitzero"`
	RecentSamples int           `json:"recent_samples,omitempty" yaml:"recent_samples,omitzero"`
	// RecentQuantile is which round-trip time of a window stands for it. Default 0.9.
	RecentQuantile float64 `json:"recent_quantile,omitempty" yaml:"recent_quantile,omitzero"`
	// BaselineWindow is over how many windows the base is averaged. Default 10.
	BaselineWindow int `json:"baseline_window,omitempty" yaml:"baseline_window,omitzero"`
	// CorrelationWindow is over how many windows throughput and round-trip times are compared with calls
	// in flight. Default 50.
	CorrelationWindow int `json:"correlation_window,omitempty" yaml:"correlation_window,omitzero"`
	// InflightFactor bounds the limit: at most this many times the most calls in flight. Default 5.
	InflightFactor float64 `json:"inflight_factor,omitempty" yaml:"inflight_factor,omitzero"`
}

// Rules returns the names of all rules.
func Rules() []string { return []string{Static, AIMD, Vegas, Gradient, Gradient2, Failsafe} }

// Bounds of what is taken for meant.
const (
	limitMax    = 1_000_000
	samplesMax  = 1_000_000
	durationMin = time.Millisecond
	durationMax = 30 * 24 * time.Hour
)

// Validate says what is wrong with the configuration in one line, or returns nil.
func (c Config) Validate() error {
	if c == (Config{}) {
		return nil
	}
	if !slices.Contains(Rules(), c.Rule) {
		return fmt.Errorf("rule: found %q, want one of %s", c.Rule, strings.Join(Rules(), ", "))
	}
	for _, s := range []struct {
		field, value string
		want         []string
	}{
		{"signal", c.Signal, []string{Latency, FirstToken, PerToken}},
		{"drops", c.Drops, []string{Shrink, Ignore, Record}},
	} {
		if s.value != "" && !slices.Contains(s.want, s.value) {
			return fmt.Errorf("%s: found %q, want one of %s", s.field, s.value, strings.Join(s.want, ", "))
		}
	}
	for _, check := range []func(Config) error{counts, shares, times, foreign} {
		if err := check(c); err != nil {
			return err
		}
	}
	d := c.WithDefaults(limitMax)
	if d.Min > d.Max {
		return fmt.Errorf("min: found %d, want at most max, which is %d", d.Min, d.Max)
	}
	if c.Rule != Static && (d.Initial < d.Min || d.Initial > d.Max) {
		return fmt.Errorf("initial: found %d, want a number from min to max, which are %d and %d", d.Initial, d.Min, d.Max)
	}
	if d.Window.Min > d.Window.Max {
		return fmt.Errorf("window.min: found %v, want at most window.max, which is %v", d.Window.Min, d.Window.Max)
	}
	if d.Adaptive.RecentMin > d.Adaptive.RecentMax {
		return fmt.Errorf("adaptive.recent_min: found %v, want at most adaptive.recent_max, which is %v", d.Adaptive.RecentMin, d.Adaptive.RecentMax)
	}
	return nil
}

func counts(c Config) error {
	for _, n := range []struct {
		field string
		value int
		most  int
	}{
		{"initial", c.Initial, limitMax}, {"min", c.Min, limitMax}, {"max", c.Max, limitMax},
		{"queue_size", c.QueueSize, limitMax}, {"long_window", c.LongWindow, samplesMax},
		{"probe_interval", c.ProbeInterval, samplesMax}, {"probe_multiplier", c.ProbeMultiplier, samplesMax},
		{"window.samples", c.Window.Samples, samplesMax}, {"adaptive.recent_samples", c.Adaptive.RecentSamples, samplesMax},
		{"adaptive.baseline_window", c.Adaptive.BaselineWindow, samplesMax},
		{"adaptive.correlation_window", c.Adaptive.CorrelationWindow, samplesMax},
	} {
		if n.value < 0 || n.value > n.most {
			return fmt.Errorf("%s: found %d, want 0 (the default) or a number up to %d", n.field, n.value, n.most)
		}
	}
	return nil
}

func shares(c Config) error {
	for _, x := range []struct {
		field       string
		value       float64
		least, most float64
	}{
		{"backoff_ratio", c.BackoffRatio, 0.01, 1}, {"smoothing", c.Smoothing, 0.001, 1}, {"tolerance", c.Tolerance, 1, 100},
		{"adaptive.recent_quantile", c.Adaptive.RecentQuantile, 0.01, 0.999}, {"adaptive.inflight_factor", c.Adaptive.InflightFactor, 1, 1000},
	} {
		if x.value != 0 && !(x.value >= x.least && x.value <= x.most) {
			return fmt.Errorf("%s: found %v, want 0 (the default) or a number from %v to %v", x.field, x.value, x.least, x.most)
		}
	}
	return nil
}

func times(c Config) error {
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{"timeout", c.Timeout}, {"window.min", c.Window.Min}, {"window.max", c.Window.Max},
		{"adaptive.recent_min", c.Adaptive.RecentMin}, {"adaptive.recent_max", c.Adaptive.RecentMax},
	} {
		if d.value != 0 && (d.value < durationMin || d.value > durationMax) {
			return fmt.Errorf("%s: found %v, want 0 (the default) or a duration from %v to %v", d.field, d.value, durationMin, durationMax)
		}
	}
	return nil
}

// foreign refuses a field that the rule does not have: it would be read, and do nothing.
func foreign(c Config) error {
	for _, f := range []struct {
		field string
		set   bool
		of    []string
	}{
		{"min", c.Min != 0, []string{AIMD, Vegas, Gradient, Gradient2, Failsafe}},
		{"max", c.Max != 0, []string{AIMD, Vegas, Gradient, Gradient2, Failsafe}},
		{"signal", c.Signal != "", []string{AIMD, Vegas, Gradient, Gradient2, Failsafe}},
		{"drops", c.Drops != "", []string{AIMD, Vegas, Gradient, Gradient2, Failsafe}},
		{"backoff_ratio", c.BackoffRatio != 0, []string{AIMD, Gradient, Gradient2, Failsafe}},
		{"timeout", c.Timeout != 0, []string{AIMD}},
		{"smoothing", c.Smoothing != 0, []string{Vegas, Gradient, Gradient2}},
		{"tolerance", c.Tolerance != 0, []string{Gradient, Gradient2}},
		{"queue_size", c.QueueSize != 0, []string{Gradient, Gradient2}},
		{"long_window", c.LongWindow != 0, []string{Gradient2}},
		{"probe_interval", c.ProbeInterval != 0, []string{Gradient}},
		{"probe_multiplier", c.ProbeMultiplier != 0, []string{Vegas}},
		{"window", c.Window != (Window{}), []string{AIMD, Vegas, Gradient, Gradient2}},
		{"adaptive", c.Adaptive != (Adaptive{}), []string{Failsafe}},
	} {
		if f.set && !slices.Contains(f.of, c.Rule) {
			return fmt.Errorf("%s: found with rule %s, want one of the rules %s", f.field, c.Rule, strings.Join(f.of, ", "))
		}
	}
	if c.Window.Samples == 0 && c.Window != (Window{}) {
		return fmt.Errorf("window.samples: found 0, want at least 1 with a window.min or window.max")
	}
	return nil
}
