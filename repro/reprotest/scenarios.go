package reprotest

import (
	"slices"
	"testing"
	"testing/synctest"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro"
)

// Scenarios returns the names of the scenarios of the catalogue in which something fails at the servers or on the
// way to them, so that any harness may meet it. Those that only say what wedge's own agents do wrong, or
// that take a fleet of their size, are left out.
func Scenarios() []string {
	var names []string
	for _, name := range repro.Names() {
		if s, err := repro.Lookup(name); err == nil && slices.ContainsFunc(s.Faults, atServers) {
			names = append(names, name)
		}
	}
	return names
}

func atServers(f fault.Fault) bool {
	switch f.Where {
	case fault.Tool, fault.Pacer, fault.Harness, fault.Metrics:
		return false
	}
	return true
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
