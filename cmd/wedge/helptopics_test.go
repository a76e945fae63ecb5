package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/fault"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/preset"
	"example.com/wedge/repro"
	"example.com/wedge/repro/compare"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/threshold"
)

// listIn returns the names of the list of a topic below the heading that begins like that.
func listIn(t *testing.T, topic, heading string) []string {
	t.Helper()
	text, err := topicFiles.ReadFile("topics/" + topic + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(filledIn(string(text)), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, heading) && strings.HasSuffix(line, ":") {
			names, texts := entries(lines[i+1:])
			if len(names) == 0 || slices.Contains(texts, "") {
				t.Errorf("%s: the list %q is %q, %q", topic, heading, names, texts)
			}
			return names
		}
	}
	t.Fatalf("%s has no list %q", topic, heading)
	return nil
}

func texts[T ~string](values ...T) []string {
	var out []string
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

// fieldsOf are the names that the fields of a struct have in files.
func fieldsOf[T any]() []string {
	var out []string
	for f := range reflect.TypeFor[T]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}

func thresholdNames(kind threshold.Kind) []string {
	var out []string
	for _, n := range threshold.Names() {
		if n.Kind == kind {
			out = append(out, n.Name)
		}
	}
	return out
}

// TestTopicsListWhatThereIs holds the lists of the topics against the code, in both directions.
func TestTopicsListWhatThereIs(t *testing.T) {
	var stages, places, kinds []string
	for s := range pacer.Stage(pacer.StageCount) {
		stages = append(stages, s.String())
	}
	for _, line := range fault.Kinds() {
		place, list, _ := strings.Cut(line, ": ")
		places = append(places, place)
		kinds = append(kinds, strings.Split(list, ", ")...)
	}
	codes := constants(t, "^exit")
	for i, code := range codes {
		codes[i] = strings.TrimSpace(code)
	}
	for _, c := range []struct {
		topic, heading string
		want           []string
	}{
		{"scenario-file", "Blocks", fieldsOf[repro.Scenario]()},
		{"policies", "Presets", preset.Names()},
		{"policies", "wedge compare also knows", []string{compare.AsIs, compare.Oracle}},
		{"policies", "Fields", fieldsOf[pacer.Policy]()},
		{"thresholds", "Metrics", thresholdNames(threshold.KindMetric)},
		{"thresholds", "Aggregates", thresholdNames(threshold.KindAggregate)},
		{"thresholds", "Units", thresholdNames(threshold.KindUnit)},
		{"faults", "Places", places},
		{"faults", "Kinds", kinds},
		{"faults", "Fields", fieldsOf[fault.Fault]()},
		{"stages", "On the agents' side", stages},
		{"stages", "On the servers' side", []string{
			diagnose.ServerRouter, diagnose.ServerBootstrap, diagnose.ServerPrefillWait, diagnose.ServerPrefill, diagnose.ServerInflight,
			diagnose.ServerPrealloc, diagnose.ServerTransfer, diagnose.ServerDecodeWait, diagnose.ServerDecode, diagnose.ServerRetracted,
			diagnose.ServerUnknown, diagnose.ServerNotSent, diagnose.ServerUnseen,
		}},
		{"verdicts", "Outcomes", texts(diagnose.Outcomes()...)},
		{"verdicts", "Layers", texts(diagnose.Layers()...)},
		{"verdicts", "Causes", texts(diagnose.Causes()...)},
		{"exit-codes", "Codes", codes},
		{"environment", "Read by wedge", variablesRead(t)},
		{"environment", "Read with --otlp", regexp.MustCompile(`OTEL_[A-Z_]+`).FindAllString(readFile(t, "../../repro/telemetry/endpoint.go"), -1)},
	} {
		got, want := listIn(t, c.topic, c.heading), slices.Compact(slices.Sorted(slices.Values(c.want)))
		if sorted := slices.Sorted(slices.Values(got)); !slices.Equal(sorted, want) {
			t.Errorf("wedge help %s: the list %q has\n%v, want\n%v", c.topic, c.heading, sorted, want)
		}
	}
}

// sources parses the files of this package that are no tests.
func sources(t *testing.T) []*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

// constants returns the values of this package's constants whose names match, as they are written.
func constants(t *testing.T, pattern string) []string {
	t.Helper()
	name := regexp.MustCompile(pattern)
	var out []string
	for _, f := range sources(t) {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, ident := range spec.Names {
				if lit, ok := valueAt(spec, i).(*ast.BasicLit); ok && name.MatchString(ident.Name) {
					out = append(out, lit.Value)
				}
			}
			return true
		})
	}
	return out
}

func valueAt(spec *ast.ValueSpec, i int) ast.Expr {
	if i < len(spec.Values) {
		return spec.Values[i]
	}
	return nil
}

