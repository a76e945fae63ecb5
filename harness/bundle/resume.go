package bundle

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// leftover is what an earlier process wrote of a log that is replayed now. The lines that come are
// the same again, up to where that process ended; until then they are compared and not written.
type leftover struct {
	files []leftFile // by ascending number; those before the first have been rotated away
	open  file       // the one that is being compared; nil: none
	which int        // its number
	buf   []byte     // for what is read of it
}

// leftFile is a file of whole lines.
type leftFile struct {
	number int
	size   int64 // bytes
}

func (o *leftover) close() {
	if o.open != nil {
		_ = o.open.Close() // it was only read
	}
	*o = leftover{}
}

// begin finds out what is there of a log and where its next line belongs, and opens its file. The
// caller holds writing.
func (l *Log) begin() {
	l.oldest = 1
	if l.o.Rotate.BytesMax > 0 {
		l.at.number = 1
	}
	if l.b.stopped() {
		return
	}
	if l.b.o.Resume {
		if err := l.takeUp(); err != nil {
			l.b.stop("taking up "+l.name, err) // trying again would write from the beginning
			return
		}
	}
	if len(l.left.files) == 0 {
		l.open()
		return
	}
	l.oldest = max(1, l.left.files[0].number)
}

// takeUp looks at the files of an earlier process and cuts off what is no use: half a line at the
// end, and for a replay everything from the first lost line on, since the replay has those lines.
func (l *Log) takeUp() error {
	numbers, err := l.numbers()
	if err != nil || len(numbers) == 0 {
		return err
	}
	if l.o.Append {
		l.oldest = max(1, numbers[0])
		l.at.number = numbers[len(numbers)-1]
		l.at.bytes, _, err = l.scan(l.at.number)
		return err // open cuts off half a line
	}
	for i, n := range numbers {
		whole, hole, err := l.scan(n)
		if err != nil {
			return err
		}
		size := whole
		if hole >= 0 {
			size = hole
		}
		l.left.files = append(l.left.files, leftFile{n, size})
		if hole >= 0 || size == 0 || i == len(numbers)-1 {
			return l.cutLeft(i, size, numbers[i+1:])
		}
	}
	return nil
}

// numbers returns the numbers of the files that are there, ascending; 0 is that of a log that is not
// rotated.
func (l *Log) numbers() ([]int, error) {
	names, err := Logs(l.b.disk.fsys(), l.name)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, name := range names {
		n := 0
		if name != l.name {
			n, _ = numberOf(l.name, path.Base(name))
		}
		if (n > 0) == (l.o.Rotate.BytesMax > 0) {
			out = append(out, n)
		}
	}
	return out, nil
}

// scan scans one of the files.
func (l *Log) scan(number int) (whole, hole int64, err error) {
	f, size, err := l.b.disk.grow(numbered(l.name, number))
	if err != nil {
		return 0, -1, err
	}
	whole, hole, err = scan(f, size)
	return whole, hole, errors.Join(err, f.Close())
}

// cutLeft ends what an earlier process left with the first size bytes of its i-th file. The later
// files, which have the given numbers, go first, the last one before all, so that a process that is
// killed in between leaves nothing that looks complete and is not. A file without a line goes too:
// the one before it may lack lines, which nobody could tell then.
func (l *Log) cutLeft(i int, size int64, later []int) error {
	for _, n := range slices.Backward(later) {
		if err := l.b.disk.remove(numbered(l.name, n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	name := numbered(l.name, l.left.files[i].number)
	l.left.files = l.left.files[:i+1]
	l.left.files[i].size = size
	if size == 0 {
		l.left.files = l.left.files[:i]
		return l.b.disk.remove(name)
	}
	f, have, err := l.b.disk.grow(name)
	if err != nil {
		return err
	}
	if have > size {
		err = f.Truncate(size)
	}
	return errors.Join(err, f.Close())
}

// scan returns how much of a file is whole lines, and where its first hole is, -1 for none.
func scan(r io.ReaderAt, size int64) (whole, hole int64, err error) {
	in := bufio.NewReaderSize(io.NewSectionReader(r, 0, size), inlineBytes)
	hole = -1
	begins := true // a line does
	for at := int64(0); ; {
		part, err := in.ReadSlice('\n')
		if begins && hole < 0 && bytes.HasPrefix(part, []byte(lostLines)) {
			hole = at
		}
		at += int64(len(part))
		switch {
		case err == nil:
			whole, begins = at, true
		case errors.Is(err, bufio.ErrBufferFull):
			begins = false
		case err == io.EOF:
			if hole >= whole {
				hole = -1 // cut off
			}
			return whole, hole, nil
		default:
			return 0, -1, withoutPath(err)
		}
	}
}

// pass returns what of a piece, which belongs at the position, has to be written; the position moves
// over the rest.
func (l *Log) pass(piece []byte) []byte {
	i, ok := l.left.find(l.at)
	if !ok {
		l.left.close()
		return piece
	}
	f := l.left.files[i]
	if f.number > l.at.number { // rotated away
		l.at.bytes += int64(len(piece))
		return nil
	}
	n, err := l.same(f, piece)
	whole := bytes.LastIndexByte(piece[:n], '\n') + 1
	there := l.at.bytes + int64(whole)
	if ends := i == len(l.left.files)-1 && there == f.size; err == nil && whole < len(piece) && !ends {
		if l.b.o.Interrupted {
			err = l.cutLeft(i, there, l.left.after(i))
		} else {
			line, _, _ := bytes.Cut(piece[whole:], []byte{'\n'})
			err = fmt.Errorf("it differs after %d bytes, where the replay has %.200q", there, line)
		}
	}
	if err != nil {
		l.b.stop("comparing "+numbered(l.name, l.at.number)+" with the replay", err)
	}
	l.at.bytes = there
	return piece[whole:]
}

// find returns the file at a position, or the first one after it, and false beyond the last line.
func (o *leftover) find(at position) (i int, ok bool) {
	for i, f := range o.files {
		if at.number < f.number || at.number == f.number && at.bytes < f.size {
			return i, true
		}
		if at.number == f.number && i < len(o.files)-1 {
			return i, true // too short: same will tell
		}
	}
	return 0, false
}

// after returns the numbers of the files after the i-th.
func (o *leftover) after(i int) []int {
	var out []int
	for _, f := range o.files[i+1:] {
		out = append(out, f.number)
	}
	return out
}

// same returns how many bytes of the piece are at the position of the file.
func (l *Log) same(f leftFile, piece []byte) (n int, err error) {
	if l.left.open == nil || l.left.which != f.number {
		if l.left.open != nil {
			_ = l.left.open.Close() // it was only read
		}
		if l.left.open, _, err = l.b.disk.grow(numbered(l.name, f.number)); err != nil {
			l.left.open = nil
			return 0, err
		}
		l.left.which = f.number
	}
	there := max(0, f.size-l.at.bytes) // less than nothing, if files are missing that were before the next one
	have := slices.Grow(l.left.buf[:0], len(piece))[:min(int64(len(piece)), there)]
	l.left.buf = have
	if _, err := l.left.open.ReadAt(have, l.at.bytes); err != nil {
		return 0, withoutPath(err)
	}
	for n < len(have) && have[n] == piece[n] {
		n++
	}
	return n, nil
}
