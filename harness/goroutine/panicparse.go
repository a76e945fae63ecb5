package goroutine

import (
	"regexp"
	"strconv"
	"time"
)

// The lines of panicparse on a terminal, after BucketHeader and callLine in its
// internal/ui.go. Only the second confirms the first, since logs number their
// lines in the same way.
//
//	COUNT: STATE[ [MIN[~MAX] minutes]][ [locked]][ [Created by NAME @ FILE:LINE]]
//	    PACKAGE FILE:LINE NAME(ARGS)
//	    (...)

var (
	bucketHead   = regexp.MustCompile(`^(\d+): ([a-zA-Z?][^\[\]]*?)(?: \[(\d+)(?:~\d+)? minutes\])?( \[locked\])?(?: \[Created by (\S+) @ (.*:\d+)\])?$`)
	bucketFrame  = regexp.MustCompile(`^(\S*)\s+(\S.*?:\d+)\s+((?:\(\*?[^()]*\)\.)?[^()\s]+)\((.*)\)$`)
	bucketElided = "(...)"
)

func (p *parser) isBucket(text []byte) bool {
	return len(text) < 1<<10 && bucketHead.Match(text)
}

// firstBucketLine takes the line below what may head a bucket.
func (p *parser) firstBucketLine(text []byte) (used bool, done *Goroutine) {
	if !bucketFrame.Match(text) {
		return false, nil
	}
	m := bucketHead.FindSubmatch(p.call.text)
	size := p.call.size
	p.call.size = 0
	done = p.close()
	g := &p.cur.g
	if n, err := strconv.ParseInt(string(m[1]), 10, 64); err == nil {
		g.Count = int(min(n, countMax))
	}
	g.State = p.r.names.text(m[2])
	if minutes, err := strconv.ParseInt(string(m[3]), 10, 64); err == nil {
		g.Wait = time.Duration(min(minutes, waitMinutesMax)) * time.Minute // the least of the bucket
	}
	g.LockedToThread = len(m[4]) > 0
	if len(m[5]) > 0 {
		at, _ := p.r.names.place(m[6])
		g.CreatedBy = Frame{Func: p.r.names.text(m[5]), File: at.file, Line: at.line}
	}
	p.place(FormPanicparse)
	p.use(size)
	return p.bucketLine(text), done
}

// bucketLine takes a frame.
func (p *parser) bucketLine(text []byte) bool {
	if string(text) == bucketElided {
		p.cur.addGap(-1)
		return true
	}
	m := bucketFrame.FindSubmatch(text)
	if m == nil {
		return false
	}
	at, ok := p.r.names.place(m[2])
	if !ok {
		return false
	}
	name := m[3]
	if len(m[1]) > 0 {
		name = append(append(append([]byte{}, m[1]...), '.'), name...)
	}
	p.cur.addFrame(Frame{Func: p.r.names.text(name), File: at.file, Line: at.line}, m[4])
	return true
}
