package report

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// filesMax bounds the list of files.
const filesMax = 400

// fileView is a file of the bundle.
type fileView struct{ Name, Size, What string }

// listingView is the files of the bundle as the template has them.
type listingView struct {
	Files []fileView
	More  int
}

// fileKinds say what a file is for, by the pattern of its name without number.
var fileKinds = []struct{ pattern, what string }{
	{"run.json", "what determines the run: scenario with every default, seed, clock, version"},
	{"verdict.json", "what hangs, where and why; what speaks for and against each explanation"},
	{"events.jsonl", "each thing that happened, a line each: tasks, stages of calls, attempts, tools, stalls"},
	{"samples.jsonl", "the servers' gauges, with the load that they were read under"},
	{"router.log", "the log of the router, as it writes it"},
	{"requests.jsonl", "each request of the harness that was run, with how its answer ended"},
	{"result.json", "what was measured"},
	{"policy.yaml", "the timeout policy, as a file"},
	{"soak.json", "what came of the soak: totals, thresholds, stalls, drift, leaks"},
	{"windows.jsonl", "the soak, summed up by stretches of time"},
	{"process.jsonl", "wedge's own memory, goroutines, files and open bodies over time"},
	{"trace.json", "the run for Perfetto (ui.perfetto.dev) or chrome://tracing"},
	{"report.html", "this page"},
	{"calls.json", "agents and calls at that moment, what had been finished, and the set-up"},
	{"waits.json", "who held and waited for what"},
	{"waits.dot", "the same, for Graphviz"},
	{"waits.svg", "the same, drawn"},
	{"servers.json", "samples of the gauges, and what the router's log said"},
	{"goroutines.txt", "the dump of goroutines: wedge dump reads it"},
	{"goroutines.pb.gz", "the same, for go tool pprof"},
	{"goroutineleak.pb.gz", "goroutines that are blocked for good, as the collector proves"},
	{"goroutines.json", "what the dump says about the agents"},
}

var numberInName = regexp.MustCompile(`-[0-9]+(\.)`)

// listing lists the files of the bundle. The page itself is left out: there may be one already, or not yet.
func listing(s *source) *listingView {
	v := &listingView{}
	_ = fs.WalkDir(s.fs, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || name == reportFile || strings.HasPrefix(path.Base(name), ".") {
			return nil // what cannot be listed is left out; parts that need it tell of it
		}
		if len(v.Files) == filesMax {
			v.More++
			return nil
		}
		f := fileView{Name: clean(name), What: "", Size: ""}
		if info, err := e.Info(); err == nil {
			f.Size = bytesWords(info.Size())
		}
		base := numberInName.ReplaceAllString(path.Base(name), "$1")
		for _, k := range fileKinds {
			if k.pattern == base {
				f.What = k.what
				if base != path.Base(name) {
					f.What += earlier(name)
				}
			}
		}
		v.Files = append(v.Files, f)
		return nil
	})
	return v
}

// earlier says what the number in a name means.
func earlier(name string) string {
	if strings.Contains(name, "/") {
		return " (an earlier look at the same stall)"
	}
	return " (a part of it)"
}
