package container

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// Plain text is to pass at 1 GB/s or more.
func BenchmarkLines(b *testing.B) {
	plain := strings.Split(strings.TrimSuffix(dump[strings.Index(dump, "goroutine 1 "):strings.Index(dump, "exit")], "\n"), "\n")
	for i := range plain {
		plain[i], _, _ = strings.Cut(plain[i], " labels:")
	}
	for _, w := range wrappers {
		text := []byte(strings.Repeat(w.wrap(plain), 1+4<<20/len(w.wrap(plain))))
		b.Run(strings.ReplaceAll(w.what, " ", "-"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r := NewReader(bytes.NewReader(text))
				for {
					if _, err := r.Next(); err == io.EOF {
						break
					}
				}
			}
		})
	}
}
