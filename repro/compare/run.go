package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/wedge/repro"
)

// Run tunes what the plan asks to be tuned, and executes it. A plan whose Tuning has no policies yet is
// searched first; the runs are those of the plan that comes of it.
func Run(ctx context.Context, p *Plan, o Options) (*Runs, error) {
	if p.Tuning == nil || len(p.Tuning.Policies) > 0 {
		return Execute(ctx, p, o)
	}
	if err := p.Tuning.validate(p); err != nil {
		return nil, err
	}
	if o.Dir != "" && !o.Resume {
		doc, err := p.document(o.Version)
		if err != nil {
			return nil, err
		}
		if err := create(o.Dir, TuneFile, doc); err != nil {
			return nil, err
		}
	}
	found, err := Tune(ctx, p, *p.Tuning, o)
	if err != nil {
		return nil, err
	}
	o.Resume = o.Resume && exists(filepath.Join(o.Dir, PlanFile))
	return Execute(ctx, found, o)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// Finished says whether a directory holds a comparison that is finished, or none at all, so that nothing
// is lost if it is replaced.
func Finished(dir string) bool {
	begun := exists(filepath.Join(dir, PlanFile)) || exists(filepath.Join(dir, TuneFile))
	return !begun || exists(filepath.Join(dir, ResultsFile))
}

// Clear removes the files of a comparison from a directory, and nothing else.
func Clear(dir string) error {
	for _, name := range []string{ResultsFile, TableFile, ReportFile, RunsFile, PlanFile, TuneFile} {
		if err := remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for _, stage := range []string{firstStage, secondStage} {
		for _, name := range []string{RunsFile, PlanFile, ""} {
			if err := remove(filepath.Join(dir, stage, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &repro.InputError{Source: path, Msg: err.Error()}
	}
	return nil
}

// WriteResults writes results.json and results.csv into the directory.
func WriteResults(dir string, r *Results) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	table, err := r.CSV()
	if err != nil {
		return err
	}
	return errors.Join(
		replace(dir, TableFile, table),
		replace(dir, ResultsFile, append(text, '\n')),
	)
}
