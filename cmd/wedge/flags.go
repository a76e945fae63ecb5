package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/wedge/repro"
)

// runFlags are the flags of every command that runs a scenario.
type runFlags struct {
	seed    uint64
	clock   string
	scale   float64
	out     string
	json    bool
	set     []string
	faults  []string
	quiet   bool
	verbose bool
	print   bool
	listen  string
	line    bool // no screen
	junit   junitFlag
	after   afterRun
	otlp    otlpFlag
}

func (f *runFlags) register(flags *pflag.FlagSet, clock string) {
	flags.Uint64Var(&f.seed, "seed", 0, "seed of every draw (default: the scenario's, 1 unless it says otherwise)")
	flags.StringVar(&f.clock, "clock", clock, "clock of the run: virtual or wall")
	flags.Float64Var(&f.scale, "scale", 1, "how much faster than the machine's the wall clock goes: at 60 a second is a minute")
	flags.StringVar(&f.out, "out", "", "directory of the evidence bundle; - writes none (default wedge-out/NAME-SEED, on the wall with the start time)")
	flags.BoolVar(&f.json, "json", false, "print the verdict as one JSON document")
	flags.StringArrayVar(&f.set, "set", nil, "override a field of the scenario, such as policy.idle=60s; may be repeated")
	flags.StringArrayVar(&f.faults, "fault", nil, "add a fault, as YAML such as '{id: busy, where: router, what: status, status: 429}', or a file with a list of them; may be repeated")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print the result only, no progress")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print refuted hypotheses with their reasons too")
	registerListen(flags, &f.listen)
	flags.BoolVar(&f.line, "line", false, "on a terminal: show a line of progress instead of a screen")
	flags.BoolVar(&f.print, "print", false, "print the scenario with every default, and run nothing")
	f.junit.register(flags)
	f.after.register(flags)
	f.otlp.register(flags)
}

// apply puts the overrides into the scenario and validates it.
func (f *runFlags) apply(cmd *cobra.Command, s *repro.Scenario) error {
	for _, text := range f.faults {
		if err := s.AddFaults(text); err != nil {
			return err
		}
	}
	// A preset is what other settings change, wherever it stands.
	sets := append([]string(nil), f.set...)
	slices.SortStableFunc(sets, func(a, b string) int { return afterPreset(a) - afterPreset(b) })
	for _, set := range sets {
		path, value, ok := strings.Cut(set, "=")
		if !ok {
			return &repro.InputError{Source: "--set " + set, Msg: "want path=value, such as policy.idle=60s"}
		}
		if err := s.Set(strings.TrimSpace(path), value); err != nil {
			return err
		}
	}
	if cmd.Flags().Changed("seed") {
		s.Seed = f.seed
	}
	return s.Validate()
}

// afterPreset is 0 for the setting of a preset of the servers, and 1 for others.
func afterPreset(set string) int {
	if strings.HasPrefix(strings.TrimSpace(set), "servers.preset=") {
		return 0
	}
	return 1
}

// options turns the flags into those of a run of s, which began with the given words on the command
// line.
func (f *runFlags) options(cmd *cobra.Command, s *repro.Scenario, words string) (repro.Options, error) {
	o := repro.Options{Clock: repro.Clock(f.clock), Dumps: true, Version: version(), Replay: f.replay(cmd, s, words)}
	if cmd.Flags().Changed("scale") || o.Clock == repro.ClockWall {
		if err := repro.ValidScale(f.scale); err != nil {
			return o, err
		}
		o.Scale = f.scale
	}
	if f.quiet && f.verbose {
		return o, &repro.InputError{Source: "--quiet", Msg: "found it together with --verbose, want one of them"}
	}
	switch f.out {
	case "-":
	case "":
		name := fmt.Sprintf("%s-%d", s.Name, s.Seed)
		if o.Clock == repro.ClockWall {
			name += "-" + time.Now().UTC().Format("20060102T150405Z")
		}
		o.Out = filepath.Join("wedge-out", name)
		o.Replace = o.Clock == repro.ClockVirtual
	default:
		o.Out, o.Replace = f.out, o.Clock == repro.ClockVirtual
	}
	return o, nil
}

// replay is the command that repeats the run.
func (f *runFlags) replay(cmd *cobra.Command, s *repro.Scenario, words string) string {
	parts := []string{"wedge", words, "--seed", strconv.FormatUint(s.Seed, 10)}
	for _, text := range f.faults {
		parts = append(parts, "--fault", quote(text))
	}
	for _, set := range f.set {
		parts = append(parts, "--set", quote(set))
	}
	if cmd.Flags().Changed("clock") {
		parts = append(parts, "--clock", f.clock)
	}
	if cmd.Flags().Changed("scale") {
		parts = append(parts, "--scale", strconv.FormatFloat(f.scale, 'g', -1, 64))
	}
	return strings.Join(parts, " ")
}

// quote makes text one word for a shell.
func quote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:,%@+", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// report prints the result of a run, as the flags ask for it.
func (f *runFlags) report(w io.Writer, r *repro.Result) error {
	if !f.json {
		return printResult(w, r, f.verbose)
	}
	text, err := json.MarshalIndent(r.Document(), "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// printScenario writes the scenario as a file.
func printScenario(w io.Writer, s *repro.Scenario) error {
	text, err := s.YAML()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
