package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// faultyDisk is a disk on which any operation may fail: fails is asked before each. A write that fails
// has written a part.
type faultyDisk struct {
	disk
	fails func(what string) bool
}

type faultyFile struct {
	file
	fails func(what string) bool
}

func (d *faultyDisk) fault(what string) error {
	if d.fails(what) {
		return &fs.PathError{Op: what, Path: "somewhere", Err: syscall.ENOSPC}
	}
	return nil
}

func (d *faultyDisk) create(name string) (file, error) {
	if err := d.fault("create"); err != nil {
		return nil, err
	}
	f, err := d.disk.create(name)
	return faultyFile{f, d.fails}, err
}

func (d *faultyDisk) grow(name string) (file, int64, error) {
	if err := d.fault("grow"); err != nil {
		return nil, 0, err
	}
	f, size, err := d.disk.grow(name)
	return faultyFile{f, d.fails}, size, err
}

func (d *faultyDisk) rename(from, to string) error {
	return errors.Join(d.fault("rename"), d.disk.rename(from, to))
}

func (d *faultyDisk) remove(name string) error {
	if err := d.fault("remove"); err != nil {
		return err
	}
	return d.disk.remove(name)
}

func (f faultyFile) Write(p []byte) (int, error) {
	if !f.fails("write") {
		return f.file.Write(p)
	}
	n, err := f.file.Write(p[:len(p)*2/3])
	return n, errors.Join(err, &fs.PathError{Op: "write", Path: "somewhere", Err: syscall.ENOSPC})
}

func (f faultyFile) Truncate(size int64) error {
	if f.fails("truncate") {
		return syscall.EIO
	}
	return f.file.Truncate(size)
}

func opener(fails func(what string) bool) func(dir string) (disk, error) {
	return func(dir string) (disk, error) {
		d, err := openDisk(dir)
		return &faultyDisk{d, fails}, err
	}
}

var tinyRun = Run{Name: "tiny", Seed: 7, Clock: "virtual", Version: "test"}

// gapsIn reads the log back and returns how many lines are missing, after it has checked that each
// hole is told where it is. Those missing at the end need not be told.
func gapsIn(t *testing.T, dir string, lines []string) int {
	t.Helper()
	names, err := Logs(os.DirFS(dir), EventsLog)
	if err != nil {
		t.Fatal(err)
	}
	next, told := 0, 0
	for _, name := range names {
		text := read(t, dir, name)
		if text != "" && text[len(text)-1] != '\n' {
			t.Fatalf("%s ends in %q", name, text[strings.LastIndexByte(text, '\n')+1:])
		}
		for line := range strings.Lines(text) {
			var gap struct {
				Lost int `json:"lost_lines"`
			}
			if err := json.Unmarshal([]byte(line), &gap); err != nil {
				t.Fatalf("%s holds %q: %v", name, line, err)
			}
			next, told = next+gap.Lost, told+gap.Lost
			if gap.Lost > 0 {
				continue
			}
			if next >= len(lines) || line != lines[next] {
				t.Fatalf("%s holds %q where line %d is due", name, line, next)
			}
			next++
		}
	}
	return told + len(lines) - next
}

