package bundle

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type config struct {
	For    string         `json:"for"`
	Window map[string]any `json:"window,omitempty"`
}

func TestResumeRefused(t *testing.T) {
	was := Run{Name: "tiny", Seed: 1<<63 + 1, Clock: "virtual", Version: "1.0", Config: config{For: "24h"}}
	for _, c := range []struct {
		name   string
		change func(*Run)
		append bool
		want   string // in the error; "": resumed
	}{
		{"the same", func(*Run) {}, false, ""},
		{"another scenario", func(r *Run) { r.Name, r.Seed = "other", 2 }, false, `name is "tiny" in its run.json and "other" now`},
		{"another seed", func(r *Run) { r.Seed-- }, false, "seed is 9223372036854775809 in its run.json and 9223372036854775808 now"},
		{"another clock", func(r *Run) { r.Clock = "wall" }, false, `clock is "virtual" in its run.json and "wall" now`},
		{"another scale", func(r *Run) { r.Scale = 2 }, false, "scale is none in its run.json and 2 now"},
		{"another version", func(r *Run) { r.Version = "1.1" }, false, `version is "1.0" in its run.json and "1.1" now`},
		{"another version on the wall", func(r *Run) { r.Version = "1.1" }, true, ""},
		{"another setting", func(r *Run) { r.Config = config{For: "12h"} }, true, `config.for is "24h" in its run.json and "12h" now`},
		{"one more setting", func(r *Run) { r.Config = config{"24h", map[string]any{"x": 1}} }, false, `config.window is none in its run.json and {"x":1} now`},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "b")
			b, err := Create(dir, was, Options{})
			if err != nil {
				t.Fatal(err)
			}
			b.Log(EventsLog).Write([]byte("one\nhal"))
			b.Close()
			before, run := tree(t, top), was
			c.change(&run)
			b, err = Create(dir, run, Options{Resume: true, AppendLogs: c.append})
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				b.Close()
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, c.want)
			}
			if tree(t, top) != before || read(t, dir, EventsLog) != "one\nhal" {
				t.Error("a bundle that was refused was touched")
			}
		})
	}
	for _, dir := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		if _, err := Create(dir, was, Options{Resume: true}); err == nil || !strings.Contains(err.Error(), "no bundle") {
			t.Errorf("error %v, want that there is no bundle", err)
		}
	}
}

// again makes a bundle with two lines and resumes it.
func again(t *testing.T, text string, o Options) (string, *Bundle) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "b")
	b := mustCreate(t, dir, Options{})
	b.Log(EventsLog).Write([]byte(text))
	b.WriteFile("stalls/01/calls.json", []byte("{}"))
	b.Close()
	if err := os.WriteFile(filepath.Join(dir, "stalls/01/.waits.json.part"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Resume = true
	return dir, mustCreate(t, dir, o)
}

func TestResumeRemovesHalfFiles(t *testing.T) {
	dir, _ := again(t, "", Options{})
	want := "drwx------ .\n-rw------- events.jsonl\n-rw------- run.json\ndrwx------ stalls\ndrwx------ stalls/01\n-rw------- stalls/01/calls.json\n"
	if got := tree(t, dir); got != want {
		t.Errorf("a resumed bundle is\n%swant\n%s", got, want)
	}
}

func TestReplayDiffers(t *testing.T) {
	for _, goOn := range []bool{false, true} {
		dir, b := again(t, "one\ntwo\n", Options{GoOn: goOn})
		b.Log(EventsLog).Write([]byte("one\nTWO\nthree\n"))
		b.WriteFile("verdict.json", []byte("{}"))
		b.Flush()
		b.WriteFile("soak.json", []byte("{}"))
		if err := b.Close(); err == nil || !strings.Contains(err.Error(), `differs after 4 bytes, where the replay has "TWO"; nothing more is written`) {
			t.Errorf("error %v", err)
		}
		if got := read(t, dir, EventsLog); got != "one\ntwo\n" {
			t.Errorf("the log is %q", got)
		}
		if _, err := os.Stat(filepath.Join(dir, "soak.json")); err == nil {
			t.Error("another run's file was written")
		}
	}
}

// TestReplayWithFilesMissing: what comes after a file that is not there is no part of the replay, and is told.
func TestReplayWithFilesMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	rot := Rotation{BytesMax: 20}
	b := mustCreate(t, dir, Options{Rotate: rot})
	b.Log(EventsLog).Write([]byte("one\ntwo\n"))
	b.Close()
	if err := os.WriteFile(filepath.Join(dir, numbered(EventsLog, 9)), []byte("nine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b = mustCreate(t, dir, Options{Rotate: rot, Resume: true})
	l := b.Log(EventsLog)
	for range 20 {
		l.Write([]byte("one\ntwo\n"))
		b.Flush()
	}
	if err := b.Close(); err == nil || !strings.Contains(err.Error(), "comparing events-000001.jsonl with the replay: it differs after 8 bytes") {
		t.Errorf("error %v", err)
	}
}

// TestResumedOnce: a bundle that is being written is not resumed by others.
func TestResumedOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	b := mustCreate(t, dir, Options{})
	b.Log(EventsLog).Write([]byte("one\n"))
	for _, o := range []Options{{Resume: true}, {Resume: true, AppendLogs: true}} {
		_, err := Create(dir, Run{Name: "tiny", Seed: 7, Clock: "virtual", Version: "test"}, o)
		if err == nil || !strings.HasSuffix(err.Error(), errHeld.Error()) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: error %v, want one line that somebody writes it", o, err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, EventsLog); got != "one\n" {
		t.Errorf("the log is %q", got)
	}
	mustCreate(t, dir, Options{Resume: true}).Close()
}

// TestReplayAfterInterrupt: an interrupted run writes an end of its own, which the replay does not.
func TestReplayAfterInterrupt(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for seed := range 30 {
		lines := linesOf(r, 40)
		rot := Rotation{BytesMax: []int64{0, 150, 1}[seed%3]}
		dir := filepath.Join(t.TempDir(), "b")
		b := mustCreate(t, dir, Options{Rotate: rot})
		l := b.Log(EventsLog)
		writeSome(r, b, l, lines[:r.IntN(len(lines))])
		for i := range r.IntN(20) {
			fmt.Fprintf(l, "{\"n\":%d,\"interrupted\":true}\n", i)
		}
		b.Close()
		b = mustCreate(t, dir, Options{Rotate: rot, Resume: true, Interrupted: true})
		writeSome(r, b, b.Log(EventsLog), lines)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		sameFiles(t, fmt.Sprint("run ", seed), contents(t, dir), rotated(EventsLog, lines, rot))
	}
}

// TestKilledInAReplayAfterInterrupt: a process that is killed before it has passed the end of an interrupted one leaves that
// end to the next, which need not be told.
func TestKilledInAReplayAfterInterrupt(t *testing.T) {
	dir, b := again(t, "one\ntwo\n{\"interrupted\":true}\n", Options{Interrupted: true})
	l := b.Log(EventsLog)
	l.Write([]byte("one\n"))
	b.Flush()
	b.disk.close() // and is killed
	b = mustCreate(t, dir, Options{Resume: true})
	l = b.Log(EventsLog)
	l.Write([]byte("one\ntwo\n"))
	if err := b.Close(); err != nil { // interrupted again
		t.Fatal(err)
	}
	b = mustCreate(t, dir, Options{Resume: true})
	b.Log(EventsLog).Write([]byte("one\ntwo\nthree\n"))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, EventsLog); got != "one\ntwo\nthree\n" {
		t.Errorf("the log is %q", got)
	}
	if hidden, _ := filepath.Glob(filepath.Join(dir, ".*")); len(hidden) > 0 {
		t.Errorf("left behind %v", hidden)
	}
	b = mustCreate(t, dir, Options{Resume: true})
	b.Log(EventsLog).Write([]byte("one\nTWO\n"))
	if err := b.Close(); err == nil {
		t.Error("after that a log may differ without an error")
	}
}

