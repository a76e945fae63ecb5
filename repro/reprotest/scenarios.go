package reprotest

import (
	"slices"
	"testing"
	"testing/synctest"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro"
)

// Scenarios returns the names of the scenarios of the catalogue in which something goes wrong at the servers or on
// the way to them, and nothing else does, so that any harness may meet it. Some need more load than a small test
// has, or are there to show what limits that are too tight do: who survives all of them need not have
// noticed each.
func Scenarios() []string {
	var names []string
	for _, name := range repro.Names() {
		if s, err := repro.Lookup(name); err == nil && slices.ContainsFunc(s.Faults, atServers) && !slices.ContainsFunc(s.Faults, elsewhere) {
			names = append(names, name)
		}
	}
	return names
}

func atServers(f fault.Fault) bool { return !elsewhere(f) && f.Where != fault.Metrics }

func elsewhere(f fault.Fault) bool {
	return f.Where == fault.Tool || f.Where == fault.Pacer || f.Where == fault.Harness
}

// Each runs a test with each of [Scenarios], as a subtest of its name in a bubble of its own.
func Each(t *testing.T, test func(t *testing.T, k *Kit), given ...Option) {
	t.Helper()
	for _, name := range Scenarios() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test(t, Start(t, append([]Option{Scenario(name)}, given...)...))
			})
		})
	}
}
