package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jstemmer/go-junit-report/v2/junit"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/wedge/repro"
)

// junitFlag is the flag --junit of commands that come to a verdict, with the tests that go into the
// file. A <failure> is a verdict or a threshold that is not as it should be; an <error> says that the
// command could not do its work. Times are those of the run's own clock, so that a virtual run gives
// the same bytes each time.
type junitFlag struct {
	file  string
	suite junit.Testsuite
}

func (j *junitFlag) register(flags *pflag.FlagSet) {
	flags.StringVar(&j.file, "junit", "", "write what came out as a JUnit file, for CI: a test for each thing that should hold")
}

// around executes a command and writes the file. The command puts in what came out; if there is nothing
// that explains its error, the error itself is put in. What was cut off is an error, not a failure.
func (j *junitFlag) around(cmd *cobra.Command, run func() error) error {
	if !cmd.Flags().Changed("junit") {
		return run()
	}
	if err := j.check(); err != nil {
		return err
	}
	err := run()
	var exit *exitError
	interrupted := errors.As(err, &exit) && exit.code == exitInterrupted
	switch {
	case interrupted:
		j.suite.AddTestcase(j.error("the command ends by itself", "interrupted", "interrupted"))
	case err != nil && j.suite.Failures+j.suite.Errors == 0:
		j.suite.AddTestcase(j.error("the command ends by itself", errorType(err), err.Error()))
	case j.suite.Tests == 0: // nothing was run: --print
		return err
	}
	j.suite.Name = cmd.CommandPath()
	failed := j.write()
	switch {
	case failed == nil:
		return err
	case err == nil:
		return &exitError{code: exitFailed, err: failed}
	}
	complain(cmd.ErrOrStderr(), failed) // beside the command's own error, which has the exit code
	return err
}

// check refuses a file that cannot be written before anything has been run for it.
func (j *junitFlag) check() error {
	if j.file == "" {
		return &repro.InputError{Source: "--junit", Msg: "found nothing, want a file such as junit.xml"}
	}
	if dir, err := os.Stat(filepath.Dir(j.file)); err != nil || !dir.IsDir() {
		return &repro.InputError{Source: "--junit", Msg: fmt.Sprintf("found no directory %s, want a file in one that is there", filepath.Dir(j.file))}
	}
	if file, err := os.Stat(j.file); err == nil && file.IsDir() {
		return &repro.InputError{Source: "--junit", Msg: fmt.Sprintf("found the directory %s, want a file", j.file)}
	}
	return nil
}

// property adds what is known of the run as a whole, if it is.
func (j *junitFlag) property(name, value string) {
	if value != "" {
		j.suite.AddProperty(name, xmlText(value))
	}
}

// failure is a test that failed, error one that could not be made, and passed neither. detail may have
// lines.
func (j *junitFlag) failure(name, kind, message, detail string) junit.Testcase {
	c := j.passed(name)
	c.Failure = &junit.Result{Type: kind, Message: xmlText(oneLine(message)), Data: xmlText(detail)}
	return c
}

func (j *junitFlag) error(name, kind, message string) junit.Testcase {
	c := j.passed(name)
	c.Error = &junit.Result{Type: kind, Message: xmlText(oneLine(message)), Data: xmlText(message)}
	return c
}

func (j *junitFlag) passed(name string) junit.Testcase {
	return junit.Testcase{Classname: "wedge", Name: xmlText(name)}
}

// write makes the file: whole, or as it was before.
func (j *junitFlag) write() error {
	var all junit.Testsuites
	if j.suite.Time == "" {
		j.suite.Time = junitSeconds(0)
	}
	all.Name, all.Time = j.suite.Name, j.suite.Time
	all.AddSuite(j.suite)
	text := bytes.NewBufferString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	err := all.WriteXML(text)
	if err == nil {
		err = j.replace(text.Bytes())
	}
	if err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	return nil
}

// replace puts the file in the place of an earlier one, or of none. What is there and is no file, such
// as a pipe, is written to. CI collects the file as another user, who must be able to read it.
func (j *junitFlag) replace(content []byte) (err error) {
	const readable = 0o644
	if there, err := os.Stat(j.file); err == nil && !there.Mode().IsRegular() {
		return os.WriteFile(j.file, content, readable)
	}
	f, err := os.CreateTemp(filepath.Dir(j.file), "."+filepath.Base(j.file)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error tells more
		}
	}()
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(readable), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), j.file)
}

// errorType is a word for why a command could not do its work.
func errorType(err error) string {
	var input *repro.InputError
	if errors.As(err, &input) {
		return "input"
	}
	return "failed"
}

func junitSeconds(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }

// xmlText makes text from elsewhere such as XML can hold: other characters become escapes.
func xmlText(text string) string {
	text = plainText(strings.ToValidUTF8(text, string(utf8.RuneError)))
	return strings.Map(func(r rune) rune {
		if r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}, text)
}
