package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

const readme = "../../README.md"

// TestReadmeShowsRealOutput compares the output in the README with the golden files.
func TestReadmeShowsRealOutput(t *testing.T) {
	text := readFile(t, readme)
	const shapes = "harness/goroutine/waits/testdata/shapes/"
	for command, file := range map[string]string{
		"`go run ./cmd/wedge repro starvation` prints:\n\n":                                         "testdata/starvation.txt",
		"`go run ./cmd/wedge repro` prints:\n\n":                                                    "testdata/catalogue.txt",
		"`go run ./cmd/wedge load --concurrency 16 --max-tokens 128 --requests 16` prints:\n\n":     "testdata/load-burst.txt",
		"`go run ./cmd/wedge dump " + shapes + "ab-ba.1.txt " + shapes + "ab-ba.2.txt` prints:\n\n": "testdata/dump-ab-ba.txt",
		"`go run ./cmd/wedge " + strings.Join(smallComparison("--out", "-"), " ") + "` prints:\n\n": "testdata/compare.txt",
	} {
		before, rest, ok := strings.Cut(text, command+"```text\n")
		shown, after, ok2 := strings.Cut(rest, "```\n")
		if !ok || !ok2 {
			t.Errorf("the README has no output after %q", command)
			continue
		}
		want := readFile(t, file)
		if *update {
			text = before + command + "```text\n" + want + "```\n" + after
			if err := os.WriteFile(readme, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			shown = want
		}
		if shown != want {
			t.Errorf("the README shows another output than %s has (go test -update rewrites it)", file)
		}
	}
}

// TestReadmeCodeIsRun looks for the README's Go code in the examples of the packages, which run.
func TestReadmeCodeIsRun(t *testing.T) {
	var examples strings.Builder
	for _, path := range []string{"../../pacer/example_test.go", "../../harness/example_test.go", "../../harness/sim/example_test.go", "../../harness/embed/example_test.go", "../../repro/reprotest/gopenai_test.go"} {
		examples.WriteString(flat(readFile(t, path)))
	}
	blocks := blocksOf(t, "go")
	if len(blocks) == 0 {
		t.Error("no Go code in the README")
	}
	for _, code := range blocks {
		if !strings.Contains(examples.String(), flat(code)) {
			t.Errorf("this code is in no example:\n%s", code)
		}
	}
}

// TestReadmeScenarioRuns runs the scenario that the README shows.
func TestReadmeScenarioRuns(t *testing.T) {
	blocks := blocksOf(t, "yaml")
	t.Chdir(t.TempDir())
	for _, scenario := range blocks {
		if err := os.WriteFile("my-hang.yaml", []byte(scenario), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, code := wedgeHere(t, "run", "my-hang.yaml", "--out", "-")
		if code != exitStalled || !strings.Contains(out, "WEDGED  layer tool  cause tool-hang") {
			t.Errorf("exit code %d, standard error %q:\n%s", code, errs, out)
		}
	}
}

// TestReadmeCommandsExist checks every wedge command line in the README for its command and flags.
func TestReadmeCommandsExist(t *testing.T) {
	text := readFile(t, readme)
	found := regexp.MustCompile(`(?m)go run \./cmd/wedge ([a-z].*)$`).FindAllStringSubmatch(text, -1)
	if len(found) < 5 {
		t.Errorf("%d command lines in the README", len(found))
	}
	for _, m := range found {
		words := strings.Fields(strings.Trim(strings.Split(m[1], "`")[0], "`"))
		cmd, _, err := newRoot().Find(words)
		if err != nil || !cmd.Runnable() {
			t.Errorf("%q: %v", m[0], err)
			continue
		}
		if err := cmd.ParseFlags(words[1:]); err != nil {
			t.Errorf("%q: %v", m[0], err)
		}
	}
	for _, m := range regexp.MustCompile("`(--[a-z0-9-]+)").FindAllStringSubmatch(text, -1) {
		name := strings.TrimPrefix(m[1], "--")
		if !slices.ContainsFunc(newRoot().Commands(), func(c *cobra.Command) bool { return c.Flag(name) != nil }) {
			t.Errorf("the README has a flag %s that no command has", m[1])
		}
	}
}

func blocksOf(t *testing.T, language string) []string {
	t.Helper()
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(readFile(t, readme), -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// flat drops indentation.
func flat(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
