package admission_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/admission"
)

// throttled turns words into events of a throttle, and answers with the decision, if one was made,
// and the probability after it:
//
//	send DRAW   an attempt is to be sent
//	ok, fail    one that was let through is over
//	wait        nothing
func throttled(t *admission.Throttle, now sim.Instant, event string) string {
	words := strings.Fields(event)
	times := 1
	if last := words[len(words)-1]; strings.HasPrefix(last, "x") {
		fmt.Sscanf(last, "x%d", &times)
		words = words[:len(words)-1]
	}
	answer := ""
	for range times {
		switch words[0] {
		case "send":
			draw := 0.0
			fmt.Sscan(words[1], &draw)
			answer = "sent "
			if t.Reject(now, draw) {
				answer = "rejected "
			}
		case "ok", "fail":
			t.Ended(now, words[0] == "ok")
		}
	}
	return fmt.Sprintf("%sp %.3f", answer, t.Probability(now))
}

var throttleTimelines = []struct {
	name  string
	c     admission.ThrottleConfig
	steps []step
}{
	{
		name: "sre", c: admission.ThrottleConfig{Rule: admission.ThrottleSRE},
		steps: []step{
			{0, "send 0", "sent p 0.500"}, // the first always passes; (1 - 0)/(1 + 1)
			{1 * s, "send .6", "sent p 0.667"},
			{1 * s, "send .5", "rejected p 0.750"}, // counts as well
			{2 * s, "ok", "p 0.250"},               // (3 - 2)/4
			{2 * s, "ok", "p 0.000"},               // one accept is good for two requests
			{3 * s, "send 0", "sent p 0.000"},      // 4 requests, 2 accepts
			{4 * s, "send 0", "sent p 0.167"},      // (5 - 4)/6
			{119 * s, "wait", "p 0.167"},
			{120 * s, "wait", "p 0.000"},               // what was counted from 0 to 12 s is forgotten
			{300 * s, "send 0 x3", "rejected p 0.750"}, // the first passes
			{301 * s, "send .75", "sent p 0.800"},      // p is not above the draw
			{301 * s, "send .799 x9", "rejected p 0.929"},
		},
	},
	{
		// The server is silent. Counting at the end, it is taken for well until the first time limit.
		name: "sre, counted at the end", c: admission.ThrottleConfig{Rule: admission.ThrottleSRE, CountAtEnd: true, Window: 10 * time.Minute},
		steps: []step{
			{0, "send 0 x50", "sent p 0.000"},
			{60 * s, "fail x50", "p 0.980"},
			{60 * s, "send .5", "rejected p 0.981"}, // counts at once: it has no end
			{61 * s, "send .99", "sent p 0.981"},
			{62 * s, "ok", "p 0.943"},
		},
	},
	{
		name: "envoy", c: admission.ThrottleConfig{Rule: admission.ThrottleEnvoy},
		steps: []step{
			{0, "send 0", "sent p 0.000"},
			{1 * s, "ok x19", "p 0.000"},
			{1 * s, "fail", "p 0.000"}, // 19 of 20 are the threshold
			{2 * s, "fail x10", "p 0.323"},
			{2 * s, "send .3", "rejected p 0.323"}, // does not count
			{3 * s, "fail x200", "p 0.800"},        // at most
			{3 * s, "send .8", "sent p 0.800"},
			{31 * s, "wait", "p 0.800"}, // the 20 of second 1 are forgotten
			{33 * s, "wait", "p 0.000"},
		},
	},
	{
		name: "envoy, milder and for enough traffic only",
		c:    admission.ThrottleConfig{Rule: admission.ThrottleEnvoy, Aggression: 2, RPSThreshold: 1, MaxRejectionProbability: 100},
		steps: []step{
			{0, "fail x29", "p 0.000"}, // not one a second in 30 s
			{0, "fail", "p 0.984"},     // the root of 30/31
		},
	},
	{
		name: "failsafe", c: admission.ThrottleConfig{Rule: admission.ThrottleFailsafe},
		steps: []step{
			{0, "ok x9", "p 0.000"},
			{0, "fail", "p 0.000"}, // .9
			{1 * s, "fail x9", "p 0.450"},
			{1 * s, "send .4", "rejected p 0.450"}, // does not count
			{2 * s, "fail x400", "p 0.900"},        // at most
			{9999 * s, "wait", "p 0.900"},          // forgets only when something ends
			{9999 * s, "ok", "p 0.000"},
		},
	},
	{
		name: "failsafe with a threshold", c: admission.ThrottleConfig{Rule: admission.ThrottleFailsafe, ExecutionThreshold: 3},
		steps: []step{{0, "fail x2", "p 0.000"}, {0, "fail", "p 0.750"}},
	},
	{
		// 3 s: calls that take minutes never come to 100 within.
		name: "kratos as it comes", c: admission.ThrottleConfig{Rule: admission.ThrottleKratos},
		steps: []step{
			{0, "fail x99", "p 0.000"},
			{0, "fail", "p 0.990"},
			{0, "send .9", "rejected p 0.990"}, // counts as a failure
			{3 * s, "wait", "p 0.000"},
		},
	},
	{
		name: "kratos for calls of minutes", c: admission.ThrottleConfig{Rule: admission.ThrottleKratos, Window: 10 * time.Minute, Request: 10},
		steps: []step{
			{0, "ok x6", "p 0.000"},
			{1 * s, "fail x4", "p 0.000"}, // .6
			{2 * s, "fail x5", "p 0.312"},
			{3 * s, "send .3 x2", "rejected p 0.389"},
			{4 * s, "ok x9", "p 0.037"},
		},
	},
}

func TestThrottleTimelines(t *testing.T) {
	t.Parallel()
	for _, c := range throttleTimelines {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.c.Validate(); err != nil {
				t.Fatal(err)
			}
			th := admission.NewThrottle(c.c)
			for i, st := range c.steps {
				if got := throttled(th, sim.Instant(st.at), st.event); got != st.want {
					t.Errorf("step %d, %v %s: got %q, want %q", i, st.at, st.event, got, st.want)
				}
			}
		})
	}
}

func TestNoThrottle(t *testing.T) {
	t.Parallel()
	th := admission.NewThrottle(admission.ThrottleConfig{})
	th.Ended(0, false)
	if th != nil || th.Reject(0, 0) || th.Probability(0) != 0 {
		t.Error("no throttle turns something away")
	}
}

// TestThrottleProbabilities: whatever happens, it is a probability, and nothing is turned away from a
// client for which everything goes well.
func TestThrottleProbabilities(t *testing.T) {
	t.Parallel()
	for _, rule := range admission.ThrottleRules() {
		for seed := range uint64(20) {
			draws := rand.New(rand.NewPCG(seed, 0))
			th := admission.NewThrottle(admission.ThrottleConfig{Rule: rule})
			well := admission.NewThrottle(admission.ThrottleConfig{Rule: rule})
			var now sim.Instant
			for range 2000 {
				now = now.Add(time.Duration(draws.IntN(500)) * time.Millisecond)
				if !th.Reject(now, draws.Float64()) {
					th.Ended(now, draws.IntN(3) == 0)
				}
				if p := th.Probability(now); !(p >= 0 && p <= 1) || math.IsNaN(p) {
					t.Fatalf("%s, seed %d: probability %v at %v", rule, seed, p, now.Seconds())
				}
				if well.Reject(now, 0) {
					t.Fatalf("%s, seed %d: turned away at %v s although all went well", rule, seed, now.Seconds())
				}
				well.Ended(now, true)
			}
		}
	}
}