// TestGoOn lets operations of the disk fail at random for a while. Whatever fails, holes are told,
// what was lost is counted, and a replay fills the holes.
func TestGoOn(t *testing.T) {
	failed, healed := 0, 0
	for seed := range uint64(120) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 9))
			lines := linesOf(r, 120)
			rot := Rotation{BytesMax: []int64{0, 300, 900}[r.IntN(3)]}
			bad := false
			fails := func(string) bool { return bad && r.IntN(3) > 0 }
			dir := filepath.Join(t.TempDir(), "b")
			b, err := create(dir, tinyRun, Options{Rotate: rot, GoOn: true}, opener(fails))
			if err != nil {
				t.Fatal(err)
			}
			l := b.Log(EventsLog)
			for i, line := range lines {
				bad = i > 20 && i < 90 && i/10%2 == int(seed%2)
				l.Write([]byte(line))
				if i%5 == 0 {
					b.Flush()
					time.Sleep(time.Duration(1+r.IntN(12)) * time.Second)
				}
			}
			bad = false
			err = b.Close()
			if lost := gapsIn(t, dir, lines); lost != b.Lost() || (lost > 0) && (err == nil) {
				t.Errorf("seed %d: %d lines are missing, %d counted, error %v", seed, lost, b.Lost(), err)
			}
			if err == nil {
				return
			}
			failed++
			if !strings.Contains(err.Error(), "lines are lost until") || strings.Contains(err.Error(), "\n") {
				t.Errorf("seed %d: error %q", seed, err)
			}
			if b.Lost() > 0 {
				healed++
			}
			resumeAll(t, r, dir, lines, rot, fmt.Sprintf("seed %d", seed))
		})
	}
	if failed < 50 || healed < 50 {
		t.Errorf("the disk failed %d times, and %d times lines were lost: too few to tell", failed, healed)
	}
}

// resumeAll replays a run into its directory and compares with an unbroken one.
func resumeAll(t *testing.T, r *rand.Rand, dir string, lines []string, rot Rotation, what string) {
	t.Helper()
	b, err := Create(dir, tinyRun, Options{Rotate: rot, Resume: true})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	writeSome(r, b, b.Log(EventsLog), lines)
	if err := b.Close(); err != nil {
		t.Fatalf("%s: resumed: %v", what, err)
	}
	sameFiles(t, what, contents(t, dir), rotated(EventsLog, lines, rot))
}

// TestFailsOnce lets the n-th operation fail, for every n, with and without going on.
func TestFailsOnce(t *testing.T) {
	for _, goOn := range []bool{false, true} {
		for n := 1; ; n++ {
			asked, what := 0, ""
			fails := func(op string) bool {
				if asked++; asked == n {
					what = op
				}
				return asked == n
			}
			done := false
			synctest.Test(t, func(t *testing.T) { done = failOnce(t, goOn, fails, &what) })
			if done {
				if n < 20 {
					t.Errorf("only %d operations could fail", n)
				}
				break
			}
		}
	}
}

// failOnce returns true if nothing failed.
func failOnce(t *testing.T, goOn bool, fails func(string) bool, what *string) bool {
	r := rand.New(rand.NewPCG(1, 1))
	lines := linesOf(r, 40)
	rot := Rotation{BytesMax: 200, FilesMax: 3}
	dir := filepath.Join(t.TempDir(), "b")
	b, err := create(dir, tinyRun, Options{Rotate: rot, GoOn: goOn}, opener(fails))
	if err != nil {
		return false // TestDiskFull looks at that
	}
	l := b.Log(EventsLog)
	for i, line := range lines {
		l.Write([]byte(line))
		if i%4 == 3 {
			b.Flush()
			b.WriteFile("soak.json", fmt.Appendf(nil, "{\"n\":%d}", i))
			time.Sleep(11 * time.Second)
		}
	}
	err = b.Close()
	if *what == "" {
		return err == nil
	}
	if err == nil || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EIO) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s failed: error %v", *what, err)
	}
	for name, text := range contents(t, dir) {
		if strings.HasPrefix(name, ".") || text == "" && goOn || text != "" && !strings.HasSuffix(text, "}") && !strings.HasSuffix(text, "}\n") {
			t.Errorf("%s failed: %s holds %q", *what, name, text)
		}
	}
	if !goOn {
		return false
	}
	if got := read(t, dir, "soak.json"); got != `{"n":39}` && got != `{"n":35}` { // whole, if it was the last one that failed
		t.Errorf("%s failed once: at the end soak.json is %s", *what, got)
	}
	names, err := Logs(os.DirFS(dir), EventsLog)
	if err != nil || len(names) != rot.FilesMax {
		t.Errorf("%s failed once: at the end there are %v, %v", *what, names, err)
	}
	os.Remove(filepath.Join(dir, "soak.json"))
	resumeAll(t, r, dir, lines, rot, *what)
	return false
}
