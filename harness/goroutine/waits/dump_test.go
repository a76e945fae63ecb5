package waits_test

import (
	"strings"
	"testing"

	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/goroutine/waits"
)

// block writes one goroutine of a dump: header words, calls from the innermost
// out ("function(args)"), and who started it.
func block(header, creator string, calls ...string) string {
	var b strings.Builder
	b.WriteString("goroutine " + header + ":\n")
	for _, c := range calls {
		b.WriteString(c + "\n\t/src/app.go:10 +0x1\n")
	}
	if creator != "" {
		b.WriteString("created by " + creator + "\n\t/src/app.go:2 +0x1\n")
	}
	return b.String() + "\n"
}

func analyze(t *testing.T, text string) *waits.Analysis {
	t.Helper()
	d, err := goroutine.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return waits.Analyze(d)
}

// mainWaits is a main goroutine that waits for the others; listener one that
// hides deadlocks from the runtime.
var (
	mainWaits = block("1 [sync.WaitGroup.Wait]", "", "sync.runtime_SemacquireWaitGroup(0x1?)", "sync.(*WaitGroup).Wait(0xc000010000)", "main.main()")
	listener  = block("2 [IO wait]", "main.main in goroutine 1", "internal/poll.runtime_pollWait(0x1, 0x72)", "internal/poll.(*FD).Accept(0xc000020000)", "net.(*netFD).accept(0xc000020000)", "net/http.(*Server).Serve(0xc000030000)")
)

