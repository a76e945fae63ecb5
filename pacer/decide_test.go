package pacer

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"example.com/wedge/harness/sim"
)

func at(seconds float64) sim.Instant { return sim.Instant(seconds * 1e9) }

func seconds(x float64) time.Duration { return time.Duration(x * 1e9) }

// TestDue walks through attempts: which limit is due when, after each thing that can happen.
func TestDue(t *testing.T) {
	all := Policy{Connect: seconds(5), ResponseHeader: seconds(60), FirstToken: seconds(90), Idle: seconds(30), IdleBy: IdleByToken, Total: seconds(300)}
	noFirst := all
	noFirst.FirstToken = 0
	byEvent, byByte := all, all
	byEvent.IdleBy, byByte.IdleBy = IdleByEvent, IdleByByte
	none := Policy{}
	connecting := phase{stage: StageConnect, began: at(10)}
	sent := phase{stage: StageHeaders, began: at(10), connected: at(12)}
	opened := phase{stage: StageFirstToken, began: at(10), connected: at(12), headers: at(20)}
	flowing := phase{stage: StageStream, began: at(10), connected: at(12), headers: at(20), content: at(40)}
	late := flowing
	late.began = at(-250)
	pr := Progress{Tokens: 9, LastToken: at(100), LastEvent: at(110), LastByte: at(120)}
	for _, tc := range []struct {
		name   string
		policy Policy
		phase  phase
		pr     Progress
		at     float64 // -1: never
		limit  Limit
	}{
		{"connecting", all, connecting, Progress{}, 15, LimitConnect},
		{"sent", all, sent, Progress{}, 72, LimitResponseHeader},
		{"sent, first token narrower", Policy{ResponseHeader: seconds(60), FirstToken: seconds(50)}, sent, Progress{}, 62, LimitFirstToken},
		{"sent, both at once", Policy{ResponseHeader: seconds(60), FirstToken: seconds(60), Total: seconds(62)}, sent, Progress{}, 72, LimitResponseHeader},
		{"headers are in", all, opened, Progress{}, 102, LimitFirstToken},
		{"headers are in, comments come", byByte, opened, Progress{LastByte: at(50)}, 102, LimitFirstToken},
		{"headers are in, no first token limit", noFirst, opened, Progress{}, 50, LimitIdle},
		{"the same, idle by event", Policy{Idle: seconds(30), IdleBy: IdleByEvent}, opened, Progress{LastEvent: at(25), LastByte: at(26)}, 55, LimitIdle},
		{"output is ahead of the chunks", all, opened, Progress{Tokens: 1, LastToken: at(60)}, 90, LimitIdle},
		{"streaming", all, flowing, pr, 130, LimitIdle},
		{"streaming, by event", byEvent, flowing, pr, 140, LimitIdle},
		{"streaming, by byte", byByte, flowing, pr, 150, LimitIdle},
		{"streaming, a backend without instants", all, flowing, Progress{}, 70, LimitIdle},
		{"streaming, total is nearer", all, late, pr, 50, LimitTotal},
		{"only a total", Policy{Total: seconds(300)}, flowing, pr, 310, LimitTotal},
		{"no limits", none, flowing, pr, -1, ""},
		{"no limits, connecting", none, connecting, pr, -1, ""},
		{"no attempt", all, phase{stage: StageDone}, pr, -1, ""},
		{"a limit beyond the end of time", Policy{Total: math.MaxInt64}, connecting, Progress{}, -1, ""},
	} {
		want := at(tc.at)
		if tc.at < 0 {
			want = sim.Never
		}
		l := tc.policy.limits()
		if got, limit := l.due(tc.phase, tc.pr); got != want || limit != tc.limit {
			t.Errorf("%s: due at %v by %q, want %v by %q", tc.name, got, limit, want, tc.limit)
		}
	}
}

