package pacer_test

import (
	"errors"
	"time"

	"example.com/wedge/pacer"
)

func busy() *pacer.StatusError { return &pacer.StatusError{Status: 503, Message: "busy"} }

// with returns a changed policy.
func with(change func(*pacer.Policy)) pacer.Policy {
	p := quick()
	change(&p)
	return p
}

// good goes well.
var good = script{connect: 1 * s, headers: 2 * s, chunks: []chunk{{}, say(1*s, "he"), say(1*s, "llo"), {after: 1 * s, usage: 7}}}

// timelines are calls, each against a scripted server, with everything that an observer is told.
var timelines = []struct {
	name    string
	config  pacer.Config
	policy  pacer.Policy
	scripts []script // the last one repeats
	want    []string
	err     string
}{
	{
		name: "all stages", config: slots(1, pacer.HoldStream), policy: quick(), scripts: []script{good},
		want: []string{"0s connect +slot", "1s headers +slot", "3s first_token +slot", "4s stream +slot",
			"6s a1 ok took=6s tokens=7", "6s done", "6s ended tokens=7 err=false"},
	},
	{
		name: "no slots", config: slots(0, pacer.HoldStream), policy: quick(), scripts: []script{good},
		want: []string{"0s connect", "1s headers", "3s first_token", "4s stream",
			"6s a1 ok took=6s tokens=7", "6s done", "6s ended tokens=7 err=false"},
	},
	{
		name: "slot while starting", config: slots(1, pacer.HoldStart), policy: quick(), scripts: []script{good},
		want: []string{"0s connect +slot", "1s headers +slot", "3s first_token +slot", "4s stream",
			"6s a1 ok took=6s tokens=7", "6s done", "6s ended tokens=7 err=false"},
	},
	{
		name: "a backend that does not say when it is connected", config: slots(0, pacer.HoldStream), policy: quick(),
		scripts: []script{{connect: 1 * s, headers: 1 * s, noTouch: true, chunks: []chunk{say(0, "x")}}},
		want:    []string{"0s connect", "2s first_token", "2s stream", "2s a1 ok took=2s tokens=1", "2s done", "2s ended tokens=1 err=false"},
	},
	{
		name: "limits that do not fire", config: slots(0, pacer.HoldStream), scripts: []script{good},
		policy: with(func(p *pacer.Policy) {
			p.Connect, p.ResponseHeader, p.FirstToken, p.Idle, p.Total = 1001*time.Millisecond, 2001*time.Millisecond, 3001*time.Millisecond, 2001*time.Millisecond, 6001*time.Millisecond
		}),
		want: []string{"0s connect", "1s headers", "3s first_token", "4s stream",
			"6s a1 ok took=6s tokens=7", "6s done", "6s ended tokens=7 err=false"},
	},
	{
		name: "connect", config: slots(0, pacer.HoldStream), scripts: []script{{connect: 9 * s}},
		policy: with(func(p *pacer.Policy) { p.Connect, p.MaxAttempts = 5*s, 1 }),
		want:   []string{"0s connect", "5s a1 timeout connect took=5s tokens=0", "5s done", "5s ended tokens=0 err=true"},
		err:    "pacer: call agent-c001 failed after 1 attempt: pacer: no connection within 5s (limit connect)",
	},
	{
		name: "dial counts from when there is room in the pool", config: slots(0, pacer.HoldStream), scripts: []script{{pool: 20 * s, connect: 9 * s}},
		policy: with(func(p *pacer.Policy) { p.Dial, p.MaxAttempts = 5*s, 1 }),
		want:   []string{"0s connect", "25s a1 timeout dial took=25s tokens=0", "25s done", "25s ended tokens=0 err=true"},
		err:    "pacer: no connection within 5s of dialling (limit dial)",
	},
	{
		name: "connect counts the pool and the dial", config: slots(0, pacer.HoldStream), scripts: []script{{pool: 20 * s, connect: 9 * s}},
		policy: with(func(p *pacer.Policy) { p.Connect, p.Dial, p.MaxAttempts = 22*s, 5*s, 1 }),
		want:   []string{"0s connect", "22s a1 timeout connect took=22s tokens=0", "22s done", "22s ended tokens=0 err=true"},
		err:    "no connection within 22s (limit connect)",
	},
	{
		name: "response header", config: slots(0, pacer.HoldStream), scripts: []script{{connect: 2 * s, headers: 9 * s}},
		policy: with(func(p *pacer.Policy) { p.ResponseHeader, p.MaxAttempts = 5*s, 1 }),
		want:   []string{"0s connect", "2s headers", "7s a1 timeout response_header took=7s tokens=0", "7s done", "7s ended tokens=0 err=true"},
		err:    "no response header within 5s",
	},
	{
		name: "first token counts from the connection", config: slots(0, pacer.HoldStream),
		scripts: []script{{connect: 2 * s, headers: 4 * s, chunks: []chunk{{after: 1 * s}, {after: 1 * s}, {after: 9 * s}}}},
		policy:  with(func(p *pacer.Policy) { p.FirstToken, p.MaxAttempts = 7*s, 1 }),
		want:    []string{"0s connect", "2s headers", "6s first_token", "9s a1 timeout first_token took=9s tokens=0", "9s done", "9s ended tokens=0 err=true"},
		err:     "no output within 7s",
	},
	{
		name: "first token while waiting for headers", config: slots(0, pacer.HoldStream), scripts: []script{{headers: 9 * s}},
		policy: with(func(p *pacer.Policy) { p.FirstToken, p.MaxAttempts = 7*s, 1 }),
		want:   []string{"0s connect", "0s headers", "7s a1 timeout first_token took=7s tokens=0", "7s done", "7s ended tokens=0 err=true"},
		err:    "no output within 7s",
	},
	{
		name: "idle between tokens", config: slots(0, pacer.HoldStream),
		scripts: []script{{chunks: []chunk{say(1*s, "a"), say(4*s, "b"), say(1*s, "c"), say(6*s, "d")}}},
		policy:  with(func(p *pacer.Policy) { p.Idle, p.MaxAttempts = 5*s, 1 }),
		want:    []string{"0s connect", "0s headers", "0s first_token", "1s stream", "11s a1 timeout idle took=11s tokens=3", "11s done", "11s ended tokens=0 err=true"},
		err:     "no progress for 5s",
	},
	{
		name: "idle covers the wait for the first token if nothing else does", config: slots(0, pacer.HoldStream),
		scripts: []script{{headers: 2 * s, chunks: []chunk{{after: 4 * s}, say(4*s, "late")}}},
		policy:  with(func(p *pacer.Policy) { p.Idle, p.MaxAttempts = 5*s, 1 }),
		want:    []string{"0s connect", "0s headers", "2s first_token", "7s a1 timeout idle took=7s tokens=0", "7s done", "7s ended tokens=0 err=true"},
		err:     "no progress for 5s",
	},
	{
		name: "idle leaves the wait for the first token to its own limit", config: slots(0, pacer.HoldStream),
		scripts: []script{{headers: 2 * s, chunks: []chunk{say(6*s, "late")}}},
		policy:  with(func(p *pacer.Policy) { p.Idle, p.FirstToken, p.MaxAttempts = 5*s, 20*s, 1 }),
		want:    []string{"0s connect", "0s headers", "2s first_token", "8s stream", "8s a1 ok took=8s tokens=1", "8s done", "8s ended tokens=1 err=false"},
	},
	{
		name: "idle by event lives on events without output", config: slots(0, pacer.HoldStream),
		scripts: []script{{chunks: []chunk{say(1*s, "a"), {after: 4 * s}, {after: 4 * s, bytes: 9}, {after: 9 * s}}}},
		policy:  with(func(p *pacer.Policy) { p.Idle, p.IdleBy, p.MaxAttempts = 5*s, pacer.IdleByEvent, 1 }),
		want:    []string{"0s connect", "0s headers", "0s first_token", "1s stream", "10s a1 timeout idle took=10s tokens=1", "10s done", "10s ended tokens=0 err=true"},
		err:     "no progress for 5s",
	},
	{
		name: "idle by byte lives on comments", config: slots(0, pacer.HoldStream),
		scripts: []script{{chunks: []chunk{say(1*s, "a"), {after: 4 * s, bytes: 9}, {after: 4 * s, bytes: 9}, {after: 9 * s}}}},
		policy:  with(func(p *pacer.Policy) { p.Idle, p.IdleBy, p.MaxAttempts = 5*s, pacer.IdleByByte, 1 }),
		want:    []string{"0s connect", "0s headers", "0s first_token", "1s stream", "14s a1 timeout idle took=14s tokens=1", "14s done", "14s ended tokens=0 err=true"},
		err:     "no progress for 5s",
	},
	{
		name: "total kills a healthy stream", config: slots(0, pacer.HoldStream), scripts: []script{good},
		policy: with(func(p *pacer.Policy) { p.Total, p.Idle, p.MaxAttempts = 4500*time.Millisecond, 9*s, 1 }),
		want:   []string{"0s connect", "1s headers", "3s first_token", "4s stream", "4.5s a1 timeout total took=4.5s tokens=1", "4.5s done", "4.5s ended tokens=0 err=true"},
		err:    "not finished within 4.5s (limit total)",
	},
	{
		name: "a limit counts from each attempt's own start", config: slots(1, pacer.HoldStream),
		scripts: []script{{chunks: []chunk{say(1*s, "a")}, end: errHang}, {connect: 1 * s, headers: 0, chunks: []chunk{say(0, "x"), {usage: 1}}}},
		policy:  with(func(p *pacer.Policy) { p.Idle = 5 * s }),
		want: []string{"0s connect +slot", "0s headers +slot", "0s first_token +slot", "1s stream +slot", "6s a1 timeout idle took=6s tokens=1 again=1s",
			"6s backoff", "7s connect +slot", "8s headers +slot", "8s first_token +slot", "8s stream +slot",
			"8s a2 ok took=1s tokens=1", "8s done", "8s ended tokens=1 err=false"},
	},
	{
		name: "retries until there are no attempts left", config: slots(1, pacer.HoldStream), policy: quick(), scripts: []script{{headers: 1 * s, refuse: busy()}},
		want: []string{"0s connect +slot", "0s headers +slot", "1s a1 status 503 took=1s tokens=0 again=1s", "1s backoff",
			"2s connect +slot", "2s headers +slot", "3s a2 status 503 took=1s tokens=0 again=2s", "3s backoff",
			"5s connect +slot", "5s headers +slot", "6s a3 status 503 took=1s tokens=0", "6s done", "6s ended tokens=0 err=true"},
		err: "pacer: call agent-c001 failed after 3 attempts: pacer: HTTP status 503: busy",
	},
	{
		name: "a slot held in backoff", config: pacer.Config{Slots: 1, Hold: pacer.HoldStream, HoldInBackoff: true}, policy: quick(),
		scripts: []script{{refuse: busy()}, {chunks: []chunk{say(0, "x")}}},
		want: []string{"0s connect +slot", "0s headers +slot", "0s a1 status 503 took=0s tokens=0 again=1s", "0s backoff +slot",
			"1s connect +slot", "1s headers +slot", "1s first_token +slot", "1s stream +slot", "1s a2 ok took=0s tokens=1", "1s done", "1s ended tokens=1 err=false"},
	},
	{
		name: "Retry-After replaces the backoff", config: slots(0, pacer.HoldStream), policy: quick(),
		scripts: []script{{refuse: &pacer.StatusError{Status: 429, RetryAfter: 40 * s, HasRetryAfter: true}}, {chunks: []chunk{say(0, "x")}}},
		want: []string{"0s connect", "0s headers", "0s a1 status 429 took=0s tokens=0 again=40s", "0s backoff",
			"40s connect", "40s headers", "40s first_token", "40s stream", "40s a2 ok took=0s tokens=1", "40s done", "40s ended tokens=1 err=false"},
	},
	{
		name: "no retry for a status that is not listed", config: slots(0, pacer.HoldStream), policy: quick(), scripts: []script{{refuse: &pacer.StatusError{Status: 401, Message: "who?"}}},
		want: []string{"0s connect", "0s headers", "0s a1 status 401 took=0s tokens=0", "0s done", "0s ended tokens=0 err=true"},
		err:  "HTTP status 401: who?",
	},
	{
		name: "an error event in the stream", config: slots(0, pacer.HoldStream), policy: with(func(p *pacer.Policy) { p.MaxAttempts = 1 }),
		scripts: []script{{chunks: []chunk{say(1*s, "x")}, end: &pacer.StatusError{Status: 503, Message: "full", InStream: true}}},
		want:    []string{"0s connect", "0s headers", "0s first_token", "1s stream", "1s a1 status 503 took=1s tokens=1", "1s done", "1s ended tokens=0 err=true"},
		err:     "error event in stream (code 503): full",
	},
	{
		name: "a body that breaks off", config: slots(0, pacer.HoldStream), policy: with(func(p *pacer.Policy) { p.MaxAttempts = 1 }),
		scripts: []script{{chunks: []chunk{say(1*s, "x")}, end: errors.New("reset")}},
		want:    []string{"0s connect", "0s headers", "0s first_token", "1s stream", "1s a1 network took=1s tokens=1", "1s done", "1s ended tokens=0 err=true"},
		err:     "reset",
	},
	{
		name: "a stream without an answer", config: slots(0, pacer.HoldStream), policy: with(func(p *pacer.Policy) { p.MaxAttempts = 1 }),
		scripts: []script{{chunks: []chunk{{}}}},
		want:    []string{"0s connect", "0s headers", "0s first_token", "0s a1 network took=0s tokens=0", "0s done", "0s ended tokens=0 err=true"},
		err:     "the stream ended without an answer",
	},
	{
		name: "a request that cannot be sent is not sent again", config: slots(0, pacer.HoldStream), policy: quick(),
		scripts: []script{{refuse: pacer.ErrNotSent}},
		want:    []string{"0s connect", "0s headers", "0s a1 network took=0s tokens=0", "0s done", "0s ended tokens=0 err=true"},
		err:     "cannot be sent",
	},
}
