package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/wedge/pacer"
	"example.com/wedge/repro"
)

// Sweep is a field of a scenario with the values that it is to take, one after another.
type Sweep struct {
	Path   string   // such as "policy.idle"
	Values []string // in YAML form, two or more
}

// Point is where a policy or scenario stands on a sweep.
type Point struct {
	Of    string `json:"of"`    // the policy or scenario without the change
	Path  string `json:"path"`  // the field
	Value string `json:"value"` // in YAML form
	// X is the value as a number, in seconds if it is a time; 0 if it is neither.
	X float64 `json:"x"`
}

// ParseSweep reads "policy.idle=30s,60s,120s".
func ParseSweep(text string) (Sweep, error) {
	source := "--sweep " + text
	path, list, ok := strings.Cut(text, "=")
	path = strings.TrimSpace(path)
	if !ok || path == "" {
		return Sweep{}, &repro.InputError{Source: source, Msg: "want path=value,value,… such as policy.idle=30s,60s,120s"}
	}
	s := Sweep{Path: path}
	for _, value := range splitTop(list) {
		if value == "" {
			return Sweep{}, &repro.InputError{Source: source, Msg: "found an empty value, want path=value,value,… such as policy.idle=30s,60s,120s"}
		}
		if slices.Contains(s.Values, value) {
			return Sweep{}, &repro.InputError{Source: source, Msg: fmt.Sprintf("found %s twice, want each value once", value)}
		}
		s.Values = append(s.Values, value)
	}
	if len(s.Values) < 2 {
		return Sweep{}, &repro.InputError{Source: source, Msg: fmt.Sprintf("found one point, want two or more such as %s=30s,60s,120s (--policy sets a single value)", path)}
	}
	return s, nil
}

// splitTop splits a list at the commas that stand in no bracket or brace.
func splitTop(list string) []string {
	var parts []string
	depth, from := 0, 0
	for i, c := range list {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(list[from:i]))
				from = i + 1
			}
		}
	}
	return append(parts, strings.TrimSpace(list[from:]))
}

// OfPolicy says whether the sweep changes policies; others change the scenarios' world.
func (s *Sweep) OfPolicy() bool {
	return strings.HasPrefix(s.Path, "policy.") || strings.HasPrefix(s.Path, "pacer.")
}

// DefaultVariant is wedge's default policy: no time limits, three attempts.
func DefaultVariant() Variant {
	return Variant{Name: "default", About: "No time limits, three attempts a second or so apart: wedge's default.", Policy: pacer.DefaultPolicy()}
}

// Apply adds the points of a sweep to the plan: each policy, or each scenario, with each value. A policy
// without the change stays, as what the points are held against; a scenario does not.
func (p *Plan) Apply(s Sweep) error {
	if s.OfPolicy() {
		if err := bounded("--sweep "+s.Path, len(p.Policies)*(1+len(s.Values)), max(1, len(p.Scenarios))); err != nil {
			return err
		}
		return p.sweepPolicies(s)
	}
	if err := bounded("--sweep "+s.Path, max(1, len(p.Policies)), len(p.Scenarios)*len(s.Values)); err != nil {
		return err
	}
	var swept []*repro.Scenario
	var points [][]Point
	for i, base := range p.Scenarios {
		var before []Point
		if i < len(p.Loads) {
			before = p.Loads[i]
		}
		for _, value := range s.Values {
			at, err := scenarioAt(base, s.Path, value)
			if err != nil {
				return err
			}
			swept = append(swept, at)
			points = append(points, append(slices.Clone(before), Point{base.Name, s.Path, value, numberOf(value)}))
		}
	}
	p.Scenarios, p.Loads = swept, points
	return nil
}

func (p *Plan) sweepPolicies(s Sweep) error {
	bases := p.Policies
	if len(bases) == 0 {
		bases = []Variant{DefaultVariant()}
	}
	var swept []Variant
	for i := range bases {
		swept = append(swept, bases[i])
		if bases[i].Oracle { // it has no limits to change
			continue
		}
		for _, value := range s.Values {
			v, err := bases[i].with("--sweep "+s.Path+"="+value, []Setting{{s.Path, value}})
			if err != nil {
				return err
			}
			v.Name = fmt.Sprintf("%s %s=%s", bases[i].Name, shortPath(s.Path), value)
			if len(bases) == 1 {
				v.Name = fmt.Sprintf("%s=%s", shortPath(s.Path), value)
			}
			v.At = &Point{bases[i].Name, s.Path, value, numberOf(value)}
			swept = append(swept, v)
		}
	}
	if len(swept) == len(bases) {
		return &repro.InputError{Source: "--sweep " + s.Path, Msg: "found the oracle only, which has no limits to change: want a policy"}
	}
	p.Policies = swept
	return nil
}

// Setting is a field of a policy or of the pacer with its value in YAML form.
type Setting struct {
	Path  string `json:"path"` // such as "policy.idle"
	Value string `json:"value"`
}

// with is the policy with settings changed. source names them in errors.
func (v *Variant) with(source string, settings []Setting) (Variant, error) {
	if v.AsIs {
		return *v, &repro.InputError{Source: source, Msg: "found it with the policy as-is, which is each scenario's own: name a policy to change"}
	}
	changed := *v
	changed.Set = slices.Clone(v.Set)
	changed.About = ""
	var fields []string
	for _, s := range settings {
		if field, ok := strings.CutPrefix(s.Path, "policy."); ok {
			fields = append(fields, field+": "+s.Value)
		} else {
			changed.Set = append(changed.Set, s.Path+"="+s.Value)
		}
	}
	return changed, changed.change(source, fields)
}

func scenarioAt(base *repro.Scenario, path, value string) (*repro.Scenario, error) {
	at := *base
	at.Faults, at.Triggers = slices.Clone(base.Faults), slices.Clone(base.Triggers)
	if err := at.Set(path, value); err != nil {
		return nil, renamed("--sweep "+path+"="+value, err)
	}
	at.Name = base.Name + "." + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, shortPath(path)+"-"+value)
	if err := at.Validate(); err != nil {
		return nil, renamed("--sweep "+path+"="+value, err)
	}
	return &at, nil
}

// shortPath is the last name of a path.
func shortPath(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// numberOf is a value as a number, in seconds if it is a time.
func numberOf(value string) float64 {
	if d, err := time.ParseDuration(value); err == nil {
		return d.Seconds()
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return 0
	}
	return x
}
