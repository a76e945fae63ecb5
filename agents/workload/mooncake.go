package workload

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MooncakeBlockTokens is how many prompt tokens one entry of hash_ids stands for in
// the published Mooncake traces.
const MooncakeBlockTokens = 512

// lineIDPrefix begins the ids of calls that belong to no session.
const lineIDPrefix = "line:"

// ReadMooncake reads a Mooncake trace: JSON Lines, one call a line. The name is
// for errors and Trace.Source. A byte order mark, CRLF and blank lines are accepted;
// anything else that is not as below is an error that begins with name:line.
//
//	timestamp      arrival in milliseconds from the start; also created_time
//	input_length   tokens of the whole prompt; also input_tokens
//	output_length  tokens to generate; also output_tokens
//	hash_ids       one number per block of the prompt, equal for equal beginnings; may be absent
//	session_id     text; may be absent
//	delay          milliseconds; may be absent; also delay_ms
//
// The published traces have no session_id: each line is then a session of one call,
// with no prefix, since who else has sent it before is not the session's doing.
// Arrivals are kept as published; in the conversation trace they fall on a grid of 3
// seconds, about ten at once.
//
// Lines with the same session_id are one session. The first arrives at its
// timestamp (0 if absent) plus its delay. A later one waits, after its predecessor has
// ended, for its delay; without one, for the difference of their timestamps; without
// these, not at all. Its prefix is the leading blocks that its hash_ids share with its
// predecessor's: 0 if either has none.
func ReadMooncake(name string, r io.Reader) (Trace, error) {
	m := mooncakeReader{traceReader: newTraceReader(name, r)}
	if err := m.each(m.read); err != nil {
		return Trace{}, err
	}
	if m.calls == 0 {
		return Trace{}, m.refuse("file", "no calls", "at least one line with "+mooncakeWant)
	}
	return m.trace, nil
}

const mooncakeWant = "timestamp, input_length, output_length, and optionally hash_ids, session_id, delay"

type mooncakeReader struct {
	*traceReader
	row  mooncakeRow
	last []mooncakeLast // by place of the session in the trace
}

// mooncakeRow is one line. Optional fields have a flag that they are there.
type mooncakeRow struct {
	seen      []string // canonical names of the fields read so far
	timestamp time.Duration
	delay     time.Duration
	session   string
	input     int
	output    int
	blocks    []uint64
}

// mooncakeLast is what the next line of a session needs to know of its predecessor.
type mooncakeLast struct {
	timestamp time.Duration
	blocks    []uint64
}

// has reports whether the line has the field.
func (r *mooncakeRow) has(field string) bool { return slices.Contains(r.seen, field) }

// read adds the call of one line to the trace.
func (m *mooncakeReader) read(line []byte) error {
	m.row = mooncakeRow{seen: m.row.seen[:0], blocks: m.row.blocks[:0]}
	if err := m.eachField(line, m.field); err != nil {
		return err
	}
	required := []string{"input_length", "output_length"}
	if !m.row.has("session_id") {
		required = append(required, "timestamp")
	}
	for _, name := range required {
		if !m.row.has(name) {
			return m.refuse(name, "nothing", mooncakeWant)
		}
	}
	if m.row.has("session_id") {
		return m.addToSession()
	}
	m.trace.Sessions = append(m.trace.Sessions, Session{ID: lineIDPrefix + strconv.Itoa(m.line), Arrival: m.row.timestamp + m.row.delay})
	m.last = append(m.last, mooncakeLast{})
	return m.add(len(m.trace.Sessions)-1, Call{InputTokens: m.row.input, OutputTokens: m.row.output})
}

