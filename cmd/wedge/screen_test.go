package main

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/diagnose"
	"example.com/wedge/repro/live"
)

// fakeTerminal understands what a screen writes, as a terminal of the family of the VT100 does. What it does not
// understand fails the test.
type fakeTerminal struct {
	t  *testing.T
	mu sync.Mutex

	width, height int
	row, column   int
	first, other  [][]rune // the two screens
	onOther       bool
	saved         [2]int // where the cursor was on the first
	hidden        bool   // the cursor
	noWrap        bool
	bytes         int // written so far
}

func newFakeTerminal(t *testing.T, width, height int) *fakeTerminal {
	f := &fakeTerminal{t: t}
	f.resize(width, height)
	return f
}

// resize changes the size, as somebody does who pulls at the window; what there was is lost.
func (f *fakeTerminal) resize(width, height int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.width, f.height = width, height
	f.first, f.other = blank(width, height), blank(width, height)
	f.row, f.column = min(f.row, height-1), min(f.column, width-1)
}

func blank(width, height int) [][]rune {
	out := make([][]rune, height)
	for i := range out {
		out[i] = []rune(strings.Repeat(" ", width))
	}
	return out
}

func (f *fakeTerminal) size() (int, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.width, f.height
}

// Write implements io.Writer.
func (f *fakeTerminal) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bytes += len(p)
	text := string(p)
	for text != "" {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
			f.control(rest[:end], rest[end])
			text = rest[end+1:]
			continue
		}
		r, n := utf8.DecodeRuneInString(text)
		f.put(r)
		text = text[n:]
	}
	return len(p), nil
}

// control obeys a sequence of control characters.
func (f *fakeTerminal) control(arguments string, what byte) {
	screen := f.screen()
	switch {
	case what == 'm': // paint
	case what == 'H':
		row, column, _ := strings.Cut(arguments, ";")
		f.row, f.column = f.number(row)-1, f.number(column)-1
		if f.row >= f.height || f.column >= f.width {
			f.t.Errorf("the cursor is sent to %s on a terminal of %d × %d", arguments, f.width, f.height)
		}
	case what == 'K' && arguments == "":
		for i := f.column; i < f.width; i++ {
			screen[f.row][i] = ' '
		}
	case what == 'J' && arguments == "2":
		copy(screen, blank(f.width, f.height))
	case arguments == "?1049" && what == 'h', arguments == "?1049" && what == 'l':
		if f.onOther = what == 'h'; f.onOther {
			f.saved = [2]int{f.row, f.column}
		} else {
			f.row, f.column = f.saved[0], f.saved[1]
		}
	case arguments == "?25" && what == 'l', arguments == "?25" && what == 'h':
		f.hidden = what == 'l'
	case arguments == "?7" && what == 'l', arguments == "?7" && what == 'h':
		f.noWrap = what == 'l'
	default:
		f.t.Errorf("the terminal does not know %q", arguments+string(what))
	}
}

func (f *fakeTerminal) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		f.t.Errorf("a place on the terminal: %q", text)
		return 1
	}
	return n
}

func (f *fakeTerminal) put(r rune) {
	switch {
	case r == '\n':
		f.row, f.column = min(f.row+1, f.height-1), 0
		return
	case r < ' ':
		f.t.Errorf("the terminal is sent %q", r)
	}
	f.screen()[f.row][min(f.column, f.width-1)] = r // without wrapping the last column takes all that comes
	f.column++
	if f.column > f.width && f.onOther {
		f.t.Errorf("a line of more than %d columns: %s", f.width, string(f.screen()[f.row]))
	}
}

func (f *fakeTerminal) screen() [][]rune {
	if f.onOther {
		return f.other
	}
	return f.first
}

// text is what stands on the terminal.
func (f *fakeTerminal) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	for _, line := range f.screen() {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return b.String()
}

// watched is a run in the middle of a stall, with names that a terminal must not obey.
func watched() harness.Progress {
	at := func(s float64) sim.Instant { return sim.Instant(s * float64(time.Second)) }
	p := harness.Progress{
		At: at(754.5), Agents: 30, Calls: 26, Sent: 8, Stall: 2, StalledFor: 130 * time.Second, Tasks: 41,
		Totals: harness.Totals{
			AgentsDone: 11, AgentsFailed: 1, Steps: 1212, CallsCompleted: 1204, CallsFailed: 3, Attempts: 1231, AttemptsTimeout: 9,
			AttemptsStatus: 4, Backoffs: 13, TokensReceived: 401_200, TokensWasted: 3_100,
		},
		Pacer:    pacer.Occupancy{SlotsMax: 8, SlotsInUse: 8, RequestsPerS: 10, RequestsLeft: -2.5},
		Oldest:   harness.OldestCall{ID: "作家-\x1b[2J-c012", Agent: "作家", Stage: pacer.StageFirstToken, Started: at(540), Since: at(560.5)},
		Gauges:   []harness.Gauge{{Name: "router_in_flight", Value: 8}, {Name: "decode_queue", Value: 0}, {Name: "decode_running", Value: 8}, {Name: "decode_token_usage", Value: 0.25}},
		GaugesAt: at(754.1),
		LastStall: harness.StallGlimpse{
			Episode: 2, StartedAt: at(624.5), DetectedAt: at(684.5),
			Verdict: diagnose.Verdict{Outcome: diagnose.Wedged, Cause: "silent-stream", Summary: "No step has finished for 60.0 s (since 624.5 s of the run); 30 agents are at work, 11 of 40 tasks done. 8 calls are in stage first_token for up to 194.0 s, and nothing has come on any of them. 18 calls wait for a slot."},
		},
	}
	p.ByStage[pacer.StageSlot], p.ByStage[pacer.StageFirstToken], p.ByStage[pacer.StageStream] = 18, 5, 3
	p.AgentsByStage = p.ByStage
	p.AgentsByStage[pacer.StageThink], p.AgentsByStage[pacer.StageTool] = 3, 1
	return p
}

