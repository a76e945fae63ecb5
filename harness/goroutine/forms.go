package goroutine

import (
	"bytes"

	"example.com/wedge/harness/goroutine/container"
)

// otherForm takes a line at the margin that is not the runtime's text: a message,
// or a line of another form. Each form is told by its own lines, not by the text
// as a whole, since reports paste several forms into one.
func (p *parser) otherForm(l container.Line) (used bool, done *Goroutine) {
	text := l.Text
	switch {
	case text[0] == '#':
		if used, done = p.profileLine(text); !used {
			used, done = p.gdbFrame(text)
		}
	case text[0] >= '0' && text[0] <= '9':
		if used, done = p.profileStack(text); !used && p.isBucket(text) {
			p.await(l, callBucket, 0)
			return true, nil
		}
	case text[0] == 'T' || text[0] == '(' || text[0] == '*':
		if used, done = p.gdbHead(text); !used {
			used, done = p.delveHead(text)
		}
	case text[0] == 'G' || text[0] == '[':
		used, done = p.delveHead(text)
	default:
		used = p.profileHead(text)
	}
	if !used {
		used = p.message(text)
	}
	if used {
		p.use(l.Size)
	}
	return used, done
}

// otherIndented takes an indented line that is not the runtime's text; text is
// without its blanks.
func (p *parser) otherIndented(l container.Line, text []byte) (used bool, done *Goroutine) {
	switch {
	case p.call.kind == callBucket:
		used, done = p.firstBucketLine(text)
	case p.preamble.more(text):
		used = true
	case p.inForm(FormPanicparse):
		used = p.bucketLine(text)
	case p.inForm(FormDelve):
		used = p.delveLine(text)
	case p.inForm(FormGDB):
		used = p.gdbWrapped(text)
	}
	if !used && (text[0] == 'G' || text[0] == '*') {
		used, done = p.delveHead(text)
	}
	if !used && (text[0] == '*' || text[0] >= '0' && text[0] <= '9') {
		used, done = p.gdbHead(text)
	}
	if used {
		p.use(l.Size)
		return true, done
	}
	if p.call.kind == callNone && text[0] >= '0' && text[0] <= '9' && p.isBucket(text) {
		l.Text = text
		p.await(l, callBucket, 0)
		return true, nil
	}
	return false, nil
}

// inForm reports whether the block being filled is of the form.
func (p *parser) inForm(form Form) bool { return p.cur.open && p.snapshot >= 0 && p.dump.Form == form }

// cutWord splits off the first word.
func cutWord(text []byte) (word, rest []byte) {
	end := bytes.IndexAny(text, " \t")
	if end < 0 {
		return text, nil
	}
	return text[:end], bytes.TrimLeft(text[end:], " \t")
}

// isHex reports whether the word is 0x and digits.
func isHex(word []byte) bool {
	digits, ok := bytes.CutPrefix(word, []byte("0x"))
	if !ok {
		return false
	}
	_, rest, ok := cutHex(digits)
	return ok && len(rest) == 0
}
