package container

import (
	"unicode/utf8"
)

// unwrapIndent reads lines that a code block of Markdown or YAML has moved by
// two or four blanks. Tabs do not count: so the message of a panic is moved, which
// may hold a dump.
func unwrapIndent(b []byte, m *memo) (p piece, ok bool) {
	blanks := blanksOf(b)
	if isMargin(blanks) && announces(b[blanks:]) {
		m.margin = blanks
	}
	if m.margin == 0 || blanks < m.margin {
		return p, false
	}
	return piece{text: b[m.margin:]}, true
}

func isMargin(blanks int) bool { return blanks == 2 || blanks == 4 }

// newMemo returns what formats remember before the first of some lines.
func newMemo(sample [][]byte) (m memo) {
	m.shape = shapeOf(sample)
	for i, text := range sample {
		m.width = max(m.width, utf8.RuneCount(text))
		if blanks := blanksOf(text); i == 0 || blanks < m.margin {
			m.margin = blanks
		}
	}
	if !isMargin(m.margin) {
		m.margin = 0
	}
	return m
}

func blanksOf(b []byte) (n int) {
	for n < len(b) && b[n] == ' ' {
		n++
	}
	return n
}

// unwrapStairs reads the screen of a terminal in raw mode, where a line end does
// not go back to the left margin: each line begins in the column where the one
// before ended, is broken at the width, and a tab goes to a multiple of eight.
//
//	goroutine 1 [running]:
//	                      main.main()
//	                                        /x.go:3 +0x1
//
// An empty line follows one that just fits: the cursor has moved on already.
// m.width is the width in columns.
func unwrapStairs(b []byte, m *memo) (p piece, ok bool) {
	columns := utf8.RuneCount(b)
	if columns > m.width {
		return p, false
	}
	blanks, column := blanksOf(b), m.column
	m.column = columns
	if columns == m.width {
		p.partial, m.column = true, 0
	}
	p.joins = true
	switch {
	case m.full:
		p.text = b
	case blanks < column:
		m.full = false
		return piece{}, false
	case blanks == column:
		p.text = b[column:]
	case blanks%8 == 0:
		m.room = m.room[:0]
		for range blanks/8 - column/8 {
			m.room = append(m.room, '\t')
		}
		m.room = append(m.room, b[blanks:]...)
		p.text = m.room
	case blanks == m.width-1: // a tab goes no further
		m.room = append(append(m.room[:0], '\t'), b[blanks:]...)
		p.text = m.room
	default:
		p.text = b[column:]
	}
	m.full = p.partial
	return p, true
}
