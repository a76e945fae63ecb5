package admission

import (
	"fmt"
	"slices"
	"time"
)

// ThrottleRule names how calls are turned away.
type ThrottleRule string

// The rules. Each draws against a probability p.
const (
	// ThrottleSRE: p = max(0, (requests - K accepts) / (requests + 1)) over Window. Requests count
	// when they are to be sent, those turned away included; accepts when they end well. Site
	// Reliability Engineering, chapter 21.
	ThrottleSRE ThrottleRule = "sre"
	// ThrottleEnvoy: p = ((n - ok/SRThreshold) / (n + 1))^(1/Aggression), at most
	// MaxRejectionProbability, over SamplingWindow in buckets of a second. Attempts count when they
	// end. None is turned away below RPSThreshold. Envoy 1.36, admission_control.
	ThrottleEnvoy ThrottleRule = "envoy"
	// ThrottleFailsafe: p = max(0, n - ok/SuccessRateThreshold) / (n + 1), at most MaxRejectionRate, over
	// ThresholdingPeriod in 20 buckets, from ExecutionThreshold attempts on. Attempts count when they
	// end, and old ones are forgotten only then: after a pause the first draw is still against the
	// past. failsafe-go 0.9.8, adaptivethrottler.
	ThrottleFailsafe ThrottleRule = "failsafe"
	// ThrottleKratos: p = max(0, (n - ok/Success) / (n + 1)) over Window in 10 buckets, from Request
	// attempts on. Attempts count when they end, those turned away as failures at once.
	// go-kratos/aegis 0.2.0, circuitbreaker/sre, with the middleware of kratos 2.
	ThrottleKratos ThrottleRule = "kratos"
)

// ThrottleRules returns the names of the rules.
func ThrottleRules() []ThrottleRule {
	return []ThrottleRule{ThrottleSRE, ThrottleEnvoy, ThrottleFailsafe, ThrottleKratos}
}

// ThrottleConfig turns away attempts that would probably fail, before they are sent. It is the block
// `throttle` of a policy. The zero value turns nothing away. A parameter of 0 is the library's
// default, which stands with it.
type ThrottleConfig struct {
	Rule ThrottleRule `json:"rule,omitempty" yaml:"rule,omitempty"`

	// Window is over how long sre and kratos count. 0 means 2 min and 3 s. One that is shorter than
	// a call puts requests and their ends into different windows.
	Window time.Duration `json:"window_ns,omitempty" yaml:"window,omitempty"`
	// K is how many requests sre lets through for one accept. 0 means 2.
	K float64 `json:"k,omitempty" yaml:"k,omitempty"`
	// CountAtEnd makes sre count requests when they end (a trap: a server that is silent is then not
	// noticed until its first calls time out). Those turned away count at once.
	CountAtEnd bool `json:"count_at_end,omitempty" yaml:"count_at_end,omitempty"`

	// SamplingWindow is over how long envoy counts. 0 means 30 s.
	SamplingWindow time.Duration `json:"sampling_window_ns,omitempty" yaml:"sampling_window,omitempty"`
	// SRThreshold is the rate of successes, in per cent, below which envoy begins. 0 means 95.
	SRThreshold float64 `json:"sr_threshold,omitempty" yaml:"sr_threshold,omitempty"`
	// Aggression bends its probability. 0 means 1, which is also the least.
	Aggression float64 `json:"aggression,omitempty" yaml:"aggression,omitempty"`
	// RPSThreshold is how many attempts a second are needed before envoy begins. 0: none.
	RPSThreshold float64 `json:"rps_threshold,omitempty" yaml:"rps_threshold,omitempty"`
	// MaxRejectionProbability caps it, in per cent. 0 means 80.
	MaxRejectionProbability float64 `json:"max_rejection_probability,omitempty" yaml:"max_rejection_probability,omitempty"`

	// SuccessRateThreshold is the rate of successes below which failsafe begins. 0 means 0.9.
	SuccessRateThreshold float64 `json:"success_rate_threshold,omitempty" yaml:"success_rate_threshold,omitempty"`
	// ExecutionThreshold is how many ended attempts it needs. 0: none.
	ExecutionThreshold int `json:"execution_threshold,omitempty" yaml:"execution_threshold,omitempty"`
	// ThresholdingPeriod is over how long it counts. 0 means 1 min.
	ThresholdingPeriod time.Duration `json:"thresholding_period_ns,omitempty" yaml:"thresholding_period,omitempty"`
	// MaxRejectionRate caps its probability. 0 means 0.9.
	MaxRejectionRate float64 `json:"max_rejection_rate,omitempty" yaml:"max_rejection_rate,omitempty"`

	// Success is the rate of successes below which kratos begins. 0 means 0.6.
	Success float64 `json:"success,omitempty" yaml:"success,omitempty"`
	// Request is how many ended attempts it needs. 0 means 100.
	Request int `json:"request,omitempty" yaml:"request,omitempty"`
}

// Off says whether nothing is ever turned away.
func (c ThrottleConfig) Off() bool { return c.Rule == "" }

// WithDefaults returns the configuration with the parameters of its rule spelled out.
func (c ThrottleConfig) WithDefaults() ThrottleConfig {
	fill(c.params())
	return c
}

// params lists the parameters; their pointers are into c.
func (c *ThrottleConfig) params() []param {
	const share, many = 1e-6, 1_000_000
	r := c.Rule
	window := 2 * time.Minute
	if r == ThrottleKratos {
		window = 3 * time.Second
	}
	return []param{
		span("window", r == ThrottleSRE || r == ThrottleKratos, &c.Window, window),
		number("k", r == ThrottleSRE, &c.K, 2, 1, many),
		span("sampling_window", r == ThrottleEnvoy, &c.SamplingWindow, 30*time.Second),
		number("sr_threshold", r == ThrottleEnvoy, &c.SRThreshold, 95, 1, 100),
		number("aggression", r == ThrottleEnvoy, &c.Aggression, 1, 1, many),
		number("rps_threshold", r == ThrottleEnvoy, &c.RPSThreshold, 0, share, many),
		number("max_rejection_probability", r == ThrottleEnvoy, &c.MaxRejectionProbability, 80, share, 100),
		number("success_rate_threshold", r == ThrottleFailsafe, &c.SuccessRateThreshold, 0.9, share, 1),
		count("execution_threshold", r == ThrottleFailsafe, &c.ExecutionThreshold, 0, many),
		span("thresholding_period", r == ThrottleFailsafe, &c.ThresholdingPeriod, time.Minute),
		number("max_rejection_rate", r == ThrottleFailsafe, &c.MaxRejectionRate, 0.9, share, 1),
		number("success", r == ThrottleKratos, &c.Success, 0.6, share, 1),
		count("request", r == ThrottleKratos, &c.Request, 100, many),
	}
}

// Validate says what is wrong with the configuration in one line that begins with the field, or
// returns nil.
func (c ThrottleConfig) Validate() error {
	if rules := append(ThrottleRules(), ""); !slices.Contains(rules, c.Rule) {
		return fmt.Errorf("rule: found %q, want none or one of %s", c.Rule, names(ThrottleRules()))
	}
	if err := check(c.params(), string(c.Rule)); err != nil {
		return err
	}
	return unset("count_at_end", c.CountAtEnd, c.Rule == ThrottleSRE, string(c.Rule))
}
