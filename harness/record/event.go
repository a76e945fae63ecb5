package record

import (
	"fmt"
	"strings"
)

// event is what happened, as a line says.
type event uint8

const (
	runStart event = iota
	taskStart
	stageEvent
	attemptEnd
	callEnd
	toolEnd
	stepEnd
	agentEnd
	stallEvent
	stallEnd
	runEnd
	eventCount
)

// eventTable has the fields of each event besides t_s and event: those that it must have, and those
// that it may have, as harness.Journal documents them.
var eventTable = [eventCount]struct {
	name      string
	must, may keys
}{
	{"run_start", setOf(keyRun, keyAgents, keyWorkers), 0},
	{"task_start", setOf(keyAgent, keyTask), 0},
	{"stage", setOf(keyCall, keyStage, keyFrom, keyAttempt), setOf(keyAgent, keyTask, keyRound, keyStep)},
	{
		"attempt_end", setOf(keyCall, keyAttempt, keyID, keyOutcome, keyTook, keyTokens),
		setOf(keyLimit, keyStatus, keyErr, keyAgain, keyDelay, keyStop, keyKept, keyHedge, keyBeside),
	},
	{"call_end", setOf(keyCall, keyOK, keyAttempts, keyTook, keyTokens), setOf(keyErr)},
	{"tool_end", setOf(keyAgent, keyTool, keyTook, keyInRange), setOf(keyErr)},
	{"step_end", setOf(keyAgent, keyRound, keyStep), 0},
	{"agent_end", setOf(keyAgent, keyTask, keyOK), setOf(keyParent, keyLimit, keyErr)},
	{"stall", setOf(keyEpisode, keyCapture, keyStalled, keyCalls, keySent), 0},
	{"stall_end", setOf(keyEpisode, keyStalled), 0},
	{"run_end", setOf(keyWhy, keyDone, keyFailed, keySteps, keyStalls), 0},
}

// event says what event the line is of, and that it has the fields of one.
func (f *fields) event() (event, *fieldError) {
	for _, k := range []key{keyEvent, keyAt} {
		if !f.has.has(k) {
			return 0, wrong(k, "found a line without it, want it in every line")
		}
	}
	e, ok := eventOf(f.texts[keyEvent])
	if !ok {
		return 0, wrong(keyEvent, "found %s, want one of %s", excerpt(f.texts[keyEvent]), eventNames())
	}
	spec := &eventTable[e]
	if missing := spec.must &^ f.has; missing != 0 {
		return 0, wrong(keyEvent, "found %s without %s, want it with %s", spec.name, missing.names(), spec.must.names())
	}
	if extra := f.has &^ (spec.must | spec.may | setOf(keyAt, keyEvent)); extra != 0 {
		return 0, wrong(keyEvent, "found %s with %s, want it with %s at most", spec.name, extra.names(), (spec.must | spec.may).names())
	}
	return e, nil
}

func eventOf(name []byte) (event, bool) {
	for e := range eventCount {
		if eventTable[e].name == string(name) {
			return e, true
		}
	}
	return 0, false
}

func eventNames() string {
	var out []string
	for e := range eventCount {
		out = append(out, eventTable[e].name)
	}
	return strings.Join(out, ", ")
}

// LineError says what is wrong with a line of a journal.
type LineError struct {
	File  string // such as "events.jsonl"
	Line  int    // counted from 1
	Field string // empty if it is about the whole line
	Msg   string // what was found, and what is allowed
}

func (e *LineError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
	}
	return fmt.Sprintf("%s:%d: %s: %s", e.File, e.Line, e.Field, e.Msg)
}
