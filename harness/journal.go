package harness

import (
	"errors"
	"hash/crc32"
	"io"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Journal writes what happens in a run, one line of JSON an event: events.jsonl. Its methods are
// called with the monitor held. A nil *Journal is valid and writes nothing.
//
// Every line has t_s, the instant in seconds with nanoseconds, and event, one of:
//
//	run_start    run, agents, workers
//	task_start   agent, task
//	stage        call, stage, from, attempt; the first one of a call also agent, task, round, step
//	attempt_end  call, attempt, id, outcome, took_s, tokens; limit, status, error; again, delay_s;
//	             stop, kept, hedge, beside
//	call_end     call, ok, attempts, took_s, tokens; error
//	tool_end     agent, tool, took_s, in_range; error
//	step_end     agent, round, step
//	agent_end    agent, task, ok; parent; limit, error
//	stall        episode, capture, stalled_for_s, calls, sent
//	stall_end    episode, stalled_for_s
//	run_end      why, agents_done, agents_failed, steps, stalls
//
// Fields after a semicolon are there when they have something to say. attempt counts from 1 within
// the call and is 0 before the first; id is what the attempt sent as x-request-id. stop names the rule
// of the policy because of which none follows, kept is how many of the tokens the next one goes on from,
// hedge says that the attempt had joined another, and beside that others go on. While several are under
// way, stages are those of the latest; the ends of the others come in between. An attempt that was not
// sent (outcome rejected or shed) is in stage rate or slot.
type Journal struct {
	w    sim.World
	log  io.Writer
	line jsonLine
	head jsonLine    // of the latest line, up to the instant
	at   sim.Instant // that the head is of
	note bool        // lines are part of the world's hash
	sum  [4]byte
}

// NewJournal returns a journal of w's run that writes to log, such as a bundle's [bundle.EventsLog].
// The lines are mixed into the hash of a virtual world, whatever log does with them.
func NewJournal(w sim.World, log io.Writer) *Journal {
	return &Journal{w: w, log: log, at: -1, note: w.Virtual()}
}

// errorBytesMax bounds what an error message takes of a line.
const errorBytesMax = 500

// Keys, with quotes and colon so that a line is put together by copying.
const (
	keyAgent    = `"agent":`
	keyTask     = `"task":`
	keyRound    = `"round":`
	keyStep     = `"step":`
	keyCall     = `"call":`
	keyAttempt  = `"attempt":`
	keyAttempts = `"attempts":`
	keyID       = `"id":`
	keyTokens   = `"tokens":`
	keyTook     = `"took_s":`
	keyOK       = `"ok":`
	keyError    = `"error":`
	keyEpisode  = `"episode":`
	keyStalled  = `"stalled_for_s":`
)

// begin starts the line of an event at an instant. The head is the event's name, quoted.
func (j *Journal) begin(at sim.Instant, event string) jsonLine {
	if at != j.at { // much happens at one instant
		j.at = at
		j.head = append(appendSeconds(append(j.head[:0], `{"t_s":`...), int64(at)), `,"event":`...)
	}
	return append(append(j.line[:0], j.head...), event...)
}

// end completes a line and writes it. Of a line, the hash gets a checksum: it mixes byte by byte, and
// would take longer over the line than all the rest.
func (j *Journal) end(b jsonLine) {
	b = append(b, '}', '\n')
	j.line = b
	if j.note {
		sum := crc32.Checksum(b, castagnoli)
		j.sum = [4]byte{byte(sum), byte(sum >> 8), byte(sum >> 16), byte(sum >> 24)}
		j.w.Note(j.sum[:])
	}
	_, _ = j.log.Write(b) // a log keeps its errors
}

// castagnoli is the checksum that processors compute by themselves.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (b jsonLine) err(err error) jsonLine {
	if err == nil {
		return b
	}
	return b.str(keyError, cut(err.Error(), errorBytesMax))
}

// cut shortens a text to so many bytes.
func cut(s string, bytesMax int) string {
	if len(s) <= bytesMax {
		return s
	}
	return s[:bytesMax] + "…"
}

func (j *Journal) runStart(at sim.Instant, run string, agentCount, workers int) {
	if j == nil {
		return
	}
	j.end(j.begin(at, `"run_start"`).str(`"run":`, run).num(`"agents":`, agentCount).num(`"workers":`, workers))
}

func (j *Journal) runEnd(at sim.Instant, why string, t *Totals, stalls int) {
	if j == nil {
		return
	}
	b := j.begin(at, `"run_end"`).str(`"why":`, why)
	j.end(b.num(`"agents_done":`, t.AgentsDone).num(`"agents_failed":`, t.AgentsFailed).num(`"steps":`, t.Steps).num(`"stalls":`, stalls))
}

