package compare

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/wedge/repro"
	"example.com/wedge/repro/metrics"
)

// The files of a comparison's directory.
const (
	PlanFile    = "plan.json"
	TuneFile    = "tune.json" // of a plan that is to be tuned: as it was before
	RunsFile    = "runs.jsonl"
	ResultsFile = "results.json"
	TableFile   = "results.csv"
	ReportFile  = "report.html"
)

// The directories of a search, below that of the comparison.
const (
	firstStage  = "tune-1"
	secondStage = "tune-2"
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
	Loads     []*Point           `json:"loads,omitempty"`
	Tuning    *Tuning            `json:"tuning,omitempty"`
}

type scenarioDocument struct {
	Name string `json:"name"`
	YAML string `json:"yaml"`
}

// line is a run as runs.jsonl has it.
type line struct {
	Policy   string       `json:"policy"`
	Scenario string       `json:"scenario"`
	Seed     uint64       `json:"seed"`
	Run      *metrics.Run `json:"run"`
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
	return doc, nil
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
	return &doc, nil
}

// runLog is runs.jsonl. A nil log takes everything and keeps nothing.
type runLog struct{ file *os.File }

// openLog makes the directory with its plan, or, to resume, reads the runs that it has into runs.
func openLog(p *Plan, o Options, runs []*metrics.Run) (*runLog, error) {
	doc, err := p.document(o.Version)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(o.Dir, RunsFile)
	if !o.Resume {
		if err := create(o.Dir, PlanFile, doc); err != nil {
			return nil, err
		}
		return newLog(path, 0)
	}
	found, err := readDocument(o.Dir, PlanFile, o.Version)
	if err != nil {
		return nil, err
	}
	if same, err := sameJSON(found, doc); err != nil || !same {
		return nil, &repro.InputError{Source: filepath.Join(o.Dir, PlanFile), Msg: "found another plan than the one asked for, want --resume alone, or with what the plan says"}
	}
	whole, err := readRuns(path, p, runs)
	if err != nil {
		return nil, err
	}
	return newLog(path, whole)
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
	text, err := json.Marshal(doc)
	if err != nil {
		return "", fmt.Errorf("compare: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4]), nil
}

func sameJSON(a, b any) (bool, error) {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return bytes.Equal(x, y), errors.Join(err1, err2)
}

// create makes the directory. One that has a plan already is not replaced: its runs may have taken long.
func create(dir, name string, doc *planDocument) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return &repro.InputError{Source: "--out", Msg: err.Error()}
	}
	path := filepath.Join(dir, name)
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return &repro.InputError{Source: dir, Msg: "found a comparison in it, want --resume with it, or another --out"}
	}
	if err != nil {
		return &repro.InputError{Source: "--out", Msg: err.Error()}
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

// newLog opens the log to go on after its first whole bytes. What follows them is the torn end of a
// line.
func newLog(path string, whole int64) (*runLog, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, &repro.InputError{Source: path, Msg: err.Error()}
	}
	if err := f.Truncate(whole); err != nil {
		return nil, errors.Join(fmt.Errorf("compare: %w", err), f.Close())
	}
	if _, err := f.Seek(whole, io.SeekStart); err != nil {
		return nil, errors.Join(fmt.Errorf("compare: %w", err), f.Close())
	}
	return &runLog{f}, nil
}

// readRuns reads the whole lines of a log into runs and returns how long they are. A last line without
// its end is left out.
func readRuns(path string, p *Plan, runs []*metrics.Run) (whole int64, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // it was cut off before the first
	}
	if err != nil {
		return 0, &repro.InputError{Source: path, Msg: err.Error()}
	}
	jobs := map[[2]string]key{}
	for i := range p.Policies {
		for j, s := range p.Scenarios {
			jobs[[2]string{p.Policies[i].Name, s.Name}] = key{policy: i, scenario: j}
		}
	}
	for number := 1; ; number++ {
		end := bytes.IndexByte(text[whole:], '\n')
		if end < 0 {
			return whole, nil
		}
		bad := func(format string, args ...any) error {
			return &repro.InputError{Source: path, Line: number, Column: 1, Msg: fmt.Sprintf(format, args...)}
		}
		var l line
		if err := json.Unmarshal(text[whole:whole+int64(end)], &l); err != nil || l.Run == nil {
			return 0, bad("found no run in this line, want the file as wedge wrote it")
		}
		k, ok := jobs[[2]string{l.Policy, l.Scenario}]
		if !ok || l.Seed < p.Seeds.From || l.Seed > p.Seeds.To {
			return 0, bad("found policy %q, scenario %q, seed %d, which is not in the plan", l.Policy, l.Scenario, l.Seed)
		}
		k.seed = int(l.Seed - p.Seeds.From)
		runs[p.job(k)] = l.Run
		whole += int64(end) + 1
	}
}

// append adds a run. It is with the system when append returns, so that a crash loses one line at most.
func (l *runLog) append(p *Plan, job int, run *metrics.Run) error {
	if l == nil {
		return nil
	}
	k := p.at(job)
	text, err := json.Marshal(line{p.Policies[k.policy].Name, p.Scenarios[k.scenario].Name, p.Seeds.From + uint64(k.seed), run})
	if err == nil {
		_, err = l.file.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("compare: %s: %w", RunsFile, err)
	}
	return nil
}

func (l *runLog) close() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}
