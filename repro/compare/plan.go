package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/wedge/pacer"
	"example.com/wedge/pacer/concurrency"
	"example.com/wedge/pacer/queue"
	"example.com/wedge/repro"
)

// Plan is what is to be compared. The order of policies and scenarios is that of the results.
type Plan struct {
	Policies  []Variant
	Scenarios []*repro.Scenario // their seeds do not matter
	Seeds     Seeds
	// Baseline is the name of the policy that the others are held against. "": the first that is no oracle.
	Baseline string
	// Loads are, for each scenario, the points that it stands for, one for each sweep of the world; nil:
	// there was none.
	Loads [][]Point
	// Tuning is how policies of the plan were found; nil: they were given.
	Tuning *Tuning
}

// Variant is one policy of a comparison.
type Variant struct {
	Name   string `json:"name"`
	About  string `json:"about,omitempty"`
	Source string `json:"source,omitempty"` // where its parameters are from
	Trap   string `json:"trap,omitempty"`   // what its defaults do that one would not expect
	// AsIs leaves each scenario's own policy as it is.
	AsIs bool `json:"as_is,omitempty"`
	// Oracle ends attempts that the servers know to be dead, at once, and no others: no policy that anybody can
	// have, but a bracket of what limits can reach. It is shown, and neither recommended nor marked.
	Oracle bool `json:"oracle,omitempty"`
	// Policy replaces the scenario's.
	Policy pacer.Policy `json:"policy"`
	// Set are settings of the scenario's pacer, such as "pacer.hold=start".
	Set []string `json:"set,omitempty"`
	// At is the point of a sweep that it stands for; nil: none.
	At *Point `json:"at,omitempty"`
}

// Seeds is a range, both ends included.
type Seeds struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// seedsMax bounds a plan: a typo should not run for weeks.
const seedsMax = 10_000

// ParseSeeds reads "1-50" or "7". source is how an error names the text.
func ParseSeeds(source, text string) (Seeds, error) {
	bad := func(msg string) (Seeds, error) {
		return Seeds{}, &repro.InputError{Source: source, Msg: fmt.Sprintf("found %q, %s", text, msg)}
	}
	first, last, isRange := strings.Cut(strings.TrimSpace(text), "-")
	if !isRange {
		last = first
	}
	from, err1 := strconv.ParseUint(strings.TrimSpace(first), 10, 64)
	to, err2 := strconv.ParseUint(strings.TrimSpace(last), 10, 64)
	if err1 != nil || err2 != nil {
		return bad("want a range of whole numbers such as 1-50")
	}
	seeds := Seeds{from, to}
	if wrong := seeds.wrong(); wrong != "" {
		return bad(wrong)
	}
	return seeds, nil
}

// wrong is what is wrong with the range; "": nothing.
func (s Seeds) wrong() string {
	switch {
	case s.To < s.From:
		return "which has no seed in it: want a range such as 1-50"
	case s.To-s.From >= seedsMax:
		return fmt.Sprintf("want at most %d seeds", seedsMax)
	}
	return ""
}

// N is the number of seeds.
func (s Seeds) N() int { return int(s.To-s.From) + 1 }

// String is the range as ParseSeeds reads it.
func (s Seeds) String() string {
	if s.From == s.To {
		return strconv.FormatUint(s.From, 10)
	}
	return fmt.Sprintf("%d-%d", s.From, s.To)
}

// Validate says what is wrong with the plan, as an *[repro.InputError], or returns nil.
func (p *Plan) Validate() error {
	if err := unique("--policy", "policy", len(p.Policies), func(i int) string { return p.Policies[i].Name }); err != nil {
		return err
	}
	if err := unique("compare", "scenario", len(p.Scenarios), func(i int) string { return p.Scenarios[i].Name }); err != nil {
		return err
	}
	if !slices.Contains(p.brackets(), false) {
		return &repro.InputError{Source: "--policy", Msg: "found the oracle only, which is a bracket for others: want a policy beside it"}
	}
	if wrong := p.Seeds.wrong(); wrong != "" {
		return &repro.InputError{Source: "--seeds", Msg: fmt.Sprintf("found %d-%d, %s", p.Seeds.From, p.Seeds.To, wrong)}
	}
	if err := bounded("compare", len(p.Policies), len(p.Scenarios)); err != nil {
		return err
	}
	if p.Baseline != "" && p.index(p.Baseline) < 0 {
		return &repro.InputError{Source: "--against", Msg: fmt.Sprintf("found %q, want one of the policies compared: %s", p.Baseline, strings.Join(p.names(), ", "))}
	}
	_, err := p.cells()
	return err
}

