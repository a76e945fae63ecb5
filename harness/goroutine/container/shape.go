package container

import "bytes"

// shapeOf returns the prefix of the first header of a dump in a sample, for
// loggers that nobody has told of here; nil if there is none. What is only blanks
// is none: that may be the message of a panic.
func shapeOf(sample [][]byte) []byte {
	for _, text := range sample {
		if isDumpLine(text) {
			continue
		}
		for from := 0; ; {
			i := bytes.Index(text[from:], []byte("goroutine "))
			if i < 0 || from+i > prefixBytesMax {
				break
			}
			from += i
			if from > 0 && bytes.IndexByte([]byte(" \t:]|>"), text[from-1]) >= 0 && isHeader(text[from:]) && len(trimRight(text[:from])) > 0 && text[0] != '\t' {
				return bytes.Clone(text[:from])
			}
			from++
		}
	}
	return nil
}

// unwrapShape reads a prefix of the shape of m: equal to it but for its numbers and
// how many blanks stand together.
func unwrapShape(b []byte, m *memo) (p piece, ok bool) {
	i := 0
	shape := m.shape
	if len(shape) == 0 {
		return p, false
	}
	for len(shape) > 0 {
		c := shape[0]
		if i == len(b) {
			if len(trimRight(shape)) > 0 {
				return p, false
			}
			break // of an empty line, whose blanks were lost
		}
		run := isBlank
		if isDigit(c) {
			run = isDigit
		}
		switch {
		case run(c) && len(shape) > 1:
			if !run(b[i]) {
				return p, false
			}
			for len(shape) > 0 && run(shape[0]) {
				shape = shape[1:]
			}
			if len(shape) == 0 { // blanks behind the prefix are the line's
				return piece{text: b[min(i+len(m.shape)-len(trimRight(m.shape)), len(b)):]}, true
			}
			for i < len(b) && run(b[i]) {
				i++
			}
			continue
		case b[i] != c:
			return p, false
		}
		i++
		shape = shape[1:]
	}
	return piece{text: b[i:]}, true
}

func isBlank(c byte) bool { return c == ' ' }
