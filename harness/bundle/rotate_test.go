package bundle

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// linesOf draws n lines of different lengths.
func linesOf(r *rand.Rand, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("{\"n\":%d,\"x\":%q}\n", i, strings.Repeat("x", r.IntN(1+r.IntN(60))))
	}
	return out
}

// rotated is the naive twin of a rotated log: which files there are after the lines.
func rotated(name string, lines []string, rot Rotation) map[string]string {
	if rot.BytesMax == 0 {
		return map[string]string{name: strings.Join(lines, "")}
	}
	files := []string{""}
	for _, line := range lines {
		last := &files[len(files)-1]
		if *last != "" && int64(len(*last)+len(line)) > rot.BytesMax {
			files = append(files, "")
			last = &files[len(files)-1]
		}
		*last += line
	}
	out := map[string]string{}
	stem, ext, _ := strings.Cut(name, ".")
	for i, text := range files {
		if rot.FilesMax == 0 || i >= len(files)-rot.FilesMax {
			out[fmt.Sprintf("%s-%06d.%s", stem, i+1, ext)] = text
		}
	}
	return out
}

// contents reads the files of a directory but run.json.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if e.Name() != RunFile {
			out[e.Name()] = string(text)
		}
	}
	return out
}

func sameFiles(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	t.Errorf("%s: files are %v, want %v", what, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if text, ok := got[name]; ok && text != want[name] {
			t.Fatalf("%s: %s is\n%swant\n%s", what, name, text, want[name])
		}
	}
}

// write gives the lines to the log in pieces of several, and flushes now and then.
func writeSome(r *rand.Rand, b *Bundle, l *Log, lines []string) {
	for len(lines) > 0 {
		n := 1 + r.IntN(min(4, len(lines)))
		l.Write([]byte(strings.Join(lines[:n], "")))
		lines = lines[n:]
		if r.IntN(3) == 0 {
			b.Flush()
		}
	}
}

func TestRotationDependsOnLinesAlone(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		lines := linesOf(r, r.IntN(80))
		rot := Rotation{BytesMax: []int64{0, 1, 64, 200, 1000}[r.IntN(5)], FilesMax: r.IntN(5)}
		dir := filepath.Join(t.TempDir(), "b")
		b := mustCreate(t, dir, Options{Rotate: rot})
		l := b.Log(EventsLog)
		writeSome(r, b, l, lines)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		want := rotated(EventsLog, lines, rot)
		sameFiles(t, fmt.Sprintf("seed %d, %+v", seed, rot), contents(t, dir), want)
		names, err := Logs(os.DirFS(dir), EventsLog)
		if err != nil || !slices.Equal(names, slices.Sorted(maps.Keys(want))) {
			t.Errorf("seed %d: the log's files are %v, %v", seed, names, err)
		}
	}
}

func TestOneLogMayDiffer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	b := mustCreate(t, dir, Options{Rotate: Rotation{BytesMax: 4}})
	for range 2 {
		b.Log(RouterLogFile).Write([]byte("one\ntwo\n"))
		b.OpenLog("windows.jsonl", LogOptions{}).Write([]byte("one\n"))
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "both", contents(t, dir), map[string]string{
		"router-000001.log": "one\n", "router-000002.log": "two\n", "router-000003.log": "one\n", "router-000004.log": "two\n",
		"windows.jsonl": "one\none\n",
	})
}

func TestLogs(t *testing.T) {
	file := &fstest.MapFile{}
	for _, c := range []struct {
		name  string
		files []string
		want  []string
	}{
		{EventsLog, nil, nil},
		{EventsLog, []string{EventsLog, SamplesLog}, []string{EventsLog}},
		{EventsLog, []string{"events-000002.jsonl", "events-000010.jsonl", "events-000001.jsonl"},
			[]string{"events-000001.jsonl", "events-000002.jsonl", "events-000010.jsonl"}},
		{EventsLog, []string{"events-999999.jsonl", "events-1000000.jsonl"}, []string{"events-999999.jsonl", "events-1000000.jsonl"}},
		{EventsLog, []string{"events-000001.jsonl.gz", "events-01.jsonl", "events-0000001.jsonl", "events-000000.jsonl", "events--00001.jsonl",
			"events-+00001.jsonl", "events-.jsonl", "xevents-000001.jsonl", "events-000001.jsonl/x", "events-000001"}, nil},
		{RouterLogFile, []string{"router-000001.log", "router.log"}, []string{"router.log", "router-000001.log"}},
		{"stalls/01/x.jsonl", []string{"x-000001.jsonl", "stalls/01/x-000004.jsonl"}, []string{"stalls/01/x-000004.jsonl"}},
	} {
		fsys := fstest.MapFS{"stalls/01/other": file}
		for _, name := range c.files {
			fsys[name] = file
		}
		if got, err := Logs(fsys, c.name); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s of %v: %v, %v, want %v", c.name, c.files, got, err, c.want)
		}
	}
	if _, err := Logs(fstest.MapFS{}, "none/x.jsonl"); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("a folder that is not there: error %v", err)
	}
}

