package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"
)

const (
	// inlineBytes is how much a log collects before it writes by itself, if it does.
	inlineBytes = 64 << 10
	// bufferBytesMax bounds what waits for a disk that does not keep up.
	bufferBytesMax = 64 << 20
	// keptBytesMax is the largest buffer that is kept for the next lines.
	keptBytesMax = 1 << 20
)

// Log is a file of the bundle, or with [Rotation] a sequence of files, that grows by whole lines.
// Lines are collected in memory and written in large pieces that end with a line, so that a process
// that is killed leaves whole lines; if a piece is written in part, the file is cut back to its last
// whole line.
type Log struct {
	b    *Bundle
	name string
	o    LogOptions

	mu     sync.Mutex // guards buf and lost; held for a copy only
	buf    []byte
	spare  []byte // the other buffer, while it is not being written
	lost   int    // lines that found no room
	closed bool

	writing  sync.Mutex // held while bytes go to the files, so that they go in order; taken before mu
	at       position   // where the next line belongs
	oldest   int        // number of the first file that may still be there
	left     leftover   // what an earlier process wrote
	file     file       // nil: to be opened for the next line
	opened   int        // number of the file; the position may be in a later one, which is not open yet
	size     int64      // of the file, in whole lines
	missing  int        // lines lost since the last one in the file
	failedAt time.Time  // real time of the last failure; zero: the log can be written
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
	case l.lost > 0, len(l.buf)+len(lines) > bufferBytesMax: // what is lost is in one place
		l.lost += linesIn(lines)
	default:
		l.buf = append(l.buf, lines...)
	}
	full := l.b.o.Inline && len(l.buf) >= inlineBytes
	l.mu.Unlock()
	if full {
		l.flush(false)
	}
	return len(p), nil
}

// flush writes what has been collected. A log that failed is tried again if it is time for that, or
// if this is the last occasion.
func (l *Log) flush(last bool) {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.retry(last)
	l.mu.Lock()
	out, lost := l.buf, l.lost
	l.buf, l.spare, l.lost = l.spare[:0], nil, 0
	l.mu.Unlock()
	l.put(out)
	if lost > 0 {
		l.miss(lost)
		l.b.fail("writing "+l.name, fmt.Errorf("the disk is too slow: %d lines were lost", lost))
	}
	l.tell()
	if cap(out) <= keptBytesMax {
		l.mu.Lock()
		l.spare = out[:0]
		l.mu.Unlock()
	}
}

// put brings each line to the file in which it belongs.
func (l *Log) put(lines []byte) {
	for len(lines) > 0 {
		n := l.o.Rotate.fits(l.at, lines)
		if n == 0 {
			l.at = position{number: l.at.number + 1}
			continue
		}
		piece := l.pass(lines[:n])
		l.append(piece)
		l.at.bytes += int64(len(piece))
		lines = lines[n:]
	}
}

// append writes whole lines to the file, or as many of them as it takes.
func (l *Log) append(lines []byte) {
	if len(lines) == 0 {
		return
	}
	l.tell()
	if !l.writable() || !l.open() {
		l.miss(linesIn(lines))
		return
	}
	n, err := l.file.Write(lines)
	if err == nil {
		l.size += int64(n)
		return
	}
	whole := bytes.LastIndexByte(lines[:n], '\n') + 1
	l.size += int64(whole)
	l.miss(linesIn(lines[whole:]))
	err = withoutPath(err)
	if cut := l.cutBack(); cut != nil {
		err = fmt.Errorf("%w, and half a line is left: %w", err, withoutPath(cut))
	}
	l.fail("writing", err)
}

// open opens the file that the position is in. It returns false if that fails.
func (l *Log) open() bool {
	if l.file != nil && l.opened == l.at.number {
		return true
	}
	l.leave()
	f, size, err := l.b.disk.grow(numbered(l.name, l.at.number))
	if err != nil {
		l.fail("opening", err)
		return false
	}
	l.file, l.opened = f, l.at.number
	// Half a line can be there only if the log failed, and could not be cut back then.
	if l.size, _, err = scan(f, size); err == nil {
		err = l.cutBack()
	}
	if err != nil {
		l.fail("opening", err)
		return false
	}
	l.removeOld()
	return l.writable()
}

// cutBack removes what is in the file beyond its last whole line.
func (l *Log) cutBack() error {
	info, err := l.file.Stat()
	if err != nil || info.Size() <= l.size {
		return err
	}
	return l.file.Truncate(l.size)
}

// leave closes the file, which is complete.
func (l *Log) leave() {
	if l.file == nil {
		return
	}
	if err := l.file.Close(); err != nil {
		l.fail("closing", err)
	}
	l.file, l.size = nil, 0
}

// removeOld removes the files that are too many. The new one is there already, so that a log is never
// without a file; it is empty yet, so that there is room for it.
func (l *Log) removeOld() {
	keep := l.o.Rotate.FilesMax
	if keep <= 0 || l.at.number == 0 {
		return
	}
	for ; l.oldest <= l.at.number-keep; l.oldest++ {
		name := numbered(l.name, l.oldest)
		if err := l.b.disk.remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.b.fail("removing "+name, err) // the log itself can be written
			return
		}
	}
}

// close writes what is left and closes the log. It returns whether the log has passed what an earlier
// process wrote.
func (l *Log) close() (passed bool) {
	l.flush(true)
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.writable() {
		l.removeOld() // what could not be removed before
	}
	l.leave()
	_, before := l.left.find(l.at)
	l.left.close()
	return !before
}

// linesIn counts lines.
func linesIn(p []byte) int { return bytes.Count(p, []byte{'\n'}) }
