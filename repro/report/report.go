package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Options says how a bundle is shown. The zero value is useful.
type Options struct {
	// Name is what the reader calls the directory, for the page's foot and the commands in it. Empty: the
	// bundle's own evidence_dir, or nothing.
	Name string
}

// ErrNoBundle is the error of a directory that holds no evidence.
var ErrNoBundle = errors.New("found no run.json, verdict.json, events.jsonl or soak.json in it, want an evidence bundle (wedge repro NAME --out DIR writes one)")

// Write writes the page of the bundle in dir. The error is ErrNoBundle, or one of writing: files that are missing or
// damaged are told of in the page.
func Write(w io.Writer, dir fs.FS, o Options) error {
	s := &source{fs: dir}
	if !s.isBundle() {
		return ErrNoBundle
	}
	t, err := templates()
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	var out bytes.Buffer
	if err := write(&out, t, build(s, t, o)); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = w.Write(out.Bytes())
	return err
}
