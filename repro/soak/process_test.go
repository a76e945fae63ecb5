package soak

import (
	"net"
	"os"
	"runtime"
	"testing"
	"testing/fstest"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/series"
)

// TestSampler reads this process, and sees what it opens.
func TestSampler(t *testing.T) {
	bodies := int64(7)
	s := NewSampler(func() int64 { return bodies })
	runtime.GC()
	before := s.Read(sim.Instant(90e9))
	if before.AtS != 90 || before.OpenBodies != 7 || before.RealS < 0 || before.GCCycles < 1 || before.HeapLiveBytes <= 0 || before.Goroutines < 2 {
		t.Errorf("a reading: %+v", before)
	}
	if runtime.GOOS != "linux" {
		t.Skip("memory and files are counted on Linux")
	}
	if before.RSSBytes < 1<<20 || before.RSSBytes > 64<<30 {
		t.Errorf("resident memory: %d bytes", before.RSSBytes)
	}
	const more = 10
	for range more {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	ballast := make([]byte, 64<<20)
	for i := 0; i < len(ballast); i += os.Getpagesize() {
		ballast[i] = 1
	}
	after := s.Read(sim.Instant(91e9))
	if got := after.OpenFiles - before.OpenFiles; got < more {
		t.Errorf("%d more files after %d were opened: %d, then %d", got, more, before.OpenFiles, after.OpenFiles)
	}
	if got := after.RSSBytes - before.RSSBytes; got < 32<<20 {
		t.Errorf("%d bytes more after 64 MiB were used", got)
	}
	runtime.KeepAlive(ballast)
}

// TestNotKnown: what a machine does not tell is never 0.
func TestNotKnown(t *testing.T) {
	fds := fstest.MapFS{"fd/0": {}, "fd/1": {}, "fd/2": {}, "fd/3": {}, "statm": {Data: []byte("900 20 7 1 0 30 0\n")}, "odd": {Data: []byte("900\n")}, "words": {Data: []byte("a b c\n")}}
	for _, tt := range []struct {
		name           string
		machine        machine
		rss, openFiles int64
	}{
		{"another system", machine{}, series.Unknown, series.Unknown},
		{"no such files", machine{statm: "none", fds: "nowhere", fsys: fds}, series.Unknown, series.Unknown},
		{"cut short", machine{statm: "odd", fds: "statm", fsys: fds}, series.Unknown, series.Unknown},
		{"words", machine{statm: "words", fsys: fds}, series.Unknown, series.Unknown},
		{"told", machine{statm: "statm", fds: "fd", fsys: fds}, 20 * int64(os.Getpagesize()), 3},
	} {
		p := newSampler(tt.machine, nil).Read(0)
		if p.RSSBytes != tt.rss || p.OpenFiles != tt.openFiles || p.OpenBodies != series.Unknown {
			t.Errorf("%s: got %+v, want %d bytes, %d files, and bodies not known", tt.name, p, tt.rss, tt.openFiles)
		}
	}
}

func BenchmarkSampler(b *testing.B) {
	s := NewSampler(nil)
	b.ReportAllocs()
	for b.Loop() {
		s.Read(0)
	}
}
