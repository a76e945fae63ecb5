package adaptive_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/adaptive"
)

func TestBadConfigs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"{}", `limit: found "", want one of response_header, first_token, idle, total`},
		{"{limit: connect, rule: rto}", `limit: found "connect", want one of response_header, first_token, idle, total`},
		{"{limit: idle}", `rule: found "", want one of rto, quantile, moving_quantile`},
		{"{limit: idle, rule: rto, quantile: 0.9}", "quantile: found a value, want none with rule rto, which does not read it"},
		{"{limit: idle, rule: rto, success_only: true}", "success_only: found a value, want none with rule rto, which does not read it"},
		{"{limit: idle, rule: quantile, age: 9}", "age: found a value, want none with rule quantile, which does not read it"},
		{"{limit: idle, rule: moving_quantile, window: 9}", "window: found a value, want none with rule moving_quantile, which does not read it"},
		{"{limit: idle, rule: quantile, granularity: 9s}", "granularity: found a value, want none with rule quantile, which does not read it"},
		{"{limit: idle, rule: quantile, from_retries: true}", "from_retries: found a value, want none with rule quantile, which does not read it"},
		{"{limit: idle, rule: quantile, quantile: 1}", "quantile: found 1, want a number between 0 and 1, both excluded, or 0 (0.99)"},
		{"{limit: idle, rule: quantile, quantile: .nan}", "quantile: found NaN, want a number between 0 and 1, both excluded, or 0 (0.99)"},
		{"{limit: idle, rule: quantile, factor: -1}", "factor: found -1, want a number above 0 and up to 100, or 0 (1)"},
		{"{limit: idle, rule: moving_quantile, step: 2}", "step: found 2, want a number above 0 and up to 1, or 0 (0.01)"},
		{"{limit: idle, rule: quantile, window: -1}", "window: found -1, want a number of samples up to 10000, or 0 (the default)"},
		{"{limit: idle, rule: quantile, window: 10001}", "window: found 10001, want a number of samples up to 10000, or 0 (the default)"},
		{"{limit: idle, rule: quantile, min_samples: 101}", "min_samples: found 101, want at most window, which is 100: it would never be reached"},
		{"{limit: idle, rule: rto, initial: 10ns}", "initial: found 10ns, want 0 or a duration from 1ms to 720h0m0s"},
		{"{limit: idle, rule: rto, min: 10s, max: 5s}", "max: found 5s, want at least min, which is 10s"},
		{"{limit: idle, rule: rto, min: 10s, initial: 5s}", "initial: found 5s, want a duration from min (10s) to max (none)"},
		{"{limit: idle, rule: rto, max: 10s, initial: 15s}", "initial: found 15s, want a duration from min (0s) to max (10s)"},
		{"{limit: idle, rule: rto, prompt_classes: [10, 10]}", "prompt_classes[1]: found 10, want a number of tokens from 1 that is above the one before"},
		{"{limit: idle, rule: rto, prompt_classes: [0]}", "prompt_classes[0]: found 0, want a number of tokens from 1 that is above the one before"},
	} {
		var got adaptive.Config
		if err := yaml.UnmarshalWithOptions([]byte(c.text), &got, yaml.Strict()); err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if err := got.Validate(); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
	many := adaptive.Config{Limit: adaptive.LimitIdle, Rule: adaptive.RuleRTO, PromptClasses: make([]int, 101)}
	if err := many.Validate(); err == nil || err.Error() != "prompt_classes: found 101 bounds, want at most 100" {
		t.Error(err)
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, rule := range adaptive.Rules() {
		want := adaptive.Config{
			Limit: adaptive.LimitTotal, Rule: rule, Initial: 300 * s, Min: 20 * s, Max: 900 * s, PromptClasses: []int{2000, 30000}, NoDouble: true,
		}.WithDefaults()
		if err := want.Validate(); err != nil {
			t.Errorf("%+v: %v", want, err)
		}
		if again := want.WithDefaults(); !reflect.DeepEqual(again, want) {
			t.Errorf("spelled out again, %+v is %+v", want, again)
		}
		var fromYAML, fromJSON adaptive.Config
		text, err := yaml.Marshal(want)
		if err == nil {
			err = yaml.UnmarshalWithOptions(text, &fromYAML, yaml.Strict())
		}
		if err != nil || !reflect.DeepEqual(fromYAML, want) {
			t.Errorf("as YAML, %+v is %+v (%v)\n%s", want, fromYAML, err, text)
		}
		text, err = json.Marshal(want)
		if err == nil {
			err = json.Unmarshal(text, &fromJSON)
		}
		if err != nil || !reflect.DeepEqual(fromJSON, want) {
			t.Errorf("as JSON, %+v is %+v (%v)\n%s", want, fromJSON, err, text)
		}
	}
}

// The limit doubles on a timeout, and goes back to what was learnt with the next answer in time.
func ExampleEstimator() {
	e := adaptive.New(adaptive.Config{
		Limit: adaptive.LimitFirstToken, Rule: adaptive.RuleRTO, Initial: 5 * time.Minute, Min: 10 * time.Second,
	})
	var now sim.Instant
	fmt.Println(e.Limit(now))
	e.Observe(now, 8*time.Second, adaptive.Outcome{})
	fmt.Println(e.Limit(now))
	e.Observe(now, 24*time.Second, adaptive.Outcome{Censored: true})
	fmt.Println(e.Limit(now))
	e.Observe(now, 8*time.Second, adaptive.Outcome{})
	fmt.Println(e.Limit(now))
	// Output:
	// 5m0s
	// 24s
	// 48s
	// 20s
}
