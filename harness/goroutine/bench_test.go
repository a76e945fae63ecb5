package goroutine

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"
)

// benchText repeats the fixtures, each time with addresses and IDs of its own,
// up to some 8 MB.
func benchText(b *testing.B, names ...string) []byte {
	b.Helper()
	var text []byte
	for round := 0; len(text) < 8<<20; round++ {
		for _, name := range names {
			one, err := os.ReadFile("testdata/" + name)
			if err != nil {
				b.Fatal(err)
			}
			one = bytes.ReplaceAll(one, []byte("(0x"), fmt.Appendf(nil, "(0x%x", round+1))
			one = bytes.ReplaceAll(one, []byte("\ngoroutine "), fmt.Appendf(nil, "\ngoroutine %d", round+1))
			text = append(append(text, one...), '\n')
		}
	}
	return text
}

func BenchmarkParse(b *testing.B) {
	for name, names := range map[string][]string{
		"stack": {"go1.26-stack.txt", "go1.26-stages.txt"}, "quit": {"go1.26-quit.txt"},
	} {
		b.Run(name, func(b *testing.B) {
			text := benchText(b, names...)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if d, err := Parse(bytes.NewReader(text)); err != nil || len(d.Goroutines) == 0 {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGroupStream is the way of a dump larger than memory.
func BenchmarkGroupStream(b *testing.B) {
	text := benchText(b, "go1.26-stack.txt", "go1.26-stages.txt")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var g Grouper
		r := NewReader(bytes.NewReader(text))
		for {
			one, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			g.Add(one)
		}
		if len(g.Groups()) == 0 {
			b.Fatal("no groups")
		}
	}
}

// BenchmarkCapture stops the world with 1,000 blocked goroutines.
func BenchmarkCapture(b *testing.B) {
	block := make(chan struct{})
	defer close(block)
	for range 1000 {
		withLabels(func() { nest(3, block) }, "call", "17")
	}
	var c Capturer
	for b.Loop() {
		c.Text()
	}
	b.ReportMetric(float64(c.Takes())/float64(b.N), "takes/op")
}
