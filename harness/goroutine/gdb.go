package goroutine

import (
	"bytes"
	"regexp"
	"slices"
)

// The lines of a gdb session on a Go program. gdb knows threads; its Go script
// (runtime-gdb.py) adds the commands "info goroutines" and "goroutine ID bt".
//
//	Thread N (Thread 0xT (LWP P)):      a thread's backtrace follows
//	(gdb) goroutine ID bt               a goroutine's backtrace follows
//	#N  [0xPC in ]NAME (ARG=0x…)[ at FILE:LINE| from LIBRARY]
//	    at FILE:LINE                    of a frame that was too wide
//	[* ]ID STATE  NAME                  of "info goroutines"

var (
	gdbThread = regexp.MustCompile(`^Thread (\d+) \(`)
	gdbBT     = regexp.MustCompile(`^\(gdb\) goroutine (\d+) (?:bt|backtrace|where)\b`)
	gdbCall   = regexp.MustCompile(`^#(\d+)\s+(0x[0-9a-f]+ in )?(\S+) \((.*)\)(?: at (.*:\d+)| from (\S+))?$`)
	gdbRow    = regexp.MustCompile(`^(?:\* )?(\d+) +(\w+) +([^\s.]\S*\.\S+)$`)
	gdbAt     = []byte("at ")
	gdbStates = []string{"idle", "runnable", "running", "syscall", "waiting", "moribund", "dead", "recovery", "copystack"}
)

// gdbHead takes a line that begins a thread or a goroutine.
func (p *parser) gdbHead(text []byte) (used bool, done *Goroutine) {
	if m := gdbThread.FindSubmatch(text); m != nil {
		done = p.begin(FormGDB, KindThread, 0)
		p.cur.g.Thread, _, _ = cutInt(m[1])
		return true, done
	}
	if m := gdbBT.FindSubmatch(text); m != nil {
		id, _, _ := cutInt(m[1])
		return true, p.begin(FormGDB, KindGoroutine, id)
	}
	if m := gdbRow.FindSubmatch(text); m != nil && slices.Contains(gdbStates, string(m[2])) {
		id, _, _ := cutInt(m[1])
		done = p.begin(FormGDB, KindGoroutine, id)
		p.cur.g.State = p.r.names.text(m[2])
		p.cur.addFrame(Frame{Func: p.r.names.text(m[3])}, nil)
		return true, done
	}
	return false, nil
}

// gdbFrame takes a line of a backtrace. One whose head is missing, or that begins
// again at 0, begins a block.
func (p *parser) gdbFrame(text []byte) (used bool, done *Goroutine) {
	m := gdbCall.FindSubmatch(text)
	if m == nil || len(m[2])+len(m[5])+len(m[6]) == 0 && !p.inForm(FormGDB) {
		return false, nil
	}
	if !p.inForm(FormGDB) || string(m[1]) == "0" && len(p.cur.g.Frames) > 0 {
		done = p.begin(FormGDB, KindHeadless, 0)
	}
	f := Frame{Func: p.r.names.text(m[3])}
	if at, ok := p.r.names.place(m[5]); ok {
		f.File, f.Line = at.file, at.line
	}
	p.cur.addFrame(f, m[4])
	return true, done
}

// gdbWrapped takes the place of a frame from a line of its own.
func (p *parser) gdbWrapped(text []byte) bool {
	at, ok := bytes.CutPrefix(text, gdbAt)
	n := len(p.cur.g.Frames)
	if !ok || n == 0 || p.cur.g.Frames[n-1].File != "" {
		return false
	}
	pos, ok := p.r.names.place(at)
	if ok {
		p.cur.g.Frames[n-1].File, p.cur.g.Frames[n-1].Line = pos.file, pos.line
	}
	return ok
}
