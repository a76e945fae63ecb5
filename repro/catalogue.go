package repro

import (
	"embed"
	"fmt"
	"slices"

	"example.com/wedge/harness/strict"
)

//go:embed scenarios/*.yaml
var scenarioFiles embed.FS

// catalogued are the scenarios in the order they are listed: hangs first, then the controls, which
// must not be called one.
var catalogued = [...]string{
	"starvation", "silent-stream", "decode-serialized", "prefill-bottleneck", "connection-pool",
	"slot-leak", "nested-slot", "lock-order", "lock-over-call", "lost-wakeup", "swallowed-error", "tool-hang", "pipe-full", "no-progress-loop",
	"inflight-pin", "pin-watchdog", "decode-memory", "router-queue", "bad-pairing", "timeout-cascade",
	"connection-dead", "long-context-decode", "ignored-abort", "comment-stream", "proxy-buffering", "retry-storm",
	"idle-engines",
	"compound-slow-timeout-abort", "compound-dead-leak", "compound-pin-storm",
	"healthy", "slow-but-fine", "bench-16x128", "idle", "long-reasoning",
}

// Names returns the names of the catalogue's scenarios.
func Names() []string { return append([]string(nil), catalogued[:]...) }

// Lookup returns a scenario of the catalogue, or one of [Workloads]. The error for an unknown name says
// which is nearest.
func Lookup(name string) (*Scenario, error) {
	switch {
	case slices.Contains(catalogued[:], name):
		return load(scenarioFiles, "scenarios/", name)
	case slices.Contains(workloads[:], name):
		return load(workloadFiles, "workloads/", name)
	}
	return nil, &InputError{Source: "repro", Msg: fmt.Sprintf("unknown scenario %q%s", name, strict.Suggest(name, slices.Concat(catalogued[:], workloads[:])))}
}

// load reads a scenario that the program carries: an error is a mistake in its own text.
func load(files embed.FS, folder, name string) (*Scenario, error) {
	text, err := files.ReadFile(folder + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("repro: %w", err)
	}
	return Parse(name+".yaml", text)
}

// Control says whether the scenario is one that must not be called a hang.
func (s *Scenario) Control() bool { return s.Expect.Outcome != "" && !s.Expect.Outcome.Hang() }