// addToSession adds the current row to the session that it names.
func (m *mooncakeReader) addToSession() error {
	row := &m.row
	i, known := m.index[row.session]
	if !known {
		i = len(m.trace.Sessions)
		m.index[row.session] = i
		m.trace.Sessions = append(m.trace.Sessions, Session{ID: row.session, Arrival: row.timestamp + row.delay})
		m.last = append(m.last, mooncakeLast{timestamp: row.timestamp})
	}
	last := &m.last[i]
	if row.has("timestamp") && row.timestamp < last.timestamp {
		return m.refuse("timestamp", millis(row.timestamp), fmt.Sprintf("at least %s, that of the line before in session %s", millis(last.timestamp), row.session))
	}
	if known {
		before := &m.trace.Sessions[i].Calls[len(m.trace.Sessions[i].Calls)-1]
		if row.has("delay") {
			before.WaitAfter = row.delay
		} else if row.has("timestamp") {
			before.WaitAfter = row.timestamp - last.timestamp
		}
	}
	prefix := sharedTokens(last.blocks, row.blocks, row.input)
	if row.has("timestamp") {
		last.timestamp = row.timestamp
	}
	last.blocks = append(last.blocks[:0], row.blocks...)
	return m.add(i, Call{PrefixTokens: prefix, InputTokens: row.input - prefix, OutputTokens: row.output})
}

// sharedTokens returns how many tokens of a prompt of input tokens are in the
// leading blocks that it shares with the prompt before. Blocks have 512 tokens where
// that fits the number of blocks; traces with another block size do not say which, so
// then it is the smallest size that fits. The last block may be partly filled.
func sharedTokens(before, blocks []uint64, input int) int {
	shared := 0
	for shared < len(before) && shared < len(blocks) && before[shared] == blocks[shared] {
		shared++
	}
	if shared == 0 {
		return 0
	}
	blockTokens := MooncakeBlockTokens
	if (input+blockTokens-1)/blockTokens != len(blocks) {
		blockTokens = (input + len(blocks) - 1) / len(blocks)
	}
	return min(shared*blockTokens, input)
}

// field reads one field of a line. Optional fields may be null, which is as if they
// were absent.
func (m *mooncakeReader) field(key, value string) error {
	name := mooncakeName(key)
	if name == "" {
		return m.refuse("line", "field "+shown(key), mooncakeWant)
	}
	if m.row.has(name) {
		return m.refuse(name, "a second value", "one")
	}
	required := name == "input_length" || name == "output_length"
	if value == "null" && !required {
		return nil
	}
	m.row.seen = append(m.row.seen, name)
	var err error
	switch name {
	case "timestamp":
		m.row.timestamp, err = m.parseMillis(key, value)
	case "delay":
		m.row.delay, err = m.parseMillis(key, value)
	case "input_length":
		m.row.input, err = m.parseTokens(key, value)
	case "output_length":
		m.row.output, err = m.parseTokens(key, value)
	case "session_id":
		m.row.session, err = m.sessionID(value)
	case "hash_ids":
		err = m.hashIDs(value)
	}
	return err
}

// mooncakeName maps a field and the other names that newer tools give it to one
// name, or to "" if it is unknown.
func mooncakeName(key string) string {
	switch key {
	case "timestamp", "created_time":
		return "timestamp"
	case "input_length", "input_tokens":
		return "input_length"
	case "output_length", "output_tokens":
		return "output_length"
	case "delay", "delay_ms":
		return "delay"
	case "hash_ids", "session_id":
		return key
	}
	return ""
}

func (m *mooncakeReader) sessionID(value string) (string, error) {
	const want = "text"
	text, ok := jsonText(value)
	if !ok {
		return "", m.refuse("session_id", shown(value), want)
	}
	if strings.HasPrefix(text, lineIDPrefix) {
		return "", m.refuse("session_id", shown(text), "no "+lineIDPrefix+" at its start: that names lines without a session")
	}
	return text, m.checkSessionID(text)
}

// hashIDs reads a JSON array of whole numbers, which the syntax check has passed
// as JSON.
func (m *mooncakeReader) hashIDs(value string) error {
	const want = "a list of whole numbers"
	inner, ok := strings.CutPrefix(value, "[")
	if !ok {
		return m.refuse("hash_ids", shown(value), want)
	}
	inner = strings.TrimSpace(strings.TrimSuffix(inner, "]"))
	if inner == "" {
		return nil
	}
	for element := range strings.SplitSeq(inner, ",") {
		element = strings.TrimSpace(element)
		id, err := strconv.ParseUint(element, 10, 64)
		if err != nil {
			return m.refuse("hash_ids["+strconv.Itoa(len(m.row.blocks))+"]", shown(element), "a whole number from 0 to 2^64-1")
		}
		m.row.blocks = append(m.row.blocks, id)
	}
	return nil
}