// variablesRead are the environment variables that this package asks for: by name, by a constant of that
// name, or as an element of keyVariables.
func variablesRead(t *testing.T) []string {
	t.Helper()
	out := slices.Clone(keyVariables[:])
	for _, f := range sources(t) {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			if fun, ok := call.Fun.(*ast.SelectorExpr); !ok || fun.Sel.Name != "Getenv" && fun.Sel.Name != "LookupEnv" {
				return true
			}
			quoted := ""
			switch arg := call.Args[0].(type) {
			case *ast.BasicLit:
				quoted = arg.Value
			case *ast.Ident:
				if values := constants(t, "^"+arg.Name+"$"); len(values) == 1 {
					quoted = values[0]
				} else if arg.Name != "name" { // of keyVariables
					t.Errorf("which variable is %s?", arg.Name)
				}
			}
			if name, err := strconv.Unquote(quoted); err == nil {
				out = append(out, name)
			}
			return true
		})
	}
	return out
}

// TestTopicOfTheBundle looks at what runs leave: all of it must be listed. What is listed and not left
// by these needs a run on the wall, or another Go.
func TestTopicOfTheBundle(t *testing.T) {
	run, ofSoak, stall := listIn(t, "bundle", "Of every run"), listIn(t, "bundle", "Of a soak"), listIn(t, "bundle", "Of each stall")
	t.Chdir(t.TempDir())
	for args, code := range map[string]int{
		"repro starvation -q --out run":         exitOK,
		"soak starvation -q --for 1h --out run": exitOK,
	} {
		os.RemoveAll("run")
		if _, errs, got := wedgeHere(t, strings.Fields(args)...); got != code {
			t.Fatalf("%s: exit code %d: %s", args, got, errs)
		}
		err := fs.WalkDir(os.DirFS("run"), ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			listed := run
			if strings.HasPrefix(args, "soak") {
				listed = append(slices.Clone(run), ofSoak...)
			}
			if strings.Contains(name, "/") {
				listed = stall
			}
			base := regexp.MustCompile(`-\d+\.`).ReplaceAllString(filepath.Base(name), ".")
			if !slices.Contains(listed, base) {
				t.Errorf("%s leaves %s, which is not listed", args, name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{bundle.RunFile, bundle.VerdictFile, bundle.EventsLog, bundle.SamplesLog, bundle.RouterLogFile} {
		if !slices.Contains(run, name) {
			t.Errorf("%s is not listed", name)
		}
	}
	want := []string{
		harness.CallsFile, harness.WaitsFile, harness.WaitsDOT, harness.WaitsSVG, harness.ServersFile, harness.GoroutinesText,
		harness.GoroutinesProfile, harness.LeaksProfile, harness.GoroutinesViewFile, harness.VerdictFile,
	}
	if got := slices.Sorted(slices.Values(stall)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("of a stall are listed %v, want %v", got, want)
	}
}

// TestTopicOfTheGuest runs a harness that prints what it was given.
func TestTopicOfTheGuest(t *testing.T) {
	listed := listIn(t, "environment", "Given by wedge exec")
	out, errs, code := wedge(t, "exec", "-q", "--out", "-", "--", "env")
	for _, name := range listed {
		if !strings.Contains("\n"+out, "\n"+name+"=") {
			t.Errorf("a harness is not given %s (exit code %d, %s)", name, code, errs)
		}
	}
	for line := range strings.Lines(out) {
		name, _, _ := strings.Cut(line, "=")
		if _, had := os.LookupEnv(name); !had && strings.HasPrefix(name, "WEDGE_") && !slices.Contains(listed, name) {
			t.Errorf("a harness is given %s, which is not listed", name)
		}
	}
}

func TestHelpOfTopics(t *testing.T) {
	for _, topic := range topics() {
		out, errs, code := wedgeHere(t, "help", topic.name)
		if code != exitOK || errs != "" || out != topicText(topic.text())+"\n" {
			t.Errorf("%s: exit code %d, %q", topic.name, code, errs)
		}
		if short, _, _ := wedgeHere(t, topic.name, "--help"); short != out {
			t.Errorf("wedge %s --help prints\n%s", topic.name, short)
		}
		for line := range strings.Lines(out) {
			if n := len([]rune(line)); n > 125 || strings.Contains(line, "{{") || strings.HasPrefix(line, "- ") {
				t.Errorf("%s: a line of %d columns, or one that is not set: %s", topic.name, n, line)
			}
		}
	}
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"help", "Additional help topics:\n  wedge bundle ", exitOK},
		{"help soak", "Usage:\n  wedge soak [NAME|FILE]", exitOK},
		{"help policy explain", "Usage:\n  wedge policy explain NAME|FILE", exitOK},
		{"help fautls", "wedge: help: found fautls, did you mean \"faults\"?\n", exitUsage},
		{"help no such topic", "wedge: help: found 'no such topic', want one of bundle, compare, ", exitUsage},
	} {
		out, errs, code := wedgeHere(t, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: exit code %d: %s%s", c.args, code, out, errs)
		}
	}
	if got, _ := completions(t, "help", "s"); !slices.Contains(got, "stages") || !slices.Contains(got, "soak") {
		t.Errorf("completion offers help about %v", got)
	}
}
