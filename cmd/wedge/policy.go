package main

import (
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/wedge/harness/strict"
	"example.com/wedge/pacer/preset"
	"example.com/wedge/repro"
)

func newPolicy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Say what timeouts and retries clients, frameworks and proxies have, and what they do to a call",
		Long: `policy knows what clients, frameworks and proxies do when nobody changes their settings, each as a policy with its
source, and some policies of wedge's own. Any of them can stand in a scenario file, as policy: {preset: NAME}, with other fields
of the policy beside it, or be set with --set policy.preset=NAME.`,
		Example: `  wedge policy list
  wedge policy explain openai-go-3
  wedge policy explain my-policy.yaml
  wedge repro starvation --set policy.preset=total-60s`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return &repro.InputError{Source: "policy", Msg: "found no command, want policy list or policy explain NAME"}
		},
	}
	cmd.AddCommand(newPolicyList(), newPolicyExplain())
	return cmd
}

func newPolicyList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the policies that go by a name",
		Long: `list shows each policy with whom it imitates, its limits, how many attempts a call has, and how long a call lasts at most
when the servers go silent in every attempt, at the place where that is found last. That is played, not calculated.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			lines, err := policyLines()
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), policyList{Schema: "wedge.policies/1", Policies: lines})
			}
			return printPolicies(cmd.OutOrStdout(), lines)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as one JSON document")
	return cmd
}

func newPolicyExplain() *cobra.Command {
	var asJSON, printFile bool
	cmd := &cobra.Command{
		Use:   "explain NAME|FILE",
		Short: "Say what a policy does, where it is from, and what becomes of a call under it",
		Long: `explain shows the rule of a policy, its parameters, its source and the trap in it, and plays single calls under it, in
virtual time, against servers that do the same to every attempt: one with an answer that takes 264 s, one that goes silent, one that
refuses. Of a preset it also says in which scenarios it was found to be worse than none, by how much and why, and in which better.
What ends in .yaml or .yml, or has a slash in it, is a policy file of your own; --print shows what one looks like.`,
		Example: `  wedge policy explain openai-go-3
  wedge policy explain langchain-async --json
  wedge policy explain idle-60s --print > my-policy.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &repro.InputError{Source: "policy explain", Msg: "want one policy, a name or a file; names: " + strings.Join(preset.Names(), ", ")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, text, err := policyOf(args[0])
			if err != nil {
				return err
			}
			if printFile {
				_, err := cmd.OutOrStdout().Write(text)
				return err
			}
			x, err := explain(&p)
			if err != nil {
				return &exitError{code: exitFailed, err: err}
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), x)
			}
			return printExplanation(cmd.OutOrStdout(), &x)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the explanation as one JSON document")
	cmd.Flags().BoolVar(&printFile, "print", false, "print the policy's file instead")
	return cmd
}

// policyOf reads a policy file, or looks a name up among the presets.
func policyOf(name string) (preset.Preset, []byte, error) {
	get, source := preset.Get, preset.Text
	if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" || strings.ContainsRune(name, filepath.Separator) {
		get, source = preset.ReadFile, strict.ReadFile
	}
	p, err := get(name)
	if err != nil {
		return preset.Preset{}, nil, policyError(err)
	}
	text, err := source(name)
	if err != nil {
		return preset.Preset{}, nil, policyError(err)
	}
	return p, text, nil
}

// policyError is bad input of a policy, in the form of all bad input.
func policyError(err error) error {
	var bad *preset.FileError
	if errors.As(err, &bad) {
		return bad
	}
	return &repro.InputError{Source: "policy explain", Msg: err.Error()}
}

func writeJSON(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
