package report

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"example.com/wedge/repro"
	"example.com/wedge/repro/soak"
)

var update = flag.Bool("update", false, "rewrite golden files")

// bundles holds one bundle of each run that tests look at: they are made once.
var bundles sync.Map

// small are settings for a run that has everything, and little of it.
var small = []string{"fleet.agents", "6", "workflow.rounds", "2", "pacer.slots", "2"}

// bundleOf runs a scenario with settings and returns its bundle, read into memory.
func bundleOf(t testing.TB, name string, set ...string) fstest.MapFS {
	t.Helper()
	key := name + " " + strings.Join(set, " ")
	if b, ok := bundles.Load(key); ok {
		return copyOf(b.(fstest.MapFS))
	}
	dir := filepath.Join(t.TempDir(), "bundle")
	s, err := repro.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(set); i += 2 {
		if err := s.Set(set[i], set[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := repro.Run(context.Background(), s, repro.Options{Out: dir, Dumps: true}); err != nil {
		t.Fatal(err)
	}
	b := load(t, dir)
	bundles.Store(key, b)
	return copyOf(b)
}

// soakOf makes a short soak.
func soakOf(t testing.TB) fstest.MapFS {
	t.Helper()
	if b, ok := bundles.Load("soak"); ok {
		return copyOf(b.(fstest.MapFS))
	}
	s, err := repro.Lookup("starvation")
	if err != nil {
		t.Fatal(err)
	}
	s.Soak.For = 40 * time.Minute
	s.Soak.Thresholds = []string{"goodput > 0.9", "p95(call) < 1s"}
	dir := filepath.Join(t.TempDir(), "soak")
	if _, err := soak.Run(context.Background(), s, soak.Options{Run: repro.Options{Out: dir, Dumps: true}}); err != nil {
		t.Fatal(err)
	}
	b := load(t, dir)
	bundles.Store("soak", b)
	return copyOf(b)
}

func load(t testing.TB, dir string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func copyOf(b fstest.MapFS) fstest.MapFS {
	c := fstest.MapFS{}
	for name, f := range b {
		c[name] = &fstest.MapFile{Data: f.Data}
	}
	return c
}

func pageOf(t testing.TB, b fs.FS) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, b, Options{Name: "hang"}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var headings = regexp.MustCompile(`(?s)<h[1-4][^>]*>(.*?)</h[1-4]>`)
var tags = regexp.MustCompile(`<[^>]*>`)

// outline is the page's headings and what can be counted in it.
func outline(page string) string {
	var b strings.Builder
	body, _, _ := strings.Cut(page, `<script>`)
	for _, h := range headings.FindAllStringSubmatch(body, -1) {
		fmt.Fprintf(&b, "%s %s\n", h[0][1:3], strings.Join(strings.Fields(tags.ReplaceAllString(h[1], "")), " "))
	}
	for _, what := range []string{`data-capture=`, `class="lane"`, `data-node=`, `data-edge=`, `data-chart=`} {
		fmt.Fprintf(&b, "%s %d\n", what, strings.Count(body, what))
	}
	return b.String()
}

// The structure of pages, and not their looks, is kept.
func TestOutline(t *testing.T) {
	for name, b := range map[string]fs.FS{
		"starvation": bundleOf(t, "starvation"), "lock-order": bundleOf(t, "lock-order"), "healthy": bundleOf(t, "healthy"), "silent-stream": bundleOf(t, "silent-stream"), "soak": soakOf(t),
	} {
		t.Run(name, func(t *testing.T) {
			got := outline(pageOf(t, b))
			if name == "soak" { // what the process took depends on the machine
				got = strings.Split(got, "data-chart")[0]
			}
			file := filepath.Join("testdata", name+".outline")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s is now (-update accepts it):\n%s", file, got)
			}
		})
	}
}

// The verdict of a soak may be about a stall whose evidence was not kept: then nothing that is there is said to be of it.
func TestVerdictWithoutEvidence(t *testing.T) {
	about := "the verdict is about this"
	b := soakOf(t)
	if page := pageOf(t, b); strings.Count(page, about) != 1 || !strings.Contains(page, "stall 1, found at 60 s") || strings.Contains(page, "not among what was kept") {
		t.Error("the verdict is about stall 1, whose evidence is there: want the page to say so")
	}
	for name := range b {
		if strings.HasPrefix(name, "stalls/01/") {
			delete(b, name)
		}
	}
	if page := pageOf(t, b); strings.Contains(page, about) || !strings.Contains(page, "not among what was kept") {
		t.Error("stall 1 is gone: want the page to say so, and of nothing that the verdict is about it")
	}
}

// The page of the default run is small, and the same each time.
func TestSizeAndBytes(t *testing.T) {
	b := bundleOf(t, "starvation")
	page := pageOf(t, b)
	if limit := 2 << 20; len(page) > limit {
		t.Errorf("%d bytes, want at most %d", len(page), limit)
	}
	if page != pageOf(t, copyOf(b)) {
		t.Error("the same bundle gave another page")
	}
}

// A thousand agents are all there, and the page is not large.
func TestThousandAgents(t *testing.T) {
	page := pageOf(t, bundleOf(t, "healthy", "fleet.agents", "1000", "pacer.slots", "64"))
	if limit := 4 << 20; len(page) > limit {
		t.Errorf("%d bytes, want at most %d", len(page), limit)
	}
	if !strings.Contains(page, `data-lanes="1000"`) {
		t.Error("there are not 1000 lanes")
	}
}

// Nothing is loaded: the page has no address that a browser would ask by itself.
func TestLoadsNothing(t *testing.T) {
	for _, b := range []fs.FS{bundleOf(t, "starvation"), soakOf(t)} {
		page := pageOf(t, b)
		for _, bad := range []string{"<link", "<img", "<iframe", "@import", "url(", " src=", "fetch(", "XMLHttpRequest", "<base"} {
			if strings.Contains(page, bad) {
				t.Errorf("the page contains %q", bad)
			}
		}
		if !strings.Contains(page, "default-src 'none'") && !strings.Contains(page, "default-src &#39;none&#39;") {
			t.Error("nothing forbids loading")
		}
	}
}

// hostile is a name that would do something if it were markup, in any place that a page has.
const hostile = `</script><script>alert(1)</script><svg onload=alert(2)>"' onmouseover=alert(3) x="\u202e<!--`

// What stands in files is text, wherever it comes to stand.
func TestHostileTextStaysText(t *testing.T) {
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(hostile)
	for _, b := range []fstest.MapFS{bundleOf(t, "starvation", small...), bundleOf(t, "lock-order"), soakOf(t)} {
		words := []string{"agent-03", "router_in_flight", "decode", "agent-000003", "starvation", "virtual", "stream", "save", "pacer.slots", "simulated", "goroutine 1 ", "main.main", "completed", "goodput"}
		if testing.Short() {
			words = words[:2]
		}
		for _, word := range words {
			bad := copyOf(b)
			for name, f := range bad {
				text := hostile
				if strings.Contains(name, ".json") {
					text = escaped
				}
				bad[name] = &fstest.MapFile{Data: bytes.ReplaceAll(f.Data, []byte(word), []byte(text))}
			}
			page := pageOf(t, bad)
			for _, no := range []string{"<script>alert", "<svg onload", `" onmouseover=alert`, "\u202e", "ZgotmplZ", "<!--"} {
				if strings.Contains(page, no) {
					t.Errorf("%s: the page contains %q", word, no)
				}
			}
			if n := strings.Count(page, "<script"); n > 2 {
				t.Errorf("%s: %d scripts", word, n)
			}
		}
	}
}

func TestNoBundle(t *testing.T) {
	for name, b := range map[string]fs.FS{
		"empty": fstest.MapFS{}, "other files": fstest.MapFS{"readme.txt": {Data: []byte("x")}}, "a folder of that name": fstest.MapFS{"run.json/x": {Data: []byte("x")}},
	} {
		if err := Write(&bytes.Buffer{}, b, Options{}); !errors.Is(err, ErrNoBundle) {
			t.Errorf("%s: %v, want ErrNoBundle", name, err)
		}
	}
}

// What a killed run leaves is shown, and what is missing is said.
func TestKilledRuns(t *testing.T) {
	b := bundleOf(t, "starvation")
	for name := range b {
		if name == "verdict.json" || strings.HasPrefix(name, "end/") {
			delete(b, name)
		}
	}
	b["events.jsonl"].Data = b["events.jsonl"].Data[:len(b["events.jsonl"].Data)/2]
	page := pageOf(t, b)
	for _, want := range []string{"no verdict", "verdict.json", "ends in the middle of a line", `data-lanes="30"`, "Where the calls are", "Goroutines"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// Each file, cut or changed at random, or not there, is told of or makes no difference; nothing panics.
func TestDamagedFiles(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for i, b := range []fstest.MapFS{bundleOf(t, "starvation", small...), soakOf(t)} {
		for name := range b {
			if i > 0 && strings.Contains(name, "/") {
				continue // of a soak as of others
			}
			if strings.HasSuffix(name, ".svg") || strings.HasSuffix(name, ".dot") || strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".log") {
				continue // which are only listed
			}
			for _, damage := range []func([]byte) []byte{
				func(text []byte) []byte { return text[:r.IntN(len(text)+1)] },
				func(text []byte) []byte { text[r.IntN(len(text))] = byte(r.IntN(256)); return text },
				func([]byte) []byte { return nil },
			} {
				if testing.Short() && r.IntN(12) > 0 {
					continue
				}
				bad := copyOf(b)
				bad[name].Data = damage(bytes.Clone(bad[name].Data))
				page := pageOf(t, bad)
				if !strings.Contains(page, "</html>") {
					t.Errorf("%s (seed %d): the page is not whole", name, seed)
				}
				if _, said, failed := strings.Cut(page, "could not be shown"); failed {
					t.Errorf("%s (seed %d): a part of the page failed%.200s", name, seed, said)
				}
			}
		}
	}
}
