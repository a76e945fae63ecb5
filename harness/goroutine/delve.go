package goroutine

import (
	"bytes"
	"strconv"
	"time"
)

// The lines of the debugger's commands goroutines and goroutine, after
// printGoroutines, writeGoroutineLong and PrintStack in its pkg/terminal and
// service/api. All may be indented, by group.
//
//	[* ]Goroutine ID - KIND: FILE:LINE NAME (0xPC)[ (thread N)][ [STATE[ SINCE]]]
//	Goroutine ID:                   below it KIND: FILE:LINE NAME (0xPC) for each kind
//	Labels: "K":"V", "K":"V"[... (N more)]
//	INDEX  0xPC in NAME             with -t; below it: at FILE:LINE
//	(truncated)                     frames left out
//	[N goroutines]
//
// KIND is User or Runtime, where the goroutine is, Go, the go statement, or Start,
// the function that it began with. SINCE is on a clock of the process, which
// says nothing by itself.

var (
	delveStart  = []byte("Goroutine ")
	delveLabels = []byte("Labels: ")
	delveAt     = []byte("at ")
)

// delveHead takes the line of a goroutine, or their number.
func (p *parser) delveHead(text []byte) (used bool, done *Goroutine) {
	if total, ok := cutDelveTotal(text); ok && p.snapshot >= 0 && p.dump.Form == FormDelve {
		p.turn.total = total
		return true, nil
	}
	text = bytes.TrimPrefix(text, []byte("* "))
	after, ok := bytes.CutPrefix(text, delveStart)
	if !ok {
		return false, nil
	}
	id, rest, ok := cutInt(after)
	if !ok {
		return false, nil
	}
	if string(rest) == ":" {
		return true, p.begin(FormDelve, KindGoroutine, id)
	}
	rest, ok = bytes.CutPrefix(rest, []byte(" - "))
	if !ok {
		return false, nil
	}
	kind, f, state, ok := p.cutDelveLocation(rest)
	if !ok {
		return false, nil
	}
	done = p.begin(FormDelve, KindGoroutine, id)
	p.setDelveState(state)
	p.addDelveLocation(kind, f)
	return true, done
}

func cutDelveTotal(text []byte) (int, bool) {
	middle, ok := bytes.CutPrefix(text, []byte("["))
	if !ok {
		return 0, false
	}
	n, rest, ok := cutInt(middle)
	return int(n), ok && string(rest) == " goroutines]"
}

// cutDelveLocation reads KIND: FILE:LINE NAME (0xPC) and returns what follows.
func (p *parser) cutDelveLocation(text []byte) (kind string, f Frame, rest []byte, ok bool) {
	for _, kind = range []string{"User", "Runtime", "Go", "Start"} {
		if text, ok = bytes.CutPrefix(text, []byte(kind+": ")); ok {
			break
		}
	}
	pc := bytes.Index(text, []byte(" (0x"))
	if !ok || pc < 0 {
		return "", f, nil, false
	}
	close := bytes.IndexByte(text[pc:], ')')
	name := bytes.LastIndexByte(text[:pc], ' ')
	if close < 0 || name < 0 {
		return "", f, nil, false
	}
	at, ok := p.r.names.place(text[:name])
	if !ok {
		return "", f, nil, false
	}
	f = Frame{Func: p.r.names.text(text[name+1 : pc]), File: at.file, Line: at.line}
	return kind, f, text[pc+close+1:], true
}

// addDelveLocation puts the frame where its kind belongs.
func (p *parser) addDelveLocation(kind string, f Frame) {
	switch g := &p.cur.g; kind {
	case "Go":
		g.CreatedBy = f
	case "Start":
		if len(g.Frames) > 0 && g.Frames[len(g.Frames)-1] == f {
			return // it has called nothing
		}
		p.cur.addGap(-1)
		p.cur.addFrame(f, nil)
	case "User":
		if len(g.Frames) == 1 && g.Frames[0] == f {
			return // the same as Runtime
		}
		p.cur.addFrame(f, nil)
	default:
		p.cur.addFrame(f, nil)
	}
}

// setDelveState reads what follows a location: a thread, a state.
func (p *parser) setDelveState(text []byte) {
	g := &p.cur.g
	if after, ok := bytes.CutPrefix(text, []byte(" (thread ")); ok {
		g.State = "running"
		if id, rest, ok := cutInt(after); ok {
			g.Thread, text = id, bytes.TrimPrefix(rest, []byte(")"))
		}
	}
	text, ok := bytes.CutPrefix(text, []byte(" ["))
	text, closed := bytes.CutSuffix(text, []byte("]"))
	if !ok || !closed {
		return
	}
	if i := bytes.LastIndexByte(text, ' '); i >= 0 {
		last := string(text[i+1:])
		if d, err := time.ParseDuration(last); err == nil {
			g.Wait, text = d, text[:i]
		} else if _, err := strconv.ParseInt(last, 10, 64); err == nil {
			g.Extra, text = "since "+last, text[:i]
		}
	}
	g.State = p.r.names.text(cutMarks(text, g))
}

// delveLine takes a line below that of a goroutine.
func (p *parser) delveLine(text []byte) bool {
	if after, ok := bytes.CutPrefix(text, delveLabels); ok {
		cutLabelPairs(after, &p.cur.g)
		return true
	}
	if kind, f, _, ok := p.cutDelveLocation(text); ok {
		p.addDelveLocation(kind, f)
		return true
	}
	if at, ok := bytes.CutPrefix(text, delveAt); ok {
		n := len(p.cur.g.Frames)
		pos, ok := p.r.names.place(at)
		if !ok || n == 0 || p.cur.g.Frames[n-1].File != "" {
			return false
		}
		p.cur.g.Frames[n-1].File, p.cur.g.Frames[n-1].Line = pos.file, pos.line
		return true
	}
	if string(text) == "(truncated)" {
		p.cur.addGap(-1)
		return true
	}
	index, rest, ok := cutInt(text)
	if !ok {
		return false
	}
	pc, rest := cutWord(bytes.TrimLeft(rest, " "))
	name, ok := bytes.CutPrefix(rest, []byte("in "))
	if !ok || !isHex(pc) {
		return false
	}
	if index == 0 {
		p.cur.clearFrames() // the stack has the frame that stood for it
	}
	p.cur.addFrame(Frame{Func: p.r.names.text(name)}, nil)
	return true
}
