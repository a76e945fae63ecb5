package waits_test

import (
	"strings"
	"testing"

	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/goroutine/waits"
)

// TestWatchdog: those who watch a program from inside it are no part of it. Without them nobody is left to
// end the waits; with somebody else who runs, there is.
func TestWatchdog(t *testing.T) {
	const stuck = "goroutine 1 [sync.WaitGroup.Wait]:\nsync.(*WaitGroup).Wait(0xc000100000)\n\t/go/waitgroup.go:1 +0x1\nmain.main()\n\t/x/main.go:9 +0x1\n\n" +
		"goroutine 5 [sync.Mutex.Lock]:\nsync.(*Mutex).Lock(0xc000100010)\n\t/go/mutex.go:1 +0x1\nmain.write()\n\t/x/main.go:20 +0x1\ncreated by main.main in goroutine 1\n\t/x/main.go:3 +0x1\n\n" +
		"goroutine 6 [sync.Mutex.Lock]:\nsync.(*Mutex).Lock(0xc000100020)\n\t/go/mutex.go:1 +0x1\nmain.edit()\n\t/x/main.go:30 +0x1\ncreated by main.main in goroutine 1\n\t/x/main.go:4 +0x1\n\n"
	const watch = "goroutine 7 [running]:\nexample.com/wedge/harness/goroutine.(*Capturer).Text(0xc000200000)\n\t/w/capture.go:43 +0x1\ncreated by main.start\n\t/x/main.go:2 +0x1\n\n" +
		"goroutine 8 [select]:\nexample.com/wedge/harness/sim.(*Wall).Sleep(0xc000200000)\n\t/w/goroutine.go:82 +0x1\nexample.com/wedge/harness.(*Fleet).flushEachSecond(0xc000200000)\n\t/w/fleet.go:232 +0x1\ncreated by main.start\n\t/x/main.go:2 +0x1\n\n"
	const busy = "goroutine 9 [running]:\nmain.spin()\n\t/x/main.go:40 +0x1\ncreated by main.main in goroutine 1\n\t/x/main.go:5 +0x1\n\n"
	for text, want := range map[string]waits.Outcome{stuck + watch: waits.Deadlocked, stuck + watch + busy: waits.Unknown} {
		d, err := goroutine.Parse(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		a := waits.Analyze(d)
		if a.Verdict.Outcome != want || a.Findings[0].Class != waits.ABBA {
			t.Errorf("%s (%s), want %s", a.Verdict.Outcome, a.Verdict.Reason, want)
		}
	}
}
