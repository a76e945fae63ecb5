package goroutine

import "bytes"

// The lines of the debug=1 profile, after printCountProfile and printStackRecord
// in Go's runtime/pprof/pprof.go. "@" at the start of words below is a tab, of
// which there are more where columns are aligned.
//
//	goroutine profile: total N          or "goroutineleak profile: total N"
//	COUNT @ PC PC ...                   a real at sign
//	# labels: {"K":"V", "K":"V"}
//	#@PC[@NAME+0xOFF@FILE:LINE]

// countMax keeps sums of counts within an int.
const countMax = 1 << 40

var (
	profileTotal = []byte(" profile: total ")
	labelsLine   = []byte("# labels: {")
)

// profileHead takes the first line of a profile. Those of other things than
// goroutines begin nothing.
func (p *parser) profileHead(text []byte) bool {
	name, number, ok := bytes.Cut(text, profileTotal)
	if !ok || string(name) != "goroutine" && string(name) != "goroutineleak" {
		return false
	}
	total, rest, ok := cutInt(number)
	if !ok || len(rest) > 0 {
		return false
	}
	p.dropCall()
	p.turn.head = true
	p.turn.total, p.turn.threads = int(total), false
	return true
}

// profileStack takes the line that begins a stack.
func (p *parser) profileStack(text []byte) (used bool, done *Goroutine) {
	count, rest, ok := cutInt(text)
	if !ok || !bytes.HasPrefix(rest, []byte(" @")) {
		return false, nil
	}
	for pc, more := cutWord(bytes.TrimLeft(rest[len(" @"):], " ")); len(pc) > 0; pc, more = cutWord(more) {
		if !isHex(pc) {
			return false, nil
		}
	}
	done = p.close()
	p.cur.g.Count = int(min(count, countMax))
	p.place(FormProfileText)
	return true, done
}

// profileLine takes a line that begins with "#". Where the head of the text is
// missing it begins a block.
func (p *parser) profileLine(text []byte) (used bool, done *Goroutine) {
	if bytes.HasPrefix(text, labelsLine) {
		if !p.inForm(FormProfileText) {
			return false, nil
		}
		_, ok := cutLabels(text[len(labelsLine):], &p.cur.g)
		return ok, nil
	}
	pc, rest := cutWord(bytes.TrimLeft(text[1:], " \t"))
	if !isHex(pc) {
		return false, nil
	}
	f := Frame{Func: p.r.names.text(pc)}
	if name, at := cutWord(rest); len(name) > 0 {
		pos, ok := p.r.names.place(at)
		offset := bytes.LastIndex(name, []byte("+0x"))
		if !ok || offset < 0 {
			return false, nil
		}
		f = Frame{Func: p.r.names.text(name[:offset]), File: pos.file, Line: pos.line}
	}
	if !p.inForm(FormProfileText) {
		done = p.begin(FormProfileText, KindHeadless, 0)
	}
	p.cur.addFrame(f, nil)
	return true, done
}
