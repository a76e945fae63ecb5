package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/wedge/repro"
	"example.com/wedge/repro/serving"
)

// tokenVariable is the environment variable with the token that requests to wedge serve must bear.
const tokenVariable = "WEDGE_SERVE_TOKEN"

// serveFlags are the flags of wedge serve.
type serveFlags struct {
	listen string
	scale  float64
	http2  bool
	seed   uint64
	preset string
	set    []string
	faults []string
	logs   string
	last   time.Duration
	worker int
	metric string
	print  bool
	quiet  bool
}

func newServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve [NAME|FILE]",
		Short: "Serve the simulated servers alone, over HTTP",
		Long: `serve has simulated servers listen: a router with prefill and decode engines behind it, as an
OpenAI-compatible server, until it is interrupted. With a scenario of the catalogue, or a file, they are that
scenario's servers with its faults, and answers have the lengths of its workflow; without, answers have the
lengths in servers.model, or less if the client allows less.

When they are ready, one line of JSON on standard output says where: base_url for clients, the engines' own
addresses, and the endpoint at which faults are switched on and off while they run:

  curl -X PUT http://HOST/wedge/faults/quiet -d '{where: stream, what: silence, after_tokens: 20}'
  curl -X DELETE http://HOST/wedge/faults/quiet

They listen on loopback unless --listen says otherwise, and then every request must bear the token in
` + tokenVariable + `.

Presets:
` + presetWords() + `

Exit codes: 0 interrupted or --for is over, 2 bad input, 4 the servers failed.`,
		Example: `  wedge serve
  wedge serve --preset instant --listen 127.0.0.1:30000
  wedge serve silent-stream --scale 60
  wedge serve --preset vllm --fault '{id: busy, where: router, what: status, status: 429, probability: 0.1}'
  wedge serve --set servers.decode.running_max=8 --set servers.model.output_tokens=200`,
		Args: atMostOne("scenario"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:0", "host and port of the router; port 0 is any free one")
	flags.IntVar(&f.worker, "worker-port", 0, "port of the first engine, the others follow (default: any free ones)")
	flags.StringVar(&f.metric, "metrics-listen", "", "host and port for the router's metrics alone, as SGLang's router has at 29000 (default: only at /metrics of the router's port)")
	flags.Float64Var(&f.scale, "scale", 1, "how much faster than the machine's the servers' clock goes: at 60 a second is a minute")
	flags.BoolVar(&f.http2, "http2", false, "speak HTTP/2 without TLS too, to clients that begin with it (prior knowledge)")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of every draw (default: the scenario's, 1 unless it says otherwise)")
	flags.StringVar(&f.preset, "preset", "", "servers to begin with, before --set (default: the scenario's)")
	flags.StringArrayVar(&f.set, "set", nil, "override a field of the scenario, such as servers.decode.running_max=8; may be repeated")
	flags.StringArrayVar(&f.faults, "fault", nil, "a fault as YAML, or a file with a list of them; may be repeated")
	flags.StringVar(&f.logs, "logs", "", "directory for router.log and the engines' logs; - writes the router's to standard error")
	flags.DurationVar(&f.last, "for", 0, "end after so long on the machine's clock (default: when interrupted)")
	flags.BoolVar(&f.print, "print", false, "print the scenario with every default, and serve nothing")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print the ready line only")
	return cmd
}

func presetWords() string {
	var words []string
	for _, p := range serving.Presets() {
		name, about, _ := strings.Cut(p, "\t")
		words = append(words, fmt.Sprintf("  %-10s %s", name, about))
	}
	return strings.Join(words, "\n")
}

func (f *serveFlags) run(cmd *cobra.Command, args []string) error {
	s, err := f.scenario(cmd, args)
	if err != nil {
		return err
	}
	if f.print {
		return printScenario(cmd.OutOrStdout(), s)
	}
	if f.last < 0 {
		return &repro.InputError{Source: "--for", Msg: fmt.Sprintf("found %v, want 0s or more", f.last)}
	}
	if err := repro.ValidScale(f.scale); err != nil {
		return err
	}
	logs, err := openLogs(f.logs, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer logs.close()
	served, err := repro.Serve(s, repro.ServeOptions{
		Listen: f.listen, Scale: f.scale, HTTP2: f.http2, Token: os.Getenv(tokenVariable),
		WorkerPort: f.worker, MetricsListen: f.metric, Logs: logs.logs(), PlainModel: len(args) == 0,
	})
	if err != nil {
		return listenError(cmd.Context(), err)
	}
	if err := f.ready(cmd.OutOrStdout(), s, served); err != nil {
		return &exitError{code: exitFailed, err: errors.Join(err, served.Close())}
	}
	if !f.quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "wedge: serving %s, seed %d, at %s; Ctrl-C ends it\n", s.Name, s.Seed, served.BaseURL)
	}
	f.wait(cmd)
	if err := cmp.Or(served.Close(), logs.err(), served.LogErr()); err != nil {
		return &exitError{code: exitFailed, err: err}
	}
	return nil
}