func TestBackoff(t *testing.T) {
	base := Policy{BackoffBase: seconds(1), BackoffMultiplier: 2, BackoffMax: seconds(8)}
	for _, tc := range []struct {
		jitter   string
		n        int
		previous float64
		draw     float64
		want     float64
	}{
		{"none", 1, 0, 0.9, 1}, {"none", 2, 1, 0, 2}, {"none", 4, 4, 0, 8}, {"none", 5, 8, 0, 8}, {"none", 1_000_000_000, 8, 0, 8},
		{"full", 1, 0, 0, 0}, {"full", 2, 0, 0.5, 1}, {"full", 4, 0, 0.25, 2},
		{"equal", 1, 0, 0, 0.5}, {"equal", 3, 0, 0.5, 3},
		{"minus25", 1, 0, 0, 0.75}, {"minus25", 3, 0, 0.5, 3.5},
		{"plus25", 1, 0, 0, 1}, {"plus25", 3, 0, 0.5, 4.5},
		{"plusminus20", 1, 0, 0, 0.8}, {"plusminus20", 1, 0, 0.5, 1},
		{"plusminus50", 1, 0, 0, 0.5}, {"plusminus50", 1, 0, 0.75, 1.25},
		{"decorrelated", 1, 0, 0, 1}, {"decorrelated", 1, 0, 0.5, 2}, {"decorrelated", 2, 2, 0.5, 3.5}, {"decorrelated", 3, 7, 0.9, 8},
	} {
		p := base
		p.Jitter = tc.jitter
		if got := p.Backoff(tc.n, seconds(tc.previous), false, tc.draw); got != seconds(tc.want) {
			t.Errorf("%s: retry %d after %v s with draw %v: %v, want %v s", tc.jitter, tc.n, tc.previous, tc.draw, got, tc.want)
		}
	}
}

