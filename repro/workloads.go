package repro

import "embed"

//go:embed workloads/*.yaml
var workloadFiles embed.FS

// workloads are scenarios for comparisons: nothing is broken in them, so that there is no verdict to
// expect, and what matters is what a policy makes of them.
var workloads = [...]string{"load-spike", "capacity-drop", "tracelab-slow", "swe-slow"}

// Workloads returns the names of the scenarios that are made for comparisons of policies and have no verdict
// to expect. [Lookup] knows them as it knows the catalogue.
func Workloads() []string { return append([]string(nil), workloads[:]...) }
