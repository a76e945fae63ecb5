package requestlog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"time"

	"example.com/wedge/harness/goroutine/container"
)

// Bounds of a Log.
const (
	// openMax is how many open requests are kept; beyond that the oldest are
	// forgotten, and counted.
	openMax = 100_000
	// earlyMax is how many finished requests are kept whose started line may
	// follow, as those of busy programs do now and then.
	earlyMax = 10_000
	// examplesMax is how many examples of lines that say nothing are kept.
	examplesMax = 3
)

// A Log keeps the account of one log, which may be in several files. It takes
// bounded memory. The zero value is not ready: make one with [New]. It is for use
// by one goroutine at a time.
type Log struct {
	fields fields
	files  []File
	lines  int64
	events [formatNumber]int64
	others int64 // lines that are about no request
	shown  []string

	first, last        time.Time // of all lines with a time
	lastStarted        time.Time
	lastFinished       time.Time
	lastProbe          time.Time
	started, finished  int64
	probes             int64 // events about probes
	strays             int64 // finished without a started line
	forgotten          int64
	open               waiting
	early              early
	statuses           statuses
	units              evidence
	answered, failed   latencies
	series             series
	gaps               gaps
	subSecond, untimed bool // time stamps have fractions; events came without any
	containers         map[string]int64
	containerNames     []string
}

// A File is one input of a log.
type File struct {
	// Name is as it was given.
	Name string `json:"name"`
	// Bytes and Lines are its size.
	Bytes int64 `json:"bytes"`
	Lines int64 `json:"lines"`
	// Requests is how many lines of it are about a request.
	Requests int64 `json:"request_lines"`
}

// New returns an empty Log.
func New() *Log {
	return &Log{open: waiting{byID: map[string]*request{}}, early: early{byID: map[string]Event{}}, containers: map[string]int64{}}
}

// An InputError says what is wrong with an input.
type InputError struct {
	// Name is as it was given, Msg what was found and what is wanted.
	Name, Msg string
}

// Error implements error.
func (e *InputError) Error() string { return e.Name + ": " + e.Msg }

// Read reads a file of the log, plain or compressed by gzip as rotated ones are;
// several are to be given from old to new. It returns an *InputError if the input
// is empty, is no text, or has no line that is about a request, and otherwise errors
// of src.
func (l *Log) Read(name string, src io.Reader) error {
	buffered := bufio.NewReader(src)
	if magic, err := buffered.Peek(2); err == nil && string(magic) == "\x1f\x8b" {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return &InputError{name, "begins as a gzip file and is none: " + err.Error()}
		}
		return l.read(name, unzipped)
	}
	return l.read(name, buffered)
}

// read is Read of a text that is not compressed.
func (l *Log) read(name string, src io.Reader) error {
	head := make([]byte, 4096)
	n, err := io.ReadFull(src, head)
	head = head[:n]
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return fmt.Errorf("%s: %w", name, err)
	}
	if n == 0 {
		return &InputError{name, "is empty, want a log of requests"}
	}
	if isBinary(head) {
		return &InputError{name, "is no text, want a log of requests"}
	}
	file := File{Name: name}
	r := container.NewReader(io.MultiReader(bytes.NewReader(head), src))
	for {
		line, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: byte %d: %w", name, file.Bytes, err)
		}
		file.Bytes += line.Size
		file.Lines++
		if l.line(&line) {
			file.Requests++
		}
	}
	for _, layer := range r.Layers() {
		if l.containers[layer.Name] == 0 {
			l.containerNames = append(l.containerNames, layer.Name)
		}
		l.containers[layer.Name] += layer.Lines
	}
	l.files = append(l.files, file)
	if file.Requests == 0 {
		return &InputError{name, fmt.Sprintf("no line of %d is about a request; known are SGLang's router log, JSON and key=value lines with an id, a status or a latency, and the access logs of nginx and envoy", file.Lines)}
	}
	return nil
}

// isBinary says that a text has zero bytes though it is not UTF-16.
func isBinary(head []byte) bool {
	wide := bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))
	return !wide && bytes.IndexByte(head, 0) >= 0
}

// line takes one line and says whether it is about a request.
func (l *Log) line(line *container.Line) bool {
	l.lines++
	ev, of, ok := l.fields.parse(line.Text)
	if !ok || line.Long {
		l.others++
		if len(l.shown) < examplesMax && len(line.Text) > 0 {
			const textBytesMax = 160
			l.shown = append(l.shown, string(line.Text[:min(len(line.Text), textBytesMax)]))
		}
		if at := leadingTime(line.Text); !at.IsZero() {
			l.see(at)
		} else {
			l.see(writable(line.Time))
		}
		return false
	}
	ev.At, ev.Start = writable(ev.At), writable(ev.Start)
	if ev.At.IsZero() {
		ev.At = writable(line.Time)
	}
	l.events[of]++
	l.see(ev.At)
	l.subSecond = l.subSecond || ev.At.Nanosecond() != 0
	l.untimed = l.untimed || ev.At.IsZero()
	l.take(&ev, of)
	return true
}

// see notes the time of a line.
func (l *Log) see(at time.Time) {
	if at.IsZero() {
		return
	}
	if l.first.IsZero() || at.Before(l.first) {
		l.first = at
	}
	if at.After(l.last) {
		l.last = at
	}
}

// take counts an event.
func (l *Log) take(ev *Event, of format) {
	if ev.Probe {
		l.probes++
		l.lastProbe = later(l.lastProbe, ev.At)
		l.series.add(ev.At, kindProbe)
		l.gaps.probe()
		return
	}
	l.gaps.activity(ev.At, l.open.n)
	if !ev.Finished {
		l.started++
		l.lastStarted = later(l.lastStarted, ev.At)
		l.series.add(ev.At, kindStarted)
		l.begin(ev)
		return
	}
	l.finished++
	l.lastFinished = later(l.lastFinished, ev.At)
	l.series.add(ev.At, kindFinished)
	l.statuses.add(ev.Status, ev.Flags)
	start := ev.Start
	if of.isAccess() {
		start = time.Time{} // it is computed from the latency
	} else if since, ok := l.open.finish(ev.ID); ok {
		start = since
	} else if len(ev.ID) > 0 {
		l.early.add(ev)
		l.strays++
	}
	fits := l.units.compare(ev.Latency, start, ev.At)
	if ev.failed() {
		l.failed.add(ev, fits)
	} else {
		l.answered.add(ev, fits)
	}
}

// begin opens a request, unless the line of its end came before.
func (l *Log) begin(ev *Event) {
	if end, ok := l.early.take(ev); ok {
		l.strays--
		l.units.compare(end.Latency, ev.At, end.At)
		return
	}
	if len(ev.ID) > 0 {
		l.forgotten += l.open.start(ev.ID, ev.At)
	}
}

// writable refuses times that JSON cannot have.
func writable(at time.Time) time.Time {
	if year := at.UTC().Year(); year < 0 || year > 9999 {
		return time.Time{}
	}
	return at
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
