package compare

import "example.com/wedge/repro"

// DefaultPolicies are compared if nobody says otherwise: no limit at all as the lower bracket, two
// clients of the field as they come, three single limits, one limit for each phase, and what cures the
// known ways into a lasting overload.
func DefaultPolicies() []string {
	return []string{"none", "openai-python-3", "openai-go-3", "total-600s", "idle-60s", "idle-120s", "ttft-600s-idle-120s", "ideal"}
}

// DefaultVariants are the default policies, and the oracle beside them.
func DefaultVariants() []string { return append(DefaultPolicies(), Oracle) }

// DefaultScenarios are the incident's: what hung, each mechanism that was thought of and that a policy
// can do something about, or against, and a control with a long silence that is none.
func DefaultScenarios() []string {
	return []string{
		"starvation", "silent-stream", "connection-dead", "inflight-pin", "bad-pairing", "long-context-decode",
		"timeout-cascade", "retry-storm", "decode-serialized", "long-reasoning",
	}
}

// DefaultSeeds is how many seeds are run if nobody says otherwise: enough for the intervals to hold.
func DefaultSeeds() Seeds { return Seeds{1, 30} }

// DefaultPlan is what wedge compare runs without arguments.
func DefaultPlan() (*Plan, error) {
	p := &Plan{Seeds: DefaultSeeds()}
	for _, name := range DefaultVariants() {
		v, err := ParseVariant(name)
		if err != nil {
			return nil, err
		}
		p.Policies = append(p.Policies, v)
	}
	for _, name := range DefaultScenarios() {
		s, err := repro.Lookup(name)
		if err != nil {
			return nil, err
		}
		p.Scenarios = append(p.Scenarios, s)
	}
	return p, nil
}
