package trace

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"strconv"

	"example.com/wedge/harness/sim"
)

// out writes events one after the other. It keeps the first error.
type out struct {
	w     *bufio.Writer
	err   error
	line  []byte
	args  bool // the event has arguments already
	first bool
}

func newOut(w io.Writer) *out {
	o := &out{w: bufio.NewWriterSize(w, 64<<10), first: true}
	o.write([]byte("{\"traceEvents\":[\n"))
	return o
}

func (o *out) write(p []byte) {
	if o.err == nil {
		_, o.err = o.w.Write(p)
	}
}

// track is where an event stands: a thread of a process, in the words of the format.
type track struct{ pid, tid int }

// micros returns an instant as the format counts it. Rounding down keeps the order of instants, so that what
// lies within each other still does.
func micros(at sim.Instant) int64 {
	if at < 0 {
		return -((int64(-at) + 999) / 1000)
	}
	return int64(at) / 1000
}

// event begins an event of a phase: see the format's description of ph.
func (o *out) event(phase byte, t track, at sim.Instant, name string) {
	o.categorized(phase, t, at, name, "wedge")
}

// categorized is event for one with a category of its own, by which viewers filter. Each event has one: some readers
// insist on it.
func (o *out) categorized(phase byte, t track, at sim.Instant, name, category string) {
	b := o.line[:0]
	if !o.first {
		b = append(b, ",\n"...)
	}
	o.first, o.args = false, false
	b = append(append(b, `{"ph":"`...), phase)
	b = strconv.AppendInt(append(b, `","pid":`...), int64(t.pid), 10)
	b = strconv.AppendInt(append(b, `,"tid":`...), int64(t.tid), 10)
	b = strconv.AppendInt(append(b, `,"ts":`...), micros(at), 10)
	b = append(append(append(b, `,"cat":"`...), category...), '"')
	if name != "" {
		b = appendQuoted(append(b, `,"name":`...), name)
	}
	o.line = b
}

// length adds how long a complete event takes.
func (o *out) length(from, to sim.Instant) {
	o.line = strconv.AppendInt(append(o.line, `,"dur":`...), micros(to)-micros(from), 10)
}

// field adds a field of the event whose value is written as it is.
func (o *out) field(key, value string) {
	o.line = append(append(append(append(append(o.line, `,"`...), key...), `":"`...), value...), '"')
}

// key begins an argument.
func (o *out) key(name string) {
	if o.args {
		o.line = append(o.line, ',')
	} else {
		o.line = append(o.line, `,"args":{`...)
	}
	o.args = true
	o.line = append(appendQuoted(o.line, name), ':')
}

// text adds an argument, unless it is empty.
func (o *out) text(name, value string) {
	if value != "" {
		o.key(name)
		o.line = appendQuoted(o.line, value)
	}
}

// num adds an argument, unless it is 0.
func (o *out) num(name string, n int) {
	if n != 0 {
		o.count(name, n)
	}
}

// count adds an argument.
func (o *out) count(name string, n int) {
	o.key(name)
	o.line = strconv.AppendInt(o.line, int64(n), 10)
}

// value adds an argument.
func (o *out) value(name string, v float64) {
	o.key(name)
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		o.line = strconv.AppendInt(o.line, int64(v), 10)
		return
	}
	o.line = strconv.AppendFloat(o.line, v, 'g', 6, 64)
}

// seconds adds an argument in seconds.
func (o *out) seconds(name string, at sim.Instant) {
	o.key(name)
	o.line = strconv.AppendFloat(o.line, float64(at)/1e9, 'f', -1, 64)
}

// flag adds an argument, unless it is false.
func (o *out) flag(name string, v bool) {
	if v {
		o.key(name)
		o.line = append(o.line, "true"...)
	}
}

// end completes the event and writes it.
func (o *out) end() {
	if o.args {
		o.line = append(o.line, '}')
	}
	o.line = append(o.line, '}')
	o.write(o.line)
}

// metadata begins an event that says something about a process or a thread.
func (o *out) metadata(t track, what string) { o.categorized('M', t, 0, what, "__metadata") }

// name gives a process or a thread its name, and its place among others.
func (o *out) name(what string, t track, name string, place int) {
	o.metadata(t, what+"_name")
	o.text("name", name)
	o.end()
	o.metadata(t, what+"_sort_index")
	o.count("sort_index", place)
	o.end()
}

// close ends the list of events and writes what is said of all of it.
func (o *out) close(about any) error {
	text, err := json.Marshal(about)
	if err != nil {
		return err
	}
	o.write([]byte("\n],\n\"displayTimeUnit\":\"ms\",\n\"otherData\":"))
	o.write(text)
	o.write([]byte("}\n"))
	if o.err == nil {
		o.err = o.w.Flush()
	}
	return o.err
}

// appendQuoted appends a text as JSON has it. Most are plain.
func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, err := json.Marshal(s)
			if err != nil { // no text makes it fail
				return append(b, `""`...)
			}
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
