package diagnose

import (
	"regexp"
	"slices"
	"testing"
)

// TestInWords: what is said to the owner of another program names none of wedge's fields and options.
func TestInWords(t *testing.T) {
	for text, want := range map[string]string{
		"--set policy.idle=60s ends a stream that is quiet for that long and tries again":                    "set an idle limit of about 60 s on streams: this ends a stream that is quiet for that long and tries again",
		"--set policy.response_header=120s --set policy.idle=60s ends a request that gets nothing; the next": "set a limit of about 120 s on the wait for response headers and an idle limit of about 60 s on streams: this ends a request that gets nothing; the next",
		"--set policy.idle=60s --set policy.idle_by=token: count tokens":                                     "set an idle limit of about 60 s on streams and progress by tokens and not by bytes: count tokens",
		"--set pacer.slots=30, if the servers take that many":                                                "set 30 slots, if the servers take that many",
		"--set pacer.hold=stream: hold a slot for a call only":                                               "hold a slot for a call only",
		"instead of the total: --set policy.total=0s --set policy.idle=60s":                                  "instead of the total: no limit on the whole call and an idle limit of about 60 s on streams",
		"look at the child": "look at the child",
	} {
		if got := inWords([]string{text}); !slices.Equal(got, []string{want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestAdviceOfOthers asks for the advice on all stories as if the program were somebody else's.
func TestAdviceOfOthers(t *testing.T) {
	field := regexp.MustCompile(`--set|--metrics-url|\b(policy|pacer|watchdog|servers)\.[a-z]`)
	for _, st := range storiesWithEvidence() {
		now := st.now()
		now.Setup.Embedded = true
		for _, next := range Diagnose(now, nil).Next {
			if field.MatchString(next) {
				t.Errorf("%s: %s", st.name, next)
			}
		}
	}
	// What no story comes to.
	own := newReading(storyNamed(t, "silent-stream").now(), nil)
	totals := &own.now.Totals
	totals.AttemptsRejected, totals.RejectedBreaker, totals.AttemptsShed, totals.CallsOverBudget = 2, 1, 1, 1
	own.now.Window.TimeoutsWork, own.now.Window.TimeoutsCall, own.now.Window.TimeoutsTotal = 1, 1, 1
	own.now.Setup.Learnt, own.now.Setup.LearntFromOK, own.now.Setup.CallLimit = []string{"total"}, []string{"total"}, 10*m
	advice := slices.Concat(turnedAwayAdvice(own), own.limitAdvice(), starvation().next(own))
	if len(advice) < 9 {
		t.Errorf("only %q", advice)
	}
	for _, next := range inWords(advice) {
		if field.MatchString(next) {
			t.Error(next)
		}
	}
	r := newReading(storyNamed(t, "silent-stream").now(), nil)
	for _, c := range causes() {
		if slices.Contains([]Cause{CauseLockOrder, CauseNestedSlot, CausePipeFull, CauseLockOverCall}, c.name) {
			continue // theirs tells of a cycle, pipe or lock that this evidence has not
		}
		for _, next := range inWords(c.next(r)) {
			if field.MatchString(next) {
				t.Errorf("%s: %s", c.name, next)
			}
		}
	}
}
