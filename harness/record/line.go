package record

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// A line is one flat object of JSON: its values are texts, numbers, true and false. encoding/json would
// take several times longer over it, and round instants to what a float64 holds.

// key is a field that a line may have.
type key uint8

// The fields, in the order of keyTable.
const (
	keyAt key = iota
	keyEvent
	keyRun
	keyAgents
	keyWorkers
	keyAgent
	keyTask
	keyRound
	keyStep
	keyCall
	keyStage
	keyFrom
	keyAttempt
	keyAttempts
	keyID
	keyOutcome
	keyTook
	keyTokens
	keyLimit
	keyStatus
	keyErr
	keyAgain
	keyDelay
	keyStop
	keyKept
	keyHedge
	keyBeside
	keyOK
	keyTool
	keyInRange
	keyParent
	keyEpisode
	keyCapture
	keyStalled
	keyCalls
	keySent
	keyWhy
	keyDone
	keyFailed
	keySteps
	keyStalls
	keyLost
	keyCount
)

// kind is what a field's value is.
type kind uint8

const (
	kindText    kind = iota
	kindCount        // a whole number
	kindSeconds      // with up to nine decimals
	kindFlag
)

func (k kind) String() string {
	return [...]string{"a text", "a whole number", "a number of seconds with at most nine decimals", "true or false"}[k]
}

var keyTable = [keyCount]struct {
	name string
	kind kind
}{
	{"t_s", kindSeconds}, {"event", kindText}, {"run", kindText}, {"agents", kindCount}, {"workers", kindCount}, {"agent", kindText}, {"task", kindText},
	{"round", kindCount}, {"step", kindCount}, {"call", kindText}, {"stage", kindText}, {"from", kindText}, {"attempt", kindCount}, {"attempts", kindCount},
	{"id", kindText}, {"outcome", kindText}, {"took_s", kindSeconds}, {"tokens", kindCount}, {"limit", kindText}, {"status", kindCount}, {"error", kindText},
	{"again", kindFlag}, {"delay_s", kindSeconds}, {"stop", kindText}, {"kept", kindCount}, {"hedge", kindFlag}, {"beside", kindFlag}, {"ok", kindFlag},
	{"tool", kindText}, {"in_range", kindFlag}, {"parent", kindText}, {"episode", kindCount}, {"capture", kindCount}, {"stalled_for_s", kindSeconds},
	{"calls", kindCount}, {"sent", kindCount}, {"why", kindText}, {"agents_done", kindCount}, {"agents_failed", kindCount}, {"steps", kindCount},
	{"stalls", kindCount}, {"lost_lines", kindCount},
}

// keys is a set of fields.
type keys uint64

func (s keys) has(k key) bool { return s>>k&1 != 0 }

func setOf(list ...key) (s keys) {
	for _, k := range list {
		s |= 1 << k
	}
	return s
}

// names lists the fields of a set.
func (s keys) names() string {
	var out []string
	for k := range keyCount {
		if s.has(k) {
			out = append(out, keyTable[k].name)
		}
	}
	return strings.Join(out, ", ")
}

// fields is a line, taken apart. Texts are in the line, or in room where they had escapes.
type fields struct {
	has   keys
	texts [keyCount][]byte
	nums  [keyCount]int64 // nanoseconds of seconds, 1 for true
	room  []byte
}

func (f *fields) text(k key) string { return string(f.texts[k]) }
func (f *fields) num(k key) int     { return int(f.nums[k]) }
func (f *fields) flag(k key) bool   { return f.nums[k] != 0 }

// fieldError says what is wrong with a line. Field is empty if it is the line.
type fieldError struct {
	field string
	msg   string
}

func wrong(k key, format string, args ...any) *fieldError {
	return &fieldError{keyTable[k].name, fmt.Sprintf(format, args...)}
}

// scan takes a line apart.
func (f *fields) scan(line []byte) *fieldError {
	for k := range keyCount {
		if f.has.has(k) {
			f.texts[k], f.nums[k] = nil, 0
		}
	}
	f.has, f.room = 0, f.room[:0]
	s := scanner{rest: line, room: &f.room}
	return s.object(func(name []byte) (ok bool, want string) {
		k, ok := keyOf(name)
		switch {
		case !ok:
			return false, "a field that a journal has"
		case f.has.has(k):
			return false, "it once"
		}
		f.has |= 1 << k
		return f.value(&s, k), keyTable[k].kind.String()
	})
}

// value reads the value of a field.
func (f *fields) value(s *scanner, k key) (ok bool) {
	switch keyTable[k].kind {
	case kindText:
		f.texts[k], ok = s.quoted()
	case kindCount:
		f.nums[k], ok = s.number(0)
	case kindSeconds:
		f.nums[k], ok = s.number(9)
	case kindFlag:
		switch {
		case s.word("true"):
			f.nums[k], ok = 1, true
		case s.word("false"):
			ok = true
		}
	}
	return ok
}

// keyOf looks a field up. The compiler makes no copy of a text for it.
func keyOf(name []byte) (key, bool) {
	for k := range keyCount {
		if keyTable[k].name == string(name) {
			return k, true
		}
	}
	return 0, false
}

// excerptBytesMax bounds how much of a line a message quotes.
const excerptBytesMax = 40

func excerpt(b []byte) string {
	b = bytes.TrimRight(b, "\r\n")
	if len(b) == 0 {
		return "the end"
	}
	if len(b) > excerptBytesMax {
		b = b[:excerptBytesMax]
	}
	return strconv.Quote(string(b))
}
