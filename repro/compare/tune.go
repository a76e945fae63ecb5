package compare

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"example.com/wedge/repro"
	"example.com/wedge/repro/compare/stats"
)

// Tuning is a search for policies' parameters, on seeds of its own.
type Tuning struct {
	Knobs    []Knob        `json:"knobs"`
	Seeds    Seeds         `json:"seeds"`  // that it searched on; the results are of others
	Budget   int           `json:"budget"` // points tried for each policy
	Policies []TunedPolicy `json:"policies"`
}

// TunedPolicy is the search for one policy, with each point that was tried.
type TunedPolicy struct {
	Base   string       `json:"base"`
	Points []TunedPoint `json:"points"` // in the order of their first knob
	Best   int          `json:"best"`   // in Points; -1: none was possible
	Left   int          `json:"left"`   // points that make no policy, such as an idle limit above the total one
}

// TunedPoint is one point of a search.
type TunedPoint struct {
	Settings []Setting      `json:"settings"`
	X        []float64      `json:"x"`     // by knob
	Ratio    float64        `json:"ratio"` // of the time a task against the policy as it was, on the seeds of the search
	RatioCI  stats.Interval `json:"ratio_ci95"`
}

// budgetMin is the least number of points that make a curve; budgetMax is far above any use.
const (
	budgetMin = 4
	budgetMax = 1000
)

// Tune searches the best settings of each policy in the plan on the given seeds, with the same number of
// points for each, and returns a plan that holds what was found against the policies as they were, on the
// plan's own seeds. Its Options are those of Execute; stages are kept below Dir.
func Tune(ctx context.Context, p *Plan, t Tuning, o Options) (*Plan, error) {
	if err := t.validate(p); err != nil {
		return nil, err
	}
	coarse := max(budgetMin-1, t.Budget*2/3)
	s := &search{plan: p, tuning: t, o: o, step: 1 / float64(coarse-1)}
	for i := range p.Policies {
		s.tuning.Policies = append(s.tuning.Policies, TunedPolicy{Base: p.Policies[i].Name, Best: -1})
		points := spread(coarse, len(t.Knobs))
		if p.Policies[i].Oracle {
			points = nil
		}
		s.tried = append(s.tried, points)
	}
	if err := s.stage(ctx, firstStage); err != nil {
		return nil, err
	}
	for i := range p.Policies {
		s.tried[i] = s.near(i, t.Budget-coarse)
	}
	if err := s.stage(ctx, secondStage); err != nil {
		return nil, err
	}
	return s.outcome()
}

