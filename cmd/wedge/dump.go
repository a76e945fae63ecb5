package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"example.com/wedge/harness/goroutine/waits"
	"example.com/wedge/repro"
)

// dumpFlags are the flags of wedge dump.
type dumpFlags struct {
	each  bool
	all   bool
	json  bool
	html  string
	dot   string
	svg   string
	every time.Duration
	times int
	pid   int
	ports bool
	yes   bool
	limit time.Duration
}

func newDump() *cobra.Command {
	var f dumpFlags
	cmd := &cobra.Command{
		Use:   "dump [FILE|URL|-]...",
		Short: "Read goroutine dumps of any Go program: who waits for whom, and why nothing moves",
		Long: `dump reads goroutine dumps of any Go program: what SIGQUIT, a crash or a failed test prints, the goroutine
profiles at debug=2, 1 and 0, lists of the debuggers; plain, or as logs and terminals have left them.

  FILE    a text, with one dump or several. Dumps of one process are compared, in the order given
  -       standard input, as without an argument
  URL     host:port or http://host:port/debug/pprof/goroutine: asked --times times, --every so long apart
  --pid   a running process of this machine

SIGQUIT, which --pid sends, makes a Go program print its goroutines to its own standard error and END. It is
asked about first, and the dump is read from there if standard error goes to a file. --ports looks for a
pprof address of the process instead, which leaves it alive.

--json prints one document for each report, of the form ` + dumpSchema + `: snapshots, verdict (outcome, reason, decided_by,
missing, next), movement, findings, stages, objects, groups, goroutines, stuck, messages, running_tests, lacks,
text (an account of every byte), graph.

Exit codes: 0 nothing is stuck, as far as the text shows; 3 deadlocked, wedged or starved; 2 bad input, such as a
text without goroutines; 4 wedge itself failed.`,
		Example: `  wedge dump crash.txt
  kubectl logs my-pod | wedge dump
  wedge dump before.txt after.txt --html report.html
  wedge dump localhost:6060 --every 10s
  wedge dump --pid 4242`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.each, "each", false, "read several dumps apart instead of comparing them")
	flags.BoolVarP(&f.all, "all", "a", false, "show every goroutine, object and frame")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.StringVar(&f.html, "html", "", "write a page to this file as well; it needs nothing else")
	flags.StringVar(&f.dot, "dot", "", "write who waits for whom to this file as well, for Graphviz")
	flags.StringVar(&f.svg, "svg", "", "write who waits for whom to this file as well, drawn")
	flags.DurationVar(&f.every, "every", 5*time.Second, "time between two dumps from a URL")
	flags.IntVar(&f.times, "times", 2, "how many dumps are asked from a URL")
	flags.IntVar(&f.pid, "pid", 0, "a running process, which SIGQUIT ends")
	flags.BoolVar(&f.ports, "ports", false, "with --pid: ask the TCP ports the process listens on for pprof, and send no signal")
	flags.BoolVarP(&f.yes, "yes", "y", false, "with --pid: send SIGQUIT without asking")
	flags.DurationVar(&f.limit, "timeout", 30*time.Second, "time for one answer of a URL, and for a process to end")
	return cmd
}

func (f *dumpFlags) validate(args []string) error {
	bad := func(flag, format string, a ...any) error {
		return &repro.InputError{Source: flag, Msg: fmt.Sprintf(format, a...)}
	}
	switch {
	case f.times < 1 || f.times > 100:
		return bad("--times", "found %d, want 1 to 100", f.times)
	case f.every < 0 || f.times > 1 && f.every == 0:
		return bad("--every", "found %v, want more than 0s", f.every)
	case f.limit <= 0:
		return bad("--timeout", "found %v, want more than 0s", f.limit)
	case f.pid < 0:
		return bad("--pid", "found %d, want the number of a process", f.pid)
	case f.pid > 0 && len(args) > 0:
		return bad("--pid", "found it together with %q, want one of them", args[0])
	case f.pid == 0 && (f.yes || f.ports):
		return bad("--yes and --ports", "want --pid with them")
	}
	stdin := 0
	for _, arg := range args {
		if arg == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return bad("-", "found it %d times, want standard input once", stdin)
	}
	return nil
}

