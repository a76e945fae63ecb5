package diagnose

import (
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/pacer"
)

// realServer is evidence of a run against a server of which nothing is known but its answers: each of
// its calls has been out for so long.
type realServer struct {
	stallAfter time.Duration
	calls      int
	out        time.Duration
	stage      pacer.Stage
	tokens     int
	quiet      time.Duration // since the latest token, if there was one
	bytes      bool          // comments arrive all the time
	slots      int
	waiting    int // calls that wait for a slot
}

func (c realServer) evidence() *harness.Evidence {
	b := blind(stallOf("real-1", c.calls+c.waiting, c.slots, c.out+s, c.out+s))
	b.ev.Setup.StallAfter = c.stallAfter
	for range c.calls {
		call := b.newCall(c.stage, c.out, c.out)
		if call.Tokens = c.tokens; c.tokens > 0 {
			call.Events, call.Bytes = c.tokens, int64(200*c.tokens)
			call.LastToken, call.LastByte = b.ago(c.quiet), b.ago(c.quiet)
		}
		if c.bytes {
			call.LastByte, call.Bytes = b.ago(200*time.Millisecond), call.Bytes+600
		}
	}
	return b.slot(c.waiting, c.out).done()
}

// TestNothingKnownOfTheServers: what is not known is not claimed. The times are those of a capture, with
// the watchdog's patience beside it.
func TestNothingKnownOfTheServers(t *testing.T) {
	headers, first, stream := pacer.StageHeaders, pacer.StageFirstToken, pacer.StageStream
	for _, c := range []struct {
		name    string
		server  realServer
		outcome Outcome
		cause   Cause
		status  Status // of the cause that the case is about
		about   Cause
	}{
		{"no headers, a moment", realServer{stallAfter: 2 * s, calls: 2, out: 4 * s, stage: headers}, Slow, CauseUnknown, Open, CauseSlowServer},
		{"no headers, a minute", realServer{stallAfter: m, calls: 2, out: m, stage: headers}, Slow, CauseUnknown, Open, CauseConnectionDead},
		{"no headers, four minutes", realServer{stallAfter: m, calls: 2, out: 4 * m, stage: headers}, Slow, CauseUnknown, Open, CauseConnectionDead},
		{"no headers, nine minutes", realServer{stallAfter: m, calls: 2, out: 9 * m, stage: headers}, Wedged, CauseUnknown, Open, CauseConnectionDead},
		{"no headers, five minutes, no patience", realServer{stallAfter: 2 * s, calls: 2, out: 5 * m, stage: headers}, Wedged, CauseUnknown, Open, CauseConnectionDead},
		{"no headers, nine minutes, much patience", realServer{stallAfter: 5 * m, calls: 2, out: 9 * m, stage: headers}, Slow, CauseUnknown, Open, CauseConnectionDead},
		{"no headers, others wait for a slot", realServer{stallAfter: m, calls: 2, out: 2 * m, stage: headers, slots: 2, waiting: 2}, Slow, CauseUnknown, Open, CauseStarvation},
		{"sent a moment ago, others wait for a slot", realServer{stallAfter: 2 * s, calls: 2, out: 900 * time.Millisecond, stage: headers, slots: 2, waiting: 2}, Slow, CauseUnknown, Open, CauseStarvation},

		{"comments, a moment", realServer{stallAfter: 2 * s, calls: 2, out: 4 * s, stage: first, bytes: true}, Slow, CauseUnknown, Open, CauseCommentStream},
		{"comments, a minute", realServer{stallAfter: m, calls: 2, out: 59 * s, stage: first, bytes: true}, Slow, CauseUnknown, Open, CauseCommentStream},
		{"comments, two minutes", realServer{stallAfter: m, calls: 2, out: 119 * s, stage: first, bytes: true}, Slow, CauseUnknown, Open, CauseCommentStream},
		{"comments, four minutes", realServer{stallAfter: m, calls: 2, out: 239 * s, stage: first, bytes: true}, Wedged, CauseCommentStream, Supported, CauseCommentStream},
		{"comments after tokens", realServer{stallAfter: m, calls: 2, out: 200 * s, stage: stream, tokens: 400, quiet: 90 * s, bytes: true}, Wedged, CauseCommentStream, Supported, CauseCommentStream},
		{"comments, others wait for a slot", realServer{stallAfter: 30 * s, calls: 2, out: 119 * s, stage: first, bytes: true, slots: 2, waiting: 2}, Wedged, CauseCommentStream, Supported, CauseCommentStream},

		{"silent after a token, a moment", realServer{stallAfter: 2 * s, calls: 2, out: 4 * s, stage: stream, tokens: 1, quiet: 4 * s}, Slow, CauseUnknown, Open, CauseSilentStream},
		{"silent after a token", realServer{stallAfter: 2 * s, calls: 2, out: 12 * s, stage: stream, tokens: 1, quiet: 12 * s}, Wedged, CauseSilentStream, Supported, CauseSilentStream},
		{"silent after a token, some patience", realServer{stallAfter: 30 * s, calls: 2, out: 40 * s, stage: stream, tokens: 1, quiet: 29 * s}, Slow, CauseUnknown, Open, CauseSilentStream},
		{"silent after a token, five minutes", realServer{stallAfter: m, calls: 2, out: 5 * m, stage: stream, tokens: 1, quiet: 5 * m}, Wedged, CauseSilentStream, Supported, CauseSilentStream},
		{"a token each 10 s, and none for 100 s", realServer{stallAfter: m, calls: 2, out: 300 * s, stage: stream, tokens: 21, quiet: 100 * s}, Slow, CauseUnknown, Open, CauseSilentStream},

		{"tokens arrive", realServer{stallAfter: m, calls: 2, out: 5 * m, stage: stream, tokens: 6000, quiet: 50 * time.Millisecond}, Slow, CauseSlowServer, Supported, CauseSlowServer},
		{"tokens arrive, little patience", realServer{stallAfter: 2 * s, calls: 2, out: 9 * s, stage: stream, tokens: 180, quiet: 50 * time.Millisecond}, Slow, CauseSlowServer, Supported, CauseSlowServer},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Diagnose(c.server.evidence(), nil)
			if v.Outcome != c.outcome || v.Cause != c.cause || status(t, &v, c.about) != c.status {
				t.Errorf("%s, cause %s, %s is %s; want %s, %s, %s\n%s", v.Outcome, v.Cause, c.about, status(t, &v, c.about), c.outcome, c.cause, c.status, transcript(&v))
			}
			moving := c.server.tokens > 100 && c.server.quiet < s
			if strings.Contains(v.Summary, "Nothing is stuck") != moving || strings.Contains(v.Summary, "will finish") != moving {
				t.Errorf("a claim about servers that nobody has seen: %s", v.Summary)
			}
			if v.Cause == CauseUnknown && !strings.Contains(strings.Join(v.Next, "\n"), "--metrics-url") {
				t.Errorf("nothing says how to see the servers: %q", v.Next)
			}
			checkWords(t, &v)
		})
	}
}

// TestPrefillThatNobodyCounts: a queue that requests stand in says nothing of whether it moves. Only
// counters and tokens do.
func TestPrefillThatNobodyCounts(t *testing.T) {
	ev := stallOf("queue-1", 4, 0, 300*s, m).headers(4, 90*s).gauges(500, 0, gauge(harness.GaugePrefillQueue, 1), gauge(harness.GaugePrefillRunning, 3)).done()
	v := Diagnose(ev, nil)
	if got := status(t, &v, CauseSlowServer); got != Supported {
		t.Errorf("slow-server is %s while prefill works\n%s", got, transcript(&v))
	}
	dropGauge(ev, harness.GaugePrefillTokens)
	v = Diagnose(ev, nil)
	if got := status(t, &v, CauseSlowServer); got != Open || v.Outcome.Hang() {
		t.Errorf("%s, slow-server is %s\n%s", v.Outcome, got, transcript(&v))
	}
}
