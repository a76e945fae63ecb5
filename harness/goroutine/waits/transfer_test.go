package waits_test

import (
	"strings"
	"testing"

	"example.com/wedge/harness/goroutine/waits"
)

// TestLocksAsArguments: a function that takes the locks of its two arguments, called both ways round, is a cycle as far as
// the arguments tell, also in a program that goes on; and no deadlock for that alone.
func TestLocksAsArguments(t *testing.T) {
	transfer := func(id, wants, from, to string) string {
		return block(id+" [sync.Mutex.Lock]", "main.main in goroutine 1", "internal/sync.(*Mutex).lockSlow("+wants+")", "sync.(*Mutex).Lock(...)", "main.transfer("+from+", "+to+")")
	}
	text := block("1 [sleep]", "", "time.Sleep(0x1)", "main.main()") +
		transfer("5", "0xc000200000", "0xc000100000", "0xc000200000") + transfer("6", "0xc000100000", "0xc000200000", "0xc000100000")
	a := analyze(t, text)
	if firstClass(a) != waits.ABBA || !strings.Contains(a.Findings[0].Because, "has the other's as an argument") || a.Verdict.Outcome == waits.Deadlocked {
		t.Errorf("%s", report(a))
	}
	if v := waits.Compare(a, analyze(t, text)).Verdict; v.Outcome != waits.Wedged {
		t.Errorf("two dumps are called %s: %s", v.Outcome, v.Reason)
	}
}
