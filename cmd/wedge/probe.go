package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/probe"
)

// probeFlags are the flags of probe.
type probeFlags struct {
	o         probe.Options
	noRequest bool
	roles     map[probe.Role]*[]string
	out       string
	json      bool
	quiet     bool
	verbose   bool
}

func newProbe() *cobra.Command {
	f := probeFlags{o: probe.DefaultOptions(), roles: map[probe.Role]*[]string{}}
	cmd := &cobra.Command{
		Use:   "probe URL...",
		Short: "Look at a live system: where are the requests, and do the servers work on them?",
		Long: `probe looks at live servers, and at the client that hangs, and says where the requests are: on the client's
side, on the way, or in the servers. It reads each server's health and, over a window, its gauges; the goroutines of a Go client at both ends of
the window; the router's log; and at last it sends one request of a few tokens. From these it judges the same hypotheses as for runs of wedge.

A URL is that of SGLang's router, an SGLang engine (prefill, decode, or both in one), vLLM, or a Go program that imports net/http/pprof. What it
is, is found out from what it answers; router=URL, prefill=URL, decode=URL, engine=URL and client=URL say so. The best evidence is both sides:
the router, its engines, and the client.

probe never asks for more than it says beforehand: how many times what, of whom. The load that it makes is one chat request; --no-request
switches that off. The API key is taken from WEDGE_API_KEY or OPENAI_API_KEY, is sent to URLs that are named as servers or turn out to be one, and is in nothing that wedge writes.

Exit codes: 0 nothing wrong found, not clear, or slow and not stuck; 2 bad input, also a URL that is none of these; 3 stalled (starved, wedged,
deadlocked) or storming; 4 nothing reachable, a server is dead, most requests fail, a key is missing, or
the one request failed; 130 interrupted.`,
		Example: `  wedge probe http://127.0.0.1:30000
  wedge probe http://127.0.0.1:30000 http://127.0.0.1:30001 http://127.0.0.1:30002 client=http://127.0.0.1:6060
  wedge probe router=http://gpu:30000 prefill=http://gpu:30001 decode=http://gpu:30002 --router-log router.log --for 2m
  wedge probe http://127.0.0.1:8000 --no-request --json
  wedge probe client=http://127.0.0.1:6060/debug/pprof/goroutine --for 1m`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *probeFlags) register(flags *pflag.FlagSet) {
	about := map[probe.Role]string{
		probe.RoleRouter:  "URL of a router; as router=URL",
		probe.RolePrefill: "URL of a prefill engine; may be repeated",
		probe.RoleDecode:  "URL of a decode engine; may be repeated",
		probe.RoleEngine:  "URL of an engine that does both, such as vLLM; may be repeated",
		probe.RoleClient:  "URL of a Go client with net/http/pprof; may be repeated",
	}
	for _, role := range probe.Roles() {
		f.roles[role] = flags.StringArray(string(role), nil, about[role])
	}
	o := &f.o
	flags.StringVar(&o.RouterLog, "router-log", "", "file of the router's log: which requests it has started and not finished")
	flags.DurationVar(&o.For, "for", o.For, "window over which gauges and calls are watched")
	flags.DurationVar(&o.Every, "every", o.Every, "how often gauges are read in it, at most --for")
	flags.BoolVar(&f.noRequest, "no-request", false, "send no chat request")
	flags.IntVar(&o.MaxTokens, "max-tokens", o.MaxTokens, "most tokens of the one chat request")
	flags.DurationVar(&o.Limit, "limit", o.Limit, "time limit of the one chat request")
	flags.StringVar(&o.Model, "model", "", "model of the one chat request (default: the first that the server lists)")
	flags.Float64Var(&o.Scale, "scale", 1, "how much faster than the machine's the servers' clock goes, for wedge serve --scale; all times are the servers' then")
	flags.StringVar(&f.out, "out", "", "directory for the evidence: verdict, calls, gauges, goroutine dumps (default: none is written)")
	flags.BoolVar(&f.json, "json", false, "print one JSON document")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print the result only, neither what will be asked nor progress")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print refuted hypotheses with their reasons too")
}

func (f *probeFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.options(args, cmd.Flags()); err != nil {
		return err
	}
	if !f.quiet {
		f.o.Say = func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), "wedge: "+plainText(line)) }
	}
	if err := f.roomFor(); err != nil {
		return err
	}
	r, err := probe.Run(cmd.Context(), f.o)
	if err != nil {
		return probeFailure(err)
	}
	r.Verdict.Replay = f.replay()
	dir, wrong := f.write(r)
	if r.Verdict.EvidenceDir = dir; wrong != nil {
		r.Verdict.EvidenceDir = ""
	}
	if err := f.print(cmd, r); err != nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("standard output: %w", err)}
	}
	if wrong != nil {
		return &exitError{code: exitFailed, err: wrong}
	}
	return probeExit(r)
}

