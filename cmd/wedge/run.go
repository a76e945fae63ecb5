package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
)

// keyVariables are the environment variables that an API key is taken from, first come first served.
var keyVariables = [...]string{"WEDGE_API_KEY", "OPENAI_API_KEY"}

func newRun() *cobra.Command {
	var f runFlags
	var server repro.Server
	cmd := &cobra.Command{
		Use:   "run [FILE]",
		Short: "Run a scenario file, or the fleet against a real server",
		Long: `run executes a scenario file. With --base-url it runs the fleet of the file (or the default fleet)
against any OpenAI-compatible server, on the wall clock. The API key is taken from WEDGE_API_KEY or
OPENAI_API_KEY and is in nothing that wedge writes.

Exit codes: 0 completed, 2 bad input, 3 stalled or storming, 4 agents failed or the server does not
answer, 130 interrupted.`,
		Example: `  wedge run my.yaml
  wedge run my.yaml --clock wall --scale 60
  wedge run --base-url http://127.0.0.1:30000/v1 --model my-model --set fleet.agents=8`,
		Args: atMostOne("scenario file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.junit.around(cmd, func() error { return f.run(cmd, args, server) })
		},
	}
	f.register(cmd.Flags(), string(repro.ClockVirtual))
	cmd.Flags().StringVar(&server.BaseURL, "base-url", "", "base URL of a real OpenAI-compatible server, such as http://127.0.0.1:30000/v1")
	cmd.Flags().StringVar(&server.Model, "model", "", "model to ask the real server for (default: workflow.model of the scenario)")
	cmd.Flags().StringVar(&server.MetricsURL, "metrics-url", "", "where to read the real server's gauges (default /metrics at its host, if that answers)")
	return cmd
}

func (f *runFlags) run(cmd *cobra.Command, args []string, server repro.Server) error {
	if cmd.Flags().Changed("base-url") && server.BaseURL == "" {
		return &repro.InputError{Source: "--base-url", Msg: "found nothing, want a URL such as http://127.0.0.1:30000/v1"}
	}
	s, words, err := runScenario(args, server.BaseURL != "")
	if err != nil {
		return err
	}
	real := server.BaseURL != ""
	if !real && (server.Model != "" || server.MetricsURL != "") {
		return &repro.InputError{Source: "--base-url", Msg: "found --model or --metrics-url without it, want the server's base URL too"}
	}
	if server.Model != "" {
		s.Workflow.Model = server.Model
	}
	if err := f.apply(cmd, s); err != nil {
		return err
	}
	if f.print {
		return printScenario(cmd.OutOrStdout(), s)
	}
	if real && !cmd.Flags().Changed("clock") {
		f.clock = string(repro.ClockWall)
	}
	if real {
		words += serverWords(server)
	}
	o, err := f.options(cmd, s, words)
	if err != nil {
		return err
	}
	if real {
		server.Model, server.APIKey = s.Workflow.Model, apiKey()
		o.Server = &server
	}
	r, err := f.execute(cmd, s, o)
	if r != nil {
		f.junit.result(r, false)
	}
	if err != nil {
		return err
	}
	return runExit(r)
}

func serverWords(server repro.Server) string {
	words := " --base-url " + quote(server.BaseURL)
	if server.Model != "" {
		words += " --model " + quote(server.Model)
	}
	if server.MetricsURL != "" {
		words += " --metrics-url " + quote(server.MetricsURL)
	}
	return words
}

// runScenario reads the file, or takes the default fleet where a server stands in for the scenario.
func runScenario(args []string, server bool) (s *repro.Scenario, words string, err error) {
	if len(args) == 1 {
		s, err := repro.ReadFile(args[0])
		if _, unknown := repro.Lookup(args[0]); err != nil && unknown == nil {
			err = &repro.InputError{Source: args[0], Msg: "found no such file, but a scenario of the catalogue, which wedge repro " + args[0] + " runs"}
		}
		return s, "run " + quote(args[0]), err
	}
	if !server {
		return nil, "", &repro.InputError{Source: "run", Msg: "want a scenario file, or --base-url of a real server"}
	}
	return repro.Default(), "run", nil
}

func apiKey() string {
	for _, name := range keyVariables {
		if key := os.Getenv(name); key != "" {
			return key
		}
	}
	return ""
}

func runExit(r *repro.Result) error {
	switch {
	case r.Interrupted():
		return &exitError{code: exitInterrupted}
	case r.End.Outcome == diagnose.Completed:
		return nil
	case r.End.Outcome == diagnose.Failed:
		return &exitError{code: exitFailed, err: fmt.Errorf("the run ended as failed: agents that ended with errors: %d", r.Report.Totals.AgentsFailed)}
	}
	return &exitError{code: exitStalled, err: fmt.Errorf("the run ended as %s", r.End.Outcome)}
}
