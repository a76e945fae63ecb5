package admission_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/admission"
)

// panel turns words into events of a breaker, and answers with the decision, if one was made, and the
// state after it:
//
//	send NAME       an attempt is to be sent, and gets a name
//	resend NAME     a retry is
//	ok NAME, fail NAME, canceled NAME   it is over
//	wait            nothing
type panel struct {
	b       *admission.Breaker
	tickets map[string]admission.Ticket
}

func (p *panel) do(now sim.Instant, event string) string {
	verb, names, _ := strings.Cut(event, " ")
	answer := ""
	for name := range strings.FieldsSeq(names) {
		switch verb {
		case "send", "resend":
			ticket, ok := p.b.Allow(now, verb == "resend")
			p.tickets[name] = ticket
			answer += map[bool]string{true: "sent ", false: "stopped "}[ok]
		case "canceled":
			p.b.Canceled(p.tickets[name])
		default:
			p.b.Ended(now, p.tickets[name], verb == "ok")
		}
	}
	return fmt.Sprint(answer, p.b.State(now))
}

var breakerTimelines = []struct {
	name  string
	c     admission.BreakerConfig
	steps []step
}{
	{
		name: "consecutive as it comes", c: admission.BreakerConfig{Rule: admission.BreakerConsecutive},
		steps: []step{
			{0, "send a b c d e f g h i j k l m", "sent sent sent sent sent sent sent sent sent sent sent sent sent closed"},
			{1 * s, "fail a b c d e", "closed"},
			{2 * s, "ok f", "closed"}, // begins anew
			{3 * s, "fail g h i j k", "closed"},
			{4 * s, "fail l", "open"}, // more than five
			{5 * s, "send n", "stopped open"},
			{63 * s, "send n", "stopped open"},
			{64 * s, "wait", "half_open"},
			{64 * s, "send n", "sent half_open"},
			{65 * s, "send o", "stopped half_open"}, // one probe
			{66 * s, "ok m", "half_open"},           // sent before it opened: ignored
			{364 * s, "fail n", "open"},             // five minutes later it knows
			{424 * s, "send o", "sent half_open"},
			{425 * s, "ok o", "closed"},
			{426 * s, "fail n o", "closed"}, // of other states
		},
	},
	{
		name: "three probes, two of which must go well",
		c:    admission.BreakerConfig{Rule: admission.BreakerConsecutive, FailureThreshold: 1, Delay: 10 * s, Probes: 3, ProbeSuccesses: 2},
		steps: []step{
			{0, "send a", "sent closed"},
			{1 * s, "fail a", "open"},
			{11 * s, "send b c d e", "sent sent sent stopped half_open"},
			{12 * s, "fail b", "half_open"},
			{12 * s, "canceled c", "half_open"},
			{12 * s, "send f g", "sent stopped half_open"}, // its place is free
			{13 * s, "ok d", "half_open"},
			{14 * s, "fail f", "open"}, // two can no longer go well
			{24 * s, "send h i j", "sent sent sent half_open"},
			{25 * s, "ok h", "half_open"},
			{26 * s, "ok j", "closed"},
			{27 * s, "fail i", "closed"}, // too late to count
		},
	},
	{
		name: "rate",
		c:    admission.BreakerConfig{Rule: admission.BreakerRate, FailureExecutionThreshold: 4, FailureThresholdingPeriod: 100 * s},
		steps: []step{
			{0, "send a b c d e f g h", "sent sent sent sent sent sent sent sent closed"},
			{1 * s, "fail a b c", "closed"}, // too few to tell
			{2 * s, "ok d", "open"},         // 3 of 4
			{62 * s, "send p", "sent half_open"},
			{63 * s, "ok p", "closed"},
			{64 * s, "send i j k l m n", "sent sent sent sent sent sent closed"},
			{65 * s, "ok i j k", "closed"},
			{66 * s, "fail l m", "closed"}, // 2 of 5
			{166 * s, "fail n", "closed"},  // the others are forgotten
		},
	},
	{
		// What was sent before it opened is taken for the probe's answer.
		name: "late ones count",
		c:    admission.BreakerConfig{Rule: admission.BreakerConsecutive, FailureThreshold: 2, Delay: 60 * s, LateCounts: true},
		steps: []step{
			{0, "send a b c d", "sent sent sent sent closed"},
			{10 * s, "fail a b", "open"},
			{20 * s, "fail c", "open"},
			{70 * s, "send p", "sent half_open"},
			{71 * s, "ok d", "closed"}, // sent at 0
			{300 * s, "fail p", "closed"},
		},
	},
	{
		// Its three successes may be of any time, and its agents come back all at once.
		name: "as SGLang's gateway",
		c: admission.BreakerConfig{
			Rule: admission.BreakerConsecutive, FailureThreshold: 2, Delay: 60 * s, AllProbes: true, ProbeSuccesses: 3, LateCounts: true,
		},
		steps: []step{
			{0, "send a b c", "sent sent sent closed"},
			{1 * s, "fail a b", "open"},
			{61 * s, "send d e f g h i", "sent sent sent sent sent sent half_open"},
			{62 * s, "ok d e", "half_open"},
			{63 * s, "fail f", "open"}, // the first that fails
			{64 * s, "ok g", "open"},
			{123 * s, "send j", "sent half_open"},
			{124 * s, "ok h i c", "closed"}, // none of them was sent half-open
		},
	},
	{
		name: "retries only",
		c:    admission.BreakerConfig{Rule: admission.BreakerConsecutive, FailureThreshold: 2, Delay: 60 * s, RetryOnly: true},
		steps: []step{
			{0, "send a b", "sent sent closed"},
			{1 * s, "fail a", "closed"},
			{1 * s, "resend a2", "sent closed"},
			{2 * s, "fail a2", "open"},
			{3 * s, "resend a3", "stopped open"},
			{3 * s, "send c", "sent open"}, // first attempts pass
			{4 * s, "ok c", "open"},        // and do not count
			{62 * s, "resend a4", "stopped half_open"},
			{63 * s, "send d e", "sent sent half_open"}, // the first of them is the probe
			{64 * s, "fail e", "half_open"},
			{65 * s, "ok d", "closed"},
			{66 * s, "resend a5", "sent closed"},
		},
	},
}