func (j *Journal) taskStart(at sim.Instant, agent, task string) {
	if j == nil {
		return
	}
	j.end(j.begin(at, `"task_start"`).str(keyAgent, agent).str(keyTask, task))
}

func (j *Journal) agentEnd(at sim.Instant, agent, task, parent string, err error) {
	if j == nil {
		return
	}
	b := j.begin(at, `"agent_end"`).str(keyAgent, agent).str(keyTask, task).flag(keyOK, err == nil)
	if parent != "" {
		b = b.str(`"parent":`, parent)
	}
	if over, ok := errors.AsType[*agents.LimitError](err); ok {
		b = b.str(`"limit":`, over.Limit)
	}
	j.end(b.err(err))
}

func (j *Journal) stage(s *pacer.CallState, from pacer.Stage) {
	if j == nil {
		return
	}
	b := j.begin(s.Since, `"stage"`).str(keyCall, s.ID)
	if from == pacer.StageThink {
		b = b.str(keyAgent, s.Agent).str(keyTask, s.Task).num(keyRound, s.Round).num(keyStep, s.Step)
	}
	b = append(b, stageFields[s.Stage]...)
	b = append(b, fromFields[from]...)
	j.end(b.num(keyAttempt, s.Attempt()))
}

// stageFields and fromFields are the fields that name a stage, ready to be copied.
var stageFields, fromFields = stageTexts(`,"stage":"`), stageTexts(`,"from":"`)

func stageTexts(start string) (t [pacer.StageCount]string) {
	for i := range t {
		t[i] = start + pacer.Stage(i).String() + `"`
	}
	return t
}

func (j *Journal) attemptEnd(at sim.Instant, s *pacer.CallState, r *pacer.AttemptResult) {
	if j == nil {
		return
	}
	b := j.begin(at, `"attempt_end"`).str(keyCall, s.ID).num(keyAttempt, s.Attempt()).str(keyID, r.ID)
	b = b.str(`"outcome":`, r.Outcome).length(keyTook, r.Took).num(keyTokens, r.Tokens)
	if r.Limit != "" {
		b = b.str(`"limit":`, r.Limit)
	}
	if r.Status != 0 {
		b = b.num(`"status":`, r.Status)
	}
	b = b.err(r.Err)
	if r.Again {
		b = b.flag(`"again":`, true).length(`"delay_s":`, r.Delay)
	}
	j.end(b.rest(r))
}

// rest adds the fields of an attempt's end that need a policy with more than limits and retries.
func (b jsonLine) rest(r *pacer.AttemptResult) jsonLine {
	if r.Stop.Special() {
		b = b.str(`"stop":`, string(r.Stop))
	}
	if r.Kept != 0 {
		b = b.num(`"kept":`, r.Kept)
	}
	if r.Hedge {
		b = b.flag(`"hedge":`, true)
	}
	if r.Beside {
		b = b.flag(`"beside":`, true)
	}
	return b
}

func (j *Journal) callEnd(at sim.Instant, s *pacer.CallState, tokens int, err error) {
	if j == nil {
		return
	}
	b := j.begin(at, `"call_end"`).str(keyCall, s.ID).flag(keyOK, err == nil).num(keyAttempts, s.Attempts)
	j.end(b.length(keyTook, at.Sub(s.Started)).num(keyTokens, tokens).err(err))
}

func (j *Journal) toolEnd(at sim.Instant, a *agents.State, c *agents.ToolCall) {
	if j == nil {
		return
	}
	b := j.begin(at, `"tool_end"`).str(keyAgent, a.Name).str(`"tool":`, c.Tool)
	b = b.length(keyTook, c.Took).flag(`"in_range":`, c.InRange)
	if c.Error != "" {
		b = b.str(keyError, cut(c.Error, errorBytesMax))
	}
	j.end(b)
}

func (j *Journal) stepEnd(at sim.Instant, a *agents.State) {
	if j == nil {
		return
	}
	j.end(j.begin(at, `"step_end"`).str(keyAgent, a.Name).num(keyRound, a.Round).num(keyStep, a.Step))
}

func (j *Journal) stall(at sim.Instant, episode, shot int, stalledFor time.Duration, calls, sent int) {
	if j == nil {
		return
	}
	b := j.begin(at, `"stall"`).num(keyEpisode, episode).num(`"capture":`, shot).length(keyStalled, stalledFor)
	j.end(b.num(`"calls":`, calls).num(`"sent":`, sent))
}

func (j *Journal) stallEnd(at sim.Instant, episode int, stalledFor time.Duration) {
	if j == nil {
		return
	}
	j.end(j.begin(at, `"stall_end"`).num(keyEpisode, episode).length(keyStalled, stalledFor))
}
