// Command wedge simulates fleets of LLM agents, reproduces the hangs that such harnesses show, and
// says where every request is and why nothing moves.
//
// Each command has its file; they parse flags, call package repro, and print. Only this package
// reads the command line, the environment and the terminal, and only main exits.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro"
)

// Exit codes.
const (
	exitOK          = 0
	exitMismatch    = 1 // a scenario did not give its expected verdict
	exitUsage       = 2 // bad input
	exitStalled     = 3 // stalled or storming
	exitFailed      = 4 // agents failed, the servers could not be reached, or wedge itself failed
	exitInterrupted = 130
)

// exitError carries the exit code of an error to main. With a nil err nothing more is printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func main() {
	last := &lastRites{}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), lastRitesKey{}, last))
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		last.prepare()
		fmt.Fprintln(os.Stderr, "wedge: interrupted; what is under way is being brought to its end (once more ends wedge at once)")
		cancel()
		<-signals
		last.perform()
		os.Exit(exitInterrupted)
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	return exitCode(err, cmd.CommandPath(), stderr)
}

// exitCode tells of an error of the command, if there is one, and returns its exit code.
func exitCode(err error, command string, stderr io.Writer) int {
	if err == nil {
		return exitOK
	}
	var exit *exitError
	if errors.As(err, &exit) {
		if exit.err != nil {
			complain(stderr, exit.err)
		}
		return exit.code
	}
	var input *repro.InputError
	if errors.As(err, &input) {
		fmt.Fprintln(stderr, "wedge: "+input.Error())
		return exitUsage
	}
	// What is left are cobra's own complaints about flags and commands.
	fmt.Fprintf(stderr, "wedge: %s (see %q)\n", plainText(oneLine(err.Error())), command+" --help")
	return exitUsage
}

// complain writes an error on one line. Only a panic has more to say: where it happened.
func complain(w io.Writer, err error) {
	var bug *sim.PanicError
	if errors.As(err, &bug) {
		value := plainText(oneLine(fmt.Sprint(bug.Value)))
		fmt.Fprintf(w, "wedge: a bug in wedge, please report it with what follows: process %s panicked: %s\n%s", bug.Process, value, bug.Stack)
		return
	}
	fmt.Fprintln(w, "wedge: "+plainText(oneLine(err.Error())))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
