package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"example.com/wedge/harness"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/guest"
	"example.com/wedge/repro/live"
)

// execFlags are the flags of wedge exec.
type execFlags struct {
	servers  serveFlags // the scenario, seed, scale, preset, settings and faults
	scenario string
	stall    time.Duration
	giveUp   int
	idle     time.Duration
	last     time.Duration
	pprof    string
	quit     bool
	urlVars  []string
	dir      string
	out      string
	json     string
	quiet    bool
	verbose  bool
	listen   string
	after    afterRun
}

func newExec() *cobra.Command {
	var f execFlags
	cmd := &cobra.Command{
		Use:   "exec [flags] -- COMMAND [ARGS…]",
		Short: "Run your own harness against the simulated servers, and watch it",
		Long: `exec starts the simulated servers of a scenario on loopback, runs COMMAND against them, and says from the
servers' side where its requests are and why nothing moves. The harness may be in any language. Of the
scenario it takes the servers, the faults, and the lengths of answers; the agents are yours, not its fleet.

COMMAND finds the servers by its environment, in which these are set:

  OPENAI_BASE_URL, OPENAI_API_BASE, WEDGE_BASE_URL   the base URL, which ends in /v1 (--url-env NAME sets more)
  OPENAI_API_KEY                                     ` + guest.Key + `; yours is not handed on, nor WEDGE_API_KEY
  WEDGE_MODEL                                        the model's name; any other is answered too
  WEDGE_METRICS_URL, WEDGE_FAULTS_URL                as wedge serve has them
  WEDGE_SCALE                                        how much faster than the machine's the servers' clock goes
  NO_PROXY, no_proxy                                 loopback added

Chat completions are served, and the list of models; a harness that asks for something else gets 404, and
the report says so.

The harness has wedge's own standard input, output and error. What wedge has to say goes to standard error;
--json FILE writes the verdict as JSON too (with - to standard output, and then the harness's standard
output goes to standard error).

A stall is that for --stall-after of the servers' clock no request was answered in full and no new one came.
Requests with the same body count as one that is sent again. Evidence is captured at 1, 2 and 4 times that. A
harness that is wedged, deadlocked or storming at --give-up times is ended, and so is one that has also sent
nothing for --idle-after of the machine's clock: SIGTERM to its process group, SIGKILL after 5 s. One whose
requests are slow, or starved by others that are alive, goes on. Nothing of the process group is left running,
however exec ends, nor of what has left it where there is a /proc to find it in; Ctrl-C is passed on.

With --pprof each capture has the goroutines of a Go harness that serves net/http/pprof. With --quit a Go
harness that wedge ends is ended by SIGQUIT, and what it then writes is read and not shown.

Exit codes: 0 the harness completed (or --for was over and nothing was stuck), 2 bad input, 3 stalled or
storming, 4 the harness failed without a stall, or wedge did, 130 interrupted.`,
		Example: `  wedge exec --scenario silent-stream --scale 60 -- ./my-harness --agents 30
  wedge exec --scenario router-queue --scale 20 --quit -- go run ./cmd/agents
  wedge exec --preset vllm --fault '{id: busy, where: router, what: status, status: 429, probability: 0.1}' -- node agents.mjs
  wedge exec --scenario silent-stream --set faults.silence.from=1m --json verdict.json -- python3 harness.py > articles.txt`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.register(cmd)
	return cmd
}

func (f *execFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SetInterspersed(false) // flags of the harness are its own, also without --
	flags.StringVar(&f.scenario, "scenario", "", "scenario whose servers and faults there are: a name of the catalogue, or a file (default: servers without faults)")
	flags.Float64Var(&f.servers.scale, "scale", 1, "how much faster than the machine's the servers' clock goes: at 60 a second is a minute")
	flags.Uint64Var(&f.servers.seed, "seed", 0, "seed of every draw (default: the scenario's, 1 unless it says otherwise)")
	flags.StringVar(&f.servers.preset, "preset", "", "servers to begin with, before --set (default: the scenario's)")
	flags.StringArrayVar(&f.servers.set, "set", nil, "override a field of the scenario, such as servers.router.queued_max=8; may be repeated")
	flags.StringArrayVar(&f.servers.faults, "fault", nil, "a fault as YAML, or a file with a list of them; may be repeated")
	flags.DurationVar(&f.stall, "stall-after", time.Minute, "how long nothing may get on before that is a stall, on the servers' clock")
	flags.IntVar(&f.giveUp, "give-up", 4, "after how many times --stall-after a stuck harness is ended")
	flags.DurationVar(&f.idle, "idle-after", 10*time.Second, "how long a harness may send nothing before it counts as stuck, on the machine's clock")
	flags.DurationVar(&f.last, "for", 0, "end after so long on the machine's clock (default: when the harness ends)")
	flags.StringVar(&f.pprof, "pprof", "", "URL of a Go harness's net/http/pprof, such as http://127.0.0.1:6060")
	flags.BoolVar(&f.quit, "quit", false, "have a Go harness that wedge ends dump its goroutines, by SIGQUIT")
	flags.StringArrayVar(&f.urlVars, "url-env", nil, "one more environment variable that is to hold the base URL; may be repeated")
	flags.StringVar(&f.dir, "dir", "", "directory to run the harness in (default: this one)")
	flags.StringVar(&f.out, "out", "", "directory of the evidence bundle; - writes none (default wedge-out/exec-NAME-TIME)")
	flags.StringVar(&f.json, "json", "", "write the verdict as one JSON document to this file; - is standard output")
	registerListen(flags, &f.listen)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing on standard error but errors and the verdict")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print refuted hypotheses with their reasons too")
	f.after.register(flags)
}

