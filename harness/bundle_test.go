package harness

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/sim"
)

// verdictOf stands for the diagnosis.
func verdictOf(now, before *Evidence) any {
	v := map[string]any{"schema": "wedge.verdict/1", "capture": now.Capture, "calls": len(now.Calls), "ended_at_s": now.EndedAt.Seconds()}
	if before != nil {
		v["before"] = before.Capture
	}
	return v
}

func goldenTiny(dir string) tiny {
	c := newTiny()
	c.agents, c.slots, c.rest, c.dir = 2, 1, 130e9, dir
	c.options.Judge = verdictOf
	return c
}

// TestBundleGolden compares a whole bundle, but for the dumps, with the one in testdata.
func TestBundleGolden(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tiny-1")
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	if r := goldenTiny(dir).run(t, w, context.Background()); r.WriteErr != nil {
		t.Fatal(r.WriteErr)
	}
	kept := filepath.Join("testdata", "tiny-1")
	if *update {
		if err := os.RemoveAll(kept); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "goroutine") {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		got = append(got, filepath.ToSlash(name))
		golden(t, filepath.Join(kept, name), []byte(read(t, path)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"end/calls.json", "end/servers.json", "end/waits.json", "events.jsonl", "router.log", "run.json", "samples.jsonl",
		"stalls/01/calls-1.json", "stalls/01/calls.json", "stalls/01/servers-1.json", "stalls/01/servers.json",
		"stalls/01/verdict-1.json", "stalls/01/verdict.json", "stalls/01/waits-1.json", "stalls/01/waits.json",
	}
	for i, name := range want {
		if i >= len(got) || got[i] != name {
			t.Fatalf("the bundle holds %q, want it to begin with %q", got, want)
		}
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, path); want != string(got) {
		t.Errorf("%s differs (go test -update rewrites it), got\n%s", path, got)
	}
}

// TestSameSeedSameBytes runs the same twice, and once with another number of slots.
func TestSameSeedSameBytes(t *testing.T) {
	files := []string{"run.json", "events.jsonl", "samples.jsonl", "router.log", "stalls/01/calls.json", "stalls/01/waits.json", "stalls/01/servers.json", "stalls/01/verdict.json"}
	var texts [3][]string
	var hashes [3]uint64
	for i := range texts {
		dir := filepath.Join(t.TempDir(), "b")
		c := goldenTiny(dir)
		if i == 2 {
			c.agents = 3
		}
		w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
		c.run(t, w, context.Background())
		hashes[i] = w.Hash()
		for _, name := range files {
			texts[i] = append(texts[i], read(t, dir, name))
		}
	}
	for i, name := range files {
		if texts[0][i] != texts[1][i] {
			t.Errorf("%s differs between two runs", name)
		}
	}
	if hashes[0] != hashes[1] {
		t.Error("the hash differs between two runs")
	}
	if texts[0][1] == texts[2][1] || hashes[0] == hashes[2] {
		t.Error("another fleet has the same events or hash")
	}
}

// TestHashKnowsEvents says that the journal's lines are in the hash, also when nobody keeps them.
func TestHashKnowsEvents(t *testing.T) {
	hash := func(name string, log io.Writer) uint64 {
		w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
		s := script{steps: [][]time.Duration{{10 * time.Second}}, journal: NewJournal(w, log)}
		f := s.fleet(t, w)
		f.o.Name = name
		if err := w.Run(context.Background(), func(ctx context.Context) { _, _ = f.Run(ctx) }); err != nil {
			t.Fatal(err)
		}
		return w.Hash()
	}
	var nobody *bundle.Log
	a, kept, b := hash("a", nobody), hash("a", &bytes.Buffer{}), hash("b", nobody)
	if a != kept || a == b {
		t.Errorf("hashes %x, %x with a log, %x of another run", a, kept, b)
	}
}

// TestEvidenceComesBack reads every capture of a bundle and compares it with what the run had.
func TestEvidenceComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	r := goldenTiny(dir).run(t, sim.NewVirtual(sim.VirtualOptions{Seed: 1}), context.Background())
	ep := r.Episodes[0]
	if ep.Before == nil {
		t.Fatal("the run has one capture only")
	}
	for _, c := range []struct {
		name    string
		dir     string
		capture int
		want    *Evidence
	}{
		{"first", ep.Dir, 1, ep.First},
		{"latest", ep.Dir, 0, ep.Latest},
		{"latest by number", ep.Dir, ep.Latest.Capture, ep.Latest},
		{"end", EndDir, 0, r.End},
	} {
		got, err := ReadEvidence(os.DirFS(dir), c.dir, c.capture)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := *c.want
		want.EndedAt, want.EndedBy, want.EndTotals, want.After = 0, "", Totals{}, nil
		if !reflect.DeepEqual(got, &want) {
			t.Errorf("%s:\n%+v\nwant\n%+v", c.name, got, &want)
		}
	}
	if _, err := ReadEvidence(os.DirFS(dir), ep.Dir, 9); err == nil {
		t.Error("a capture that was never made was read")
	}
	if _, err := ReadEvidence(os.DirFS(dir), "stalls/77", 0); err == nil {
		t.Error("an episode that never was was read")
	}
}

func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	goldenTiny(dir).run(t, sim.NewVirtual(sim.VirtualOptions{Seed: 1}), context.Background())
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if n++; err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil || n < 20 {
		t.Errorf("%d files, %v", n, err)
	}
}
