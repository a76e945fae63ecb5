package container

import (
	"bytes"
)

// An unfolding is a whole dump in one string, the value of a member of a JSON
// object or of a logfmt line, or a line that is nothing but the escaped text:
//
//	{"level":"error","msg":"…\n\ngoroutine 5 [select]:\n\t…","time":"…"}
//	time=… level=error msg="…\n\ngoroutine 5 [select]:\n\t…"
//
// It may have been escaped more than once.
type unfolding struct {
	on     bool // the string has not ended with the piece seen last
	long   bool // the rest of a line that is too long follows
	levels int  // of escapes
	quoted [levelsMax]bool
	ended  [levelsMax]bool
	from   origin
	tail   []byte // of the last line, which may go on in the next piece
	bytes  int64  // of the input that tail stands for
	rooms  [2][]byte
}

const levelsMax = 4

// begins says whether a text holds a dump in a string.
func (u *unfolding) begins(text []byte) bool {
	if bytes.IndexByte(text, '\\') < 0 {
		return false
	}
	at := escapedHeader(text)
	if at < 0 {
		return false
	}
	// A dump has such strings in labels and in the message of a panic.
	if text[0] == '\t' || text[0] == '#' || isHeader(text) || bytes.HasPrefix(text, []byte("panic: ")) || bytes.HasPrefix(text, []byte("fatal error: ")) {
		return !hasQuoteBefore(text, at) && bytes.Contains(text[:at+1], []byte(`\n`))
	}
	rest := text[at:]
	return bytes.Contains(rest, []byte(`\t`)) && (bytes.Contains(rest, []byte(".go:")) || bytes.Contains(rest, []byte(".s:")) || bytes.Contains(rest, []byte("stack unavailable")))
}

// escapedHeader returns the index of the first header of a dump that stands
// behind a quote or an escaped line end; -1 if there is none.
func escapedHeader(text []byte) int {
	const word = "goroutine "
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(word))
		if i < 0 {
			return -1
		}
		i += from
		from = i + len(word)
		behind := i == 0 || text[i-1] == '"' || i > 1 && text[i-1] == 'n' && text[i-2] == '\\'
		if behind && isHeader(text[i:]) {
			return i
		}
	}
}

func hasQuoteBefore(text []byte, at int) bool { return bytes.IndexByte(text[:at], '"') >= 0 }

// unfold queues the lines of a piece of text that holds a dump in a string. more
// says that further pieces of the same text follow.
func (r *Reader) unfold(text []byte, from origin, more bool) {
	u := &r.dump
	if !u.on {
		u.levels, u.ended, u.tail, u.bytes = 0, [levelsMax]bool{}, u.tail[:0], 0
		u.from = from
	}
	text = u.decode(text)
	u.bytes += from.size
	u.from.cut = from.cut
	u.tail = append(u.tail, text...)
	u.on = more
	end := len(u.tail)
	if more {
		end = bytes.LastIndexByte(u.tail, '\n') + 1
	}
	if end == 0 && more && len(u.tail) < lineBytesMax {
		return
	}
	given := u.from
	given.size = u.bytes
	lines := u.tail[:end]
	if more {
		given.size = min(int64(end), u.bytes)
		lines = bytes.TrimSuffix(lines, []byte("\n"))
	}
	n := len(r.texts)
	r.texts = append(r.texts, lines...)
	r.split(r.texts[n:], given)
	u.from.offset += given.size
	u.bytes -= given.size
	u.tail = u.tail[:copy(u.tail, u.tail[end:])]
}

// decode undoes all levels of escapes for a piece. With the first piece it finds
// out how many there are.
func (u *unfolding) decode(text []byte) []byte {
	for i := 0; i < levelsMax; i++ {
		if !u.on {
			at := escapedHeader(text)
			if i > 0 && (bytes.IndexByte(text, '\n') >= 0 || at < 0) {
				break
			}
			start := stringStart(text, at)
			u.quoted[i] = start > 0
			text = text[start:]
			u.levels++
		} else if i == u.levels {
			break
		}
		if u.ended[i] {
			return nil
		}
		if u.quoted[i] {
			end := stringEnd(text, -1)
			if end > 0 && text[end-1] == '"' && (end < len(text) || isClosed(text)) {
				text, u.ended[i] = text[:end-1], true
			}
		}
		room := &u.rooms[i%2]
		*room = unescape((*room)[:0], text)
		text = *room
	}
	return text
}

// isClosed says whether the quote that text ends with is not escaped.
func isClosed(text []byte) bool {
	slashes := 0
	for slashes < len(text)-1 && text[len(text)-2-slashes] == '\\' {
		slashes++
	}
	return slashes%2 == 0
}

// stringStart returns the index behind the quote of the string that byte at is
// in; 0 if it is in none.
func stringStart(text []byte, at int) int {
	for i := 0; i < at; {
		quote := bytes.IndexByte(text[i:at], '"')
		if quote < 0 {
			return 0
		}
		i += quote
		end := stringEnd(text, i)
		if end > at {
			return i + 1
		}
		i = end
	}
	return 0
}

// long takes the first piece of a line that is too long.
func (r *Reader) long(text []byte, from origin) {
	if r.dump.begins(text) {
		r.layers.add(layerString)
		r.unfold(text, from, true)
		return
	}
	r.dump.long = true
	from.long = true
	r.add(text, from)
}

// rest takes a further piece.
func (r *Reader) rest(size int, more bool) {
	raw := r.in.buf[r.in.start : r.in.start+size]
	from := r.dump.from
	from.offset, from.cut = r.in.offset, raw[size-1] != '\n' && !more
	from.size = r.in.take(size)
	if r.dump.long {
		r.dump.long = more
		from.long = true
		r.add(raw, from)
		return
	}
	r.unfold(trimEnd(raw), from, more)
}

// endDump queues what is left of a dump whose string did not end.
func (r *Reader) endDump() {
	if u := &r.dump; u.on {
		r.unfold(nil, origin{cut: true}, false)
	}
}
