package goroutine

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var remake = flag.Bool("remake", false, "build the programs of testdata/src and make the dumps of testdata/traps anew")

// A maker makes the dumps that this Go can print. Those of other releases, and
// waits of minutes, are in testdata/traps/hand-*, which it leaves alone.
type maker struct {
	t   *testing.T
	dir string
}

// TestRemakeTraps needs -remake and a Go tool. Addresses and some
// orders differ from one making to the next, which the table must bear.
func TestRemakeTraps(t *testing.T) {
	if !*remake {
		t.Skip("only with -remake")
	}
	m := &maker{t: t, dir: t.TempDir()}
	m.build("traps", "")
	m.build("shapes", "")
	m.build("shapes", "goroutineleakprofile")
	m.build("traps", "goroutineleakprofile")
	stack := m.run("traps", "names")
	crash := m.run("shapes", "quit running", "GOTRACEBACK=crash", "GODEBUG=asyncpreemptoff=1")
	for name, text := range map[string]string{
		"01-crash-header":    m.run("traps", "names quit"),
		"02-threads":         crash,
		"03-labels":          m.run("traps", "labels"),
		"04-leak-locked":     m.run("traps.goroutineleakprofile", "leak"),
		"05-bubble":          m.test(),
		"08-elided":          m.run("traps", "deep"),
		"09-ancestors":       m.run("shapes", "asleep", "GODEBUG=tracebackancestors=5"),
		"14-names":           stack,
		"18-parents":         m.run("traps", "parents"),
		"19-repanic":         m.run("shapes", "repanic"),
		"20-fake-header":     m.run("shapes", "panic"),
		"22-go-run":          m.goRun(),
		"23-cut-tail":        stack[:len(stack)*2/3+7],
		"24-cut-head":        stack[strings.Index(stack, "\tinternal/sync/mutex.go:149"):],
		"25-journald":        each(stack, func(l string) string { return "Nov 03 10:00:01 h app[7]: " + strings.ReplaceAll(l, "\t", "    ") }, true),
		"26-cri":             inParts(stack),
		"27-docker":          each(stack, dockerLine, false),
		"28-one-string":      `{"level":"error","msg":` + quotedJSON("stuck:\n\n"+stack) + `,"pid":7}` + "\n",
		"29-compose":         each(stack, func(l string) string { return "api-1  | " + l }, false),
		"30-interleaved":     interleave(m.run("traps", "labels"), stack),
		"31-staircase":       staircase(stack),
		"32-crlf-bom":        "\xef\xbb\xbf" + strings.ReplaceAll(stack, "\n", "\r\n"),
		"32-ansi-html":       each(m.run("traps", "names quit"), func(l string) string { return "\x1b[31m" + html.EscapeString(l) + "\x1b[0m" }, false),
		"33-markdown":        "The app hangs:\n\n" + each(stack, markdownLine, false),
		"34-no-blank-lines":  regexp.MustCompile(`\n\n+`).ReplaceAllString(stack, "\n"),
		"35-usr1-quit":       m.run("traps", "usr1"),
		"37-profile-labels":  m.run("traps", "profile"),
		"37-leak-profile":    m.run("traps.goroutineleakprofile", "leak profile"),
		"41-profile-binary":  m.run("traps", "binary"),
		"41-leak-with-marks": m.run("shapes.goroutineleakprofile", "leak labels"),
	} {
		if strings.TrimSpace(text) == "" {
			t.Errorf("%s: empty", name)
		}
		if err := os.WriteFile(filepath.Join("testdata", "traps", name+".txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// build builds a program of testdata/src, with an experiment as a second one.
func (m *maker) build(name, experiment string) {
	src := filepath.Join(m.dir, name)
	if _, err := os.Stat(src); err != nil {
		if err := os.CopyFS(src, os.DirFS(filepath.Join("testdata", "src", name))); err != nil {
			m.t.Fatal(err)
		}
		mod := fmt.Sprintf("module %s\n\ngo 1.26\n", name)
		if err := os.WriteFile(filepath.Join(src, "go.mod"), []byte(mod), 0o644); err != nil {
			m.t.Fatal(err)
		}
	}
	out := strings.TrimSuffix(name+"."+experiment, ".") + ".bin"
	m.command(src, []string{"CGO_ENABLED=0", "GOEXPERIMENT=" + experiment}, "go", "build", "-trimpath", "-o", filepath.Join(m.dir, out), ".")
}

// run runs a program, which may end as it likes, and returns all that it printed.
func (m *maker) run(program, mode string, env ...string) string {
	cmd := exec.Command(filepath.Join(m.dir, program+".bin"), strings.Fields(mode)...)
	return m.output(cmd, env)
}

// test runs a test into its time limit.
func (m *maker) test() string {
	cmd := exec.Command("go", "test", "-trimpath", "-timeout", "1s")
	cmd.Dir = filepath.Join(m.dir, "shapes")
	return m.output(cmd, []string{"CGO_ENABLED=0"})
}

// goRun has the go command add its line to the end of a dump.
func (m *maker) goRun() string {
	cmd := exec.Command("go", "run", "-trimpath", ".", "names", "quit")
	cmd.Dir = filepath.Join(m.dir, "traps")
	return m.output(cmd, []string{"CGO_ENABLED=0"})
}

func (m *maker) output(cmd *exec.Cmd, env []string) string {
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		m.t.Fatal(err)
	}
	return string(out)
}

func (m *maker) command(dir string, env []string, args ...string) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// each changes every line; noEmpty drops empty ones as journald does.
func each(text string, change func(string) string, noEmpty bool) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		if l = strings.TrimSuffix(l, "\n"); l != "" || !noEmpty {
			b.WriteString(change(l) + "\n")
		}
	}
	return b.String()
}

func dockerLine(l string) string {
	return `{"log":` + quotedJSON(l+"\n") + `,"stream":"stderr","time":"2026-01-02T03:04:05.678901234Z"}`
}

func quotedJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// inParts cuts every line in two as a container runtime does with long ones.
func inParts(text string) string {
	const stamp = "2026-01-02T03:04:05.6Z stderr "
	return each(text, func(l string) string {
		half := len(l) / 2
		return stamp + "P " + l[:half] + "\n" + stamp + "F " + l[half:]
	}, false)
}

// interleave mixes two programs' outputs line by line.
func interleave(a, b string) string {
	var out strings.Builder
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(as), len(bs)) {
		if i < len(as) {
			out.WriteString("api-1  | " + as[i] + "\n")
		}
		if i < len(bs) {
			out.WriteString("worker-1  | " + bs[i] + "\n")
		}
	}
	return out.String()
}

// staircase is what a terminal without carriage returns shows, copied.
func staircase(text string) string {
	const width = 120
	var b strings.Builder
	column := 0
	for l := range strings.Lines(text) {
		for _, c := range strings.TrimSuffix(l, "\n") {
			cells := 1
			if c == '\t' {
				cells, c = 8-column%8, ' '
			}
			for range cells {
				if column == width {
					b.WriteByte('\n')
					column = 0
				}
				b.WriteRune(c)
				column++
			}
		}
		b.WriteString("\n" + strings.Repeat(" ", column))
	}
	return b.String()
}

// markdownLine is a line of a report whose author knew some Markdown.
func markdownLine(l string) string {
	if l == "" {
		return ""
	}
	return "    " + strings.NewReplacer("(*", `(\*`, "_", `\_`).Replace(l)
}

// TestMakersLoseNothing checks the makers of damage that they make what they say.
func TestMakersLoseNothing(t *testing.T) {
	if got := staircase("ab\n\tc\n"); got != "ab\n        c\n"+strings.Repeat(" ", 9) {
		t.Errorf("staircase: %q", got)
	}
	if got := inParts("abcd\n"); bytes.Count([]byte(got), []byte("\n")) != 2 {
		t.Errorf("parts: %q", got)
	}
}
