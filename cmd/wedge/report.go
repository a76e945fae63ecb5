package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/wedge/repro"
	"example.com/wedge/repro/report"
)

// reportPage is the name of the page within a bundle.
const reportPage = "report.html"

func newReport() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Make one page of an evidence bundle: pictures rather than log lines",
		Long: `report reads a bundle, as repro, run, exec, soak and others write them, also one of a run that was killed, and makes one
HTML file of it: the verdict, where the calls were, each agent's time by stage, gauges with the load, slots, who waits for
whom, what speaks for and against each explanation, goroutines, and what of the configuration is not the default.

The file loads nothing and can be sent to somebody. It reads well on a phone, in light and dark, and printed.

Exit codes: 0 the page was written; 2 bad input, such as a directory that is no bundle; 4 the page could not be written.`,
		Example: `  wedge repro starvation --out hang
  wedge report hang                   # writes hang/report.html
  wedge report hang -o - | less`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("want the directory of an evidence bundle, found %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkPage(args[0], out); err != nil {
				return err
			}
			page, err := pageOf(args[0])
			if err != nil {
				return err
			}
			if out == "-" {
				_, err = cmd.OutOrStdout().Write(page)
				return writeFailure("standard output", err)
			}
			to := out
			if to == "" {
				to = filepath.Join(args[0], reportPage)
			}
			if err := replaceFile(to, page); err != nil {
				return writeFailure(to, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s  %.1f KiB\n", plainText(oneLine(to)), float64(len(page))/1024)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write, - for standard output (default DIR/"+reportPage+")")
	return cmd
}

// checkPage says what is wrong with the place of a page: nothing, if it is none or standard output.
func checkPage(dir, out string) error {
	if out == "" || out == "-" {
		return nil
	}
	there, err := os.Stat(out)
	above, aboveErr := os.Stat(filepath.Dir(out))
	bundled, dirErr := os.Stat(dir)
	within := aboveErr == nil && dirErr == nil && os.SameFile(above, bundled)
	switch {
	case err == nil && there.IsDir():
		return &repro.InputError{Source: "--output", Msg: fmt.Sprintf("found the directory %s, want a file", out)}
	case err == nil && within && filepath.Ext(out) != filepath.Ext(reportPage):
		return &repro.InputError{Source: "--output", Msg: fmt.Sprintf("found %s, which is part of the evidence, want another file", out)}
	}
	return nil
}

// pageOf makes the page of the bundle in dir.
func pageOf(dir string) ([]byte, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		if at := new(fs.PathError); errors.As(err, &at) {
			err = at.Err
		}
		return nil, &repro.InputError{Source: dir, Msg: err.Error()}
	case !info.IsDir():
		return nil, &repro.InputError{Source: dir, Msg: "found a file, want the directory of an evidence bundle (wedge repro NAME --out DIR writes one)"}
	}
	var page bytes.Buffer
	err = report.Write(&page, os.DirFS(dir), report.Options{Name: filepath.Clean(dir)})
	if errors.Is(err, report.ErrNoBundle) {
		return nil, &repro.InputError{Source: dir, Msg: err.Error()}
	}
	if err != nil {
		return nil, &exitError{code: exitFailed, err: err}
	}
	return page.Bytes(), nil
}

// replaceFile writes a file whole or not at all. What is there and is no file, such as a device or a pipe, is written
// to; a link stays one.
func replaceFile(name string, content []byte) error {
	switch there, err := os.Stat(name); {
	case err == nil && there.IsDir():
		return errors.New("is a directory, want a file")
	case err == nil && !there.Mode().IsRegular():
		const unused = 0 // it is there
		return os.WriteFile(name, content, unused)
	}
	if linked, err := filepath.EvalSymlinks(name); err == nil {
		name = linked
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".report-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// writeFailure is a page that could not be written; nil for a nil error.
func writeFailure(what string, err error) error {
	if err == nil {
		return nil
	}
	if at := new(fs.PathError); errors.As(err, &at) {
		err = at.Err
	}
	return &exitError{code: exitFailed, err: fmt.Errorf("%s: %w", what, err)}
}