// cells are the scenarios under each policy: by scenario, then policy.
func (p *Plan) cells() ([]*repro.Scenario, error) {
	var cells []*repro.Scenario
	for _, s := range p.Scenarios {
		for i := range p.Policies {
			cell, err := p.Policies[i].of(s)
			if err != nil {
				return nil, err
			}
			cells = append(cells, cell)
		}
	}
	return cells, nil
}

// cellsMax bounds policies times scenarios, each of which is held in memory: sweeps multiply, and a few long ones
// would fill it.
const cellsMax = 10_000

// bounded refuses more cells than that.
func bounded(source string, policies, scenarios int) error {
	if cells := policies * scenarios; cells > cellsMax {
		return &repro.InputError{Source: source, Msg: fmt.Sprintf("found %d policies on %d scenarios, want at most %d of both multiplied: fewer or shorter sweeps", policies, scenarios, cellsMax)}
	}
	return nil
}

func unique(source, what string, n int, name func(int) string) error {
	if n == 0 {
		return &repro.InputError{Source: source, Msg: fmt.Sprintf("found no %s, want at least one", what)}
	}
	seen := map[string]bool{}
	for i := range n {
		if seen[name(i)] {
			return &repro.InputError{Source: source, Msg: fmt.Sprintf("found the %s %q twice, want each once", what, name(i))}
		}
		seen[name(i)] = true
	}
	return nil
}

func (p *Plan) names() []string {
	var names []string
	for i := range p.Policies {
		names = append(names, p.Policies[i].Name)
	}
	return names
}

// index is where the policy of that name stands, or -1.
func (p *Plan) index(name string) int {
	return slices.IndexFunc(p.Policies, func(v Variant) bool { return v.Name == name })
}

// baseline is where the baseline stands.
func (p *Plan) baseline() int {
	if p.Baseline == "" {
		return max(0, slices.IndexFunc(p.Policies, func(v Variant) bool { return !v.Oracle }))
	}
	return max(0, p.index(p.Baseline))
}

// Runs is how many runs the plan has.
func (p *Plan) Runs() int { return len(p.Policies) * len(p.Scenarios) * p.Seeds.N() }

// key names a run by where its parts stand.
type key struct{ policy, scenario, seed int }

// at is the run of a number. Seeds change slowest, so that what is finished of a plan that was cut off
// is whole seeds of all policies.
func (p *Plan) at(job int) key {
	perSeed := len(p.Policies) * len(p.Scenarios)
	within := job % perSeed
	return key{policy: within % len(p.Policies), scenario: within / len(p.Policies), seed: job / perSeed}
}

// job is the number of a run.
func (p *Plan) job(k key) int {
	return (k.seed*len(p.Scenarios)+k.scenario)*len(p.Policies) + k.policy
}

// Scenario is the scenario of a run, by where policy, scenario and seed stand in the plan.
func (p *Plan) Scenario(policy, scenario, seed int) (*repro.Scenario, error) {
	run, err := p.Policies[policy].of(p.Scenarios[scenario])
	if err == nil {
		run.Seed = p.Seeds.From + uint64(seed)
	}
	return run, err
}

// of is a scenario under the policy. The two share what neither changes.
func (v *Variant) of(s *repro.Scenario) (*repro.Scenario, error) {
	run := *s
	// All runs go on to the same horizon: a watchdog that gives up after ten minutes would favour those
	// who lose patience before it does.
	run.Watchdog.GiveUpAfter = 0
	if !v.AsIs {
		run.Policy = v.Policy
	}
	for _, set := range v.Set {
		path, value, _ := strings.Cut(set, "=")
		switch path { // a whole block is not mixed with the scenario's, such as another rule's parameters
		case "pacer.limit":
			run.Pacer.Limit = concurrency.Config{}
		case "pacer.queue":
			run.Pacer.Queue = queue.Config{}
		}
		if err := run.Set(path, value); err != nil {
			return nil, v.blame(s, err)
		}
	}
	if err := run.Validate(); err != nil {
		return nil, v.blame(s, err)
	}
	return &run, nil
}

// blame names the policy in an error about a scenario that it made.
func (v *Variant) blame(s *repro.Scenario, err error) error {
	return &repro.InputError{Source: "--policy " + v.Name, Msg: fmt.Sprintf("with scenario %s: %v", s.Name, err)}
}
