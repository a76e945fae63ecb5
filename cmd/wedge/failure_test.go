package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
)

// full is a standard output that cannot be written.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestFailuresAreNotBadInput(t *testing.T) {
	t.Chdir(t.TempDir())
	var errs bytes.Buffer
	code := run(context.Background(), []string{"repro", "idle", "--out", "-"}, full{}, &errs)
	if want := "wedge: standard output: no space left on device\n"; code != exitFailed || errs.String() != want {
		t.Errorf("exit code %d, %q, want %d, %q", code, errs.String(), exitFailed, want)
	}
}

func TestFailure(t *testing.T) {
	enough := errors.New("enough")
	stopped, stop := context.WithCancelCause(context.Background())
	stop(enough)
	running := context.Background()
	bad := &repro.InputError{Source: "--out", Msg: "no"}
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		want int // 0: left to whoever prints bad input
	}{
		{"bad input", running, bad, 0},
		{"bad input while interrupted", stopped, bad, 0},
		{"interrupted before the run", stopped, enough, exitInterrupted},
		{"a failure while interrupted", stopped, errors.New("broken"), exitFailed},
		{"no server", running, &repro.ServerError{Tried: "GET", Err: enough}, exitFailed},
		{"broken", running, fmt.Errorf("repro: %w", enough), exitFailed},
	} {
		var exit *exitError
		switch err := failure(c.ctx, c.err); {
		case c.want == 0 && err != c.err:
			t.Errorf("%s: %v", c.name, err)
		case c.want != 0 && (!errors.As(err, &exit) || exit.code != c.want):
			t.Errorf("%s: %v, want exit code %d", c.name, err, c.want)
		}
	}
}

func TestPanicIsPrintedWithItsPlace(t *testing.T) {
	var b bytes.Buffer
	complain(&b, fmt.Errorf("repro: %w", &sim.PanicError{Process: "agent-01", Value: "a\x1b[31m\nb", Stack: []byte("goroutine 7\n")}))
	want := "wedge: a bug in wedge, please report it with what follows: process agent-01 panicked: a\\x1b[31m b\ngoroutine 7\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestExitOfRun: an interrupt comes first, whatever had become of the agents by then.
func TestExitOfRun(t *testing.T) {
	for _, c := range []struct {
		why     harness.Reason
		outcome diagnose.Outcome
		want    int
	}{
		{harness.Completed, diagnose.Completed, exitOK},
		{harness.Completed, diagnose.Failed, exitFailed},
		{harness.Horizon, diagnose.Slow, exitStalled},
		{harness.GaveUp, diagnose.Wedged, exitStalled},
		{harness.Interrupted, diagnose.Wedged, exitInterrupted},
		{harness.Interrupted, diagnose.Failed, exitInterrupted},
	} {
		r := &repro.Result{Report: &harness.Report{Why: c.why}, End: diagnose.Conclusion{Outcome: c.outcome}}
		got := exitOK
		var exit *exitError
		if errors.As(runExit(r), &exit) {
			got = exit.code
		}
		if got != c.want {
			t.Errorf("%v, %s: exit code %d, want %d", c.why, c.outcome, got, c.want)
		}
	}
}

func TestPlainText(t *testing.T) {
	for _, c := range [][2]string{
		{"plain, ±, 漢字\n\tand lines", ""},
		{"red \x1b[31m", `red \x1b[31m`},
		{"\r\x07\x7f", `\r\a\x7f`},
		{"C1 \u009b31m", `C1 \u009b31m`},
		{"turned \u202e round", `turned \u202e round`},
		{"zero \u200b width", `zero \u200b width`},
	} {
		want := c[1]
		if want == "" {
			want = c[0]
		}
		if got := plainText(c[0]); got != want || strings.Contains(got, "\x1b") {
			t.Errorf("%q: %q, want %q", c[0], got, want)
		}
	}
}