func (t *Tuning) validate(p *Plan) error {
	if err := p.Validate(); err != nil {
		return err
	}
	switch {
	case len(t.Knobs) == 0:
		return &repro.InputError{Source: "--tune", Msg: "found no parameter, want path=low..high such as policy.idle=10s..600s"}
	case t.Budget < budgetMin:
		return &repro.InputError{Source: "--tune-budget", Msg: fmt.Sprintf("found %d, want %d points or more for each policy", t.Budget, budgetMin)}
	case t.Budget > budgetMax:
		return &repro.InputError{Source: "--tune-budget", Msg: fmt.Sprintf("found %d, want at most %d points for each policy", t.Budget, budgetMax)}
	case t.Seeds.wrong() != "":
		return &repro.InputError{Source: "--tune-seeds", Msg: fmt.Sprintf("found %d-%d, %s", t.Seeds.From, t.Seeds.To, t.Seeds.wrong())}
	case t.Seeds.From <= p.Seeds.To && p.Seeds.From <= t.Seeds.To:
		return &repro.InputError{Source: "--tune-seeds", Msg: fmt.Sprintf("found %s, which overlaps --seeds %s: what was tuned on seeds looks better on them than it is", t.Seeds, p.Seeds)}
	}
	if !slices.Contains(p.brackets(), false) {
		return &repro.InputError{Source: "--tune", Msg: "found the oracle only, which has nothing to tune: want a policy"}
	}
	for i := range p.Policies {
		for k := range t.Knobs {
			if p.Policies[i].Oracle {
				continue
			}
			if err := t.Knobs[k].fits(&p.Policies[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// search is a tuning under way.
type search struct {
	plan   *Plan
	tuning Tuning
	o      Options
	step   float64       // between the first points of a single knob
	tried  [][][]float64 // by policy: places of the next stage's points, by knob
	places [][][]float64 // by policy: places of Points
}

// spread places n points in the unit cube of a dimension: evenly with its ends in one, by Halton's
// sequence in more.
func spread(n, dimensions int) [][]float64 {
	points := make([][]float64, n)
	for i := range points {
		if dimensions == 1 {
			points[i] = []float64{float64(i) / float64(n-1)}
			continue
		}
		for d := range dimensions {
			points[i] = append(points[i], halton(i+1, primes()[d%len(primes())]))
		}
	}
	return points
}

func primes() []int { return []int{2, 3, 5, 7, 11, 13} }

func halton(i, base int) float64 {
	value, scale := 0.0, 1.0
	for ; i > 0; i /= base {
		scale /= float64(base)
		value += scale * float64(i%base)
	}
	return value
}

// near places n more points about the best one of a policy: between its neighbours, or, with several
// knobs, in a cube about it.
func (s *search) near(policy, n int) [][]float64 {
	best := s.tuning.Policies[policy].Best
	if best < 0 || n <= 0 {
		return nil
	}
	center := s.places[policy][best]
	width := s.step
	if len(center) > 1 {
		const shrink = 0.35
		width = shrink / 2
	}
	slots := n + n%2 // an even number, as the middle one of an odd number would be the best itself
	points := make([][]float64, n)
	for i, at := range spread(slots+2, len(center))[1 : n+1] {
		for d := range center {
			low, high := max(0, center[d]-width), min(1, center[d]+width)
			points[i] = append(points[i], low+(high-low)*at[d])
		}
	}
	return points
}

// stage runs the points that are to be tried next and books what they gave.
func (s *search) stage(ctx context.Context, name string) error {
	p := &Plan{Scenarios: s.plan.Scenarios, Seeds: s.tuning.Seeds}
	type trial struct {
		base, at int
		point    TunedPoint
		place    []float64
	}
	var trials []trial
	for i := range s.plan.Policies {
		if len(s.tried[i]) == 0 {
			continue
		}
		base := len(p.Policies)
		p.Policies = append(p.Policies, s.plan.Policies[i])
		for _, place := range s.tried[i] {
			point, v, err := s.at(i, place)
			if err != nil {
				s.tuning.Policies[i].Left++
				continue
			}
			if !s.known(i, point, p.Policies[base+1:]) {
				v.Name = fmt.Sprintf("%s at %v", v.Name, point.Settings)
				trials = append(trials, trial{i, len(p.Policies), point, place})
				p.Policies = append(p.Policies, v)
			}
		}
	}
	if len(trials) == 0 {
		return nil
	}
	o := s.o
	if tell := o.Progress; tell != nil {
		o.Progress = func(p Progress) { p.Stage = "search"; tell(p) }
	}
	if o.Dir != "" {
		o.Dir = filepath.Join(o.Dir, name)
		o.Resume = exists(filepath.Join(o.Dir, PlanFile))
	}
	runs, err := Execute(ctx, p, o)
	if err != nil {
		return err
	}
	for len(s.places) < len(s.plan.Policies) {
		s.places = append(s.places, nil)
	}
	for _, t := range trials {
		p.Baseline = s.plan.Policies[t.base].Name
		t.point.Ratio, t.point.RatioCI = ratioOf(runs, t.at)
		tuned := &s.tuning.Policies[t.base]
		tuned.Points = append(tuned.Points, t.point)
		s.places[t.base] = append(s.places[t.base], t.place)
		if tuned.Best < 0 || t.point.Ratio < tuned.Points[tuned.Best].Ratio {
			tuned.Best = len(tuned.Points) - 1
		}
	}
	return nil
}

// at is a policy with the knobs at a place.
func (s *search) at(policy int, place []float64) (TunedPoint, Variant, error) {
	var point TunedPoint
	for d := range s.tuning.Knobs {
		x, text := s.tuning.Knobs[d].value(place[d])
		point.X = append(point.X, x)
		point.Settings = append(point.Settings, Setting{s.tuning.Knobs[d].Path, text})
	}
	v, err := s.plan.Policies[policy].with("--tune", point.Settings)
	return point, v, err
}

// known says whether a point was tried already, or is among those to be.
func (s *search) known(policy int, point TunedPoint, coming []Variant) bool {
	name := fmt.Sprintf("%s at %v", s.plan.Policies[policy].Name, point.Settings)
	return slices.ContainsFunc(s.tuning.Policies[policy].Points, func(p TunedPoint) bool { return slices.Equal(p.X, point.X) }) ||
		slices.ContainsFunc(coming, func(v Variant) bool { return v.Name == name })
}

// ratioOf is the time a task of a policy against the baseline.
func ratioOf(r *Runs, policy int) (float64, stats.Interval) {
	n := r.Whole()
	logs := make([]float64, n)
	for s := range r.Plan.Scenarios {
		for seed := range logs {
			x := r.Of(policy, s, seed).Work.TaskTimeMeanS
			y := r.Of(r.Plan.baseline(), s, seed).Work.TaskTimeMeanS
			if x > 0 && y > 0 {
				logs[seed] += math.Log(x/y) / float64(len(r.Plan.Scenarios))
			}
		}
	}
	within := stats.NewResampler(n, resampleSeed).Mean(logs)
	return math.Exp(stats.Mean(logs)), stats.Interval{Low: math.Exp(within.Low), High: math.Exp(within.High)}
}

// outcome is the plan with the policies that were found.
func (s *search) outcome() (*Plan, error) {
	found := &Plan{Scenarios: s.plan.Scenarios, Seeds: s.plan.Seeds, Baseline: s.plan.Baseline, Tuning: &s.tuning}
	for i := range s.plan.Policies {
		tuned := &s.tuning.Policies[i]
		found.Policies = append(found.Policies, s.plan.Policies[i])
		if tuned.Best < 0 {
			continue
		}
		best := tuned.Points[tuned.Best]
		v, err := s.plan.Policies[i].with("--tune", best.Settings)
		if err != nil {
			return nil, err
		}
		v.Name += "-tuned"
		var set []string
		for _, setting := range best.Settings {
			set = append(set, setting.Path+" "+setting.Value)
		}
		v.About = fmt.Sprintf("%s with %s, as found on seeds %s.", tuned.Base, strings.Join(set, ", "), s.tuning.Seeds)
		found.Policies = append(found.Policies, v)
		slices.SortFunc(tuned.Points, func(a, b TunedPoint) int { return slices.Compare(a.X, b.X) })
		tuned.Best = slices.IndexFunc(tuned.Points, func(p TunedPoint) bool { return slices.Equal(p.X, best.X) })
	}
	return found, nil
}
