package admission_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/admission"
)

const s = time.Second

// step is one line of a timeline: what happens at an instant, and what comes of it.
type step struct {
	at    time.Duration
	event string
	want  string
}

// driver turns words into events of a budget:
//
//	call              a call begins: its first attempt is sent
//	first ok|fail|canceled   it is over
//	retry? [CAUSE] [ATTEMPTS]   may a call retry? "yes COST" or "no"; what was paid is remembered
//	sent              the retry is sent
//	retry ok|fail|canceled   it is over
//	back              it is not sent after all
//	closed            the call is over
//
// Each line can be repeated, as in "call x10". It answers with the decision, and how much is left.
type driver struct {
	b    *admission.Budget
	cost float64
}

func (d *driver) do(now sim.Instant, event string) string {
	words := strings.Fields(event)
	times := 1
	if last := words[len(words)-1]; strings.HasPrefix(last, "x") {
		fmt.Sscanf(last, "x%d", &times)
		words = words[:len(words)-1]
	}
	answer := ""
	for range times {
		answer = d.once(now, words)
	}
	return strings.TrimSpace(fmt.Sprintf("%s left %.4g", answer, d.b.Level(now)))
}

func (d *driver) once(now sim.Instant, words []string) string {
	switch words[0] {
	case "call":
		d.b.Sent(now, admission.First)
	case "sent":
		d.b.Sent(now, admission.Retry)
	case "first", "retry":
		r := admission.Result{Kind: admission.Kind(words[0]), OK: words[1] == "ok", Canceled: words[1] == "canceled"}
		if r.Kind == admission.Retry {
			r.Cost = d.cost
		}
		d.b.Ended(now, r)
	case "retry?":
		cause, attempts := admission.CauseTransient, 1
		if len(words) > 1 {
			cause = admission.Cause(words[1])
		}
		if len(words) > 2 {
			fmt.Sscan(words[2], &attempts)
		}
		cost, ok := d.b.MayRetry(now, cause, attempts)
		if !ok {
			return "no"
		}
		d.cost = cost
		return fmt.Sprintf("yes %v", cost)
	case "back":
		d.b.GiveBack(now, d.cost)
	case "closed":
		d.b.Closed(now)
	default:
		panic("no such event: " + words[0])
	}
	return ""
}