func TestDecide(t *testing.T) {
	base := DefaultPolicy()
	base.Jitter = "none"
	with := func(change func(*Policy)) Policy {
		p := base
		change(&p)
		return p
	}
	asked := func(d float64) Failure {
		return Failure{Outcome: AttemptStatus, Status: 429, Attempt: 1, HasRetryAfter: true, RetryAfter: seconds(d)}
	}
	for _, tc := range []struct {
		name   string
		policy Policy
		f      Failure
		draw   float64
		want   Decision
	}{
		{"timeout", base, Failure{Outcome: AttemptTimeout, Attempt: 1}, 0, Decision{Again: true, Delay: seconds(1)}},
		{"timeout, as openai-go", with(func(p *Policy) { p.RetryTimeouts = false }), Failure{Outcome: AttemptTimeout, Attempt: 1}, 0, Decision{}},
		{"second attempt", base, Failure{Outcome: AttemptTimeout, Attempt: 2}, 0, Decision{Again: true, Delay: seconds(2)}},
		{"last attempt", base, Failure{Outcome: AttemptTimeout, Attempt: 3}, 0, Decision{}},
		{"network", base, Failure{Outcome: AttemptNetwork, Attempt: 1}, 0, Decision{Again: true, Delay: seconds(1)}},
		{"network, off", with(func(p *Policy) { p.RetryNetwork = false }), Failure{Outcome: AttemptNetwork, Attempt: 1}, 0, Decision{}},
		{"not sent", base, Failure{Outcome: AttemptNetwork, Attempt: 1, NotSent: true}, 0, Decision{}},
		{"status on the list", base, Failure{Outcome: AttemptStatus, Status: 503, Attempt: 1}, 0, Decision{Again: true, Delay: seconds(1)}},
		{"status not on the list", base, Failure{Outcome: AttemptStatus, Status: 404, Attempt: 1}, 0, Decision{}},
		{"error event without a code", base, Failure{Outcome: AttemptStatus, Attempt: 1}, 0, Decision{Again: true, Delay: seconds(1)}},
		{"the same, 500 not on the list", with(func(p *Policy) { p.RetryOn = []int{503} }), Failure{Outcome: AttemptStatus, Attempt: 1}, 0, Decision{}},
		{"cancelled by the caller", base, Failure{Outcome: AttemptCanceled, Attempt: 1}, 0, Decision{}},
		{"floor", with(func(p *Policy) { p.BackoffFloor, p.Jitter = seconds(0.25), "full" }), Failure{Outcome: AttemptNetwork, Attempt: 1}, 0.1, Decision{Again: true, Delay: seconds(0.25)}},
		{"no backoff at all", with(func(p *Policy) { p.BackoffBase, p.BackoffFloor = 0, 0 }), Failure{Outcome: AttemptNetwork, Attempt: 1}, 0, Decision{Again: true, Delay: 0}},
		{"asked for 40 s", base, asked(40), 0, Decision{Again: true, Delay: seconds(40)}},
		{"asked for 40 s, spread", base, asked(40), 0.5, Decision{Again: true, Delay: seconds(42)}},
		{"asked for 0 s", base, asked(0), 0, Decision{Again: true, Delay: base.BackoffFloor}},
		{"asked for the most", base, asked(120), 0, Decision{Again: true, Delay: seconds(120)}},
		{"asked for more: clip", base, asked(600), 0, Decision{Again: true, Delay: seconds(120)}},
		{"asked for more: own", with(func(p *Policy) { p.RetryAfterOver = RetryAfterOwn }), asked(600), 0, Decision{Again: true, Delay: seconds(1)}},
		{"asked for more: own, which is even longer", with(func(p *Policy) {
			p.RetryAfterOver, p.RetryAfterMax, p.BackoffBase, p.BackoffMax = RetryAfterOwn, seconds(5), seconds(20), seconds(20)
		}), asked(10), 0, Decision{Again: true, Delay: seconds(10)}},
		{"asked for more: stop", with(func(p *Policy) { p.RetryAfterOver = RetryAfterStop }), asked(600), 0, Decision{}},
		{"asked, ignored", with(func(p *Policy) { p.RetryAfterMax = 0 }), asked(40), 0, Decision{Again: true, Delay: seconds(1)}},
	} {
		got := tc.policy.Decide(tc.f, tc.draw)
		if (got.Stop == "") != got.Again {
			t.Errorf("%s: %+v: want a reason for every end", tc.name, got)
		}
		got.Stop = ""
		if got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

func TestValidate(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Errorf("DefaultConfig: %v", err)
	}
	if err := DefaultPolicy().Validate(); err != nil {
		t.Errorf("DefaultPolicy: %v", err)
	}
	for _, tc := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Slots = -1 }, "slots: -1, want 0 (no limit) or a number up to 1000000"},
		{func(c *Config) { c.Slots = math.MaxInt }, "slots: 9223372036854775807, want"},
		{func(c *Config) { *c = Config{} }, `hold: "", want one of stream, start, first_token, agent`},
		{func(c *Config) { c.RequestsPerSecond = -1 }, "requests_per_second: -1, want 0 (off) or a number from 1e-06 to 1e+09"},
		{func(c *Config) { c.RequestsPerSecond = math.NaN() }, "requests_per_second: NaN, want"},
		{func(c *Config) { c.TokensPerSecond = math.Inf(1) }, "tokens_per_second: +Inf, want"},
		{func(c *Config) { c.RequestBurst = -5 }, "request_burst: -5, want"},
		{func(c *Config) { c.TokenBurst = math.MaxInt }, "token_burst: 9223372036854775807, want"},
		{func(c *Config) { c.ConnectionsMax = -1 }, "connections_max: -1, want"},
	} {
		c := DefaultConfig()
		tc.change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want one line: %s", err, tc.want)
		}
	}
	for _, tc := range []struct {
		change func(*Policy)
		want   string
	}{
		{func(p *Policy) { *p = Policy{IdleBy: IdleByToken} }, "max_attempts: 0, want a number from 1 to 1000"},
		{func(p *Policy) { p.Idle = 60 }, "idle: 60ns, want 0 (off) or a duration from 1ms to 720h0m0s"},
		{func(p *Policy) { p.Connect = -1 }, "connect: -1ns, want"},
		{func(p *Policy) { p.Total = math.MaxInt64 }, "total: 2562047h47m16.854775807s, want"},
		{func(p *Policy) { p.IdleBy = "line" }, `idle_by: "line", want one of token, event, byte`},
		{func(p *Policy) { p.RetryOn = []int{429, 200} }, "retry_on[1]: 200, want an HTTP status from 400 to 599"},
		{func(p *Policy) { p.BackoffMultiplier = 0 }, "backoff_multiplier: 0, want a number from 1 to 100"},
		{func(p *Policy) { p.BackoffMultiplier = math.NaN() }, "backoff_multiplier: NaN, want"},
		{func(p *Policy) { p.BackoffMax = time.Millisecond }, "backoff_max: 1ms, want at least backoff_base, which is 1s"},
		{func(p *Policy) { p.Jitter = "some" }, `jitter: "some", want one of none, full, equal, decorrelated, minus25`},
		{func(p *Policy) { p.RetryAfterOver = "" }, `retry_after_over: "", want one of clip, own, stop`},
		{func(p *Policy) { p.RetryAfterJitter = math.NaN() }, "retry_after_jitter: NaN, want"},
	} {
		p := DefaultPolicy()
		tc.change(&p)
		if err := p.Validate(); err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want one line: %s", err, tc.want)
		}
	}
}

