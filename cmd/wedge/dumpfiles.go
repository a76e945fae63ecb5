package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"example.com/wedge/repro"
)

// dumpFile is a file that a report is written to.
type dumpFile struct {
	flag, name string
	write      func(io.Writer, *dumpReport) error
}

// files are those that were asked for.
func (f *dumpFlags) files() []dumpFile {
	var files []dumpFile
	for _, file := range []dumpFile{
		{"--html", f.html, writeDumpPage},
		{"--dot", f.dot, func(w io.Writer, r *dumpReport) error { return r.graph().WriteDOT(w, r.title) }},
		{"--svg", f.svg, func(w io.Writer, r *dumpReport) error { return r.graph().WriteSVG(w, r.title) }},
	} {
		if file.name != "" {
			files = append(files, file)
		}
	}
	return files
}

// checkFiles refuses files that cannot be written before a process is ended for their sake.
func (f *dumpFlags) checkFiles(args []string) error {
	files := f.files()
	for i, file := range files {
		bad := func(format string, a ...any) error {
			return &repro.InputError{Source: file.flag, Msg: fmt.Sprintf(format, a...)}
		}
		for _, other := range files[:i] {
			if filepath.Clean(file.name) == filepath.Clean(other.name) {
				return bad("found %s, which %s writes, want a file of its own", file.name, other.flag)
			}
		}
		if info, err := os.Stat(filepath.Dir(file.name)); err != nil || !info.IsDir() {
			return bad("found %s, want a file in a directory that exists", file.name)
		}
		info, err := os.Stat(file.name)
		if err != nil {
			continue
		}
		if info.IsDir() {
			return bad("found the directory %s, want a file", file.name)
		}
		for _, arg := range args {
			if text, err := os.Stat(arg); err == nil && os.SameFile(text, info) {
				return bad("found %s, which is to be read, want another file", file.name)
			}
		}
	}
	return nil
}

// writeFiles writes each whole or not at all, as far as the report is concerned.
func (f *dumpFlags) writeFiles(r *dumpReport) error {
	for _, file := range f.files() {
		var text bytes.Buffer
		err := file.write(&text, r)
		if err == nil {
			err = os.WriteFile(file.name, text.Bytes(), 0o666)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file.flag, err)
		}
	}
	return nil
}
