package workload

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Bounds of a trace file; beyond them reading ends with an error.
const (
	// LineBytesLimit is the length of the longest line. A Mooncake line takes about
	// 7 bytes per 512 tokens of prompt.
	LineBytesLimit = 1 << 20
	// CallsLimit is the largest number of calls in one trace.
	CallsLimit = 10_000_000
	// SessionIDBytesLimit is the length of the longest session id.
	SessionIDBytesLimit = 200
)

// Trace is a recorded workload: sessions, each a chain of calls.
type Trace struct {
	// Source is the name of the file, without its directory.
	Source string
	// Sessions are in the order of their first appearance in the file, which need
	// not be the order of arrival. There is at least one.
	Sessions []Session
}

// Session is a chain of calls made one after the other by one agent: a call starts
// when the one before has ended and its wait is over.
type Session struct {
	// ID is the session's id in the file, or "line:N" for a call of line N that
	// belongs to no session. It is unique in the trace and printable.
	ID string
	// Arrival is when the first call starts, counted from the start of the trace.
	Arrival time.Duration
	// Calls holds at least one call.
	Calls []Call
}

// Call is one model call. Its prompt has PrefixTokens + InputTokens tokens.
type Call struct {
	// PrefixTokens is how much of the prompt the servers have seen before, as far as
	// the trace says, so that a cache may hold it.
	PrefixTokens int
	// InputTokens is how much of the prompt is new.
	InputTokens int
	// OutputTokens is how much the model generates.
	OutputTokens int
	// WaitAfter is the pause from the end of this call to the start of the next one
	// of its session: a tool that runs, or a person. It may be set on a last call.
	WaitAfter time.Duration
}

// ReadFile reads a trace and recognises its format by its content: Mooncake JSONL
// starts with a brace ([ReadMooncake]), a TraceLab replay CSV with its header
// ([ReadTraceLab]). Errors of the content begin with path:line.
func ReadFile(path string) (Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return Trace{}, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	read := ReadTraceLab
	if startsObject(r) {
		read = ReadMooncake
	}
	return read(path, r)
}

// startsObject looks ahead, past a byte order mark and white space, for a brace. A
// read error is left for the reader of the format to meet.
func startsObject(r *bufio.Reader) bool {
	head, _ := r.Peek(r.Size())
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte(byteOrderMark)))
	return len(head) > 0 && head[0] == '{'
}

// Calls returns the number of calls of all sessions.
func (t Trace) Calls() int {
	n := 0
	for i := range t.Sessions {
		n += len(t.Sessions[i].Calls)
	}
	return n
}

// Summary is a trace in a few numbers. Percentiles are values that occur (nearest
// rank); those of an empty trace are 0.
type Summary struct {
	Sessions        int `json:"sessions"`
	Calls           int `json:"calls"`
	InputTokensP50  int `json:"input_tokens_p50"` // of Call.InputTokens: new tokens, without the prefix
	InputTokensP95  int `json:"input_tokens_p95"`
	OutputTokensP50 int `json:"output_tokens_p50"`
	OutputTokensP95 int `json:"output_tokens_p95"`
}

// Summary counts and sorts the calls of the trace.
func (t Trace) Summary() Summary {
	n := t.Calls()
	input, output := make([]int, 0, n), make([]int, 0, n)
	for i := range t.Sessions {
		for _, c := range t.Sessions[i].Calls {
			input, output = append(input, c.InputTokens), append(output, c.OutputTokens)
		}
	}
	slices.Sort(input)
	slices.Sort(output)
	return Summary{
		Sessions: len(t.Sessions), Calls: n,
		InputTokensP50: percentile(input, 50), InputTokensP95: percentile(input, 95),
		OutputTokensP50: percentile(output, 50), OutputTokensP95: percentile(output, 95),
	}
}

// String returns the summary on one line.
func (s Summary) String() string {
	return fmt.Sprintf("%d sessions, %d calls, input tokens p50 %d p95 %d, output tokens p50 %d p95 %d",
		s.Sessions, s.Calls, s.InputTokensP50, s.InputTokensP95, s.OutputTokensP50, s.OutputTokensP95)
}

// percentile returns the nearest-rank percentile: the smallest value with at least
// percent of all values at or below it.
func percentile(sorted []int, percent int) int {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}

// traceReader is what both formats share: the lines of a file and the trace so far.
type traceReader struct {
	name  string
	lines *bufio.Scanner
	line  int // number of the current line, from 1
	trace Trace
	calls int
	index map[string]int // session id to its place in trace.Sessions; looked up, never ranged over
}

// byteOrderMark is what some editors put before the first line.
const byteOrderMark = "\xef\xbb\xbf"

func newTraceReader(name string, r io.Reader) *traceReader {
	t := &traceReader{name: name, lines: bufio.NewScanner(r), index: map[string]int{}}
	// The scanner's limit counts the line's end, CR and LF, too.
	t.lines.Buffer(make([]byte, 0, 64<<10), LineBytesLimit+2)
	t.trace.Source = filepath.Base(name)
	return t
}

// next returns the next line that is not blank, without its end, or false at the end
// of the file.
func (t *traceReader) next() ([]byte, bool, error) {
	for t.lines.Scan() {
		t.line++
		// On a read error the scanner first hands out what it has of the line.
		if t.lines.Err() != nil {
			return nil, false, t.readError()
		}
		line := t.lines.Bytes()
		if len(line) > LineBytesLimit {
			return nil, false, t.tooLong()
		}
		if t.line == 1 {
			line = bytes.TrimPrefix(line, []byte(byteOrderMark))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, true, nil
		}
	}
	t.line++
	return nil, false, t.readError()
}

// each calls read for every line that is left and not blank.
func (t *traceReader) each(read func(line []byte) error) error {
	for {
		line, ok, err := t.next()
		if err != nil || !ok {
			return err
		}
		if err := read(line); err != nil {
			return err
		}
	}
}

// readError returns why the scanner stopped, or nil at the end of the file.
func (t *traceReader) readError() error {
	switch err := t.lines.Err(); err {
	case nil:
		return nil
	case bufio.ErrTooLong:
		return t.tooLong()
	default:
		return fmt.Errorf("%s:%d: %w", t.name, t.line, err)
	}
}

func (t *traceReader) tooLong() error {
	return t.refuse("line", fmt.Sprintf("more than %d bytes", LineBytesLimit), fmt.Sprintf("at most %d", LineBytesLimit))
}

// add appends a call to the session at place i of the trace.
func (t *traceReader) add(i int, c Call) error {
	if t.calls++; t.calls > CallsLimit {
		return t.refuse("calls", fmt.Sprintf("more than %d", CallsLimit), fmt.Sprintf("at most %d", CallsLimit))
	}
	s := &t.trace.Sessions[i]
	s.Calls = append(s.Calls, c)
	return nil
}

// refuse makes the error for something in the current line that is not allowed.
func (t *traceReader) refuse(field, found, want string) error {
	return fmt.Errorf("%s:%d: %s: found %s, want %s", t.name, t.line, field, found, want)
}