func (f *execFlags) run(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return &repro.InputError{Source: "exec", Msg: "found no command, want one after --, such as: wedge exec --scenario silent-stream -- ./my-harness"}
	}
	if err := f.validate(); err != nil {
		return err
	}
	s, err := f.scenarioOf(cmd)
	if err != nil {
		return err
	}
	o := f.options(cmd, s, args)
	document, err := openDocument(f.json, cmd.OutOrStdout())
	if err != nil {
		return err
	}
	defer document.close()
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGHUP) // of a terminal that is closed
	defer stop()
	r, err := f.execute(ctx, cmd, s, o)
	if err != nil {
		return failure(ctx, err)
	}
	if err := document.write(r.Document()); err != nil {
		return &exitError{code: exitFailed, err: err}
	}
	if err := printGuest(cmd.ErrOrStderr(), r, o.Replay, f.verbose); err != nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("standard error: %w", err)}
	}
	f.after.write(cmd, o.Out)
	return execExit(r)
}

// validate refuses what would stand for a default further down.
func (f *execFlags) validate() error {
	switch {
	case f.stall == 0:
		return &repro.InputError{Source: "--stall-after", Msg: "found 0s, want 1s or more"}
	case f.idle == 0:
		return &repro.InputError{Source: "--idle-after", Msg: "found 0s, want 1ms or more"}
	case f.giveUp == 0:
		return &repro.InputError{Source: "--give-up", Msg: "found 0, want 1 or more times --stall-after"}
	}
	for _, name := range f.urlVars {
		if name == "" || strings.ContainsAny(name, "= \t\n\x00") {
			return &repro.InputError{Source: "--url-env", Msg: fmt.Sprintf("found %q, want the name of a variable", name)}
		}
	}
	return repro.ValidScale(f.servers.scale)
}

// execute runs the harness with a line about where the servers are.
func (f *execFlags) execute(ctx context.Context, cmd *cobra.Command, s *repro.Scenario, o guest.Options) (*guest.Result, error) {
	if !f.quiet {
		o.Started = func(at guest.Servers) {
			fmt.Fprintf(cmd.ErrOrStderr(), "wedge: serving %s, seed %d, at %s; %s\n", s.Name, s.Seed, at.BaseURL, evidenceIn(o.Out))
		}
		o.Stalled = func(now *harness.Evidence, v diagnose.Verdict) { fmt.Fprintln(cmd.ErrOrStderr(), stallLine(now, &v)) }
	}
	o.Running = func(kill func()) { beforeExit(cmd.Context(), kill) }
	m := manner{listen: f.listen, quiet: f.quiet} // no screen: the terminal is the harness's
	if f.listen != "" {
		o.Tap, m.counts = counted(o.StallAfter, nil)
	}
	shown, err := m.show(cmd, live.Run{
		Command: cmd.Name(), Scenario: s.Name, Seed: s.Seed, Clock: string(repro.ClockWall), Scale: o.Scale, Model: s.Servers.Model.ID, Evidence: o.Out,
	})
	if err != nil {
		return nil, err
	}
	defer shown.close() // what is wrong with it is not the harness's business
	o.Watch = func(progress func() harness.Progress) { shown.begin(progress, nil, nil) }
	return guest.Run(ctx, s, o)
}

