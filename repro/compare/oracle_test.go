package compare_test

import (
	"strings"
	"testing"

	"example.com/wedge/repro/compare"
)

// TestOracleIsABracket: it is the fastest by far where streams die, and yet neither recommended nor marked, and
// the figures of the others are as they would be without it.
func TestOracleIsABracket(t *testing.T) {
	skipShort(t)
	scenarios := []string{"silent-stream", "bad-pairing"}
	seeds := compare.Seeds{From: 1, To: 3}
	with := compare.Analyse(execute(t, planOf(t, []string{"oracle", "none", "idle-120s"}, scenarios, seeds), compare.Options{}))
	without := compare.Analyse(execute(t, planOf(t, []string{"none", "idle-120s"}, scenarios, seeds), compare.Options{}))
	if with.Baseline != "none" {
		t.Errorf("held against %s, want none: the oracle comes first, and is no policy", with.Baseline)
	}
	oracle := &with.Policies[0]
	if !oracle.Bracket || oracle.Best || oracle.NearBest || oracle.Ratio >= with.Policies[2].Ratio {
		t.Errorf("the oracle: %+v", oracle)
	}
	for s := range with.Scenarios {
		for _, f := range with.Scenarios[s].Cells[0].Figures {
			if f.Best || f.Better || f.Worse {
				t.Errorf("%s: %s of the oracle is marked", with.Scenarios[s].Name, f.Metric)
			}
		}
	}
	if got, want := string(jsonOf(t, with.Policies[1:])), string(jsonOf(t, without.Policies)); got != want {
		t.Errorf("policies beside the oracle:\n%s\nwithout it:\n%s", got, want)
	}
	said := strings.Join(with.Advice, "\n")
	if !strings.HasPrefix(said, "Use idle-120s: ") || !strings.Contains(said, "\noracle, which nobody can have, ends dead attempts at once and no others: ") {
		t.Errorf("advice:\n%s", said)
	}
}

// TestOracleHasNothingToChange: sweeps and searches leave it out.
func TestOracleHasNothingToChange(t *testing.T) {
	sweep := compare.Sweep{Path: "policy.idle", Values: []string{"60s", "120s"}}
	p := planOf(t, []string{"oracle", "none"}, []string{"healthy"}, compare.Seeds{From: 1, To: 1})
	if err := p.Apply(sweep); err != nil || len(p.Policies) != 4 {
		t.Errorf("%d policies, %v; want the oracle and none with two points", len(p.Policies), err)
	}
	alone := planOf(t, []string{"oracle"}, []string{"healthy"}, compare.Seeds{From: 1, To: 1})
	if err := alone.Apply(sweep); err == nil || !strings.Contains(err.Error(), "found the oracle only") {
		t.Errorf("sweep of the oracle alone: %v", err)
	}
	k, err := compare.ParseKnob("policy.idle=60s..120s")
	if err != nil {
		t.Fatal(err)
	}
	alone.Tuning = &compare.Tuning{Knobs: []compare.Knob{k}, Budget: 4, Seeds: compare.Seeds{From: 2, To: 2}}
	if _, err := compare.Run(t.Context(), alone, compare.Options{}); err == nil || !strings.Contains(err.Error(), "found the oracle only") {
		t.Errorf("search for the oracle alone: %v", err)
	}
	p = planOf(t, []string{"none", "oracle"}, []string{"healthy"}, compare.Seeds{From: 1, To: 1})
	p.Tuning = &compare.Tuning{Knobs: []compare.Knob{k}, Budget: 4, Seeds: compare.Seeds{From: 2, To: 2}}
	if r := compare.Analyse(execute(t, p, compare.Options{})); len(r.Policies) != 3 {
		t.Errorf("%d policies after the search, want none, what was found, and the oracle", len(r.Policies))
	}
}

// TestOracleAlone is refused in a line: a bracket needs something between it and none.
func TestOracleAlone(t *testing.T) {
	p := planOf(t, []string{"oracle"}, []string{"healthy"}, compare.Seeds{From: 1, To: 1})
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "--policy: found the oracle only") {
		t.Errorf("%v, want one line about the oracle", err)
	}
}
