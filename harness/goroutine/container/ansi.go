package container

import "bytes"

// AppendPlain appends a text without its terminal control: ESC [ sequences (as
// for colours), ESC ] and ESC _ strings (titles, links, marks of CI), and the
// one character that follows any other ESC.
func AppendPlain(to, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, esc)
		if i < 0 {
			return append(to, b...)
		}
		to = append(to, b[:i]...)
		b = b[i+1:]
		if len(b) == 0 {
			return to
		}
		switch b[0] {
		case '[':
			end := 1
			for end < len(b) && (b[end] < '@' || b[end] > '~') {
				end++
			}
			b = b[min(end+1, len(b)):]
		case ']', '_', 'P', '^':
			b = b[stringControlEnd(b):]
		case '(', ')':
			b = b[min(2, len(b)):]
		default:
			b = b[1:]
		}
	}
}

// stringControlEnd returns where a control string ends: behind BEL or ESC \, or
// with the line.
func stringControlEnd(b []byte) int {
	for i, c := range b {
		if c == 0x07 {
			return i + 1
		}
		if c == esc && i > 0 {
			return min(i+2, len(b))
		}
	}
	return len(b)
}
