package concurrency

import (
	"strings"
	"testing"
	"time"
)

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		config Config
		want   string // start of the error; empty: none
	}{
		{Config{}, ""},
		{Config{Rule: Static}, ""},
		{Config{Rule: Static, Initial: 8}, ""},
		{Config{Rule: AIMD}, ""},
		{Config{Rule: AIMD, Min: 1, Initial: 8, Max: 64, Timeout: time.Minute}, ""},
		{Config{Rule: Vegas, Signal: FirstToken}, ""},
		{Config{Rule: Gradient2, Window: Window{Samples: 10}}, ""},
		{Config{Rule: Failsafe, Drops: Shrink}, ""},
		{Config{Initial: 8}, `rule: found "", want one of static, aimd`},
		{Config{Rule: "fuzzy"}, `rule: found "fuzzy", want one of static, aimd`},
		{Config{Rule: AIMD, Signal: "tea leaves"}, `signal: found "tea leaves", want one of latency, first_token, per_token`},
		{Config{Rule: AIMD, Drops: "shout"}, `drops: found "shout", want one of shrink, ignore, record`},
		{Config{Rule: AIMD, Initial: -1}, "initial: found -1, want 0"},
		{Config{Rule: AIMD, Initial: 8}, "initial: found 8, want a number from min to max, which are 20 and 200"},
		{Config{Rule: AIMD, Min: 300}, "min: found 300, want at most max, which is 200"},
		{Config{Rule: AIMD, BackoffRatio: 1.5}, "backoff_ratio: found 1.5, want 0"},
		{Config{Rule: AIMD, Timeout: 5}, "timeout: found 5ns, want 0"},
		{Config{Rule: Vegas, Timeout: time.Second}, "timeout: found with rule vegas, want one of the rules aimd"},
		{Config{Rule: Static, Signal: Latency}, "signal: found with rule static"},
		{Config{Rule: Failsafe, Window: Window{Samples: 5}}, "window: found with rule failsafe"},
		{Config{Rule: Vegas, Window: Window{Min: time.Second}}, "window.samples: found 0"},
		{Config{Rule: Vegas, Window: Window{Samples: 5, Min: time.Minute}}, "window.min: found 1m0s, want at most window.max, which is 1s"},
		{Config{Rule: Failsafe, Adaptive: Adaptive{RecentQuantile: 1}}, "adaptive.recent_quantile: found 1, want"},
		{Config{Rule: Failsafe, Adaptive: Adaptive{RecentMin: time.Hour}}, "adaptive.recent_min: found 1h0m0s, want at most"},
		{Config{Rule: Gradient, Adaptive: Adaptive{RecentSamples: 3}}, "adaptive: found with rule gradient"},
	} {
		err := tc.config.Validate()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%+v: got %v, want one line: %s", tc.config, err, tc.want)
		}
	}
}

func TestDefaults(t *testing.T) {
	for _, rule := range Rules() {
		c := Config{Rule: rule}.WithDefaults(16)
		if err := c.Validate(); err != nil && rule != Static {
			t.Errorf("%s with its defaults: %v", rule, err)
		}
		if again := c.WithDefaults(99); again != c {
			t.Errorf("%s: the defaults of the defaults are %+v, want %+v", rule, again, c)
		}
		if got := New(Config{Rule: rule}, 16, 0).Limit(); got != c.Initial {
			t.Errorf("%s starts with %d, want %d", rule, got, c.Initial)
		}
	}
}
