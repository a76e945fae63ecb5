package goroutine

import (
	"bytes"
	"strings"
	"time"
)

const (
	messagesMax     = 16
	messageBytesMax = 1 << 10
	testsMax        = 1 << 10
)

// A preamble is the messages that have come since the last block. They belong to
// the dump of the next one.
type preamble struct {
	messages []string
	tests    []RunningTest
	inside   bool // the last lines were a message, which indented lines go on with
	running  bool // ... and "running tests:"
}

// The starts of lines that say why a dump was printed. Those of dumpMessages
// begin a new one, the others are notes beside them.
var (
	dumpMessages = []string{"panic: ", "fatal error: ", "SIGQUIT: ", "SIGABRT: ", "SIGSEGV: ", "SIGBUS: ", "SIGFPE: ", "SIGILL: ",
		"SIGTRAP: ", "SIGSYS: ", "SIGSTKFLT: ", "SIGEMT: ", "throw: "}
	noteMessages = []string{"[signal ", "PC=0x", "runtime: ", "unexpected fault address ", "signal arrived during ", "panic during panic",
		"panic holding locks", "goroutine running on other thread"}
	servingMessage = []byte("http: panic serving ")
	runningTests   = []byte("running tests:")
	threadsMark    = []byte("-----")
)

// flush gives the messages to a dump.
func (m *preamble) flush(d *Dump) {
	if len(m.messages) == 0 && len(m.tests) == 0 {
		m.inside, m.running = false, false
		return
	}
	room := max(0, messagesMax-len(d.Messages))
	d.Messages = append(d.Messages, m.messages[:min(room, len(m.messages))]...)
	d.Tests = append(d.Tests, m.tests...)
	*m = preamble{}
}

// message takes a line at the margin that says why a dump is printed.
func (p *parser) message(text []byte) bool {
	if bytes.Equal(text, threadsMark) {
		p.turn.threads = p.snapshot >= 0 && p.dump.Form == FormDump
		return p.turn.threads
	}
	if p.preamble.inside && bytes.Equal(text, runningTests) { // indented only by later releases
		p.preamble.running = true
		return true
	}
	starts := hasOneOf(text, dumpMessages) || bytes.Contains(text, servingMessage)
	if !starts && !hasOneOf(text, noteMessages) {
		return false
	}
	if starts && p.call.kind == callForeign {
		p.dropCall()
	}
	p.turn.head = p.turn.head || starts
	if !p.turn.threads { // else it is once more that of the first thread
		p.preamble.add(string(text[:min(len(text), messageBytesMax)]))
	}
	p.preamble.inside = true
	p.preamble.running = false
	return true
}

func (m *preamble) add(text string) {
	if len(m.messages) < messagesMax {
		m.messages = append(m.messages, text)
	}
}

// more takes an indented line below a message: more of a text of several lines,
// the next of nested panics, or a running test. text is without its blanks.
func (m *preamble) more(text []byte) bool {
	if !m.inside {
		return false
	}
	switch {
	case bytes.Equal(text, runningTests):
		m.running = true
	case m.running:
		if t, ok := cutTest(string(text)); ok && len(m.tests) < testsMax {
			m.tests = append(m.tests, t)
		}
	case bytes.HasPrefix(text, []byte("panic: ")):
		m.add(string(text[:min(len(text), messageBytesMax)]))
	case len(m.messages) > 0:
		last := &m.messages[len(m.messages)-1]
		if room := messageBytesMax - len(*last) - 1; room > 0 {
			*last += "\n" + string(text[:min(len(text), room)])
		}
	}
	return true
}

// cutTest reads "TestX/a (2s)".
func cutTest(text string) (RunningTest, bool) {
	name, age, ok := cutLast(text, " (")
	if !ok {
		return RunningTest{}, false
	}
	d, err := time.ParseDuration(strings.TrimSuffix(age, ")"))
	return RunningTest{Name: name, Age: d}, err == nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func hasOneOf(text []byte, starts []string) bool {
	for _, start := range starts {
		if len(text) >= len(start) && string(text[:len(start)]) == start {
			return true
		}
	}
	return false
}
