package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"example.com/wedge/harness/requestlog"
	"example.com/wedge/repro"
)

func newLogs() *cobra.Command {
	var asJSON bool
	var shown logsShown
	cmd := &cobra.Command{
		Use:   "logs FILE...",
		Short: "Say what a router's or proxy's log tells: open requests, latencies and their unit, gaps",
		Long: `logs reads logs of requests and says which were started and not finished, how the others ended, how long they took,
when requests came and when they stopped, and what the log cannot tell. Several files are parts of one log, from old to
new, plain or compressed by gzip; - is standard input.

It knows the log of SGLang's router (text and JSON), JSON and key=value lines of any logger (with an id, a status or a
latency under their usual names), and the access logs of nginx and envoy (text and JSON), also with what journald, docker,
Kubernetes or compose put around them. A latency without a unit is compared with the time stamps of its request, and shown
with how many agree.

Exit codes: 0 the log was read, whatever it says; 2 bad input.`,
		Example: `  wedge logs router.log
  kubectl logs deploy/router | wedge logs -
  wedge logs router.log.1 router.log --json
  docker compose logs router | wedge logs - --open 100`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("found no file, want the files of a log, or - for standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, flag := range []struct {
				name string
				n    int
			}{{"--open", shown.open}, {"--slowest", shown.slowest}} {
				if flag.n < 0 {
					return &repro.InputError{Source: flag.name, Msg: fmt.Sprintf("found %d, want 0 or more", flag.n)}
				}
			}
			log := requestlog.New()
			for _, name := range args {
				if err := readLog(log, name, cmd.InOrStdin()); err != nil {
					return err
				}
			}
			if err := reportLogs(cmd.OutOrStdout(), log.Report(), asJSON, shown); err != nil {
				return &exitError{code: exitFailed, err: fmt.Errorf("standard output: %w", err)}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as one JSON document")
	cmd.Flags().IntVar(&shown.open, "open", 10, "how many open requests to print, from the oldest; the JSON has up to 1,000")
	cmd.Flags().IntVar(&shown.slowest, "slowest", 5, "how many finished requests to print, from the slowest, up to 10; the JSON has them all")
	return cmd
}

// logsShown is how many of some requests are printed.
type logsShown struct{ open, slowest int }

// readLog reads one file, or standard input.
func readLog(log *requestlog.Log, name string, stdin io.Reader) error {
	src := stdin
	if name == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return fileError(name, err)
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return &repro.InputError{Source: name, Msg: "is a directory, want the file of a log"}
		}
		src = f
	}
	err := log.Read(name, src)
	if bad := new(requestlog.InputError); errors.As(err, &bad) {
		return &repro.InputError{Source: bad.Name, Msg: bad.Msg}
	}
	if err != nil {
		return &repro.InputError{Source: name, Msg: err.Error()}
	}
	return nil
}

// fileError tells of a file that cannot be opened, naming it once.
func fileError(name string, err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &repro.InputError{Source: name, Msg: err.Error()}
}

func reportLogs(w io.Writer, r *requestlog.Report, asJSON bool, shown logsShown) error {
	if !asJSON {
		return printLogs(w, r, shown)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