// TestReplayShorter: a replay that ends before the earlier process did leaves what is there.
func TestReplayShorter(t *testing.T) {
	dir, b := again(t, "one\ntwo\n", Options{})
	b.Log(EventsLog).Write([]byte("one\n"))
	if err := b.Close(); err != nil || read(t, dir, EventsLog) != "one\ntwo\n" {
		t.Errorf("the log is %q, error %v", read(t, dir, EventsLog), err)
	}
}

func TestAppendGoesOn(t *testing.T) {
	dir, b := again(t, "one\n{\"lost_lines\":3}\nhal", Options{AppendLogs: true})
	b.Log(EventsLog).Write([]byte("one\n"))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, EventsLog); got != "one\n{\"lost_lines\":3}\none\n" {
		t.Errorf("the log is %q", got)
	}
}

// TestAppendRotates goes on several times: the lines are in order, and the files are those of one run.
func TestAppendRotates(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	lines := linesOf(r, 60)
	rot := Rotation{BytesMax: 200, FilesMax: 4}
	dir := filepath.Join(t.TempDir(), "b")
	b := mustCreate(t, dir, Options{})
	for rest := lines; len(rest) > 0; {
		b.Close()
		b = mustCreate(t, dir, Options{Resume: true})
		n := 1 + r.IntN(min(20, len(rest)))
		writeSome(r, b, b.OpenLog(EventsLog, LogOptions{Rotate: rot, Append: true}), rest[:n])
		rest = rest[n:]
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "gone on", contents(t, dir), rotated(EventsLog, lines, rot))
}

func FuzzScan(f *testing.F) {
	f.Add([]byte("one\n{\"lost_lines\":3}\nhal"))
	f.Add([]byte("{\"lost_lines\":"))
	f.Add([]byte(strings.Repeat("x", inlineBytes) + lostLines + "1}\n" + lostLines))
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, hole, err := scan(strings.NewReader(string(text)), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		at, wantHole := int64(0), int64(-1)
		for line := range strings.Lines(string(text)) {
			if !strings.HasSuffix(line, "\n") {
				break
			}
			if wantHole < 0 && strings.HasPrefix(line, lostLines) {
				wantHole = at
			}
			at += int64(len(line))
		}
		if whole != at || hole != wantHole {
			t.Errorf("%d bytes of whole lines, a hole at %d; want %d, %d", whole, hole, at, wantHole)
		}
	})
}
