//go:build integration

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// hostile is the text that no page may take for markup. Each way in sets the title.
const hostile = `</script></style><script>document.title='owned'</script><img src=x onerror=document.title='owned'>&quot;`

// reports opens reports of runs.
func (b *browser) reports(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		args   []string
		lanes  int // agents
		exit   int
		change func(t *testing.T, dir string) // of the bundle, before the page is made; nil: none
	}{
		{name: "starvation", args: []string{"repro", "starvation"}, lanes: 30},
		{name: "silent-stream", args: []string{"repro", "silent-stream"}, lanes: 30, exit: exitStalled},
		{name: "hostile", args: []string{"repro", "silent-stream"}, lanes: 30, exit: exitStalled, change: makeHostile},
		{name: "soak", args: []string{"soak", "starvation", "--for", "24h", "--seed", "3"}, lanes: -1},
	} {
		dir := filepath.Join(t.TempDir(), test.name)
		out, err := exec.Command(b.wedge, append(test.args, "--out", dir, "-q", "--no-report")...).CombinedOutput()
		if exited, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exited.ExitCode() != test.exit) {
			t.Fatalf("%s: %v\n%s", test.name, err, out)
		}
		if test.change != nil {
			test.change(t, dir)
		}
		page := filepath.Join(dir, "page.html")
		if out, err := exec.Command(b.wedge, "report", dir, "-o", page).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", test.name, err, out)
		}
		v := b.open(t, "report-"+test.name, "file://"+page, "file://"+page)
		if lanes := value[int](v, "document.querySelectorAll('g.lane').length"); lanes != test.lanes && test.lanes >= 0 {
			t.Errorf("%s: %d lanes, want %d", test.name, lanes, test.lanes)
		}
		v.graphs(t, dir, test.change == nil)
		if title := value[string](v, "document.title"); title == "" || title == "owned" {
			t.Errorf("%s: the title is %q", test.name, title)
		}
		if shown := value[bool](v, `document.body.textContent.includes("onerror=")`); shown != (test.change != nil) {
			t.Errorf("%s: the text that is hostile is shown: %v", test.name, shown)
		}
		if n := value[int](v, `document.querySelectorAll("img").length`); n != 0 {
			t.Errorf("%s: %d pictures have come from texts", test.name, n)
		}
		v.pictures()
		// Whatever can be pressed is, and opened, and searched for.
		pressed := value[int](v, `(() => {
			const all = [...document.querySelectorAll("button, summary, input[type=radio], select")];
			all.forEach(e => e.click());
			document.querySelectorAll("input:not([type=radio])").forEach(e => { e.value = "agent-1"; e.dispatchEvent(new Event("input", { bubbles: true })); });
			requestAnimationFrame(() => requestAnimationFrame(() => { window.drawn = true; }));
			return all.length;
		})()`)
		if theme := value[string](v, "document.documentElement.dataset.theme || ''"); pressed < 10 || theme != "dark" {
			t.Errorf("%s: %d things were pressed, and then the theme is %q", test.name, pressed, theme)
		}
		v.until("window.drawn") // in the frames after that
		v.clean()
	}
}

// graphs finds out whether graphs have their nodes; if the bundle is as it was written, the first one has those of the
// picture that is in it.
func (v *visit) graphs(t *testing.T, dir string, asWritten bool) {
	t.Helper()
	drawn := value[[][3]int](v, `[...document.querySelectorAll('.picture[data-nodes]')].map(p =>
		[+p.dataset.nodes, p.querySelectorAll('[data-node]').length, p.querySelectorAll('[data-edge]').length])`)
	for i, d := range drawn {
		if d[1] != d[0] {
			t.Errorf("%s: graph %d: %d nodes are drawn, want %d", v.name, i, d[1], d[0])
		}
	}
	picture, err := os.ReadFile(filepath.Join(dir, "stalls/01/waits.svg"))
	if err != nil || !asWritten {
		return // no stall, or other names
	}
	if want := bytes.Count(picture, []byte(`class="wg-card`)); len(drawn) == 0 || drawn[0][1] != want || want == 0 {
		t.Errorf("%s: graphs %v, want the first one with %d nodes, as in its picture", v.name, drawn, want)
	}
}

// makeHostile puts the text in place of an agent's name and of texts that come from servers and models.
func makeHostile(t *testing.T, dir string) {
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	inJSON := quoted[1 : len(quoted)-1]
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		with := inJSON
		if filepath.Ext(path) != ".json" && filepath.Ext(path) != ".jsonl" {
			with = []byte(hostile)
		}
		for _, name := range []string{"agent-07", "topic-03", "write-article"} {
			text = bytes.ReplaceAll(text, []byte(name), with)
		}
		return os.WriteFile(path, text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}