// TestYAML reads both blocks as a scenario file has them, over the defaults.
func TestYAML(t *testing.T) {
	config, policy := DefaultConfig(), DefaultPolicy()
	for _, block := range []struct {
		text string
		into any
	}{
		{"slots: 4\nhold: agent\nhold_in_backoff: true\nrequests_per_second: 2.5\nrequest_burst: 3\ntokens_per_second: 100\ntoken_burst: 7\nconnections_max: 8\n", &config},
		{"connect: 5s\nresponse_header: 1m\nfirst_token: 90s\nidle: 60s\nidle_by: byte\ntotal: 10m\nmax_attempts: 5\nretry_timeouts: false\nretry_network: false\nretry_on: [429]\n" +
			"backoff_base: 250ms\nbackoff_multiplier: 1.5\nbackoff_max: 4s\njitter: minus25\nbackoff_floor: 1ms\nretry_after_max: 1m\nretry_after_over: stop\nretry_after_jitter: 0.25\n", &policy},
	} {
		if err := yaml.UnmarshalWithOptions([]byte(block.text), block.into, yaml.Strict()); err != nil {
			t.Fatal(err)
		}
	}
	if want := (Config{Slots: 4, Hold: HoldAgent, HoldInBackoff: true, RequestsPerSecond: 2.5, RequestBurst: 3, TokensPerSecond: 100, TokenBurst: 7, ConnectionsMax: 8}); config != want {
		t.Errorf("config: got  %+v\nwant %+v", config, want)
	}
	out, err := yaml.Marshal(policy)
	if err != nil {
		t.Fatal(err)
	}
	const want = "connect: 5s\nresponse_header: 1m0s\nfirst_token: 1m30s\nidle: 1m0s\nidle_by: byte\ntotal: 10m0s\nmax_attempts: 5\nretry_timeouts: false\nretry_network: false\nretry_on:\n- 429\n" +
		"backoff_base: 250ms\nbackoff_multiplier: 1.5\nbackoff_max: 4s\njitter: minus25\nbackoff_floor: 1ms\nretry_after_max: 1m0s\nretry_after_over: stop\nretry_after_jitter: 0.25\n"
	if string(out) != want {
		t.Errorf("written again:\n%s", out)
	}
}
