package compare

import (
	"bytes"
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

// line is a run as runs.jsonl has it.
type line struct {
	Policy   string       `json:"policy"`
	Scenario string       `json:"scenario"`
	Seed     uint64       `json:"seed"`
	Run      *metrics.Run `json:"run"`
}

// runLog is runs.jsonl. Runs are written in the order of their jobs, whichever ends first, so that the file is the
// same bytes whatever the number of cores. A nil log takes everything and keeps nothing.
type runLog struct {
	file    *os.File
	next    int      // job to be written next
	waiting [][]byte // by job: lines that wait for an earlier one
	written []bool   // by job
	failed  bool     // a write has, so that what comes after would leave a hole: nothing more is written
}

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
		return newLog(path, 0, runs)
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
	return newLog(path, whole, runs)
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
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path)) // half a plan would be taken for one, and could be neither resumed nor replaced
	}
	return nil
}

// replace puts a file into the directory, all of it or nothing.
func replace(dir, name string, text []byte) error {
	path := filepath.Join(dir, name)
	part := path + ".part"
	if err := os.WriteFile(part, text, 0o644); err != nil {
		_ = os.Remove(part) // the failure to write says more
		return err
	}
	if err := os.Rename(part, path); err != nil {
		_ = os.Remove(part)
		return err
	}
	return nil
}

// newLog opens the log to go on after its first whole bytes, which have the runs that are there. What
// follows them is the torn end of a line.
func newLog(path string, whole int64, runs []*metrics.Run) (*runLog, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, &repro.InputError{Source: path, Msg: err.Error()}
	}
	err = f.Truncate(whole)
	if err == nil {
		_, err = f.Seek(whole, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compare: %w", err), f.Close())
	}
	l := &runLog{file: f, waiting: make([][]byte, len(runs)), written: make([]bool, len(runs))}
	for job, run := range runs {
		l.written[job] = run != nil
	}
	return l, nil
}

// readRuns reads the whole lines of a log into runs and returns how long they are. A last line without
// its end is left out.
func readRuns(path string, p *Plan, runs []*metrics.Run) (whole int64, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // it was cut off before the first
	}
	if err == nil && !info.Mode().IsRegular() { // a pipe or a device may have no end
		return 0, &repro.InputError{Source: path, Msg: "found no regular file, want the runs of a comparison"}
	}
	text, err := os.ReadFile(path)
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

// append adds a run, once all before it are there. A crash loses those that wait, and the end of a line at
// most.
func (l *runLog) append(p *Plan, job int, run *metrics.Run) error {
	if l == nil {
		return nil
	}
	k := p.at(job)
	text, err := json.Marshal(line{p.Policies[k.policy].Name, p.Scenarios[k.scenario].Name, p.Seeds.From + uint64(k.seed), run})
	if err != nil {
		return fmt.Errorf("compare: %s: %w", RunsFile, err)
	}
	l.waiting[job] = append(text, '\n')
	for l.next < len(l.waiting) && (l.written[l.next] || l.waiting[l.next] != nil) {
		if err := l.write(l.next); err != nil {
			return err
		}
		l.next++
	}
	return nil
}

// write writes the line of a job, if it waits.
func (l *runLog) write(job int) error {
	if l.waiting[job] == nil || l.failed {
		return nil
	}
	if _, err := l.file.Write(l.waiting[job]); err != nil {
		l.failed = true
		return fmt.Errorf("compare: %s: %w", RunsFile, err)
	}
	l.waiting[job], l.written[job] = nil, true
	return nil
}

// close writes what still waits for a run that will not come.
func (l *runLog) close() error {
	if l == nil {
		return nil
	}
	var failed error
	for job := range l.waiting {
		failed = errors.Join(failed, l.write(job))
	}
	return errors.Join(failed, l.file.Close())
}
