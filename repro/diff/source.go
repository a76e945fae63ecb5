package diff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"example.com/wedge/harness/bundle"
)

// runFile is what is read of run.json.
type runFile struct {
	Schema  string          `json:"schema"`
	Name    string          `json:"name"`
	Seed    uint64          `json:"seed"`
	Clock   string          `json:"clock"`
	Version string          `json:"version"`
	Config  json.RawMessage `json:"config"`
}

// verdictFile is what is read of verdict.json.
type verdictFile struct {
	Outcome      string `json:"outcome"`
	Layer        string `json:"layer"`
	Cause        string `json:"cause"`
	FinalOutcome string `json:"final_outcome"`
	Hypotheses   []struct {
		Cause  string  `json:"cause"`
		Status string  `json:"status"`
		Score  float64 `json:"score"`
	} `json:"hypotheses"`
}

// open reads the small files of a bundle.
func open(dir string) (*source, error) {
	s := &source{dir: strings.TrimRight(dir, "/"), fs: os.DirFS(dir)}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, &Error{Path: dir, Msg: reason(err)}
	case !info.IsDir():
		return nil, &Error{Path: dir, Msg: "found a file, want the directory of an evidence bundle (wedge repro NAME --out DIR writes one)"}
	}
	text, err := fs.ReadFile(s.fs, bundle.RunFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{Path: dir, Msg: "found no " + bundle.RunFile + " in it, want an evidence bundle (wedge repro NAME --out DIR writes one)"}
	}
	if err != nil {
		return nil, s.wrong(bundle.RunFile, err)
	}
	if err := json.Unmarshal(text, &s.run); err != nil {
		return nil, s.wrong(bundle.RunFile, jsonError(text, err))
	}
	if s.run.Schema != bundle.Schema {
		return nil, s.wrong(bundle.RunFile, fmt.Errorf("schema: found %q, want %q", s.run.Schema, bundle.Schema))
	}
	text, err = fs.ReadFile(s.fs, bundle.VerdictFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, s.wrong(bundle.VerdictFile, err)
	}
	s.verdict = &verdictFile{}
	if err := json.Unmarshal(text, s.verdict); err != nil {
		return nil, s.wrong(bundle.VerdictFile, jsonError(text, err))
	}
	return s, nil
}

func (s *source) side() Side {
	side := Side{Dir: s.dir, Name: s.run.Name, Seed: s.run.Seed, Clock: s.run.Clock, Version: s.run.Version}
	if v := s.verdict; v != nil {
		side.Outcome, side.Layer, side.Cause, side.FinalOutcome = v.Outcome, v.Layer, v.Cause, v.FinalOutcome
	}
	return side
}

// jsonError says on which line a text is no JSON.
func jsonError(text []byte, err error) error {
	if at := new(json.SyntaxError); errors.As(err, &at) {
		return fmt.Errorf("line %d: no valid JSON: %w", 1+bytes.Count(text[:min(int(at.Offset), len(text))], []byte("\n")), err)
	}
	return fmt.Errorf("no valid JSON: %w", err)
}

// reason is an error without the path, which the message has already.
func reason(err error) string {
	if at := new(fs.PathError); errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}
