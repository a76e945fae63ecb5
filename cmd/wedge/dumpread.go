package main

import (
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/goroutine/waits"
	"example.com/wedge/repro"
)

// snapshot is one dump of a text, analysed.
type snapshot struct {
	name     string // of the text
	index    int    // of the dump within the text, from 0
	of       int    // dumps in the text
	dump     *goroutine.Dump
	analysis *waits.Analysis
}

// dumpText is what one text held.
type dumpText struct {
	name      string
	snapshots []*snapshot
	stats     goroutine.Stats
	sum       uint64 // of its bytes, to know a text that is given twice
}

// readDumps reads a text with any number of dumps. It streams: what is kept of a goroutine is what the
// analysis keeps.
func readDumps(name string, text io.Reader) (*dumpText, error) {
	head := &headKeeper{src: text, sum: fnv.New64a()}
	r := goroutine.NewReader(head)
	var builders []*dumpBuilder
	for {
		g, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, &repro.InputError{Source: name, Msg: fmt.Sprintf("reading it: %v", err)}
		}
		for len(builders) <= g.Snapshot {
			builders = append(builders, &dumpBuilder{})
		}
		builders[g.Snapshot].add(g)
	}
	t := &dumpText{name: name, stats: r.Stats(), sum: head.sum.Sum64()}
	for i, d := range r.Dumps() {
		if i >= len(builders) {
			break
		}
		b := builders[i]
		b.Messages, b.Partial = d.Messages, d.Truncated || d.Form == goroutine.FormDump && b.isPart(d)
		if s := (&snapshot{name: name, index: len(t.snapshots), dump: d, analysis: b.analysis()}); s.analysis.Goroutines > 0 {
			t.snapshots = append(t.snapshots, s)
		}
	}
	for _, s := range t.snapshots {
		s.of = len(t.snapshots)
	}
	if len(t.snapshots) == 0 {
		return nil, &repro.InputError{Source: name, Msg: "found " + head.looksLike() + ", want a goroutine dump: lines such as \"goroutine 1 [running]:\", or a goroutine profile"}
	}
	return t, nil
}

// dumpBuilder analyses one dump. A crash lists goroutines that were running on other threads without
// their stacks, and prints them again later: the later one counts.
type dumpBuilder struct {
	waits.Builder
	stackless []*goroutine.Goroutine
	runs      bool // some goroutine or thread runs
	headless  bool // there are frames without a header before any goroutine
	any       bool // there is a goroutine
	open      bool // the latest goroutine has no end
}

// isPart reports whether the beginning or the end of the dump is missing: who makes a dump runs, and a crash says first
// what it is; and the last goroutine ends in who started it.
func (b *dumpBuilder) isPart(d *goroutine.Dump) bool {
	return b.open || len(d.Messages) == 0 && (b.headless || !b.runs)
}

// note keeps what isPart asks for.
func (b *dumpBuilder) note(g *goroutine.Goroutine) {
	switch g.Kind {
	case goroutine.KindHeadless:
		b.headless = b.headless || !b.any
	case goroutine.KindThread:
		b.runs = true
	case goroutine.KindGoroutine:
		b.any = true
		b.open = !hasEnd(g)
		b.runs = b.runs || strings.HasPrefix(g.State, "running")
	}
}

// hasEnd reports whether the stack ends in the go statement, or in the function in which the main goroutine begins.
func hasEnd(g *goroutine.Goroutine) bool {
	if g.CreatedBy.Func != "" || len(g.Frames) == 0 {
		return true
	}
	switch g.Frames[len(g.Frames)-1].Func {
	case "main.main", "runtime.main", "runtime.goexit":
		return g.ID == 1
	}
	return false
}

func (b *dumpBuilder) add(g *goroutine.Goroutine) {
	b.note(g)
	switch {
	case g.Again:
		i := slices.IndexFunc(b.stackless, func(one *goroutine.Goroutine) bool { return one.ID == g.ID })
		if i < 0 {
			return
		}
		b.stackless = slices.Delete(b.stackless, i, i+1)
		g = g.Clone()
		g.Again = false
	case g.NoStack && g.ID > 0:
		b.stackless = append(b.stackless, g.Clone())
		return
	}
	b.Add(g)
}

func (b *dumpBuilder) analysis() *waits.Analysis {
	for _, g := range b.stackless {
		b.Add(g)
	}
	return b.Analysis()
}

// headKeeper keeps the beginning of what is read, to say what a text looks like that is no dump.
type headKeeper struct {
	src  io.Reader
	head []byte
	size int64
	sum  hash.Hash64
}

const headBytesMax = 4096

func (k *headKeeper) Read(p []byte) (int, error) {
	n, err := k.src.Read(p)
	k.size += int64(n)
	_, _ = k.sum.Write(p[:n]) // a hash does not fail
	if room := headBytesMax - len(k.head); room > 0 {
		k.head = append(k.head, p[:min(n, room)]...)
	}
	return n, err
}

// looksLike says in words what the text seems to be.
func (k *headKeeper) looksLike() string {
	head := strings.TrimSpace(string(k.head))
	first, _, _ := strings.Cut(head, "\n")
	what := fmt.Sprintf("a text of %s bytes without goroutines that begins with %q", thousands(int(k.size)), shorten(plainText(oneLine(first)), 60))
	switch lower := strings.ToLower(head); {
	case k.size == 0:
		return "an empty text"
	case strings.HasPrefix(lower, "<!doctype"), strings.HasPrefix(lower, "<html"):
		return "a web page"
	case strings.HasPrefix(head, "\x1f\x8b"):
		return "a gzip file that is no goroutine profile (such as a CPU profile, or a compressed text: unpack it first)"
	case strings.HasPrefix(head, "\x7fELF"), strings.HasPrefix(head, "MZ"):
		return "a program (to look at one that runs: wedge dump --pid)"
	case strings.Contains(head, "\tat ") && strings.Contains(head, ".java:"), strings.Contains(head, "java.lang.Thread.State"):
		return "a Java thread dump"
	case strings.Contains(head, "Traceback (most recent call last)"), strings.Contains(head, "Current thread 0x"):
		return "a Python traceback"
	case strings.Contains(lower, "thread 'main' panicked"):
		return "a Rust panic"
	case strings.Contains(lower, "heap profile:"):
		return "a heap profile"
	case strings.HasPrefix(head, "{"), strings.HasPrefix(head, "["):
		return "JSON that holds no goroutines"
	}
	return what
}

// thousands writes a count with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// shorten cuts a line to so many letters.
func shorten(line string, letters int) string {
	if r := []rune(line); len(r) > letters {
		return string(r[:max(1, letters-1)]) + "…"
	}
	return line
}
