package bundle

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestLogHoldsWholeLines looks at the file after each write of a log that writes by itself, as a
// process that is killed at that moment would leave it.
func TestLogHoldsWholeLines(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	b := mustCreate(t, dir, Options{Inline: true})
	l := b.Log(EventsLog)
	var all bytes.Buffer
	seen, size := 0, 0
	for i := range 4_000 {
		line := fmt.Sprintf("{\"n\":%d,\"text\":%q}\n", i, strings.Repeat("x", i%97))
		all.WriteString(line)
		l.Write([]byte(line))
		if i%13 != 0 {
			continue
		}
		text := read(t, dir, EventsLog)
		if !strings.HasPrefix(all.String(), text) || text != "" && text[len(text)-1] != '\n' {
			t.Fatalf("after line %d the file ends in %q", i, text[max(0, len(text)-40):])
		}
		if len(text) != size {
			seen, size = seen+1, len(text)
		}
	}
	if seen < 3 {
		t.Errorf("the log wrote %d times by itself, want more", seen)
	}
	b.Close()
	if got := read(t, dir, EventsLog); got != all.String() {
		t.Errorf("at the end the file has %d bytes, want %d", len(got), all.Len())
	}
	l.Write([]byte("late\n"))
	b.Flush()
	if got := read(t, dir, EventsLog); got != all.String() {
		t.Error("a closed log took another line")
	}
}

func TestLogFromManyGoroutines(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	b := mustCreate(t, dir, Options{})
	l := b.Log(SamplesLog)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 500 {
				fmt.Fprintf(l, "%d %d\n", g, i)
				if i%50 == 0 {
					b.Flush()
				}
			}
		})
	}
	wg.Wait()
	b.Close()
	next := make([]int, 8)
	for line := range strings.Lines(read(t, dir, SamplesLog)) {
		var g, i int
		if _, err := fmt.Sscanf(line, "%d %d\n", &g, &i); err != nil || i != next[g] {
			t.Fatalf("line %q, want number %d", line, next[g])
		}
		next[g]++
	}
	for g, n := range next {
		if n != 500 {
			t.Errorf("goroutine %d has %d lines", g, n)
		}
	}
}

// TestFlushBeside flushes from a goroutine beside the one that writes, as a run in virtual time does.
func TestFlushBeside(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	lines := linesOf(r, 30_000)
	rot := Rotation{BytesMax: 40_000, FilesMax: 5}
	dir := filepath.Join(t.TempDir(), "b")
	b := mustCreate(t, dir, Options{Inline: true, Rotate: rot})
	l := b.Log(EventsLog)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			default:
				b.Flush()
				b.WriteFile("soak.json", []byte("{}"))
			}
		}
	}()
	for i, line := range lines {
		l.Write([]byte(line))
		if i%5_000 == 0 {
			names, _ := Logs(os.DirFS(dir), EventsLog)
			for _, name := range names[:max(0, len(names)-1)] { // the last may be under way
				text, err := os.ReadFile(filepath.Join(dir, name))
				if err == nil && len(text) > 0 && text[len(text)-1] != '\n' {
					t.Fatalf("%s ends in half a line", name)
				}
			}
		}
	}
	close(end)
	<-ended
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(dir, "soak.json"))
	sameFiles(t, "flushed beside", contents(t, dir), rotated(EventsLog, lines, rot))
}

// TestSlowDisk: lines that nobody writes for too long are lost, which is an error, not a full memory.
func TestSlowDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	b := mustCreate(t, dir, Options{})
	l := b.Log(EventsLog)
	piece := append(bytes.Repeat([]byte("x"), 1<<20-1), '\n')
	for range bufferBytesMax/len(piece) + 3 {
		l.Write(piece)
	}
	if err := b.Close(); err == nil || !strings.Contains(err.Error(), "3 lines were lost") {
		t.Errorf("error %v", err)
	}
}

// noDisk and noFile take everything and keep nothing.
type (
	noDisk struct{ disk }
	noFile struct{ file }
)

func (noFile) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkLogWrite leaves out the disk, which takes another 0.5 ns a byte here.
func BenchmarkLogWrite(b *testing.B) {
	l := &Log{b: &Bundle{o: Options{Inline: true}, disk: noDisk{}}, name: EventsLog, file: noFile{}}
	line := append(bytes.Repeat([]byte("x"), 119), '\n')
	b.ReportAllocs()
	for b.Loop() {
		l.Write(line)
	}
}

func BenchmarkWriteFile(b *testing.B) {
	bd, err := Create(filepath.Join(b.TempDir(), "b"), Run{}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer bd.Close()
	text := bytes.Repeat([]byte("x"), 20_000)
	for b.Loop() {
		bd.WriteFile("stalls/01/calls.json", text)
	}
}