// listenError is the error of servers that did not come about.
func listenError(ctx context.Context, err error) error {
	var input *repro.InputError
	if errors.As(err, &input) && strings.Contains(input.Msg, "want a loopback host") && os.Getenv(tokenVariable) == "" {
		return &repro.InputError{Source: "--listen", Msg: input.Msg + " without a token in " + tokenVariable}
	}
	return failure(ctx, err)
}

// wait returns when the servers are to end.
func (f *serveFlags) wait(cmd *cobra.Command) {
	var over <-chan time.Time
	if f.last > 0 {
		over = time.After(f.last)
	}
	select {
	case <-cmd.Context().Done():
	case <-over:
	}
}

// scenario reads the scenario that the servers are of, and applies the flags.
func (f *serveFlags) scenario(cmd *cobra.Command, args []string) (*repro.Scenario, error) {
	s := repro.Default()
	s.Name = "serve"
	if len(args) == 1 {
		var err error
		if s, err = scenarioOf(args[0]); err != nil {
			return nil, err
		}
	}
	if f.preset != "" {
		if _, err := serving.Preset(f.preset); err != nil {
			return nil, &repro.InputError{Source: "--preset", Msg: strings.TrimPrefix(err.Error(), "serving: ")}
		}
		if err := s.Set("servers.preset", f.preset); err != nil {
			return nil, err
		}
	}
	rest := runFlags{set: f.set, faults: f.faults, seed: f.seed}
	return s, rest.apply(cmd, s)
}

// readyLine is what standard output says once the servers listen.
type readyLine struct {
	Schema  string            `json:"schema"`
	Ready   bool              `json:"ready"`
	BaseURL string            `json:"base_url"`
	Metrics string            `json:"metrics_url"`
	Faults  string            `json:"faults_url"`
	Workers map[string]string `json:"workers"` // URL of each engine, by its name
	Model   string            `json:"model"`
	Seed    uint64            `json:"seed"`
	Scale   float64           `json:"scale"`
	PID     int               `json:"pid"`
}

func (f *serveFlags) ready(w io.Writer, s *repro.Scenario, served *repro.Served) error {
	host := strings.TrimSuffix(served.BaseURL, "/v1")
	line := readyLine{
		Schema: "wedge.serve/1", Ready: true, BaseURL: served.BaseURL,
		Metrics: host + "/metrics", Faults: host + "/wedge/faults", Workers: map[string]string{},
		Model: s.Servers.Model.ID, Seed: s.Seed, Scale: f.scale, PID: os.Getpid(),
	}
	addresses := served.Front.Addresses()
	if addresses.Metrics != "" {
		line.Metrics = addresses.Metrics + "/metrics"
	}
	for _, w := range addresses.Workers {
		line.Workers[w.Name] = w.URL
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}

// serverLogs is the files that the servers' logs go to.
type serverLogs struct {
	router  io.Writer
	engine  func(worker string) io.Writer
	files   []*os.File
	failure error // of opening an engine's file
}

// openLogs makes the directory of the logs, if there is to be one.
func openLogs(dir string, stderr io.Writer) (*serverLogs, error) {
	l := &serverLogs{}
	switch dir {
	case "":
		return l, nil
	case "-":
		l.router = stderr
		return l, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &repro.InputError{Source: "--logs", Msg: err.Error()}
	}
	open := func(name string) io.Writer {
		file, err := os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			l.failure = err
			return nil
		}
		l.files = append(l.files, file)
		return file
	}
	l.router = open("router")
	l.engine = open
	if l.failure != nil {
		return nil, &repro.InputError{Source: "--logs", Msg: l.failure.Error()}
	}
	return l, nil
}

func (l *serverLogs) logs() serving.Logs { return serving.Logs{Router: l.router, Engine: l.engine} }

// err returns the first failure of opening an engine's log.
func (l *serverLogs) err() error { return l.failure }

func (l *serverLogs) close() {
	for _, file := range l.files {
		_ = file.Close() // each line was a write of its own
	}
}
