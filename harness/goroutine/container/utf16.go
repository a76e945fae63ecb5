package container

import (
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// A wideReader turns UTF-16 into UTF-8.
type wideReader struct {
	src  io.Reader
	big  bool   // big endian
	raw  []byte // read and not yet decoded
	text []byte // decoded and not yet read
	room []byte // that text is in
	read int64  // bytes of src
	err  error
}

// Read implements io.Reader.
func (w *wideReader) Read(p []byte) (int, error) {
	for len(w.text) == 0 {
		if w.err != nil {
			return 0, w.err
		}
		w.decode()
	}
	n := copy(p, w.text)
	w.text = w.text[n:]
	return n, nil
}

// decode reads and decodes once.
func (w *wideReader) decode() {
	had := len(w.raw)
	if cap(w.raw) < inputBytes {
		w.raw = append(make([]byte, 0, inputBytes), w.raw...)
	}
	n, err := w.src.Read(w.raw[had:inputBytes])
	w.raw, w.err = w.raw[:had+n], err
	w.read += int64(n)
	w.text = w.room[:0]
	i := 0
	for ; i+1 < len(w.raw); i += 2 {
		r := w.unit(i)
		if utf16.IsSurrogate(r) {
			if i+3 >= len(w.raw) && err == nil {
				break // the other half may come
			}
			pair := rune(utf8.RuneError)
			if i+3 < len(w.raw) {
				pair = utf16.DecodeRune(r, w.unit(i+2))
			}
			if r = pair; pair != utf8.RuneError {
				i += 2
			}
		}
		w.text = utf8.AppendRune(w.text, r)
	}
	w.raw = w.raw[:copy(w.raw, w.raw[i:])]
	w.room = w.text
	if err != nil && len(w.raw) > 0 {
		w.text = utf8.AppendRune(w.text, utf8.RuneError) // half a unit at the end
	}
}

func (w *wideReader) unit(i int) rune {
	a, b := rune(w.raw[i]), rune(w.raw[i+1])
	if w.big {
		a, b = b, a
	}
	return b<<8 | a
}

// wideBytes is how many bytes of UTF-16 a text of a wideReader was.
func wideBytes(text []byte) (n int64) {
	for _, c := range text {
		switch {
		case c < 0x80, c >= 0xc0 && c < 0xf0:
			n += 2
		case c >= 0xf0:
			n += 4
		}
	}
	return n
}
