package bench

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/DataDog/gostackparse"
	"github.com/maruel/panicparse/v2/stack"

	"example.com/wedge/harness/goroutine"
)

// BenchmarkReaders reads one text with each reader in turn, so that what else the
// machine does falls on all alike. Metrics are MB/s of each, and how many times
// as fast as another this reader is. panicparse groups, and so does this reader;
// gostackparse does not.
func BenchmarkReaders(b *testing.B) {
	src := &text{sizeMax: 2 << 20, plain: true}
	dump, err := io.ReadAll(src)
	if err != nil {
		b.Fatal(err)
	}
	readers := []struct {
		name string
		read func() int
		took time.Duration
	}{
		{name: "wedge", read: func() int { return len(group(b, dump)) }},
		{name: "gostackparse", read: func() int {
			gs, _ := gostackparse.Parse(bytes.NewReader(dump))
			return len(gs)
		}},
		{name: "panicparse", read: func() int {
			s, _, err := stack.ScanSnapshot(bytes.NewReader(dump), io.Discard, &stack.Opts{})
			if err != nil && err != io.EOF || s == nil {
				b.Fatal(err)
			}
			return len(s.Aggregate(stack.AnyValue).Buckets)
		}},
	}
	for b.Loop() {
		for i := range readers {
			start := time.Now()
			n := readers[i].read()
			readers[i].took += time.Since(start)
			if n == 0 {
				b.Fatalf("%s read nothing", readers[i].name)
			}
		}
	}
	own := readers[0].took.Seconds()
	for i, r := range readers {
		b.ReportMetric(float64(len(dump))*float64(b.N)/1e6/r.took.Seconds(), r.name+"-MB/s")
		if i > 0 {
			b.ReportMetric(r.took.Seconds()/own, "times-"+r.name)
		}
	}
}

// BenchmarkHuge is the way of a dump larger than memory.
func BenchmarkHuge(b *testing.B) {
	const size = 32 << 20
	dump, err := io.ReadAll(&text{sizeMax: size})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(dump)))
	b.ReportAllocs()
	for b.Loop() {
		if len(group(b, dump)) != len(shapes) {
			b.Fatal("wrong groups")
		}
	}
}

func group(b *testing.B, dump []byte) []goroutine.StackGroup {
	var g goroutine.Grouper
	for r := goroutine.NewReader(bytes.NewReader(dump)); ; {
		one, err := r.Next()
		if err == io.EOF {
			return g.Groups()
		}
		if err != nil {
			b.Fatal(err)
		}
		g.Add(one)
	}
}
