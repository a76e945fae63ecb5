package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"example.com/wedge/repro"
)

// shells are those that there is completion for.
var shells = [...]string{"bash", "zsh", "fish"}

func newCompletion() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print the completion script of a shell",
		Long: `completion prints a script that lets a shell complete commands, flags, and what they take: scenarios, presets of
policies and servers, the fields behind --set with the values that they allow, metrics of thresholds. The shell asks
wedge itself, so that what it offers is what this wedge has.

bash wants the package bash-completion.`,
		Example: `  source <(wedge completion bash)                                       now, in this shell
  wedge completion bash > ~/.local/share/bash-completion/completions/wedge
  wedge completion zsh > "${fpath[1]}/_wedge"
  wedge completion fish > ~/.config/fish/completions/wedge.fish`,
		Args: oneShell,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := completionScript(cmd.Root(), args[0], cmd.OutOrStdout()); err != nil {
				return &exitError{code: exitFailed, err: fmt.Errorf("standard output: %w", err)}
			}
			return nil
		},
	}
}

func oneShell(_ *cobra.Command, args []string) error {
	found := "nothing"
	if len(args) > 0 {
		found = fmt.Sprintf("%q", strings.Join(args, " "))
	}
	for _, s := range shells {
		if found == fmt.Sprintf("%q", s) {
			return nil
		}
	}
	return &repro.InputError{Source: "completion", Msg: "found " + found + ", want one of " + strings.Join(shells[:], ", ")}
}

func completionScript(root *cobra.Command, shell string, w io.Writer) error {
	switch shell {
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	}
	return root.GenBashCompletionV2(w, true)
}