// viewOf returns a view that has looked at a run once.
func viewOf(t *testing.T, p harness.Progress) *live.View {
	t.Helper()
	v := live.NewView(live.Run{Command: "soak", Scenario: "silent-stream", Seed: 3, Clock: "wall", Scale: 60, Tasks: 40, Evidence: "wedge-out/soak-silent-stream-3"})
	t.Cleanup(v.Stop)
	news, forget := v.Watch()
	defer forget()
	v.Attach(func() harness.Progress { return p }, func() []live.Fact {
		return []live.Fact{{Name: "p95(call) < 120s", Value: "214s, not met", Bad: true}}
	})
	<-news
	return v
}

// TestScreen shows the screen in terminals of two sizes.
func TestScreen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {120, 40}} {
		name := fmt.Sprintf("testdata/screen-%dx%d.txt", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			f := newFakeTerminal(t, size[0], size[1])
			s := newScreen(f, f.size, style{color: true, width: size[0]})
			s.url = "http://127.0.0.1:8080/"
			s.draw(viewOf(t, watched()))
			golden(t, name, f.text())
			if !f.hidden || !f.onOther || !f.noWrap {
				t.Errorf("cursor hidden %v, other screen %v, no wrapping %v; want all", f.hidden, f.onOther, f.noWrap)
			}
		})
	}
}

// TestScreenDrawsLittle shows that what has not changed is not written again.
func TestScreenDrawsLittle(t *testing.T) {
	f := newFakeTerminal(t, 80, 24)
	s := newScreen(f, f.size, style{})
	p := watched()
	v := viewOf(t, p)
	s.draw(v)
	first := f.bytes
	s.draw(v)
	if f.bytes != first {
		t.Errorf("%d bytes for what has not changed", f.bytes-first)
	}
	p.AgentsByStage[pacer.StageThink]--
	p.AgentsByStage[pacer.StageTool]++
	s.draw(viewOf(t, p))
	if n := f.bytes - first; n == 0 || n > 200 {
		t.Errorf("%d bytes for two lines, and %d for all", n, first)
	}
	fresh := newFakeTerminal(t, 80, 24)
	newScreen(fresh, fresh.size, style{}).draw(viewOf(t, p))
	if f.text() != fresh.text() {
		t.Errorf("step by step\n%s\nat once\n%s", f.text(), fresh.text())
	}
}

// TestScreenIsResized shows that the screen follows the terminal's size, to smaller and to larger.
func TestScreenIsResized(t *testing.T) {
	f := newFakeTerminal(t, 80, 24)
	s := newScreen(f, f.size, style{})
	v := viewOf(t, watched())
	s.draw(v)
	for _, size := range [][2]int{{40, 12}, {20, 4}, {5, 1}, {120, 40}, {80, 24}} {
		f.resize(size[0], size[1])
		s.draw(v)
		fresh := newFakeTerminal(t, size[0], size[1])
		newScreen(fresh, fresh.size, style{}).draw(v)
		if f.text() != fresh.text() {
			t.Errorf("resized to %v\n%s\nat once\n%s", size, f.text(), fresh.text())
		}
	}
}

// restored fails the test unless the terminal is as it was before, with the text given on it.
func (f *fakeTerminal) restored(want string) {
	f.t.Helper()
	if f.hidden || f.onOther || f.noWrap {
		f.t.Errorf("cursor hidden %v, other screen %v, no wrapping %v; want none of them", f.hidden, f.onOther, f.noWrap)
	}
	if got := strings.TrimRight(f.text(), "\n"); got != want {
		f.t.Errorf("on the terminal stands %q, want %q", got, want)
	}
}

// TestScreenEnds shows that the terminal is as it was before: at the end, at an interrupt, and when something panics.
func TestScreenEnds(t *testing.T) {
	t.Run("end", func(t *testing.T) {
		f := newFakeTerminal(t, 80, 24)
		s := newScreen(f, f.size, style{})
		s.begin(viewOf(t, watched()))
		s.say("wedge: a line")
		s.end()
		s.end()
		s.say("wedge: another one")
		f.restored("wedge: a line\nwedge: another one")
	})
	t.Run("before it was up", func(t *testing.T) {
		f := newFakeTerminal(t, 80, 24)
		s := newScreen(f, f.size, style{})
		s.say("wedge: a line")
		s.end()
		f.restored("wedge: a line")
	})
	t.Run("interrupt", func(t *testing.T) {
		f := newFakeTerminal(t, 80, 24)
		s := newScreen(f, f.size, style{})
		v := viewOf(t, watched())
		s.draw(v)
		last := &lastRites{first: []func(){s.leave}}
		last.prepare()
		fmt.Fprintln(f, "wedge: interrupted")
		s.draw(v) // a look that was under way
		s.end()
		f.restored("wedge: interrupted")
	})
	t.Run("panic of the run", func(t *testing.T) {
		f := newFakeTerminal(t, 80, 24)
		func() {
			defer func() { _ = recover() }()
			w := &watching{screen: newScreen(f, f.size, style{}), stop: func() {}}
			defer w.close()
			w.screen.begin(viewOf(t, watched()))
			panic("the run")
		}()
		f.restored("")
	})
	t.Run("panic while it draws", func(t *testing.T) {
		f := newFakeTerminal(t, 80, 24)
		s := newScreen(f, func() (int, int) { panic("no size") }, style{})
		v := viewOf(t, watched())
		s.up = true
		fmt.Fprint(f, otherScreen+hideCursor+noWrap)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			s.show(v)
		}()
		f.restored("")
	})
}
