package workload

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ReadTraceLab reads a TraceLab replay CSV: a header, then one call ("round") a line,
// columns in any order. The name is for errors and Trace.Source. A byte order mark, CRLF
// and blank lines are accepted; anything else that is not as below is an error that
// begins with name:line.
//
//	session_id          text; also id
//	arrival_time        start of the session in milliseconds; the column or a cell of it may be missing
//	round_idx           order in the session, growing from line to line of it
//	prefix_len          context tokens already seen
//	input_len           tokens appended for this call
//	output_len          tokens to generate
//	tool_wait_after_ms  milliseconds from the end of this call to the next call
//
// Lines of several sessions may be interleaved. Without arrival_time every session
// arrives at 0.
func ReadTraceLab(name string, r io.Reader) (Trace, error) {
	t := traceLabReader{traceReader: newTraceReader(name, r)}
	header, ok, err := t.next()
	if err != nil {
		return Trace{}, err
	}
	if !ok {
		return Trace{}, t.refuse("file", "nothing", "a TraceLab CSV with the columns "+traceLabWant+", or Mooncake JSONL")
	}
	if err := t.header(header); err != nil {
		return Trace{}, err
	}
	if err := t.each(t.row); err != nil {
		return Trace{}, err
	}
	if t.calls == 0 {
		return Trace{}, t.refuse("file", "a header only", "at least one round")
	}
	return t.trace, nil
}

const traceLabWant = "session_id, round_idx, prefix_len, input_len, output_len, tool_wait_after_ms, and optionally arrival_time"

// traceLabColumns returns the names of the columns.
func traceLabColumns() []string {
	return []string{"session_id", "round_idx", "prefix_len", "input_len", "output_len", "tool_wait_after_ms", "arrival_time"}
}

type traceLabReader struct {
	*traceReader
	columns []string // canonical name of each column, in the file's order
	last    []traceLabLast
}

// traceLabLast is what the next line of a session needs to know of its predecessors.
type traceLabLast struct {
	round       int
	line        int
	arrivalLine int // line that stated the session's arrival; 0 if none did
}

// header reads the names of the columns.
func (t *traceLabReader) header(line []byte) error {
	cells, err := t.cells(line)
	if err != nil {
		return err
	}
	known := traceLabColumns()
	for _, name := range cells {
		if name == "id" {
			name = "session_id"
		}
		if !slices.Contains(known, name) {
			return t.refuse("header", "column "+shown(name), "a TraceLab CSV with the columns "+traceLabWant+", or Mooncake JSONL")
		}
		if slices.Contains(t.columns, name) {
			return t.refuse("header", "a second column "+name, "one")
		}
		t.columns = append(t.columns, name)
	}
	for _, name := range known {
		if name != "arrival_time" && !slices.Contains(t.columns, name) {
			return t.refuse("header", "no column "+name, traceLabWant)
		}
	}
	return nil
}

// cells splits a line. Quotes are rare, so only lines with one pay for a CSV reader.
func (t *traceLabReader) cells(line []byte) ([]string, error) {
	text := string(line)
	cells := strings.Split(text, ",")
	if strings.Contains(text, `"`) {
		var err error
		if cells, err = csv.NewReader(strings.NewReader(text)).Read(); err != nil {
			return nil, t.refuse("line", shown(text), "CSV with closed quotes, on one line")
		}
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells, nil
}

// traceLabRow is one line.
type traceLabRow struct {
	session       string
	round         int
	call          Call
	arrival       time.Duration
	arrivalStated bool
}

// row adds the call of one line to the trace.
func (t *traceLabReader) row(line []byte) error {
	cells, err := t.cells(line)
	if err != nil {
		return err
	}
	if len(cells) != len(t.columns) {
		return t.refuse("line", fmt.Sprintf("%d cells", len(cells)), fmt.Sprintf("%d, one for each column", len(t.columns)))
	}
	var row traceLabRow
	for i, column := range t.columns {
		if err := t.cell(&row, column, cells[i]); err != nil {
			return err
		}
	}
	i, err := t.place(row.session, row.round)
	if err != nil {
		return err
	}
	if row.arrivalStated {
		if err := t.arrive(i, row.arrival); err != nil {
			return err
		}
	}
	return t.add(i, row.call)
}

// cell reads one cell into the row.
func (t *traceLabReader) cell(row *traceLabRow, column, text string) (err error) {
	switch column {
	case "session_id":
		row.session, err = text, t.checkSessionID(text)
	case "round_idx":
		row.round, err = t.roundIndex(text)
	case "prefix_len":
		row.call.PrefixTokens, err = t.parseTokens(column, text)
	case "input_len":
		row.call.InputTokens, err = t.parseTokens(column, text)
	case "output_len":
		row.call.OutputTokens, err = t.parseTokens(column, text)
	case "tool_wait_after_ms":
		row.call.WaitAfter, err = t.parseMillis(column, text)
	case "arrival_time":
		if row.arrivalStated = text != ""; row.arrivalStated {
			row.arrival, err = t.parseMillis(column, text)
		}
	}
	return err
}

// place finds or adds the session and checks that its rounds grow.
func (t *traceLabReader) place(session string, round int) (int, error) {
	i, known := t.index[session]
	if !known {
		i = len(t.trace.Sessions)
		t.index[session] = i
		t.trace.Sessions = append(t.trace.Sessions, Session{ID: session})
		t.last = append(t.last, traceLabLast{round: -1})
	}
	last := &t.last[i]
	if round <= last.round {
		return 0, t.refuse("round_idx", strconv.Itoa(round),
			fmt.Sprintf("more than %d, that of line %d in session %s", last.round, last.line, session))
	}
	last.round, last.line = round, t.line
	return i, nil
}

// arrive sets the arrival of a session, which each of its lines repeats.
func (t *traceLabReader) arrive(i int, arrival time.Duration) error {
	s, last := &t.trace.Sessions[i], &t.last[i]
	if last.arrivalLine != 0 && arrival != s.Arrival {
		return t.refuse("arrival_time", millis(arrival),
			fmt.Sprintf("%s, as on line %d of session %s", millis(s.Arrival), last.arrivalLine, s.ID))
	}
	if last.arrivalLine == 0 {
		s.Arrival, last.arrivalLine = arrival, t.line
	}
	return nil
}

func (t *traceLabReader) roundIndex(cell string) (int, error) {
	n, err := strconv.ParseUint(cell, 10, 31)
	if err != nil {
		return 0, t.refuse("round_idx", shown(cell), "a whole number from 0 to 2147483647")
	}
	return int(n), nil
}
