package goroutine

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// FuzzParse reads anything as a dump.
func FuzzParse(f *testing.F) { fuzzText(f, "testdata/*.txt", "testdata/traps/*.txt") }

// The others begin with the texts of one form each.

func FuzzProfileText(f *testing.F) { fuzzText(f, "testdata/traps/37-*.txt") }

func FuzzProfile(f *testing.F) { fuzzText(f, "testdata/traps/41-profile-binary.txt") }

func FuzzDelve(f *testing.F) { fuzzText(f, "testdata/traps/hand-41-delve.txt") }

func FuzzGDB(f *testing.F) { fuzzText(f, "testdata/traps/hand-41-gdb.txt") }

func FuzzPanicparse(f *testing.F) { fuzzText(f, "testdata/traps/hand-41-panicparse.txt") }

func FuzzInspect(f *testing.F) { fuzzText(f, "testdata/traps/hand-36-merged.txt") }

func FuzzSnapshots(f *testing.F) {
	fuzzText(f, "testdata/traps/35-*.txt", "testdata/traps/30-interleaved.txt", "testdata/traps/02-threads.txt")
}

func fuzzText(f *testing.F, patterns ...string) {
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			f.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
			if plain := unzipped(text); plain != nil {
				f.Add(plain)
			}
		}
	}
	f.Fuzz(checkText)
}

func unzipped(text []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	return plain
}

// checkText reads any text: no panic, every byte accounted for, the same result
// however the text arrives, every goroutine in one group.
func checkText(t *testing.T, text []byte) {
	d, err := Parse(bytes.NewReader(text))
	if bytes.HasPrefix(text, gzipMagic) && (err != nil || unzipped(text) != nil) {
		return // a damaged archive, or an account of what was in it
	}
	if err != nil {
		t.Fatal(err)
	}
	checkAccount(t, d.Stats, len(text))
	checkSkipped(t, d, len(text))
	again, err := Parse(iotest.HalfReader(bytes.NewReader(text)))
	if err != nil || !reflect.DeepEqual(d, again) {
		t.Errorf("differs in pieces: %v\n%s\n%s", err, render(d), render(again))
	}
	checkAll(t, text)
	grouped, similar := 0, 0
	groups := Group(d)
	for _, g := range groups {
		grouped += g.Count()
	}
	for _, g := range GroupSimilar(groups) {
		similar += g.Count()
	}
	if grouped != d.N() || similar != d.N() {
		t.Errorf("%d goroutines, %d in groups, %d in similar ones", d.N(), grouped, similar)
	}
	if m := Compare(d, again, ByID); len(m.Changed)+len(m.Gone)+len(m.New) != 0 {
		t.Errorf("moved against itself: %+v", m)
	}
}

func checkSkipped(t *testing.T, d *Dump, size int) {
	t.Helper()
	var shown int64
	for _, s := range d.Skipped {
		shown += s.Bytes
		if s.Offset < 0 || s.Bytes <= 0 || s.Offset+s.Bytes > int64(size) {
			t.Errorf("skipped %+v of %d bytes", s, size)
		}
	}
	if shown > d.SkippedBytes || len(d.Skipped) < skipsMax && shown != d.SkippedBytes {
		t.Errorf("skipped %d bytes, shown %d", d.SkippedBytes, shown)
	}
}

// checkAll reads the text as any number of dumps.
func checkAll(t *testing.T, text []byte) {
	t.Helper()
	all, err := ParseAll(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var sum Stats
	for i, d := range all {
		sum.add(&d.Stats)
		if len(d.Goroutines)+len(d.Others) == 0 || d.Form == "" {
			t.Errorf("dump %d of form %q has nothing", i, d.Form)
		}
		for _, g := range slices.Concat(d.Goroutines, d.Others) {
			if g.Snapshot != i || g.Again || g.N() < 1 {
				t.Errorf("in dump %d: %+v", i, g)
			}
		}
	}
	if len(all) > 0 && (sum.Bytes != int64(len(text)) || sum.UsedBytes+sum.SkippedBytes != sum.Bytes || sum.Dumps != len(all)) {
		t.Errorf("%d dumps of %d bytes: %+v", len(all), len(text), sum)
	}
}

// FuzzLabels writes a header as the runtime would and reads the label back.
func FuzzLabels(f *testing.F) {
	f.Add("call", "17", "note", "x], 9 minutes]:\n\ngoroutine 9 [sleep]:")
	f.Add("", "\x00\x7f\"\\", "ü", "😀\xff")
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2 string) {
		text := fmt.Sprintf("goroutine 5 [select, 2 minutes labels:{%s: %s, %s: %s}]:\nmain.f()\n\t/a.go:1 +0x1\n",
			quoted(k1), quoted(v1), quoted(k2), quoted(v2))
		d := parseString(t, text)
		want := []Label{{valid(k1), valid(v1)}, {valid(k2), valid(v2)}}
		if len(d.Goroutines) != 1 || d.SkippedBytes != 0 || !reflect.DeepEqual(d.Goroutines[0].Labels, want) {
			t.Errorf("%s\n got %+v\nwant %q", text, d, want)
		}
		text = fmt.Sprintf("goroutine 5 [select, 2 minutes] {%s: %s, %s: %s}:\nmain.f()\n\t/a.go:1 +0x1\n",
			quoted127(k1), quoted127(v1), quoted127(k2), quoted127(v2))
		d = parseString(t, text)
		want = []Label{{k1, v1}, {k2, v2}}
		if len(d.Goroutines) != 1 || d.SkippedBytes != 0 || !reflect.DeepEqual(d.Goroutines[0].Labels, want) {
			t.Errorf("%s\n got %+v\nwant %q", text, d, want)
		}
	})
}

// quoted127 is how Go 1.27 prints a key or a value: quoted if need be, bytes that
// are no text as they are.
func quoted127(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 || !isBare(byte(r)) }) {
		return s
	}
	b := []byte{'"'}
	for i, r := range s {
		if _, size := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size == 1 {
			b = fmt.Appendf(b, `\x%02x`, s[i])
			continue
		}
		one := quoted(string(r))
		b = append(b, one[1:len(one)-1]...)
	}
	return string(append(b, '"'))
}

// valid replaces every invalid byte, as ranging over a string does.
func valid(s string) string { return string([]rune(s)) }

// quoted is the runtime's printquoted.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= ' ' && r <= '~':
			b.WriteRune(r)
		case r < 127:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x1_0000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
