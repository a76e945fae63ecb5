package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/wedge/repro"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "wedge",
		Short: "Reproduce and explain the hangs of multi-agent LLM harnesses",
		Long: `wedge runs fleets of simulated LLM agents against simulated servers (or your own), reproduces
the hangs that such harnesses show, and says where every request is and why nothing moves.

  wedge repro                         the catalogue of hangs
  wedge repro starvation              reproduce one in virtual time, in milliseconds
  wedge repro starvation --clock wall --scale 60
                                      the same live, over real HTTP, a minute a second
  wedge repro starvation --print      its scenario file, every default visible
  wedge repro my.yaml                 a scenario of your own, against the verdict that it expects
  wedge run my.yaml                   the same, with an exit code for how it ended
  wedge run --base-url http://127.0.0.1:30000/v1 --model my-model
                                      run the fleet against your own server
  wedge exec --scenario silent-stream -- ./my-harness
                                      run your own harness against the simulated servers
  wedge soak starvation --for 24h     for hours, with load that changes, random faults and thresholds
  wedge report wedge-out/starvation-1 what a run left, as one page of pictures

Any run can be watched with --listen 127.0.0.1:8080: a page in the browser, and /metrics for Prometheus.

Of timeouts and retries:

  wedge policy list                   what clients, frameworks and proxies have when nobody changes it
  wedge policy explain openai-go-3    what that does to a call of minutes, instant by instant
  wedge compare                       which of them to have: same agents, same servers, same random numbers

Of a system that hangs now:

  wedge dump localhost:6060           who waits for whom in a Go program with net/http/pprof, or in a dump of it
  wedge logs router.log               which requests a log has started and not finished, and how long others took
  wedge probe http://127.0.0.1:30000 client=http://127.0.0.1:6060
                                      where the requests are: in the client, on the way, or in the servers`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.AddCommand(newRepro(), newRun(), newServe(), newLoad(), newLogs(), newProbe(), newDiff(), newExec(), newDump(), newCompare(), newPolicy(), newPublished(), newReport(), newSoak(), newCompletion(), newMan())
	root.AddCommand(newTopics()...)
	root.SetHelpCommand(newHelp())
	root.InitDefaultHelpCmd()
	complete(root)
	return root
}

// flagError says of a flag's value what is allowed, in the words of all other bad input.
func flagError(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	want, ok := map[string]string{
		"bool":          "true or false",
		"int":           "a whole number",
		"uint":          "a whole number of 0 or more",
		"uint64":        "a whole number of 0 or more",
		"float64":       "a number",
		"duration":      "a length of time such as 30s or 5m",
		"intSlice":      "whole numbers such as 1,16,64",
		"durationSlice": "lengths of time such as 10s,6s",
	}[bad.GetFlag().Value.Type()]
	if !ok {
		return err
	}
	return &repro.InputError{Source: "--" + bad.GetFlag().Name, Msg: fmt.Sprintf("found %q, want %s", bad.GetValue(), want)}
}

// atMostOne refuses a second argument, in the same words.
func atMostOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return &repro.InputError{Source: args[1], Msg: fmt.Sprintf("found it after %q, want one %s", args[0], what)}
		}
		return nil
	}
}
