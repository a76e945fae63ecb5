package tidy

// place is where a package stands in the module.
type place struct {
	dir string
	// real is empty for a package that also runs in virtual time, and says why not for the others.
	real string
	// only, if not nil, lists the packages of the module that it may import at most.
	only []string
	// not lists packages that it may not import although they stand below.
	not []string
	// std refuses packages from outside the standard library and the module.
	std bool
}

// places lists the packages from top to bottom: each may import only those below itself.
var places = []place{
	{dir: "cmd/wedge", real: "reads flags, writes to terminals, hears signals"},
	{dir: "repro/reprotest", real: "serves somebody's test in memory, on the wall or in a bubble"},
	{dir: "repro/live", real: "serves pages over HTTP", not: []string{"repro/compare"}},
	{dir: "repro/report", real: "reads bundles and draws pages", not: []string{"repro/compare"}},
	{dir: "repro/soak", real: "reads its own memory; keeps files of a long run", not: []string{"repro/compare"}},
	{dir: "repro/telemetry", real: "sends spans over HTTP", only: []string{"repro/series", "harness/record", "harness", "harness/sim", "pacer"}},
	{dir: "repro/trace", real: "reads journals and writes files", only: []string{"harness/record", "harness/bundle", "harness/requestlog", "harness", "harness/sim", "pacer"}},
	{dir: "repro/compare", real: "runs many on all cores; reads and writes files"},
	{dir: "repro/compare/report", real: "draws pages", only: []string{"repro/compare/stats"}},
	{dir: "repro/compare/stats", only: []string{}},
	{dir: "repro/published", only: []string{"pacer", "pacer/admission", "pacer/queue", "repro/serving", "repro/load", "harness/sim"}},
	{dir: "harness/embed/example", real: "a program that embeds the watchdog"},
	{dir: "repro/guest", real: "runs a program and serves it over TCP"},
	{dir: "repro/probe", real: "asks live servers over HTTP"},
	{dir: "repro/diff", real: "reads files"},
	{dir: "repro", real: "assembles runs in either world, also over TCP; reads and writes files"},
	{dir: "repro/metrics"},
	{dir: "repro/series", only: []string{"harness", "harness/sim", "agents", "pacer"}},
	{dir: "repro/threshold", real: "reads texts; needs no world", only: []string{}, std: true},
	{dir: "repro/diagnose", only: []string{"harness", "harness/waitgraph", "harness/sim", "pacer"}},
	{dir: "repro/serving/api/bench", real: "measures servers from outside", only: []string{}, std: true},
	{dir: "repro/serving/api/clients", real: "tests with clients over TCP"},
	{dir: "repro/load", only: []string{"repro/serving", "repro/serving/api", "repro/serving/engine", "agents/workload", "pacer", "pacer/httpbackend", "harness/fault", "harness/sim"}},
	{dir: "repro/serving/api", real: "an HTTP server"},
	{dir: "repro/serving", only: []string{"repro/serving/engine", "pacer", "harness/fault", "harness/sim"}},
	{dir: "repro/serving/engine", only: []string{"harness/fault", "harness/sim"}, std: true},
	{dir: "harness/embed", real: "watches a program that is not simulated", only: []string{"harness", "harness/bundle", "harness/goroutine", "harness/sim", "agents", "pacer"}},
	{dir: "harness/record", real: "reads journals", only: []string{"pacer", "harness/sim", "harness/bundle"}},
	{dir: "harness", not: []string{"pacer/httpbackend"}},
	{dir: "harness/demand", only: []string{"harness/sim"}},
	{dir: "harness/bundle", real: "writes files", only: []string{}, std: true},
	{dir: "harness/requestlog", real: "reads logs", only: []string{"harness/goroutine/container"}},
	{dir: "harness/goroutine/bench", real: "holds the reader of dumps against others", only: []string{"harness/goroutine"}},
	{dir: "harness/goroutine/waits", real: "reads dumps; needs no world", only: []string{"harness/goroutine", "harness/waitgraph"}},
	{dir: "harness/goroutine", real: "dumps goroutines and reads dumps; needs no world", only: []string{"harness/goroutine/container"}},
	{dir: "harness/goroutine/container", real: "reads texts; needs no world", only: []string{}, std: true},
	{dir: "harness/waitgraph", only: []string{}},
	{dir: "agents", not: []string{"pacer/httpbackend"}},
	{dir: "agents/workload", only: []string{"harness/sim"}},
	{dir: "pacer/preset", real: "reads policy files", only: []string{"pacer", "pacer/adaptive", "pacer/admission", "pacer/concurrency", "pacer/queue", "harness/strict"}},
	{dir: "pacer/httpbackend", real: "speaks HTTP to real servers"},
	{dir: "pacer"},
	{dir: "pacer/adaptive", only: []string{"harness/sim"}},
	{dir: "pacer/admission", only: []string{"harness/sim"}},
	{dir: "pacer/concurrency", only: []string{"harness/sim"}},
	{dir: "pacer/queue", only: []string{"harness/sim"}},
	{dir: "harness/fault", only: []string{"harness/sim"}},
	{dir: "harness/strict", real: "reads texts; needs no world", only: []string{}},
	{dir: "harness/sim", real: "it is what the others wait through", std: true},
	{dir: "harness/sim/tidy", real: "tests only", std: true},
}

// exceptions lists the files of simulated packages in which one of the refused things is right.
var exceptions []struct{ file, what, reason string }

// Limits of length, in lines. These are the walls; aim at 300 and 40.
const (
	fileLinesMax     = 400
	functionLinesMax = 70
)