func (f *dumpFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.validate(args); err != nil {
		return err
	}
	if err := f.checkFiles(args); err != nil {
		return err
	}
	texts, err := f.read(cmd, args)
	if err != nil || texts == nil {
		return err
	}
	for i, t := range texts {
		for _, other := range texts[:i] {
			if t.sum == other.sum && t.stats.Bytes == other.stats.Bytes {
				return &repro.InputError{Source: t.name, Msg: fmt.Sprintf("found the same bytes as in %s, want another dump: one dump compared with itself shows no movement", other.name)}
			}
		}
	}
	reports := f.reports(texts)
	if len(reports) > 1 && f.html+f.dot+f.svg != "" {
		return &repro.InputError{Source: "--html, --dot and --svg", Msg: fmt.Sprintf("found %d reports (dumps read apart, or of several processes), want one", len(reports))}
	}
	stuck := false
	for i, r := range reports {
		if i > 0 && !f.json {
			fmt.Fprintln(cmd.OutOrStdout(), "\n"+"────────")
		}
		if err := f.write(cmd.OutOrStdout(), r); err != nil {
			return &exitError{code: exitFailed, err: err}
		}
		switch waits.Outcome(r.Verdict.Outcome) {
		case waits.Deadlocked, waits.Wedged, waits.Starved:
			stuck = true
		}
	}
	if stuck {
		return &exitError{code: exitStalled}
	}
	return nil
}

// read reads all texts, in the order given. It returns nil without an error if there is nothing to read
// any more, and everything has been said.
func (f *dumpFlags) read(cmd *cobra.Command, args []string) ([]*dumpText, error) {
	if f.pid > 0 {
		return f.readProcess(cmd)
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	var texts []*dumpText
	for _, arg := range args {
		more, err := f.readArgument(cmd, arg)
		if err != nil {
			return nil, err
		}
		texts = append(texts, more...)
	}
	return texts, nil
}

func (f *dumpFlags) readArgument(cmd *cobra.Command, arg string) ([]*dumpText, error) {
	if arg == "-" {
		if isTerminal(cmd.InOrStdin()) {
			fmt.Fprintln(cmd.ErrOrStderr(), "wedge: reading a dump from the terminal; Ctrl-D ends it")
		}
		t, err := readDumps("standard input", cmd.InOrStdin())
		return []*dumpText{t}, err
	}
	if address, ok := dumpURL(arg); ok {
		return f.fetchAll(cmd.Context(), cmd.ErrOrStderr(), address)
	}
	file, err := os.Open(arg)
	if err != nil {
		return nil, &repro.InputError{Source: arg, Msg: fmt.Sprintf("cannot be opened: %v", cause(err))}
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, &repro.InputError{Source: arg, Msg: "found a directory, want a file with a goroutine dump"}
	}
	t, err := readDumps(arg, file)
	return []*dumpText{t}, err
}

// cause is the error without the path that os adds.
func cause(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// reports compares the dumps of each source, or takes each dump by itself if that is asked for, or if
// they are not of one process.
func (f *dumpFlags) reports(texts []*dumpText) []*dumpReport {
	var sources []string
	bySource := map[string][]*snapshot{}
	for _, t := range texts {
		for _, s := range t.snapshots {
			if _, ok := bySource[s.dump.Source]; !ok {
				sources = append(sources, s.dump.Source)
			}
			bySource[s.dump.Source] = append(bySource[s.dump.Source], s)
		}
	}
	var reports []*dumpReport
	for _, source := range sources {
		for _, dumps := range f.series(bySource[source]) {
			reports = append(reports, reportOf(dumps, textsOf(dumps, texts)))
		}
	}
	return reports
}

// series cuts dumps into runs that are compared.
func (f *dumpFlags) series(dumps []*snapshot) [][]*snapshot {
	runs := [][]*snapshot{dumps[:1]}
	for i := 1; i < len(dumps); i++ {
		last := &runs[len(runs)-1]
		if f.each || dumps[i].dump.Form != dumps[i-1].dump.Form || !sameProcess(dumps[i-1].analysis, dumps[i].analysis) {
			runs = append(runs, dumps[i:i+1])
			continue
		}
		*last = dumps[i-len(*last) : i+1]
	}
	return runs
}

func textsOf(dumps []*snapshot, texts []*dumpText) []*dumpText {
	var of []*dumpText
	for _, t := range texts {
		for _, s := range dumps {
			if len(t.snapshots) > s.index && t.snapshots[s.index] == s {
				of = append(of, t)
				break
			}
		}
	}
	return of
}

// write prints a report and writes the files that were asked for. The report comes first: the process that it is about may
// have ended.
func (f *dumpFlags) write(w io.Writer, r *dumpReport) error {
	if err := f.print(w, r); err != nil {
		return err
	}
	return f.writeFiles(r)
}

func (f *dumpFlags) print(w io.Writer, r *dumpReport) error {
	if !f.json {
		return printDump(w, r, f.all)
	}
	text, err := json.MarshalIndent(r.withGraph(), "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
