package bench

import (
	"io"
	"runtime"
	"testing"

	"example.com/wedge/harness/goroutine"
)

// heapBytesMax bounds the heap while a text of any size is read and grouped.
const heapBytesMax = 256 << 20

// TestHuge reads a text that is never in memory as a whole; TestIntegrationHuge
// does so with 1 GiB.
func TestHuge(t *testing.T) { huge(t, 32<<20) }

// huge reads a text of a size in bytes and groups it.
func huge(t *testing.T, size int64) {
	src := &text{sizeMax: size}
	r := goroutine.NewReader(src)
	var g goroutine.Grouper
	var heap uint64
	for n := 0; ; n++ {
		if n%20_000 == 0 {
			heap = max(heap, heapInUse())
		}
		one, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		g.Add(one)
	}
	groups := g.Groups()
	heap = max(heap, heapInUse())
	members := 0
	for i := range groups {
		members += groups[i].Count()
	}
	s := r.Stats()
	if members != src.goroutines || len(groups) != len(shapes) || s.SkippedBytes != 0 || s.Bytes != src.size || s.Dumps != 1 {
		t.Errorf("%d of %d goroutines in %d groups, %+v of %d bytes", members, src.goroutines, len(groups), s, src.size)
	}
	t.Logf("%d MiB of text, %d goroutines: %d MiB of heap", s.Bytes>>20, members, heap>>20)
	if heap > heapBytesMax {
		t.Errorf("%d MiB of heap, no more than %d are allowed", heap>>20, heapBytesMax>>20)
	}
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}
