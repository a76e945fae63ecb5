package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/wedge/pacer/preset"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
)

// completions asks as a shell does: the last word is the one that is begun.
func completions(t *testing.T, words ...string) (values []string, directive cobra.ShellCompDirective) {
	t.Helper()
	out, errs, code := wedgeHere(t, append([]string{cobra.ShellCompRequestCmd}, words...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var n int
	if _, err := fmt.Sscanf(lines[len(lines)-1], ":%d", &n); err != nil || code != exitOK {
		t.Fatalf("%q: exit code %d, %q, %q", words, code, out, errs)
	}
	for _, line := range lines[:len(lines)-1] {
		value, _, _ := strings.Cut(line, "\t")
		values = append(values, value)
	}
	return values, cobra.ShellCompDirective(n)
}

func causes() []string {
	var out []string
	for _, c := range diagnose.Causes() {
		out = append(out, string(c))
	}
	return out
}

func with(prefix string, values []string) []string {
	var out []string
	for _, v := range values {
		out = append(out, prefix+v)
	}
	return out
}

// TestCompletions asks for values of every kind; what is offered must have all of want, and all of what
// is offered must begin as the last word does.
func TestCompletions(t *testing.T) {
	t.Chdir(t.TempDir())
	mine := "fleet: {agents: 2}\nfaults: [{id: mute, where: stream, what: silence}]\n"
	if err := os.WriteFile("mine.yaml", []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	const none, noSpace = cobra.ShellCompDirectiveNoFileComp, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveKeepOrder
	for _, c := range []struct {
		words     []string
		want      []string
		directive cobra.ShellCompDirective
	}{
		{[]string{""}, []string{"repro", "run", "soak", "compare", "completion", "help"}, none},
		{[]string{"repro", ""}, append(repro.Names(), repro.Workloads()...), none},
		{[]string{"repro", "silent"}, []string{"silent-stream"}, none},
		{[]string{"repro", "my"}, []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt},
		{[]string{"repro", "starvation", ""}, nil, none},
		{[]string{"repro", "starvation", "--clock", ""}, []string{"virtual", "wall"}, none},
		{[]string{"repro", "starvation", "--clock=w"}, []string{"wall"}, none},
		{[]string{"repro", "starvation", "--seed", ""}, nil, none},
		{[]string{"repro", "starvation", "--junit", ""}, []string{"xml"}, cobra.ShellCompDirectiveFilterFileExt},
		{[]string{"repro", "starvation", "--set", ""}, []string{"seed=", "fleet.", "policy.", "servers.", "faults.", "soak."}, noSpace},
		{[]string{"repro", "starvation", "--set", "policy.id"}, []string{"policy.idle=", "policy.idle_by="}, noSpace},
		{[]string{"repro", "starvation", "--set", "policy.idle_by="}, with("policy.idle_by=", []string{"token", "event", "byte"}), none},
		{[]string{"repro", "starvation", "--set", "policy.retry_timeouts="}, with("policy.retry_timeouts=", []string{"true", "false"}), none},
		{[]string{"repro", "starvation", "--set", "policy.preset="}, with("policy.preset=", preset.Names()), none},
		{[]string{"repro", "starvation", "--set", "servers.preset=sg"}, []string{"servers.preset=sglang", "servers.preset=sglang-pd"}, none},
		{[]string{"repro", "starvation", "--set", "expect.cause="}, with("expect.cause=", causes()), none},
		{[]string{"repro", "starvation", "--set", "policy.idle="}, nil, none},
		{[]string{"repro", "starvation", "--set", "nothing.at.all"}, nil, noSpace},
		{[]string{"repro", "silent-stream", "--set", "faults."}, []string{"faults.silence."}, noSpace},
		{[]string{"repro", "mine.yaml", "--set", "faults.mute.wh"}, []string{"faults.mute.where=", "faults.mute.what="}, noSpace},
		{[]string{"exec", "--scenario", "silent-stream", "--set", "faults."}, []string{"faults.silence."}, noSpace},
		{[]string{"exec", "--scenario", "idle"}, []string{"idle", "idle-engines"}, none},
		{[]string{"soak", "--threshold", "p9"}, []string{"p90(", "p95(", "p99.9("}, noSpace},
		{[]string{"soak", "--threshold", "stalls == 0 && p95(ca"}, []string{"stalls == 0 && p95(call"}, noSpace},
		{[]string{"compare", "starvation", ""}, repro.Names(), none},
		{[]string{"compare", "--policy", "o"}, []string{"openai-go-3", "oracle"}, none},
		{[]string{"policy", "explain", ""}, preset.Names(), none},
		{[]string{"report", ""}, nil, cobra.ShellCompDirectiveFilterDirs},
		{[]string{"completion", ""}, shells[:], none},
	} {
		got, directive := completions(t, c.words...)
		if directive != c.directive {
			t.Errorf("%q: directive %d, want %d", c.words, directive, c.directive)
		}
		for _, want := range c.want {
			if !slices.Contains(got, want) {
				t.Errorf("%q offers no %s: %v", c.words, want, got)
			}
		}
		if len(c.want) == 0 && len(got) > 0 {
			t.Errorf("%q offers %v", c.words, got)
		}
	}
}

// allFields lists every field that completion leads to, and calls look with every block and what is
// offered in it.
func allFields(s *repro.Scenario, prefix string, look func(block string, offered []string)) (fields []string) {
	offered := fieldsIn(s, prefix)
	look(prefix, offered)
	for _, f := range offered {
		if strings.HasSuffix(f, ".") {
			fields = append(fields, allFields(s, f, look)...)
		} else {
			fields = append(fields, strings.TrimSuffix(f, "="))
		}
	}
	return fields
}

// TestSettingsExist asks each block for a field that it does not have: the refusal lists those that it
// has, which must be those that are offered.
func TestSettingsExist(t *testing.T) {
	const nothing, unknown = "no_such_field", "unknown field, want one of "
	for _, name := range append(repro.Names(), repro.Workloads()...) {
		s, err := repro.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		fields := allFields(s, "", func(block string, offered []string) {
			err := s.Set(block+nothing, "1")
			if err == nil {
				t.Fatalf("%s: %s can be set", name, block+nothing)
			}
			_, list, ok := strings.Cut(err.Error(), unknown)
			if !ok { // a list of faults, named by their ids
				if block != "faults." && block != "triggers." && block != "soak.random_faults." {
					t.Errorf("%s: %v", name, err)
				}
				return
			}
			var got []string
			for _, f := range offered {
				got = append(got, strings.TrimRight(strings.TrimPrefix(f, block), ".="))
			}
			if want := strings.Split(list, ", "); !slices.Equal(got, want) {
				t.Errorf("%s: in %q %v are offered, want %v", name, block, got, want)
			}
		})
		if len(fields) < 200 {
			t.Errorf("%s: only %d fields are offered", name, len(fields))
		}
	}
}

// TestOfferedValuesAreTaken sets every field to each value that is offered for it.
func TestOfferedValuesAreTaken(t *testing.T) {
	words := 0
	for _, path := range allFields(repro.Default(), "", func(string, []string) {}) {
		for _, v := range valuesOf(repro.Default(), path) {
			words++
			s := repro.Default()
			err := s.Set(path, v)
			if err == nil {
				err = s.Validate() // which may find fault with what else is set
			}
			if err != nil && strings.Contains(err.Error(), fmt.Sprintf("found %q", v)) && strings.Contains(err.Error(), "want one of") {
				t.Errorf("%s=%s is offered: %v", path, v, err)
			}
		}
	}
	if words < 150 {
		t.Errorf("only %d values are offered: does a refusal say what it wants in other words now?", words)
	}
}

// TestCompletedFlagsExist: what completion knows is there.
func TestCompletedFlagsExist(t *testing.T) {
	flags, paths := map[string]bool{}, map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		paths[c.CommandPath()] = true
		c.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	for name := range flagValues() {
		if !flags[name] {
			t.Errorf("there is no flag --%s to complete", name)
		}
	}
	for path := range argValues() {
		if !paths[path] {
			t.Errorf("there is no command %q to complete", path)
		}
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range shells {
		out, errs, code := wedgeHere(t, "completion", shell)
		if code != exitOK || errs != "" || !strings.Contains(out, "wedge") || !strings.Contains(out, cobra.ShellCompRequestCmd) {
			t.Errorf("%s: exit code %d, %q, %d bytes", shell, code, errs, len(out))
		}
		if again, _, _ := wedgeHere(t, "completion", shell); again != out {
			t.Errorf("%s: the script differs the second time", shell)
		}
	}
	for _, args := range [][]string{{"completion"}, {"completion", "powershell"}, {"completion", "bash", "zsh"}} {
		_, errs, code := wedgeHere(t, args...)
		if code != exitUsage || !strings.HasPrefix(errs, "wedge: completion: found ") || !strings.HasSuffix(errs, "want one of bash, zsh, fish\n") {
			t.Errorf("%v: exit code %d, %q", args, code, errs)
		}
	}
}
