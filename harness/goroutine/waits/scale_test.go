package waits_test

import (
	"fmt"
	"runtime"
	"testing"

	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/goroutine/waits"
)

// handler is goroutine n of a program in which many wait for one lock.
func handler(n int) *goroutine.Goroutine {
	g := &goroutine.Goroutine{ID: int64(n), State: "sync.Mutex.Lock", ParentID: 1, Frames: []goroutine.Frame{
		{Func: "internal/sync.runtime_SemacquireMutex", Args: "0x1?, 0x0?, 0x0?", File: "runtime/sema.go", Line: 95},
		{Func: "internal/sync.(*Mutex).lockSlow", Args: "0xc000100000", File: "internal/sync/mutex.go", Line: 149},
		{Func: "sync.(*Mutex).Lock", Args: "...", File: "sync/mutex.go", Line: 46},
		{Func: "main.(*Store).Get", Args: "0xc000100000, 0x1", File: "store.go", Line: 10 + n%7},
		{Func: "main.handle", Args: fmt.Sprintf("0xc%09x", n*64), File: "main.go", Line: 20},
	}, CreatedBy: goroutine.Frame{Func: "main.serve", File: "main.go", Line: 9}}
	if n%3 == 0 {
		g.State, g.Frames = "chan receive", g.Frames[3:]
	}
	return g
}

// TestBuilderMemory holds the memory for each goroutine to what lets 1.4 million
// of them fit into 150 MB.
func TestBuilderMemory(t *testing.T) {
	const goroutines = 200_000
	const bytesEach = 150 << 20 / 1_400_000
	before := heap()
	var b waits.Builder
	for n := range goroutines {
		b.Add(handler(n + 1))
	}
	a := b.Analysis()
	each := (heap() - before) / goroutines
	t.Logf("%d bytes for each of %d goroutines, builder and analysis together", each, a.Goroutines)
	if each > bytesEach {
		t.Errorf("%d bytes for each goroutine, want at most %d", each, bytesEach)
	}
	runtime.KeepAlive(&b)
	runtime.KeepAlive(a)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkBuilder(b *testing.B) {
	gs := make([]*goroutine.Goroutine, 1000)
	for n := range gs {
		gs[n] = handler(n + 1)
	}
	b.ReportAllocs()
	var builder waits.Builder
	for i := 0; b.Loop(); i++ {
		g := *gs[i%len(gs)]
		g.ID = int64(i)
		builder.Add(&g)
	}
}

func BenchmarkAnalysis(b *testing.B) {
	var builder waits.Builder
	for n := range 100_000 {
		builder.Add(handler(n + 1))
	}
	for b.Loop() {
		builder.Analysis()
	}
}
