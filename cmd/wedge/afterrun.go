package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/wedge/repro/trace"
)

// traceJournalBytesMax bounds how much of the journal a run's trace shows, so that viewers open it: the
// latest bytes. A default run has far less.
const traceJournalBytesMax = 16 << 20

// afterRun is what is made of a bundle once its run is over. The zero value makes everything.
type afterRun struct{ without bool }

func (a *afterRun) register(flags *pflag.FlagSet) {
	flags.BoolVar(&a.without, "no-report", false, "leave "+trace.File+" and "+reportPage+" out of the bundle; wedge report DIR makes the page later")
}

// write puts trace.json and report.html into the bundle at dir; "" is none. Both can be made of the bundle
// again, so that a failure is a line on standard error and no more.
func (a *afterRun) write(cmd *cobra.Command, dir string) {
	if a.without || dir == "" {
		return
	}
	if err := writeTrace(dir); err != nil {
		a.say(cmd, trace.File, err)
	}
	page, err := pageOf(dir)
	if err == nil {
		err = replaceFile(filepath.Join(dir, reportPage), page)
	}
	if err != nil {
		a.say(cmd, reportPage, err)
	}
}

func (a *afterRun) say(cmd *cobra.Command, name string, err error) {
	if at := new(fs.PathError); errors.As(err, &at) {
		err = at.Err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "wedge: %s was not written: %s\n", name, plainText(oneLine(err.Error())))
}

// writeTrace makes the trace of the bundle in dir, in memory for what is under way: it may be large.
func writeTrace(dir string) error {
	return replaceBy(filepath.Join(dir, trace.File), func(w io.Writer) error {
		return trace.Write(w, os.DirFS(dir), trace.Options{JournalBytesMax: traceJournalBytesMax})
	})
}

// replaceBy is replaceFile for a file that is written piece by piece.
func replaceBy(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
