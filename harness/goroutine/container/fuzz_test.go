package container

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Whatever the input: its bytes are accounted for once, lines have no line end,
// and it does not matter in what pieces the source comes.
func FuzzReader(f *testing.F) {
	lines := original(false)
	for _, w := range wrappers {
		f.Add([]byte(w.wrap(lines)))
		f.Add([]byte(w.wrap(lines)[:len(w.wrap(lines))*2/3]))
	}
	f.Add([]byte(staircase(lines, 80)))
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, r := read(t, bytes.NewReader(text), len(text))
		for _, l := range whole {
			if bytes.IndexByte(l.Text, '\n') >= 0 || l.Source < 0 || l.Source >= len(r.Sources()) {
				t.Fatalf("line %q of source %d", l.Text, l.Source)
			}
		}
		pieces, _ := read(t, iotest.HalfReader(bytes.NewReader(text)), len(text))
		if !equal(textOf(whole), textOf(pieces)) {
			t.Fatalf("in one piece: %q\nin several: %q", textOf(whole), textOf(pieces))
		}
	})
}

// Each format gives back what was put into it, whatever that is.
func FuzzFormats(f *testing.F) {
	for i := range wrappers {
		f.Add(uint8(i), "api-1  | a\\n\tb \xff #011 \x1b[1m")
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		w := wrappers[int(which)%len(wrappers)]
		if w.blind || strings.ContainsAny(text, "\n\r\x1b") || strings.Contains(text, "#01") || isString(w.what) || strings.HasPrefix(w.what, "UTF-16") || strings.ToValidUTF8(text, "") != text {
			t.Skip()
		}
		// Enough of a dump that the format is certain, and the text among it.
		lines := append(original(false)[:9:9], "\tpanic: "+text, "x")
		in := w.wrap(lines)
		got, _ := read(t, strings.NewReader(in), len(in))
		want := strings.TrimRight("\tpanic: "+text, " \t")
		if len(got) != len(lines) || string(got[9].Text) != want {
			t.Fatalf("%s: line is %q, want %q", w.what, textOf(got)[9:], want)
		}
	})
}

// Readers fail after what they gave.
func FuzzCutSource(f *testing.F) {
	lines := original(false)
	for _, w := range wrappers {
		f.Add([]byte(w.wrap(lines)), uint16(300))
	}
	f.Fuzz(func(t *testing.T, text []byte, cut uint16) {
		text = text[:min(len(text), int(cut))]
		r := NewReader(io.MultiReader(bytes.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF)))
		total := int64(0)
		for {
			l, err := r.Next()
			if err != nil {
				if err != io.ErrUnexpectedEOF || total != int64(len(text)) {
					t.Fatalf("%v after %d of %d bytes", err, total, len(text))
				}
				return
			}
			total += l.Size
		}
	})
}
