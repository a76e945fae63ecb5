package bundle

import (
	"fmt"
	"time"
)

// retryEvery is how long a log that failed waits, in real time, before it is tried again.
const retryEvery = 10 * time.Second

// lostLines begins the line that stands for lines that could not be written. No other line of a log
// begins like this.
const lostLines = `{"lost_lines":`

// writable says whether the log is worth a try.
func (l *Log) writable() bool { return l.failedAt.IsZero() && !l.b.stopped() }

// retry lets a log that failed be tried again, once it is time. What an earlier failure left in the
// file is removed first, so that there is no half line within it.
func (l *Log) retry(now bool) {
	if l.failedAt.IsZero() || l.b.stopped() || !now && time.Since(l.failedAt) < retryEvery {
		return
	}
	if l.b.isGone() || l.file != nil && l.cutBack() != nil {
		l.failedAt = time.Now()
		return
	}
	l.failedAt = time.Time{}
}

// fail keeps the error; the log is not written until it is tried again.
func (l *Log) fail(what string, err error) {
	l.failedAt = time.Now()
	l.b.fail(what+" "+numbered(l.name, l.at.number), err)
}

// miss counts lines that are lost.
func (l *Log) miss(lines int) {
	l.missing += lines
	l.b.mu.Lock()
	l.b.lost += lines
	l.b.mu.Unlock()
}

// tell writes how many lines are missing, if there are any and the file takes it. The line counts for
// no file's length, so that the lines after it are in the files in which they would be without it.
func (l *Log) tell() {
	if l.missing == 0 || !l.b.o.GoOn || !l.writable() || !l.open() {
		return
	}
	line := fmt.Appendf(nil, "%s%d}\n", lostLines, l.missing)
	if _, err := l.file.Write(line); err != nil {
		l.fail("writing", err) // retry cuts back
		return
	}
	l.size += int64(len(line))
	l.missing = 0
}

// drop lets go of a file that is not where it was.
func (l *Log) drop() {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.failedAt = time.Now()
	if l.file != nil {
		_ = l.file.Close() // nobody will read it
		l.file, l.size = nil, 0
	}
}

// check notices that the file was removed.
func (l *Log) check() {
	l.writing.Lock()
	name, open := numbered(l.name, l.opened), l.file != nil
	l.writing.Unlock()
	if !open {
		return
	}
	if err := l.b.disk.exists(name); err != nil {
		l.b.fail("the log "+name, err)
		l.drop()
	}
}