func TestBreakerTimelines(t *testing.T) {
	t.Parallel()
	for _, c := range breakerTimelines {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.c.Validate(); err != nil {
				t.Fatal(err)
			}
			p := panel{b: admission.NewBreaker(c.c), tickets: map[string]admission.Ticket{}}
			for i, st := range c.steps {
				if got := p.do(sim.Instant(st.at), st.event); got != st.want {
					t.Errorf("step %d, %v %s: got %q, want %q", i, st.at, st.event, got, st.want)
				}
			}
		})
	}
}

func TestNoBreaker(t *testing.T) {
	t.Parallel()
	b := admission.NewBreaker(admission.BreakerConfig{})
	ticket, ok := b.Allow(0, true)
	b.Ended(0, ticket, false)
	b.Canceled(ticket)
	if b != nil || !ok || b.State(0) != admission.Closed || b.JudgeBy() != admission.JudgeByEnd {
		t.Error("no breaker stops something")
	}
}

// TestProbesJudgedEarly: a probe that is judged by its first token closes the breaker after seconds
// where one that is judged at the end takes the whole call.
func TestProbesJudgedEarly(t *testing.T) {
	t.Parallel()
	const firstToken, end = 4 * time.Second, 264 * time.Second
	closed := map[admission.JudgeBy]time.Duration{}
	for _, by := range []admission.JudgeBy{admission.JudgeByEnd, admission.JudgeByFirstToken} {
		b := admission.NewBreaker(admission.BreakerConfig{Rule: admission.BreakerConsecutive, FailureThreshold: 1, JudgeBy: by})
		ticket, _ := b.Allow(0, false)
		b.Ended(0, ticket, false)
		probe, ok := b.Allow(sim.Instant(60*s), false)
		if !ok {
			t.Fatal("the probe is stopped")
		}
		at := 60*s + end
		if b.JudgeBy() == admission.JudgeByFirstToken {
			at = 60*s + firstToken
		}
		b.Ended(sim.Instant(at), probe, true)
		if b.State(sim.Instant(at)) == admission.Closed {
			closed[by] = at
		}
	}
	if closed[admission.JudgeByFirstToken] != 64*s || closed[admission.JudgeByEnd] != 324*s {
		t.Errorf("closed at %v", closed)
	}
}

// TestBreakerSpent: the time in the states adds up, also of one that nothing asked of while it was half-open.
func TestBreakerSpent(t *testing.T) {
	b := admission.NewBreaker(admission.BreakerConfig{Rule: admission.BreakerConsecutive, FailureThreshold: 1, Delay: 10 * s})
	p := panel{b: b, tickets: map[string]admission.Ticket{}}
	for _, row := range []struct {
		at             time.Duration
		event          string
		open, halfOpen time.Duration
	}{
		{0, "send a", 0, 0},
		{5 * s, "fail a", 0, 0},
		{12 * s, "wait", 7 * s, 0},
		{18 * s, "wait", 10 * s, 3 * s},
		{20 * s, "send b", 10 * s, 5 * s},
		{24 * s, "fail b", 10 * s, 9 * s},
		{34 * s, "send c", 20 * s, 9 * s},
		{35 * s, "ok c", 20 * s, 10 * s},
		{60 * s, "wait", 20 * s, 10 * s},
	} {
		now := sim.Instant(0).Add(row.at)
		p.do(now, row.event)
		if open, halfOpen := b.Spent(now); open != row.open || halfOpen != row.halfOpen {
			t.Errorf("%v, %s: open for %v, half-open for %v, want %v and %v", row.at, row.event, open, halfOpen, row.open, row.halfOpen)
		}
	}
	if open, halfOpen := (*admission.Breaker)(nil).Spent(0); open != 0 || halfOpen != 0 {
		t.Error("no breaker was open")
	}
}
