package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/wedge/pacer/preset"
	"example.com/wedge/repro"
	"example.com/wedge/repro/compare"
	"example.com/wedge/repro/load"
	"example.com/wedge/repro/published"
	"example.com/wedge/repro/serving"
	"example.com/wedge/repro/threshold"
)

// completer gives what can stand in a place of the command line: args are the arguments before it.
type completer = cobra.CompletionFunc

// flagValues says what the flags of all commands take. Those that are not named here take what cannot
// be listed, such as numbers and URLs.
func flagValues() map[string]completer {
	return map[string]completer{
		"against":    words(policyNames),
		"arrivals":   words(func() []string { return []string{string(load.Poisson), string(load.Constant)} }),
		"clock":      words(func() []string { return []string{string(repro.ClockVirtual), string(repro.ClockWall)} }),
		"dir":        directories,
		"dot":        files("dot", "gv"),
		"fault":      files("yaml", "yml"),
		"html":       files("html"),
		"junit":      files("xml"),
		"logs":       directories,
		"out":        directories,
		"output":     files("html"),
		"policy":     words(policyNames, "yaml", "yml"),
		"preset":     words(serving.Presets),
		"resume":     directories,
		"router-log": files(),
		"scenario":   words(scenarioNames, "yaml", "yml"),
		"set":        settings,
		"svg":        files("svg"),
		"sweep":      settings,
		"threshold":  thresholds,
		"tune":       settings,
	}
}

// argValues says what the arguments of commands are.
func argValues() map[string]completer {
	scenario := words(scenarioNames, "yaml", "yml")
	return map[string]completer{
		"wedge compare":        scenario,
		"wedge completion":     once(words(func() []string { return shells[:] })),
		"wedge diff":           directories,
		"wedge dump":           files(),
		"wedge exec":           files(),
		"wedge logs":           files(),
		"wedge policy explain": once(words(policyPresets, "yaml", "yml")),
		"wedge published":      once(words(publishedNames)),
		"wedge report":         once(directories),
		"wedge repro":          once(scenario),
		"wedge run":            once(files("yaml", "yml")),
		"wedge serve":          once(scenario),
		"wedge soak":           once(scenario),
	}
}

// complete makes every command below cmd complete its flags and arguments.
func complete(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		complete(c)
	}
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
		if f, ok := argValues()[cmd.CommandPath()]; ok {
			cmd.ValidArgsFunction = f
		}
	}
	values := flagValues()
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		f, ok := values[flag.Name]
		switch {
		case flag.Name == "json" && flag.Value.Type() == "string": // of exec
			f = files("json")
		case !ok:
			f = cobra.NoFileCompletions
		}
		_ = cmd.RegisterFlagCompletionFunc(flag.Name, f) // fails if the command has said it itself
	})
}

// scenarioNames are the scenarios that have a name, each with what it is about.
func scenarioNames() []string {
	var out []string
	for _, name := range append(repro.Names(), repro.Workloads()...) {
		if s, err := repro.Lookup(name); err == nil {
			out = append(out, cobra.CompletionWithDesc(name, firstSentence(s.About)))
		}
	}
	return out
}

// policyPresets are the policies that have a name, each with what it does.
func policyPresets() []string {
	var out []string
	for _, name := range preset.Names() {
		if p, err := preset.Get(name); err == nil {
			out = append(out, cobra.CompletionWithDesc(name, firstSentence(p.About)))
		}
	}
	return out
}

// policyNames are the policies that compare takes by name.
func policyNames() []string {
	return append(policyPresets(), cobra.CompletionWithDesc(compare.AsIs, "each scenario's own"),
		cobra.CompletionWithDesc(compare.Oracle, "what nobody can have: it knows which attempts are dead"))
}

func publishedNames() []string {
	var out []string
	for _, r := range published.All() {
		out = append(out, cobra.CompletionWithDesc(r.Name, r.About))
	}
	return out
}

// words completes one of the names, or a file with one of the extensions where a command takes both.
func words(names func() []string, extensions ...string) completer {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		out := beginning(names(), begun)
		if len(out) == 0 && len(extensions) > 0 {
			return extensions, cobra.ShellCompDirectiveFilterFileExt
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// files completes a file with one of the extensions, or any if there are none.
func files(extensions ...string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		if len(extensions) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// once completes the first argument and no further one.
func once(f completer) completer {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(cmd, args, begun)
	}
}

// thresholds completes the word at the end of an expression: a metric, or an aggregate with its
// parenthesis.
func thresholds(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	at := strings.LastIndexAny(begun, " (&|") + 1
	before := begun[:at]
	var out []string
	for _, n := range threshold.Names() {
		switch {
		case n.Kind == threshold.KindMetric:
			out = append(out, cobra.CompletionWithDesc(before+n.Name, n.Meaning))
		case n.Kind == threshold.KindAggregate && !strings.HasSuffix(before, "("):
			for _, agg := range quantiles(n.Name) {
				out = append(out, cobra.CompletionWithDesc(before+agg+"(", n.Meaning))
			}
		}
	}
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveKeepOrder
	return beginning(out, begun), directive
}

// quantiles returns the usual ones for the name that stands for any.
func quantiles(name string) []string {
	if name == "pNN" {
		return []string{"p50", "p90", "p95", "p99", "p99.9"}
	}
	return []string{name}
}

// beginning returns the texts that begin like that, in their order.
func beginning(texts []string, begun string) []string {
	var out []string
	for _, text := range texts {
		if strings.HasPrefix(text, begun) {
			out = append(out, text)
		}
	}
	return out
}
