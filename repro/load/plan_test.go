package load

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestPlanValidate(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *Plan)
		want   string // "": valid
	}{
		{"default", func(p *Plan) {}, ""},
		{"open loop without a bound", func(p *Plan) { p.Rate, p.Clients, p.Backoff = 3, 0, 0 }, ""},
		{"requests alone", func(p *Plan) { p.Requests, p.Duration = 5, 0 }, ""},
		{"no clients", func(p *Plan) { p.Clients = 0 }, "load: concurrency: found 0, want a whole number from 1 to 100000"},
		{"requests", func(p *Plan) { p.Requests = -1 }, "load: requests: found -1, want a whole number from 0 to 1000000000"},
		{"tokens", func(p *Plan) { p.MaxTokens = -1 }, "load: max-tokens: found -1, want a whole number from 0 to 10000000"},
		{"rounds", func(p *Plan) { p.Rounds = 0 }, "load: rounds: found 0, want a whole number from 1 to 10000"},
		{"duration", func(p *Plan) { p.Duration = -1 }, "load: duration: found -1ns, want a duration from 0s to 1000h0m0s"},
		{"timeout", func(p *Plan) { p.Timeout = -time.Second }, "load: timeout: found -1s, want a duration from 0s to 1000h0m0s"},
		{"backoff", func(p *Plan) { p.Backoff = 0 }, "load: backoff: found 0s, want a duration from 1ns to 1000h0m0s"},
		{"sample", func(p *Plan) { p.SampleEvery = 0 }, "load: sample: found 0s, want a duration from 1ms to 1000h0m0s"},
		{"rate", func(p *Plan) { p.Rate = -1 }, "load: rate: found -1, want requests a second, more than 0 and at most 1000000"},
		{"rate", func(p *Plan) { p.Rate = math.NaN() }, "load: rate: found NaN, want requests a second, more than 0 and at most 1000000"},
		{"arrivals", func(p *Plan) { p.Arrivals = "bursts" }, `load: arrivals: found "bursts", want poisson or constant`},
		{"abandon", func(p *Plan) { p.Abandon = 1.5 }, "load: abandon: found 1.5, want a share from 0 to 1"},
		{"abandon in one piece", func(p *Plan) { p.Abandon, p.Stream = 1, false }, "load: abandon: found it without streaming, want --stream: an answer in one piece has no middle to leave in"},
		{"endless", func(p *Plan) { p.Duration = 0 }, "load: duration: found 0s and no number of requests, want one of them: nothing else ends the run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := DefaultPlan()
			c.change(&p)
			err := p.Validate()
			if got := text(err); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			var field *FieldError
			if err != nil && !errors.As(err, &field) {
				t.Errorf("%T is no *FieldError", err)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