// TestByHand has the shapes that need libraries outside this module, or other
// releases, with stacks written after their sources.
func TestByHand(t *testing.T) {
	grpcStream := block("7 [select]", "main.main in goroutine 1",
		"google.golang.org/grpc/internal/transport.(*recvBufferReader).readClient(0xc000100000)", "google.golang.org/grpc/internal/transport.(*recvBufferReader).Read(0xc000100000)", "google.golang.org/grpc.(*clientStream).RecvMsg(0xc000110000)", "main.watch()")
	puddle := func(id string) string {
		return block(id+" [select]", "main.main in goroutine 1",
			"github.com/jackc/puddle/v2.(*Pool[...]).acquire(0xc000200000)", "github.com/jackc/puddle/v2.(*Pool[...]).Acquire(0xc000200000)", "github.com/jackc/pgx/v5/pgxpool.(*Pool).Acquire(0xc000210000)", "main.(*Worker).query(0xc0002200"+id+"0)", "main.(*Worker).run(0xc0002200"+id+"0)")
	}
	query := block("9 [IO wait]", "main.main in goroutine 1",
		"internal/poll.(*pollDesc).waitRead(...)", "net.(*conn).Read(0xc000250000)", "github.com/jackc/pgx/v5/pgconn.(*PgConn).receiveMessage(0xc000260000)", "main.(*Worker).query(0xc000220090)", "main.(*Worker).run(0xc000220090)")
	anthropic := block("8 [IO wait]", "main.main in goroutine 1",
		"internal/poll.(*pollDesc).waitRead(...)", "net.(*conn).Read(0xc000300000)", "net/http.(*persistConn).Read(0xc000310000)", "bufio.(*Reader).fill(0xc000320000)", "net/http.(*body).readLocked(0xc000330000)", "net/http.(*body).Read(0xc000330000)", "net/http.(*bodyEOFSignal).Read(0xc000340000)", "bufio.(*Scanner).Scan(0xc000350000)", "github.com/anthropics/anthropic-sdk-go/packages/ssestream.(*eventStreamDecoder).Next(0xc000360000)", "github.com/anthropics/anthropic-sdk-go/packages/ssestream.(*Stream[...]).Next(0xc000370000)", "main.(*Agent).step(0xc000380000)")
	backoff := block("8 [select]", "main.main in goroutine 1", "github.com/openai/openai-go/v3/internal/requestconfig.(*RequestConfig).Execute(0xc000400000)", "main.(*Agent).step(0xc000380000)")
	old := block("16 [semacquire, 5 minutes]", "", "sync.runtime_Semacquire(0xc000010008)", "sync.(*WaitGroup).Wait(0xc000010000)", "main.main()") +
		block("7 [semacquire]", "main.main", "sync.runtime_SemacquireMutex(0xc000020004, 0x0)", "sync.(*Mutex).Lock(0xc000020000)", "main.(*T).a(0xc000020000)", "main.(*U).b(0xc000030000)") +
		block("8 [semacquire]", "main.main", "sync.runtime_SemacquireMutex(0xc000030004, 0x0)", "sync.(*Mutex).Lock(0xc000030000)", "main.(*U).a(0xc000030000)", "main.(*T).b(0xc000020000)")
	for _, test := range []struct {
		name, text string
		finding    waits.FindingClass
		outcome    waits.Outcome
		stage      string
	}{
		{"gRPC stream without messages", mainWaits + listener + grpcStream, waits.StreamStall, waits.Unknown, "stream"},
		{"pgx pool with one query on the network", mainWaits + listener + puddle("5") + puddle("6") + query, waits.SlotExhausted, waits.Starved, "slot"},
		{"pgx pool and nobody has a connection", mainWaits + puddle("5") + puddle("6"), waits.SlotExhausted, waits.Unknown, "slot"},
		{"anthropic stream without events", mainWaits + listener + anthropic, waits.StreamStall, waits.Unknown, "stream"},
		{"openai client between attempts", mainWaits + listener + backoff, "", waits.Unknown, "backoff"},
		{"a semaphore of its own, by name", mainWaits + block("5 [select]", "main.main in goroutine 1", "main.(*gate).AcquireSlot(0xc000100000)", "main.(*Client).Call(0xc000110000)", "main.agent()") +
			block("6 [IO wait]", "main.main in goroutine 1", "internal/poll.(*pollDesc).waitRead(...)", "net.(*conn).Read(0xc000250000)", "main.(*Client).Call(0xc000110000)", "main.agent()"), waits.SlotExhausted, waits.Starved, "slot"},
		{"two semaphores in two orders", mainWaits + block("5 [select]", "main.main in goroutine 1", "golang.org/x/sync/semaphore.(*Weighted).Acquire(0xc000100000)", "main.index()", "main.first()") +
			block("6 [select]", "main.main in goroutine 1", "golang.org/x/sync/semaphore.(*Weighted).Acquire(0xc000200000)", "main.render()", "main.second()"), waits.ABBA, waits.Deadlocked, "slot"},
		{"a lock that is handed on", mainWaits + block("5 [sync.Mutex.Lock]", "main.main in goroutine 1", "internal/sync.(*Mutex).lockSlow(0xc000100000)", "main.(*T).get(0xc000100000)") +
			block("6 [runnable]", "main.main in goroutine 1", "internal/sync.(*Mutex).lockSlow(0xc000100000)", "main.(*T).get(0xc000100000)"), "", waits.Unknown, ""},
		{"a profile with a lock", "goroutine profile: total 4\n3 @ 0x1 0x2\n#\t0x1\tinternal/sync.runtime_SemacquireMutex+0x24\truntime/sema.go:95\n#\t0x1\tinternal/sync.(*Mutex).lockSlow+0x15d\tinternal/sync/mutex.go:149\n#\t0x2\tmain.(*T).get+0x3e\tmain.go:7\n\n1 @ 0x3\n#\t0x3\tmain.main+0x1\tmain.go:3\n", waits.LockWait, waits.Unknown, ""},
		{"AB-BA in Go 1.12", old, waits.ABBA, waits.Deadlocked, ""},
		{"the runtime says it", "fatal error: all goroutines are asleep - deadlock!\n\n" + block("1 [chan receive]", "", "main.main()"), waits.RecvNoSender, waits.Deadlocked, ""},
		{"nothing", "", "", waits.Unknown, ""},
		{"only at rest", block("1 [IO wait]", "", "internal/poll.(*FD).Accept(0xc000020000)", "net.(*netFD).accept(0xc000020000)", "main.main()"), "", waits.Idle, ""},
		{"a nil channel in a program that serves", listener + block("3 [chan receive (nil chan)]", "main.main in goroutine 1", "main.f()"), waits.NilChannel, waits.Unknown, ""},
		{"select without cases in main", listener + block("1 [select (no cases)]", "", "main.main()"), "", waits.Idle, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := analyze(t, test.text)
			if got := firstClass(a); got != test.finding || a.Verdict.Outcome != test.outcome {
				t.Errorf("finding %q, outcome %s; want %q, %s\n%s", got, a.Verdict.Outcome, test.finding, test.outcome, report(a))
			}
			stage := ""
			if len(a.Stages) > 0 {
				stage = a.Stages[0].Stage
			}
			if stage != test.stage {
				t.Errorf("stage %q, want %q", stage, test.stage)
			}
		})
	}
}

