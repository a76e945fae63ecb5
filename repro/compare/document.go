package compare

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/wedge/repro"
)

// Schema is the version of the directory's form.
const Schema = "wedge.compare/1"

// planDocument is a plan as plan.json has it. Scenarios are texts of scenario files, every default
// visible.
type planDocument struct {
	Schema    string             `json:"schema"`
	Wedge     string             `json:"wedge"` // version that runs it
	Policies  []Variant          `json:"policies"`
	Scenarios []scenarioDocument `json:"scenarios"`
	Seeds     Seeds              `json:"seeds"`
	Baseline  string             `json:"baseline"`
	Loads     [][]Point          `json:"loads,omitempty"`
	Tuning    *Tuning            `json:"tuning,omitempty"`
	// Sum is of all the others, so that a plan that somebody has changed is noticed: its parts refer to each
	// other, and the runs beside it were made by what it said before.
	Sum string `json:"sha256"`
}

// sum is what Sum should be.
func (d planDocument) sum() (string, error) {
	d.Sum = ""
	text, err := json.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("compare: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

type scenarioDocument struct {
	Name string `json:"name"`
	YAML string `json:"yaml"`
}

func (p *Plan) document(version string) (*planDocument, error) {
	doc := &planDocument{Schema: Schema, Wedge: version, Policies: p.Policies, Seeds: p.Seeds, Baseline: p.Policies[p.baseline()].Name, Loads: p.Loads, Tuning: p.Tuning}
	for _, s := range p.Scenarios {
		text, err := s.YAML()
		if err != nil {
			return nil, fmt.Errorf("compare: %w", err)
		}
		doc.Scenarios = append(doc.Scenarios, scenarioDocument{s.Name, string(text)})
	}
	var err error
	doc.Sum, err = doc.sum()
	return doc, err
}

// ReadPlan reads the plan of a directory, or, if its search was cut off, the plan before that. Another
// version's, and what is none, is an *[repro.InputError].
func ReadPlan(dir, version string) (*Plan, error) {
	name := PlanFile
	if !exists(filepath.Join(dir, PlanFile)) && exists(filepath.Join(dir, TuneFile)) {
		name = TuneFile
	}
	doc, err := readDocument(dir, name, version)
	if err != nil {
		return nil, err
	}
	p := &Plan{Policies: doc.Policies, Seeds: doc.Seeds, Baseline: doc.Baseline, Loads: doc.Loads, Tuning: doc.Tuning}
	for _, d := range doc.Scenarios {
		s, err := repro.Parse(filepath.Join(dir, name)+": scenario "+d.Name, []byte(d.YAML))
		if err != nil {
			return nil, err
		}
		p.Scenarios = append(p.Scenarios, s)
	}
	return p, p.Validate()
}

func readDocument(dir, name, version string) (*planDocument, error) {
	path := filepath.Join(dir, name)
	bad := func(format string, args ...any) error {
		return &repro.InputError{Source: path, Msg: fmt.Sprintf(format, args...)}
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, bad("found no such file, want the directory of a comparison")
	}
	if err != nil {
		return nil, bad("%v", err)
	}
	var doc planDocument
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, bad("found no plan in it: %v", err)
	}
	switch {
	case doc.Schema != Schema:
		return nil, bad("schema: found %q, want %q: it is of another version of wedge", doc.Schema, Schema)
	case doc.Wedge != version:
		return nil, bad("wedge: found version %q, but this is %q, whose runs may differ: compare anew", doc.Wedge, version)
	}
	sum, err := doc.sum()
	if err != nil {
		return nil, err
	}
	if doc.Sum != sum {
		return nil, bad("found a plan that was changed after wedge wrote it, want it as it was: compare anew for another one")
	}
	return &doc, nil
}

// ID names the plan by what is in it: equal plans have equal names.
func (p *Plan) ID(version string) (string, error) {
	if err := p.Validate(); err != nil {
		return "", err
	}
	doc, err := p.document(version)
	if err != nil {
		return "", err
	}
	return doc.Sum[:8], nil
}

func sameJSON(a, b any) (bool, error) {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return bytes.Equal(x, y), errors.Join(err1, err2)
}
