package waits_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/goroutine/waits"
)

// shapes are the programs of testdata/src/shapes and what is to be said of them.
var shapes = []struct {
	name string
	// finding is the class of the first finding; "" for none.
	finding waits.FindingClass
	// one are the outcomes that one dump may give, two is that of two dumps.
	one string
	two string
}{
	// Slots.
	{"slot-leak", waits.SlotLeaked, "wedged", "wedged"},
	{"slot-stream", waits.SlotExhausted, "starved", "starved"},
	{"slot-nested", waits.SlotNested, "deadlocked wedged", "deadlocked"},
	{"slot-lock", waits.SlotLockCycle, "deadlocked wedged", "deadlocked"},
	{"errgroup-nested", waits.SlotNested, "deadlocked wedged", "deadlocked"},
	{"sql-pool", waits.SlotNested, "deadlocked wedged", "deadlocked"},
	// Locks and what is held over.
	{"ab-ba", waits.ABBA, "deadlocked wedged", "deadlocked"},
	{"ab-ba-waiter", waits.ABBA, "deadlocked wedged", "deadlocked wedged"},
	{"rw-recursive", waits.RWRecursive, "deadlocked wedged", "deadlocked"},
	{"once", waits.OnceStuck, "wedged", "wedged"},
	{"pipe", waits.LockOverChannel, "wedged", "wedged"},
	{"lock-call", waits.LockOverCall, "unknown", "starved"},
	{"lock-write", waits.LockOverCall, "unknown", "starved"},
	// Calls.
	{"http-headers", waits.HTTPHeaders, "unknown", "unknown"},
	{"http-pool", waits.HTTPPool, "unknown starved", "unknown"},
	{"h2-slots", waits.HTTPPool, "unknown starved", "unknown"},
	{"h2-stream", waits.StreamStall, "unknown", "unknown"},
	{"h2-write", waits.DeadConnection, "unknown", "unknown"},
	{"sse", waits.StreamStall, "unknown", "unknown"},
	{"exec-alive", waits.ExecWait, "unknown", "unknown"},
	{"exec-pipe", waits.ExecPipe, "unknown wedged", "wedged"},
	{"rate-zero", waits.RateLimit, "unknown", "slow"},
	// Not to be called a hang.
	{"slot-slow", waits.SlotExhausted, "starved", "slow starved"},
	{"rate", waits.RateLimit, "unknown", "slow"},
	{"lock-sleep", waits.LockOverCall, "unknown", "slow starved"},
	{"idle", "", "idle", "idle"},
	{"busy", "", "unknown", "slow"},
	{"pipeline", "", "unknown", "unknown slow"},
	{"workers", waits.HTTPHeaders, "unknown", "slow"},
	{"results", "", "unknown", "unknown slow"},
	{"lost-wakeup", waits.CondStuck, "unknown wedged", "wedged"},
}

func parseFile(t *testing.T, path string) *goroutine.Dump {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := goroutine.Parse(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return d
}

// TestShapes holds what is said of each program to its table row, and to a
// golden file with every word.
func TestShapes(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			first := waits.Analyze(parseFile(t, filepath.Join("testdata/shapes", s.name+".1.txt")))
			second := waits.Analyze(parseFile(t, filepath.Join("testdata/shapes", s.name+".2.txt")))
			quit := waits.Analyze(parseFile(t, filepath.Join("testdata/shapes", s.name+".quit.txt")))
			for _, a := range []struct {
				form string
				*waits.Analysis
			}{{"debug=2", first}, {"SIGQUIT", quit}} {
				if got := firstClass(a.Analysis); got != s.finding {
					t.Errorf("%s: first finding %q, want %q", a.form, got, s.finding)
				}
				if got := string(a.Verdict.Outcome); !slices.Contains(strings.Fields(s.one), got) {
					t.Errorf("%s: one dump is called %s, want %s: %s", a.form, got, s.one, a.Verdict.Reason)
				}
			}
			m := waits.Compare(first, second)
			if got := string(m.Verdict.Outcome); !slices.Contains(strings.Fields(s.two), got) {
				t.Errorf("two dumps are called %s, want %s: %s", got, s.two, m.Verdict.Reason)
			}
			text := "one dump (debug=2)\n" + report(first) + "\none dump (SIGQUIT)\n" + report(quit) + "\ntwo dumps\n" + verdictText(&m.Verdict)
			golden(t, filepath.Join("testdata/shapes", s.name+".golden"), text)
		})
	}
}

// TestNotDeadlocked has the dumps of programs that go on: kernels just after
// their start, and the programs of the table that are slow, idle or wait for others.
func TestNotDeadlocked(t *testing.T) {
	paths, err := filepath.Glob("testdata/start/*.gz")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no dumps: %v", err)
	}
	for _, path := range paths {
		if a := waits.Analyze(parseGzip(t, path)); a.Verdict.Outcome == waits.Deadlocked {
			t.Errorf("%s is called deadlocked: %s", path, a.Verdict.Reason)
		}
	}
	for _, s := range shapes {
		if strings.Contains(s.one+s.two, "deadlocked") {
			continue
		}
		var all []*waits.Analysis
		for _, part := range []string{"1", "2", "quit"} {
			all = append(all, waits.Analyze(parseFile(t, filepath.Join("testdata/shapes", s.name+"."+part+".txt"))))
		}
		for _, a := range all {
			if a.Verdict.Outcome == waits.Deadlocked || waits.Compare(all[0], a).Verdict.Outcome == waits.Deadlocked {
				t.Errorf("%s is called deadlocked: %s", s.name, a.Verdict.Reason)
			}
		}
	}
}

func firstClass(a *waits.Analysis) waits.FindingClass {
	if len(a.Findings) == 0 {
		return ""
	}
	return a.Findings[0].Class
}

// report is all of an analysis that people see.
func report(a *waits.Analysis) string {
	var b strings.Builder
	b.WriteString(verdictText(&a.Verdict))
	for _, f := range a.Findings {
		fmt.Fprintf(&b, "finding %s %.2f, %d goroutines, %d objects: %s", f.Class, f.Confidence, len(f.Members), len(f.Objects), f.Text)
		if f.Because != "" {
			fmt.Fprintf(&b, " (%s)", f.Because)
		}
		b.WriteByte('\n')
	}
	for _, s := range a.Stages {
		fmt.Fprintf(&b, "stage %s: %d\n", s.Stage, s.Count)
	}
	for _, o := range a.Objects {
		name := o.Name
		if o.Address != 0 {
			name = string(o.Kind) + " with an address"
		}
		fmt.Fprintf(&b, "object %s: %d waiters, %d holders\n", name, len(o.Waiters), len(o.Holders))
	}
	for _, g := range a.Groups {
		if g.Class == waits.Runtime {
			continue
		}
		fmt.Fprintf(&b, "group %d [%s] %s, stage %q, waits for %s, at %s, %d stuck\n", g.Count(), g.State, g.Class, g.Stage, g.Waits, g.Place, g.Stuck)
	}
	return b.String()
}

func verdictText(v *waits.Verdict) string {
	text := fmt.Sprintf("verdict %s, decided by %s: %s\n", v.Outcome, v.Decided, v.Reason)
	for _, m := range v.Missing {
		text += "missing: " + m + "\n"
	}
	for _, n := range v.Next {
		text += "next: " + n + "\n"
	}
	return text
}
