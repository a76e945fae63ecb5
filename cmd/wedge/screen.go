package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"example.com/wedge/repro/live"
)

// screen shows a run on the whole of a terminal, and writes no more than what has changed since the last time. What
// was there before comes back at its end, however that comes about.
//
//	begin ── switches to the terminal's other screen, hides the cursor
//	  draw, at each look of the view, twice a second: lines that differ from those before
//	end ──── the cursor, and the screen from before; then what was said in the meantime
type screen struct {
	out  io.Writer
	size func() (width, height int) // asked before each drawing, so that nothing need hear of a change
	st   style
	url  string // of the page; empty: there is none

	done, ended chan struct{} // nil until begin
	once        sync.Once     // closes done

	mu     sync.Mutex
	up     bool
	closed bool
	shown  []string // lines as they stand there
	width  int
	height int
	notes  []string // what was said
}

// Sequences of control characters, as terminals since the VT100 know them; the other screen is xterm's.
const (
	otherScreen   = "\x1b[?1049h"
	firstScreen   = "\x1b[?1049l"
	hideCursor    = "\x1b[?25l"
	showCursor    = "\x1b[?25h"
	noWrap        = "\x1b[?7l"
	wrapAround    = "\x1b[?7h"
	plainPaint    = "\x1b[0m"
	clearAll      = "\x1b[2J"
	clearToTheEnd = "\x1b[K"
)

// Sizes below which a screen is of no use, and what is taken for one that does not say.
const (
	leastColumns, leastLines     = 20, 4
	defaultColumns, defaultLines = 80, 24
)

// screenOn returns a screen if w is a terminal that has one, else nil.
func screenOn(ctx context.Context, w io.Writer) *screen {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "" {
		return nil
	}
	s := newScreen(f, func() (int, int) {
		width, height, err := term.GetSize(int(f.Fd()))
		if err != nil || width <= 0 || height <= 0 {
			return defaultColumns, defaultLines
		}
		return width, height
	}, styleOf(w))
	if width, height := s.size(); width < leastColumns || height < leastLines {
		return nil
	}
	onInterrupt(ctx, s.leave)
	return s
}

func newScreen(out io.Writer, size func() (width, height int), st style) *screen {
	return &screen{out: out, size: size, st: st}
}

// begin shows the view until end.
func (s *screen) begin(v *live.View) {
	news, forget := v.Watch()
	s.done, s.ended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(s.ended)
		defer forget()
		for {
			s.show(v)
			select {
			case <-news:
			case <-s.done:
				return
			}
		}
	}()
}

// show is draw, after a panic of which the terminal is as it was before: else nobody could read what it was.
func (s *screen) show(v *live.View) {
	done := false
	defer func() {
		if !done {
			s.leave()
		}
	}()
	s.draw(v)
	done = true
}

// draw brings the terminal up to date.
func (s *screen) draw(v *live.View) {
	latest, history := v.Latest(), v.History()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	width, height := s.size()
	said := ""
	if n := len(s.notes); n > 0 {
		said = s.notes[n-1]
	}
	s.paint(frame(latest, history, s.url, said, width, height, s.st), width, height)
}

// paint writes the lines that are not on the terminal yet, in one piece. mu is held.
func (s *screen) paint(lines []string, width, height int) {
	var b strings.Builder
	if !s.up {
		b.WriteString(otherScreen + hideCursor + noWrap)
		s.up = true
	}
	if width != s.width || height != s.height {
		b.WriteString(plainPaint + clearAll)
		s.width, s.height, s.shown = width, height, nil
	}
	for i := range max(len(lines), len(s.shown)) {
		line, before := clearToTheEnd, ""
		if i < len(lines) {
			line = lines[i]
		}
		if i < len(s.shown) {
			before = s.shown[i]
		}
		if line != before {
			fmt.Fprintf(&b, "\x1b[%d;1H%s", i+1, line)
		}
	}
	s.shown = lines
	if b.Len() > 0 {
		_, _ = io.WriteString(s.out, b.String()) // a terminal that has gone has nobody before it
	}
}

// say keeps a line to be shown, and to be written once the screen is down; at once if it is.
func (s *screen) say(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		fmt.Fprintln(s.out, line)
		return
	}
	const most = 100
	if s.notes = append(s.notes, line); len(s.notes) > most {
		s.notes = s.notes[1:]
	}
}

// leave gives the terminal back as it was, with what was said. It may be called at any time, by several.
func (s *screen) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	var b strings.Builder
	if s.up {
		b.WriteString(plainPaint + wrapAround + showCursor + firstScreen)
	}
	for _, line := range s.notes {
		b.WriteString(line + "\n")
	}
	_, _ = io.WriteString(s.out, b.String()) // as above
}

// end is leave, and waits until nobody draws any more.
func (s *screen) end() {
	s.leave()
	if s.done == nil {
		return
	}
	s.once.Do(func() { close(s.done) })
	<-s.ended
}
