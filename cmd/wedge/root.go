package main

import "github.com/spf13/cobra"

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
                                      run your own harness against the simulated servers`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newRepro(), newRun(), newServe(), newLoad(), newLogs(), newProbe(), newDiff(), newExec(), newDump())
	return root
}
