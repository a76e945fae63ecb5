package waits_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/wedge/harness/goroutine/waits"
)

// senders are n goroutines, from the given number on, that send to channels which nobody receives from, in a program that goes on.
func senders(first, n int) string {
	text := block("1 [running]", "", "main.main()") + listener
	for i := range n {
		text += block(fmt.Sprintf("%d [chan send]", first+i), "main.query in goroutine 1", "main.query.func1()")
	}
	return text
}

// TestPileUp: goroutines that come to one wait and do not leave it are a leak, or nearly, and others are not.
func TestPileUp(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after string
		piles         bool
	}{
		{"more of them, and none left", senders(10, 12), senders(10, 20), true},
		{"as many", senders(10, 12), senders(10, 12), false},
		{"one more", senders(10, 12), senders(10, 13), false},
		{"more, and some of the first came on", senders(10, 12), senders(15, 20), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := waits.Compare(analyze(t, test.before), analyze(t, test.after)).Verdict
			if got := strings.Contains(v.Reason, "pile up: 12 waited for a send to a channel at main.query.func1 app.go:10 before, 20 after"); got != test.piles {
				t.Errorf("called a pile %t, want %t: %s", got, test.piles, v.Reason)
			}
			if v.Outcome == waits.Deadlocked || v.Outcome == waits.Wedged {
				t.Errorf("a program that goes on is called %s: %s", v.Outcome, v.Reason)
			}
		})
	}
	if reason := analyze(t, senders(10, 12)).Verdict.Reason; !strings.Contains(reason, "12 wait for a send to a channel at main.query.func1 app.go:10, which is a leak if they only become more") {
		t.Errorf("of one dump: %s", reason)
	}
}
