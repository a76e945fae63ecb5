package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/wedge/repro"
	"example.com/wedge/repro/compare"
)

// prepare turns the command line into a plan and where its runs are kept.
func (f *compareFlags) prepare(cmd *cobra.Command, args []string) (*compare.Plan, compare.Options, error) {
	o := compare.Options{Workers: f.workers, Version: version()}
	if err := f.contradictions(cmd); err != nil {
		return nil, o, err
	}
	if f.resume != "" && !f.asksFor(cmd, args) {
		plan, err := compare.ReadPlan(f.resume, o.Version)
		o.Dir, o.Resume = f.resume, true
		return plan, o, err
	}
	plan, err := f.plan(args)
	if err != nil {
		return nil, o, err
	}
	o.Dir, o.Resume, err = f.directory(plan)
	return plan, o, err
}

func (f *compareFlags) contradictions(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	switch {
	case f.json && f.csv:
		return &repro.InputError{Source: "--csv", Msg: "found it together with --json, want one of them"}
	case f.quiet && f.verbose:
		return &repro.InputError{Source: "--quiet", Msg: "found it together with --verbose, want one of them"}
	case changed("resume") && changed("out"):
		return &repro.InputError{Source: "--out", Msg: "found it together with --resume, which goes on in its own directory: want one of them"}
	case changed("resume") && f.resume == "":
		return &repro.InputError{Source: "--resume", Msg: "found nothing, want the directory of a comparison"}
	case f.workers < 0:
		return &repro.InputError{Source: "--workers", Msg: fmt.Sprintf("found %d, want 1 or more, or 0 for one each core", f.workers)}
	case (changed("tune-seeds") || changed("tune-budget")) && len(f.tunes) == 0:
		return &repro.InputError{Source: "--tune", Msg: "found --tune-seeds or --tune-budget without it, want what to tune, such as --tune policy.idle=10s..600s"}
	case len(f.tunes) > 0 && len(f.sweeps) > 0:
		return &repro.InputError{Source: "--tune", Msg: "found it together with --sweep, want one of them: a search shows its points too"}
	}
	return nil
}

// asksFor says whether the command line says what is to be compared.
func (f *compareFlags) asksFor(cmd *cobra.Command, args []string) bool {
	for _, name := range []string{"policy", "seeds", "set", "sweep", "tune", "tune-seeds", "tune-budget", "against"} {
		if cmd.Flags().Changed(name) {
			return true
		}
	}
	return len(args) > 0
}

// plan reads policies, scenarios, seeds and what is to be swept or tuned.
func (f *compareFlags) plan(args []string) (*compare.Plan, error) {
	seeds, err := compare.ParseSeeds("--seeds", f.seeds)
	if err != nil {
		return nil, err
	}
	p := &compare.Plan{Seeds: seeds, Baseline: f.against}
	if err := f.addPolicies(p); err != nil {
		return nil, err
	}
	if err := f.addScenarios(p, args); err != nil {
		return nil, err
	}
	for _, text := range f.sweeps {
		sweep, err := compare.ParseSweep(text)
		if err != nil {
			return nil, err
		}
		if err := p.Apply(sweep); err != nil {
			return nil, err
		}
	}
	return p, f.addTuning(p)
}

func (f *compareFlags) addPolicies(p *compare.Plan) error {
	names := f.policies
	if len(names) == 0 && len(f.sweeps)+len(f.tunes) > 0 {
		p.Policies = []compare.Variant{compare.DefaultVariant()}
	} else if len(names) == 0 {
		names = compare.DefaultVariants()
	}
	for _, text := range names {
		v, err := compare.ParseVariant(text)
		if err != nil {
			return err
		}
		p.Policies = append(p.Policies, v)
	}
	return nil
}

func (f *compareFlags) addScenarios(p *compare.Plan, names []string) error {
	if len(names) == 0 {
		names = compare.DefaultScenarios()
	}
	for _, name := range names {
		s, err := scenarioOf(name)
		if err != nil {
			return err
		}
		for _, set := range f.set {
			path, value, ok := strings.Cut(set, "=")
			if !ok {
				return &repro.InputError{Source: "--set " + set, Msg: "want path=value, such as fleet.agents=60"}
			}
			if strings.HasPrefix(path, "policy.") {
				return &repro.InputError{Source: "--set " + set, Msg: "found a field of the policy, which is what is compared: want it in --policy 'NAME: {…}', or --sweep"}
			}
			if strings.HasPrefix(path, "watchdog.") {
				return &repro.InputError{Source: "--set " + set, Msg: "found a field of the watchdog, which compared runs do not have: they go on to the horizon"}
			}
			if err := s.Set(strings.TrimSpace(path), value); err != nil {
				return err
			}
		}
		if err := s.Validate(); err != nil {
			return err
		}
		p.Scenarios = append(p.Scenarios, s)
	}
	return nil
}

// tuneSeedsMax bounds the seeds that a search takes by itself.
const tuneSeedsMax = 20

func (f *compareFlags) addTuning(p *compare.Plan) error {
	if len(f.tunes) == 0 {
		return nil
	}
	t := &compare.Tuning{Budget: f.tuneBudget, Seeds: compare.Seeds{From: p.Seeds.To + 1, To: p.Seeds.To + uint64(min(tuneSeedsMax, p.Seeds.N()))}}
	if f.tuneSeeds != "" {
		seeds, err := compare.ParseSeeds("--tune-seeds", f.tuneSeeds)
		if err != nil {
			return err
		}
		t.Seeds = seeds
	}
	for _, text := range f.tunes {
		k, err := compare.ParseKnob(text)
		if err != nil {
			return err
		}
		t.Knobs = append(t.Knobs, k)
	}
	p.Tuning = t
	return nil
}

// directory is where the runs are kept. The default one is named by what is compared; what was
// finished there is replaced.
func (f *compareFlags) directory(p *compare.Plan) (dir string, resume bool, err error) {
	switch {
	case f.resume != "":
		return f.resume, true, nil
	case f.out == "-":
		return "", false, nil
	case f.out != "":
		return f.out, false, nil
	}
	id, err := p.ID(version())
	if err != nil {
		return "", false, err
	}
	dir = filepath.Join("wedge-out", "compare-"+id)
	if !compare.Finished(dir) {
		return "", false, &repro.InputError{Source: dir, Msg: "found this comparison in it, begun and not finished: go on with --resume " + dir + ", or want another --out"}
	}
	return dir, false, compare.Clear(dir)
}
