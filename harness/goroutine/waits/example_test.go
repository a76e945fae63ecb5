package waits_test

import (
	"fmt"
	"strings"

	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/goroutine/waits"
)

const twoLocks = `goroutine 1 [sync.WaitGroup.Wait]:
sync.(*WaitGroup).Wait(0xc000012040)
	sync/waitgroup.go:206 +0x85
main.main()
	/src/bank/main.go:30 +0x90

goroutine 7 [sync.Mutex.Lock]:
internal/sync.(*Mutex).lockSlow(0xc000012020)
	internal/sync/mutex.go:149 +0x15d
main.(*Account).Add(0xc000012020, 0x1)
	/src/bank/account.go:20 +0x3e
main.(*Account).Move(0xc000012000, 0xc000012020)
	/src/bank/account.go:12 +0x6e
created by main.main in goroutine 1
	/src/bank/main.go:27 +0x6a

goroutine 8 [sync.Mutex.Lock]:
internal/sync.(*Mutex).lockSlow(0xc000012000)
	internal/sync/mutex.go:149 +0x15d
main.(*Account).Add(0xc000012000, 0x1)
	/src/bank/account.go:20 +0x3e
main.(*Account).Move(0xc000012020, 0xc000012000)
	/src/bank/account.go:12 +0x6e
created by main.main in goroutine 1
	/src/bank/main.go:28 +0x8a
`

func ExampleAnalyze() {
	d, err := goroutine.Parse(strings.NewReader(twoLocks))
	if err != nil {
		fmt.Println(err)
		return
	}
	a := waits.Analyze(d)
	fmt.Println(a.Verdict.Outcome)
	for _, f := range a.Findings {
		fmt.Printf("%s %.1f %v\n%s\n%s\n", f.Class, f.Confidence, f.Members, f.Text, f.Because)
	}
	// Output:
	// deadlocked
	// ab-ba 0.8 [1 7 8]
	// locks are taken in different orders: 2 wait for a mutex at main.(*Account).Add account.go:20, 1 waits for a WaitGroup at main.main main.go:30
	// each waits for a lock and is inside a method of the owner of the other's
}

func ExampleCompare() {
	before, _ := goroutine.Parse(strings.NewReader(twoLocks))
	after, _ := goroutine.Parse(strings.NewReader(twoLocks))
	m := waits.Compare(waits.Analyze(before), waits.Analyze(after))
	fmt.Println(m.Verdict.Outcome, m.Still, "stayed,", m.Moved, "moved")
	// Output: deadlocked 3 stayed, 0 moved
}

func ExampleBuilder() {
	var b waits.Builder
	r := goroutine.NewReader(strings.NewReader(twoLocks))
	for {
		g, err := r.Next()
		if err != nil {
			break
		}
		b.Add(g)
	}
	a := b.Analysis()
	fmt.Println(a.Goroutines, "goroutines in", len(a.Groups), "groups,", len(a.Stuck), "stuck")
	// Output: 3 goroutines in 2 groups, 3 stuck
}

func ExampleAnalysis_Graph() {
	d, _ := goroutine.Parse(strings.NewReader(twoLocks))
	g := waits.Analyze(d).Graph()
	for _, e := range g.Edges {
		fmt.Printf("%s %s %s (%.1f)\n", g.Nodes[e.From].ID, e.Kind, g.Nodes[e.To].ID, e.Confidence)
	}
	// Output:
	// goroutine 1 waits_for waitgroup 0xc000012040 (1.0)
	// waitgroup 0xc000012040 held_by goroutine 7 (0.4)
	// waitgroup 0xc000012040 held_by goroutine 8 (0.4)
	// goroutine 7 waits_for mutex 0xc000012020 (1.0)
	// mutex 0xc000012020 held_by goroutine 8 (0.8)
	// goroutine 8 waits_for mutex 0xc000012000 (1.0)
	// mutex 0xc000012000 held_by goroutine 7 (0.8)
}
