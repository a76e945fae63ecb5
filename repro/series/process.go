package series

// Unknown stands in a [Process] for what this machine does not tell.
const Unknown = -1

// Process is a reading of what wedge itself takes, and one line of process.jsonl. A field that is [Unknown] could
// not be read.
type Process struct {
	AtS           float64 `json:"at_s"`            // on the run's clock
	RealS         float64 `json:"real_s"`          // real time since the start of the process that took it
	RSSBytes      int64   `json:"rss_bytes"`       // resident memory
	HeapLiveBytes int64   `json:"heap_live_bytes"` // what the latest garbage collection found in use
	Goroutines    int64   `json:"goroutines"`
	OpenFiles     int64   `json:"open_files"`  // file descriptors, sockets included
	OpenBodies    int64   `json:"open_bodies"` // response bodies that were opened and not closed
	GCCycles      int64   `json:"gc_cycles"`   // garbage collections so far
}