var budgetTimelines = []struct {
	name  string
	c     admission.BudgetConfig
	steps []step
}{
	{
		// 10 a second for 10 s are always there: a client of one call in 5 s never meets its budget.
		name: "finagle as it comes", c: admission.BudgetConfig{Rule: admission.BudgetFinagle},
		steps: []step{
			{0, "call", "left 100.2"},
			{1 * s, "retry?", "yes 1 left 99.2"},
			{2 * s, "retry? x99", "yes 1 left 0.2"},
			{2 * s, "retry?", "no left 0.2"},
			{10 * s, "retry?", "no left 0"},        // the deposit is forgotten
			{11 * s, "retry?", "yes 1 left 0"},     // as is the first withdrawal
			{12 * s, "retry? x99", "yes 1 left 0"}, // and the others
		},
	},
	{
		name: "finagle for calls of minutes",
		c:    admission.BudgetConfig{Rule: admission.BudgetFinagle, TTL: 10 * time.Minute, NoFloor: true},
		steps: []step{
			{0, "call x4", "left 0.8"},
			{100 * s, "retry? timeout", "no left 0.8"},
			{100 * s, "call", "left 1"},
			{100 * s, "retry? timeout", "yes 1 left 0"},
			{100 * s, "sent", "left 0"}, // paid when it was granted
			{101 * s, "back", "left 1"},
			{600 * s, "call", "left 0.4"}, // the first four are forgotten
			{600 * s, "call x3", "left 1"},
			{600 * s, "retry?", "yes 1 left 0"},
			{700 * s, "retry?", "no left 0"}, // the call at 100 s is forgotten, the retry not yet: a debt
			{700 * s, "call", "left 0"},
			{700 * s, "call", "left 0.2"},
		},
	},
	{
		name: "sre", c: admission.BudgetConfig{Rule: admission.BudgetSRE, Window: 10 * time.Minute},
		steps: []step{
			{0, "call x9", "left 0.9"},
			{1 * s, "retry?", "no left 0.9"},
			{2 * s, "call x11", "left 2"},
			{3 * s, "retry? transient 3", "no left 2"}, // three attempts were made
			{3 * s, "retry? transient 2", "yes 1 left 1"},
			{3 * s, "retry? throttled 1", "yes 1 left 0"},
			{4 * s, "retry?", "no left 0"},
			{5 * s, "back", "left 1"},
			{605 * s, "call x10", "left 1"}, // all of that is long ago
		},
	},
	{
		name: "aws as it comes", c: admission.BudgetConfig{Rule: admission.BudgetAWS},
		steps: []step{
			{0, "call", "left 500"},
			{1 * s, "first fail", "left 500"},
			{1 * s, "retry? timeout", "yes 14 left 486"},
			{2 * s, "retry ok", "left 500"}, // its cost comes back
			{3 * s, "retry? throttled", "yes 5 left 495"},
			{3 * s, "retry fail", "left 495"},
			{4 * s, "first ok", "left 496"},
			{5 * s, "retry? x35", "yes 14 left 6"},
			{5 * s, "retry?", "no left 6"},
			{5 * s, "retry? throttled", "yes 5 left 1"}, // cheaper, and so still granted
			{6 * s, "back", "left 6"},
			{7 * s, "retry canceled", "left 6"},
			{8 * s, "first ok x1000", "left 500"}, // full
		},
	},
	{
		name: "aws as it was", c: admission.BudgetConfig{Rule: admission.BudgetAWS, RetryCost: 5, TimeoutRetryCost: 10},
		steps: []step{
			{0, "retry?", "yes 5 left 495"},
			{0, "retry? timeout", "yes 10 left 485"},
			{0, "retry? throttled", "yes 5 left 480"},
		},
	},
	{
		name: "brooker", c: admission.BudgetConfig{Rule: admission.BudgetBrooker, MaxTokens: 2},
		steps: []step{
			{0, "retry? x2", "yes 1 left 0"},
			{0, "retry?", "no left 0"},
			{1 * s, "retry fail", "left 0"}, // no refund
			{1 * s, "first ok x9", "left 0.9"},
			{1 * s, "retry?", "no left 0.9"}, // only whole tokens count
			{2 * s, "retry ok", "left 1"},    // any success adds the same
			{3 * s, "retry?", "yes 1 left 0"},
			{9999 * s, "retry?", "no left 0"}, // time brings nothing
		},
	},
	{
		name: "grpc", c: admission.BudgetConfig{Rule: admission.BudgetGRPC, MaxTokens: 4, TokenRatio: 0.5},
		steps: []step{
			{0, "first fail", "left 1"}, // 3 of 4, and above 2 is enough
			{0, "retry?", "yes 0 left 1"},
			{0, "retry? x100", "yes 0 left 1"}, // asking is free
			{1 * s, "retry fail", "left 0"},    // 2 is not more than half
			{1 * s, "retry?", "no left 0"},
			{2 * s, "first fail x9", "left 0"}, // not below 0
			{3 * s, "first ok x4", "left 0"},
			{3 * s, "retry?", "no left 0"},
			{4 * s, "first ok", "left 0.5"},
			{4 * s, "retry?", "yes 0 left 0.5"},
			{5 * s, "retry canceled", "left 0.5"},
		},
	},
	{
		name: "envoy", c: admission.BudgetConfig{Rule: admission.BudgetEnvoy},
		steps: []step{
			{0, "call x20", "left 4"}, // 20 %
			{1 * s, "first fail", "left 3"},
			{1 * s, "retry?", "yes 1 left 2"},
			{1 * s, "first fail", "left 2"},
			{1 * s, "retry? x2", "yes 1 left 0"}, // in backoff, and counted
			{1 * s, "retry?", "no left 0"},       // 20 % of 18 are 3
			{2 * s, "sent x3", "left 1"},         // 21 under way
			{2 * s, "retry?", "yes 1 left 0"},
			{3 * s, "back", "left 1"},
			{4 * s, "retry fail x3", "left 3"},
			{5 * s, "first ok x18", "left 3"}, // the least
		},
	},
	{
		name: "envoy without a floor", c: admission.BudgetConfig{Rule: admission.BudgetEnvoy, NoFloor: true},
		steps: []step{
			{0, "call x4", "left 0"},
			{0, "retry?", "no left 0"},
			{0, "call", "left 1"},
			{0, "retry?", "yes 1 left 0"},
		},
	},
	{
		name: "failsafe", c: admission.BudgetConfig{Rule: admission.BudgetFailsafe},
		steps: []step{
			{0, "call x10", "left 3"},
			{1 * s, "first fail x10", "left 3"}, // the calls go on
			{1 * s, "retry? x3", "yes 1 left 0"},
			{1 * s, "retry?", "no left 0"}, // 3 of 13 are more than .2
			{1 * s, "call x2", "left 0"},
			{1 * s, "retry?", "yes 1 left 0"}, // 3 of 15 are not: one more than the share
			{2 * s, "retry fail", "left 0"},
			{2 * s, "closed x12", "left 0"},
			{2 * s, "retry?", "no left 0"}, // 3 of 3
			{3 * s, "retry ok", "left 1"},
			{3 * s, "retry?", "yes 1 left 0"}, // fewer than 3 are always granted
		},
	},
}

func TestBudgetTimelines(t *testing.T) {
	t.Parallel()
	for _, c := range budgetTimelines {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.c.Validate(); err != nil {
				t.Fatal(err)
			}
			d := &driver{b: admission.NewBudget(c.c)}
			for i, st := range c.steps {
				if got := d.do(sim.Instant(st.at), st.event); got != st.want {
					t.Errorf("step %d, %v %s: got %q, want %q", i, st.at, st.event, got, st.want)
				}
			}
		})
	}
}

func TestNoBudget(t *testing.T) {
	t.Parallel()
	b := admission.NewBudget(admission.BudgetConfig{})
	if b != nil {
		t.Fatalf("a budget was made of nothing: %+v", b)
	}
	b.Sent(0, admission.First)
	b.Ended(0, admission.Result{})
	b.Closed(0)
	b.GiveBack(0, 1)
	if cost, ok := b.MayRetry(0, admission.CauseTimeout, 99); !ok || cost != 0 {
		t.Errorf("no budget refuses, or takes %v", cost)
	}
	if _, ok := b.MayHedge(0, 1); !ok || b.Level(0) != -1 {
		t.Errorf("no budget has the level %v", b.Level(0))
	}
}

// TestGiveBackNothing: a first attempt that was stopped has paid nothing, and gets nothing.
func TestGiveBackNothing(t *testing.T) {
	t.Parallel()
	for _, rule := range admission.BudgetRules() {
		b := admission.NewBudget(admission.BudgetConfig{Rule: rule})
		for range 4 {
			b.MayRetry(0, admission.CauseTransient, 1)
		}
		before := b.Level(0)
		b.GiveBack(0, 0)
		if b.Level(0) != before {
			t.Errorf("%s: %v left, and %v after nothing was given back", rule, before, b.Level(0))
		}
	}
}