// TestLongStream checks that a stream which the header says has been silent for
// long is told from one of which nothing is known.
func TestLongStream(t *testing.T) {
	stream := func(minutes string) string {
		return mainWaits + block("8 [IO wait"+minutes+"]", "main.main in goroutine 1", "internal/poll.(*pollDesc).waitRead(...)", "net/http.(*persistConn).Read(0xc000310000)", "net/http.(*body).Read(0xc000330000)", "bufio.(*Scanner).Scan(0xc000350000)", "main.(*Agent).step(0xc000380000)")
	}
	for _, test := range []struct {
		minutes string
		want    waits.Outcome
	}{{"", waits.Unknown}, {", 2 minutes", waits.Unknown}, {", 11 minutes", waits.Wedged}} {
		m := waits.Compare(analyze(t, stream("")), analyze(t, stream(test.minutes)))
		if m.Verdict.Outcome != test.want {
			t.Errorf("%q: %s, want %s: %s", test.minutes, m.Verdict.Outcome, test.want, m.Verdict.Reason)
		}
	}
}

// TestStaleWords checks that words the runtime marks as stale are no identity, and
// that a cycle in which another may hold a lock is not taken for proven.
func TestStaleWords(t *testing.T) {
	lock := func(id, own, other string) string {
		return block(id+" [sync.Mutex.Lock]", "main.main in goroutine 1", "internal/sync.(*Mutex).lockSlow("+own+")", "sync.(*Mutex).Lock(...)", "main.(*A).f("+own+"?)", "main.(*B).g("+other+")")
	}
	exact := mainWaits + lock("5", "0xc000001000", "0xc000002000") + lock("6", "0xc000002000", "0xc000001000")
	if a := analyze(t, exact); a.Findings[0].Class != waits.ABBA || a.Findings[0].Confidence < 0.8 || a.Verdict.Outcome != waits.Deadlocked {
		t.Errorf("exact words:\n%s", report(a))
	}
	reader := block("7 [IO wait]", "main.main in goroutine 1", "internal/poll.(*pollDesc).waitRead(...)", "net.(*conn).Read(0xc000250000)", "main.(*A).load(0xc000001000)")
	if a := analyze(t, exact+reader); a.Verdict.Outcome == waits.Deadlocked {
		t.Errorf("one that goes on may hold a lock of the cycle:\n%s", report(a))
	}
	stale := mainWaits + listener + lock("5", "0xc000001000", "0xc000002000?") + lock("6", "0xc000002000", "0xc000001000?")
	if a := analyze(t, stale); a.Findings[0].Confidence >= 0.8 {
		t.Errorf("stale words taken for identity:\n%s", report(a))
	}
}

// FuzzAnalyze checks that no dump makes the analysis panic, and that it gives the
// same text twice.
func FuzzAnalyze(f *testing.F) {
	f.Add(mainWaits + listener)
	f.Add(block("5 [sync.Mutex.Lock]", "main.main in goroutine 5", "internal/sync.(*Mutex).lockSlow(0xc000001000)", "main.(*A).f(0xc000001000)"))
	f.Add(block("5 [select]", "main.main in goroutine 6", "golang.org/x/sync/semaphore.(*Weighted).Acquire(0xc000001000)", "main.f()", "main.f()"))
	f.Add("goroutine profile: total 2\n2 @ 0x1\n#\t0x1\truntime.gopark+0x1\tx.go:1\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := goroutine.Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		a := waits.Analyze(d)
		first := report(a)
		if second := report(waits.Analyze(d)); first != second {
			t.Errorf("two analyses differ:\n%s\n%s", first, second)
		}
		waits.Compare(a, a)
		for _, e := range a.Graph().Edges {
			if e.Confidence <= 0 || e.Confidence > 1 {
				t.Errorf("an edge of confidence %v", e.Confidence)
			}
		}
	})
}
