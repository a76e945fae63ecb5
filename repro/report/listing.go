package report

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"example.com/wedge/harness"
)

// filesMax bounds the list of files.
const filesMax = 400

// fileView is a file of the bundle, or several of one kind.
type fileView struct {
	Name  string
	Where []string // folders, for a file of a capture
	What  string
	Size  string
	bytes int64
}

// listingView is the files of the bundle as the template has them.
type listingView struct {
	Files []*fileView
	All   int
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
	{"workspace", "what the agents wrote"},
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

// numberInName is that of an earlier capture, or of a log that was cut into several files.
var numberInName = regexp.MustCompile(`-[0-9]+(\.)`)

// listing lists the files of the bundle. The page itself is left out: there may be one already, or not yet.
func listing(s *source) *listingView {
	v := &listingView{}
	kinds := map[string]*fileView{}
	_ = fs.WalkDir(s.fs, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || name == reportFile || strings.HasPrefix(path.Base(name), ".") {
			return nil // what cannot be listed is left out; parts that need it tell of it
		}
		v.All++
		dir, base := path.Split(name)
		base = numberInName.ReplaceAllString(base, "$1")
		inCapture := strings.HasPrefix(dir, "stalls/") || dir == harness.EndDir+"/"
		key, what := base, purpose(base)
		if top, _, nested := strings.Cut(name, "/"); nested && !inCapture {
			key, what = top+"/…", purpose(top)
		}
		f := kinds[key+map[bool]string{true: "*"}[inCapture]]
		if f == nil {
			if len(v.Files) == filesMax {
				return nil
			}
			f = &fileView{Name: clean(key), What: what}
			kinds[key+map[bool]string{true: "*"}[inCapture]] = f
			v.Files = append(v.Files, f)
		}
		if dir = clean(strings.TrimSuffix(dir, "/")); inCapture && !slices.Contains(f.Where, dir) && len(f.Where) < filesMax {
			f.Where = append(f.Where, dir)
		}
		if info, err := e.Info(); err == nil {
			f.bytes += info.Size()
		}
		f.Size = bytesWords(f.bytes)
		return nil
	})
	// Those of the whole run first.
	slices.SortStableFunc(v.Files, func(a, b *fileView) int { return min(len(a.Where), 1) - min(len(b.Where), 1) })
	return v
}

// purpose says what a file is for; empty for one that is not known.
func purpose(base string) string {
	for _, k := range fileKinds {
		if k.pattern == base {
			return k.what
		}
	}
	return ""
}
