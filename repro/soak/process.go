package soak

import (
	"bytes"
	"io/fs"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/series"
)

// Sampler reads what this process takes: memory, goroutines, files. A reading costs some tens of microseconds, and more with
// thousands of open files. It is to be used by one goroutine at a time. Make one with [NewSampler].
type Sampler struct {
	began  time.Time
	bodies func() int64
	files  machine
	gauges []metrics.Sample
}

// machine is where a system tells of this process. Its zero value is one that does not.
type machine struct {
	statm string // file with the sizes of memory, in pages; "": there is none
	fds   string // directory with a file for each descriptor; "": there is none
	fsys  fs.FS
}

// The names of what the runtime tells.
const (
	heapLive   = "/gc/heap/live:bytes"
	goroutines = "/sched/goroutines:goroutines"
	gcCycles   = "/gc/cycles/total:gc-cycles"
)

// NewSampler returns a sampler. openBodies tells how many response bodies are open, such as OpenBodies of an
// httpbackend.Client; nil: that is not known. Real time counts from now.
func NewSampler(openBodies func() int64) *Sampler { return newSampler(thisMachine(), openBodies) }

func newSampler(m machine, openBodies func() int64) *Sampler {
	return &Sampler{began: time.Now(), bodies: openBodies, files: m,
		gauges: []metrics.Sample{{Name: heapLive}, {Name: goroutines}, {Name: gcCycles}}}
}

// thisMachine knows where to look on Linux and, for files, on macOS. A BSD has /dev/fd too, but, unless it is set up otherwise,
// with the first three descriptors only: that would be a wrong number rather than none.
func thisMachine() machine {
	switch runtime.GOOS {
	case "linux":
		return machine{statm: "proc/self/statm", fds: "proc/self/fd", fsys: os.DirFS("/")}
	case "darwin":
		return machine{fds: "dev/fd", fsys: os.DirFS("/")}
	}
	return machine{}
}

// Read takes a reading at an instant of the run's clock. What this machine does not tell is [series.Unknown].
func (s *Sampler) Read(now sim.Instant) series.Process {
	metrics.Read(s.gauges)
	p := series.Process{
		AtS: now.Seconds(), RealS: time.Since(s.began).Seconds(),
		RSSBytes: s.files.rss(), OpenFiles: s.files.open(), OpenBodies: series.Unknown,
		HeapLiveBytes: told(&s.gauges[0]), Goroutines: told(&s.gauges[1]), GCCycles: told(&s.gauges[2]),
	}
	if p.GCCycles <= 0 { // nothing has been found in use so far, which is not 0
		p.HeapLiveBytes = series.Unknown
	}
	if s.bodies != nil {
		p.OpenBodies = s.bodies()
	}
	return p
}

// told returns a number of the runtime's.
func told(s *metrics.Sample) int64 {
	if s.Value.Kind() != metrics.KindUint64 { // a release of Go that does not know it
		return series.Unknown
	}
	return int64(s.Value.Uint64())
}

// rss returns the resident memory: the second number of statm, in pages.
func (m machine) rss() int64 {
	if m.statm == "" {
		return series.Unknown
	}
	text, err := fs.ReadFile(m.fsys, m.statm)
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 2 {
		return series.Unknown
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil || pages <= 0 {
		return series.Unknown
	}
	return pages * int64(os.Getpagesize())
}

// open returns how many descriptors are open, but for that with which they are counted.
func (m machine) open() int64 {
	if m.fds == "" {
		return series.Unknown
	}
	entries, err := fs.ReadDir(m.fsys, m.fds)
	if err != nil || len(entries) == 0 {
		return series.Unknown
	}
	return int64(len(entries) - 1)
}
