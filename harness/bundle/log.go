package bundle

import (
	"errors"
	"fmt"
	"sync"
)

const (
	// inlineBytes is how much a log collects before it writes by itself, if it does.
	inlineBytes = 64 << 10
	// bufferBytesMax bounds what waits for a disk that does not keep up.
	bufferBytesMax = 64 << 20
	// keptBytesMax is the largest buffer that is kept for the next lines.
	keptBytesMax = 1 << 20
)

// Log is a file of the bundle that grows by whole lines. Lines are collected in memory and written in
// large pieces that end with a line, so that a process that is killed leaves whole lines; if a piece
// is written in part, the file is cut back to its last whole line.
type Log struct {
	b    *Bundle
	name string
	o    LogOptions

	mu     sync.Mutex // guards buf and lost; held for a copy only
	buf    []byte
	spare  []byte // the other buffer, while it is not being written
	lost   int    // lines that found no room
	closed bool

	writing sync.Mutex // held while bytes go to the file, so that they go in order; taken before mu
	file    file
	size    int64 // of the file
}

// open makes the file.
func (l *Log) open() {
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.b.Err() != nil {
		return
	}
	f, err := l.b.disk.create(l.name)
	if err != nil {
		l.b.fail("creating "+l.name, err)
		return
	}
	l.file = f
}

// Write appends lines. p must end with a line end; it is not kept. Write never fails, so that logging
// cannot get in the way of a run: failures are kept by the bundle, see [Bundle.Err].
func (l *Log) Write(p []byte) (int, error) {
	if l == nil {
		return len(p), nil
	}
	lines := l.b.redact(p)
	l.mu.Lock()
	switch {
	case l.closed:
	case len(l.buf)+len(lines) > bufferBytesMax:
		l.lost++
	default:
		l.buf = append(l.buf, lines...)
	}
	full := l.b.inline && len(l.buf) >= inlineBytes
	l.mu.Unlock()
	if full {
		l.flush()
	}
	return len(p), nil
}

// flush writes what has been collected.
func (l *Log) flush() {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	out, lost := l.buf, l.lost
	l.buf, l.spare, l.lost = l.spare[:0], nil, 0
	l.mu.Unlock()
	if len(out) > 0 && l.file != nil && l.b.Err() == nil {
		l.put(out)
	}
	if lost > 0 {
		l.b.fail("writing "+l.name, fmt.Errorf("the disk is too slow: %d lines were lost", lost))
	}
	if cap(out) <= keptBytesMax {
		l.mu.Lock()
		l.spare = out[:0]
		l.mu.Unlock()
	}
}

// put writes whole lines to the file, or leaves it as it was.
func (l *Log) put(lines []byte) {
	n, err := l.file.Write(lines)
	if err == nil {
		l.size += int64(n)
		return
	}
	whole := n
	for whole > 0 && lines[whole-1] != '\n' {
		whole--
	}
	l.size += int64(whole)
	l.b.fail("writing "+l.name, errors.Join(withoutPath(err), l.file.Truncate(l.size)))
}

func (l *Log) close() {
	l.flush()
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.file == nil {
		return
	}
	if err := l.file.Close(); err != nil {
		l.b.fail("closing "+l.name, err)
	}
	l.file = nil
}