// stallLine says in a line that nothing is answered. It stands among what the harness writes.
func stallLine(now *harness.Evidence, v *diagnose.Verdict) string {
	line := fmt.Sprintf("wedge: at %s no request has been answered in full for %s; %d out", seconds(now.At.Seconds()), seconds(v.StalledForS), v.Calls.InFlight)
	if n := v.Calls.WaitingBackoff; n > 0 {
		line += fmt.Sprintf(", %d that failed may come back", n)
	}
	if v.Outcome == diagnose.Slow && v.Calls.InFlight+v.Calls.WaitingBackoff == 0 {
		return line + ": it may be at work by itself"
	}
	line += ": " + string(v.Outcome)
	if v.Cause != diagnose.CauseNone {
		line += ", cause " + string(v.Cause)
	}
	return line
}

func (f *execFlags) scenarioOf(cmd *cobra.Command) (*repro.Scenario, error) {
	var names []string
	if f.scenario != "" {
		names = []string{f.scenario}
	}
	s, err := f.servers.scenario(cmd, names)
	if bad := new(repro.InputError); errors.As(err, &bad) && bad.Source == "repro" {
		err = &repro.InputError{Source: "--scenario", Msg: bad.Msg}
	}
	if err == nil && f.scenario == "" {
		s.Name = "servers"
	}
	return s, err
}

// options turns the flags into those of the run.
func (f *execFlags) options(cmd *cobra.Command, s *repro.Scenario, args []string) guest.Options {
	o := guest.Options{
		Command: args, Dir: f.dir, Env: os.Environ(), URLVars: f.urlVars,
		Stdin: os.Stdin, Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(),
		Scale: f.servers.scale, StallAfter: f.stall, GiveUp: f.giveUp, IdleAfter: f.idle, For: f.last,
		PprofURL: f.pprof, Quit: f.quit, PlainModel: f.scenario == "",
		Version: version(), Replay: f.replay(cmd, s, args),
	}
	if f.json == "-" {
		o.Stdout = cmd.ErrOrStderr()
	}
	switch f.out {
	case "-":
	case "":
		o.Out = filepath.Join("wedge-out", "exec-"+s.Name+"-"+time.Now().UTC().Format("20060102T150405.000Z"))
	default:
		o.Out = f.out
	}
	return o
}

// replay is the command that repeats the run.
func (f *execFlags) replay(cmd *cobra.Command, s *repro.Scenario, args []string) string {
	parts := []string{"wedge", "exec"}
	if f.scenario != "" {
		parts = append(parts, "--scenario", quote(f.scenario))
	}
	if f.servers.preset != "" {
		parts = append(parts, "--preset", quote(f.servers.preset))
	}
	parts = append(parts, "--seed", strconv.FormatUint(s.Seed, 10))
	for _, text := range f.servers.faults {
		parts = append(parts, "--fault", quote(text))
	}
	for _, set := range f.servers.set {
		parts = append(parts, "--set", quote(set))
	}
	for _, name := range [...]string{"scale", "stall-after", "give-up", "idle-after", "for", "pprof", "quit"} {
		if flag := cmd.Flags().Lookup(name); flag.Changed {
			parts = append(parts, "--"+name+"="+quote(flag.Value.String()))
		}
	}
	parts = append(parts, "--")
	for _, a := range args {
		parts = append(parts, quote(a))
	}
	return strings.Join(parts, " ")
}

func execExit(r *guest.Result) error {
	switch {
	case r.Interrupted():
		return &exitError{code: exitInterrupted}
	case r.WriteErr != nil:
		return &exitError{code: exitFailed, err: r.WriteErr}
	case r.Stalled:
		return &exitError{code: exitStalled, err: fmt.Errorf("the harness is %s", r.Verdict.FinalOutcome)}
	case r.Child.ByItself && r.Child.ExitCode != 0:
		return &exitError{code: exitFailed, err: fmt.Errorf("the harness failed: %s", r.Child.Status)}
	}
	return nil
}
