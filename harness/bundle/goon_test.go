package bundle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRetriesEvery10s counts how often a full disk is asked.
func TestRetriesEvery10s(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full, asked := false, 0
		fails := func(what string) bool {
			if full && what == "write" {
				asked++
			}
			return full && what == "write"
		}
		dir := filepath.Join(t.TempDir(), "b")
		b, err := create(dir, tinyRun, Options{GoOn: true}, opener(fails))
		if err != nil {
			t.Fatal(err)
		}
		l := b.Log(EventsLog)
		var lines []string
		for second := range 100 {
			full = second >= 10 && second < 75
			lines = append(lines, fmt.Sprintf("{\"n\":%d}\n", second))
			l.Write([]byte(lines[second]))
			b.Flush()
			time.Sleep(time.Second)
		}
		if err := b.Close(); err == nil {
			t.Error("no error")
		}
		if asked != 7 { // at 10, 20 … 70 s
			t.Errorf("a disk that was full for 65 s was asked %d times", asked)
		}
		if lost := gapsIn(t, dir, lines); lost != 70 || b.Lost() != 70 {
			t.Errorf("%d lines are missing, %d counted, want those of 10 s to 80 s", lost, b.Lost())
		}
	})
}

func TestDirectoryComesBack(t *testing.T) {
	for _, c := range []struct {
		name     string
		away     func(dir string) error
		back     func(dir string) error
		lines    []int // in the log at the end
		lostWant int
	}{
		{"moved and moved back", func(dir string) error { return os.Rename(dir, dir+"-moved") },
			func(dir string) error { return os.Rename(dir+"-moved", dir) }, []int{1, 2, 4}, 1},
		{"the log removed", func(dir string) error { return os.Remove(filepath.Join(dir, EventsLog)) },
			func(string) error { return nil }, []int{4}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "b")
				b := mustCreate(t, dir, Options{GoOn: true})
				l := b.Log(EventsLog)
				l.Write([]byte("1\n"))
				b.Flush()
				err := c.away(dir)
				l.Write([]byte("2\n"))
				b.Flush()
				l.Write([]byte("3\n"))
				b.Flush()
				err = errors.Join(err, c.back(dir))
				time.Sleep(retryEvery)
				l.Write([]byte("4\n"))
				if first := b.Err(); first == nil || b.Close() != first {
					t.Errorf("error %v, then %v", first, b.Close())
				}
				if err != nil {
					t.Fatal(err)
				}
				var want strings.Builder
				for _, n := range c.lines {
					if n == 4 {
						fmt.Fprintf(&want, "{\"lost_lines\":%d}\n", c.lostWant)
					}
					fmt.Fprintf(&want, "%d\n", n)
				}
				if got := read(t, dir, EventsLog); got != want.String() || b.Lost() != c.lostWant {
					t.Errorf("the log is\n%swant\n%s, %d lost", got, want.String(), b.Lost())
				}
			})
		})
	}
}