// options puts the targets and the rest together.
func (f *probeFlags) options(args []string, flags *pflag.FlagSet) error {
	if f.quiet && f.verbose {
		return &repro.InputError{Source: "--quiet", Msg: "found it together with --verbose, want one of them"}
	}
	if f.o.Scale == 0 {
		return &repro.InputError{Source: "--scale", Msg: "found 0, want 0.001 to 1000"}
	}
	if !flags.Changed("every") && f.o.For > 0 {
		f.o.Every = min(f.o.Every, f.o.For)
	}
	f.o.Request, f.o.APIKey = !f.noRequest, apiKey()
	for _, text := range args {
		t, err := probe.ParseTarget(text)
		if err != nil {
			return &repro.InputError{Source: "URL", Msg: err.Error()}
		}
		f.o.Targets = append(f.o.Targets, t)
	}
	for _, role := range probe.Roles() {
		for _, text := range *f.roles[role] {
			t, err := probe.ParseTarget(string(role) + "=" + text)
			if err != nil {
				return &repro.InputError{Source: "--" + string(role), Msg: err.Error()}
			}
			f.o.Targets = append(f.o.Targets, t)
		}
	}
	var wrong *probe.OptionError
	if err := f.o.Validate(); errors.As(err, &wrong) {
		return optionInput(wrong)
	}
	return nil
}

func optionInput(wrong *probe.OptionError) error {
	source := "--" + wrong.Field
	if wrong.Field == "URL" {
		source = "URL"
	}
	return &repro.InputError{Source: source, Msg: wrong.Msg}
}

// probeFailure gives the error of a probe that did not come about its exit code: a URL that is no such
// server is bad input, a key that is missing a failure.
func probeFailure(err error) error {
	var wrong *probe.OptionError
	var key *probe.KeyError
	switch {
	case errors.As(err, &wrong):
		return optionInput(wrong)
	case errors.As(err, &key) && key.Kept:
		return &exitError{code: exitFailed, err: key}
	case errors.As(err, &key):
		return &exitError{code: exitFailed, err: fmt.Errorf("%w; want its key in %s", key, strings.Join(keyVariables[:], " or "))}
	}
	return &repro.InputError{Source: "URL", Msg: plainText(oneLine(strings.ReplaceAll(err.Error(), "\n", "; ")))}
}

// probeExit is how the command ends.
func probeExit(r *probe.Report) error {
	switch o := r.Verdict.Outcome; {
	case r.Part.Interrupted:
		return &exitError{code: exitInterrupted}
	case o == diagnose.Failed:
		return &exitError{code: exitFailed}
	case o.Hang():
		return &exitError{code: exitStalled}
	}
	return nil
}

// replay is the command that probes again.
func (f *probeFlags) replay() string {
	parts := []string{"wedge", "probe"}
	for _, t := range f.o.Targets {
		text := t.URL
		if t.Role != "" {
			text = string(t.Role) + "=" + text
		}
		parts = append(parts, quote(text))
	}
	standard := probe.DefaultOptions()
	add := func(changed bool, words ...string) {
		if changed {
			parts = append(parts, words...)
		}
	}
	add(f.o.RouterLog != "", "--router-log", quote(f.o.RouterLog))
	add(f.o.For != standard.For, "--for", f.o.For.String())
	add(f.o.Every != standard.Every, "--every", f.o.Every.String())
	add(f.noRequest, "--no-request")
	add(f.o.MaxTokens != standard.MaxTokens, "--max-tokens", fmt.Sprint(f.o.MaxTokens))
	add(f.o.Limit != standard.Limit, "--limit", f.o.Limit.String())
	add(f.o.Model != "", "--model", quote(f.o.Model))
	add(f.o.Scale != standard.Scale, "--scale", fmt.Sprint(f.o.Scale))
	return strings.Join(parts, " ")
}

// print prints the result, as the flags ask for it.
func (f *probeFlags) print(cmd *cobra.Command, r *probe.Report) error {
	if !f.json {
		return printProbe(cmd.OutOrStdout(), r, f.verbose)
	}
	text, err := json.MarshalIndent(r.Document(), "", "  ")
	if err != nil {
		return err
	}
	_, err = cmd.OutOrStdout().Write(append(text, '\n'))
	return err
}