// killed is what kill -9 leaves of a log after so many bytes have been written: the sequence of
// files, the last of them cut anywhere. extra says that the oldest was not removed yet.
func killed(name string, lines []string, rot Rotation, bytesWritten int, extra bool) map[string]string {
	var before []string
	cut := ""
	for _, line := range lines {
		if bytesWritten < len(line) {
			cut = line[:bytesWritten]
			break
		}
		before, bytesWritten = append(before, line), bytesWritten-len(line)
	}
	if cut == "" {
		return rotatedKeeping(name, before, rot, extra)
	}
	// Where the whole line would be, with a piece of it.
	whole := lines[len(before)]
	files := rotatedKeeping(name, append(before, whole), rot, extra)
	for at, text := range files {
		if strings.HasSuffix(text, whole) {
			files[at] = strings.TrimSuffix(text, whole) + cut
		}
	}
	return files
}

func rotatedKeeping(name string, lines []string, rot Rotation, extra bool) map[string]string {
	if extra && rot.FilesMax > 0 {
		rot.FilesMax++
	}
	return rotated(name, lines, rot)
}

// TestResumeAfterKill cuts a log at every byte, as a process that is killed leaves it.
func TestResumeAfterKill(t *testing.T) {
	for _, rot := range []Rotation{{}, {BytesMax: 90}, {BytesMax: 90, FilesMax: 1}, {BytesMax: 90, FilesMax: 3}, {BytesMax: 1, FilesMax: 2}} {
		r := rand.New(rand.NewPCG(3, 3))
		lines := linesOf(r, 12)
		for i, line := range lines {
			lines[i] = fmt.Sprint(i) + line[len(line)*2/3:] // short, for fewer cuts
		}
		total := len(strings.Join(lines, ""))
		step := 1
		if testing.Short() {
			step = 7
		}
		for n := 0; n <= total && !t.Failed(); n += step {
			resumeKilled(t, r, lines, rot, killed(EventsLog, lines, rot, n, n%2 == 0), fmt.Sprintf("%+v cut at %d", rot, n))
		}
	}
}

// resumeKilled makes a bundle with the given files, resumes it, writes all lines, and compares with
// an unbroken run.
func resumeKilled(t testing.TB, r *rand.Rand, lines []string, rot Rotation, files map[string]string, what string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "b")
	run := Run{Name: "tiny", Seed: 7, Clock: "virtual", Version: "test"}
	b, err := Create(dir, run, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if b, err = Create(dir, run, Options{Rotate: rot, Resume: true}); err != nil {
		t.Fatal(err)
	}
	l := b.Log(EventsLog)
	writeSome(r, b, l, lines)
	if err := b.Close(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	sameFiles(t, what, contents(t, dir), rotated(EventsLog, lines, rot))
	if n := b.Lost(); n != 0 {
		t.Errorf("%s: lost %d lines", what, n)
	}
}

// FuzzResume draws lines, a rotation, and where the process is killed.
func FuzzResume(f *testing.F) {
	f.Add(uint64(1), uint16(100), uint8(3), uint32(700), false)
	f.Add(uint64(2), uint16(0), uint8(0), uint32(5), true)
	f.Add(uint64(3), uint16(1), uint8(1), uint32(90), true)
	f.Fuzz(func(t *testing.T, seed uint64, bytesMax uint16, filesMax uint8, at uint32, extra bool) {
		r := rand.New(rand.NewPCG(seed, 5))
		lines := linesOf(r, r.IntN(60))
		rot := Rotation{BytesMax: int64(bytesMax % 500), FilesMax: int(filesMax % 6)}
		total := len(strings.Join(lines, ""))
		files := killed(EventsLog, lines, rot, int(at)%(total+1), extra)
		resumeKilled(t, r, lines, rot, files, fmt.Sprintf("%+v", rot))
	})
}

func FuzzFits(f *testing.F) {
	f.Add(int64(10), int64(0), []byte("a\nbb\nccc\n"))
	f.Add(int64(1), int64(9), []byte("long\n"))
	f.Fuzz(func(t *testing.T, bytesMax, at int64, lines []byte) {
		lines = append(lines, '\n')
		bytesMax, at = max(bytesMax, 1), max(at, 0)
		n := Rotation{BytesMax: bytesMax}.fits(position{1, at}, lines)
		switch {
		case n > 0 && lines[n-1] != '\n':
			t.Errorf("%d bytes of %q are no whole lines", n, lines)
		case n > 0 && at+int64(n) > bytesMax && (at > 0 || bytes.IndexByte(lines, '\n')+1 != n):
			t.Errorf("%d bytes of %q do not fit", n, lines)
		case n == 0 && at == 0:
			t.Errorf("nothing of %q fits into an empty file", lines)
		}
	})
}

func TestNumberedNames(t *testing.T) {
	for _, name := range []string{EventsLog, RouterLogFile, "stalls/01/x.y.jsonl", "plain"} {
		for _, n := range []int{1, 42, 1_000_000} {
			if got, ok := numberOf(name, path.Base(numbered(name, n))); !ok || got != n {
				t.Errorf("%s: %s has number %d, %v", name, numbered(name, n), got, ok)
			}
		}
	}
}
