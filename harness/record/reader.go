package record

import (
	"cmp"
	"slices"
	"strings"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Reader puts the lines of one journal together. It takes memory for what is under way, and none for
// what has ended. It is not safe for concurrent use. Make one with [NewReader].
type Reader struct {
	file   string
	number int // of the latest line, in its file
	h      Handler
	line   fields
	sum    Summary
	begun  bool        // there is a line with an instant
	at     sim.Instant // of the latest one
	loose  bool        // lines are missing, so that what is not known may have begun in one of them
	gap    sim.Instant // where the latest of these end
	serial int
	calls  map[string]*openCall
	tasks  map[string]*openTask // by agent
	stall  *Stall
}

// openTask is a task under way.
type openTask struct {
	Task
	serial int // in the order of their starts
}

// NewReader returns a reader of a journal from its start. The name of the file is for errors.
func NewReader(file string, h Handler) *Reader {
	return &Reader{file: file, h: h, calls: map[string]*openCall{}, tasks: map[string]*openTask{}}
}

// Middle says that the first line to come need not be the first of the journal: older ones may have been
// removed, or are not to be read. What began in them has Cut set.
func (r *Reader) Middle() { r.loose = true }

// Feed takes the next line, with or without its line end. An error is a *[LineError], after which the
// reader is of no use any more.
func (r *Reader) Feed(line []byte) error {
	r.sum.Lines++
	r.number++
	if err := r.feed(line); err != nil {
		return &LineError{File: r.file, Line: r.number, Field: err.field, Msg: err.msg}
	}
	return nil
}

func (r *Reader) feed(line []byte) *fieldError {
	f := &r.line
	if err := f.scan(line); err != nil {
		return err
	}
	if f.has == setOf(keyLost) { // written in place of lines for which there was no room
		r.sum.Lost += f.num(keyLost)
		r.loose, r.gap = true, r.at
		return nil
	}
	e, err := f.event()
	if err != nil {
		return err
	}
	at := sim.Instant(f.nums[keyAt])
	if e == runStart {
		r.restart(at)
		return nil
	}
	if r.sum.Run == "" && !r.loose {
		return wrong(keyEvent, "found %s at the start of a journal, want run_start", eventTable[e].name)
	}
	if !r.begun { // a journal without its start
		r.begun, r.sum.Cut = true, true
		r.sum.From, r.gap = at, at
	}
	r.at = max(r.at, at) // on the wall a line may tell of a moment before the line above it
	r.sum.To = max(r.sum.To, r.at)
	if r.loose && len(r.calls)+len(r.tasks) > openMax {
		r.closeAll() // the ends of most of them are among the missing lines
	}
	return r.happened(e, at)
}

// openMax bounds what is under way where lines are missing: the end of a thing may be among them.
const openMax = 64 << 10

// happened takes any line but a run_start.
func (r *Reader) happened(e event, at sim.Instant) *fieldError {
	f := &r.line
	switch e {
	case taskStart:
		r.taskStarted(at)
	case stageEvent:
		return r.stage(at)
	case attemptEnd:
		return r.attemptEnded(at)
	case callEnd:
		return r.callEnded(at)
	case toolEnd:
		return r.toolEnded(at)
	case stepEnd:
		emit(r.h.Step, &Step{Agent: f.text(keyAgent), Round: f.num(keyRound), Step: f.num(keyStep), At: at})
	case agentEnd:
		return r.agentEnded(at)
	case stallEvent:
		r.stalled(at)
	case stallEnd:
		r.stallEnded(at)
	case runEnd:
		r.sum.Ended = true
		emit(r.h.End, &End{
			At: at, Why: f.text(keyWhy), AgentsDone: f.num(keyDone), AgentsFailed: f.num(keyFailed), Steps: f.num(keySteps), Stalls: f.num(keyStalls),
		})
	}
	return nil
}

// emit tells of something that has ended, if anybody wants to know.
func emit[T any](to func(*T), what *T) {
	if to != nil {
		to(what)
	}
}

// restart begins a run. Another run in one journal goes on with one that was killed.
func (r *Reader) restart(at sim.Instant) {
	r.closeAll()
	if !r.begun {
		r.begun, r.sum.From = true, at
	}
	r.loose = false
	f := &r.line
	r.sum.Run, r.sum.Ended = f.text(keyRun), false
	r.at, r.sum.To = at, max(at, r.sum.To)
	emit(r.h.Start, &Start{At: at, Run: r.sum.Run, Agents: f.num(keyAgents), Workers: f.num(keyWorkers)})
}

func (r *Reader) taskStarted(at sim.Instant) {
	f := &r.line
	if before := r.tasks[f.text(keyAgent)]; before != nil {
		r.endTask(before, at, true)
	}
	r.begin(f.text(keyAgent), f.text(keyTask), at, false)
}

// begin notes a task that is under way from now on.
func (r *Reader) begin(agent, task string, from sim.Instant, cut bool) *openTask {
	r.serial++
	t := &openTask{Task: Task{Agent: agent, Task: task, From: from, Cut: cut}, serial: r.serial}
	r.tasks[agent] = t
	if r.h.Began != nil {
		began := t.Task
		r.h.Began(&began)
	}
	return t
}

// seen notes that an agent is at work: nothing else says that a sub-agent is.
func (r *Reader) seen(agent, task string, from sim.Instant) {
	t := r.tasks[agent]
	if t == nil {
		t = r.begin(agent, task, from, r.loose)
	}
	if t.Task.Task == "" {
		t.Task.Task = task
	}
}

func (r *Reader) agentEnded(at sim.Instant) *fieldError {
	f := &r.line
	agent := f.text(keyAgent)
	t := r.tasks[agent]
	if t == nil {
		if !r.loose && !f.has.has(keyParent) {
			return wrong(keyAgent, "found the end of %s, which has not begun, want one that has", excerpt(f.texts[keyAgent]))
		}
		t = r.begin(agent, f.text(keyTask), at, r.loose)
	}
	t.Task.Task = f.text(keyTask)
	t.OK, t.Parent, t.Limit, t.Err = f.flag(keyOK), f.text(keyParent), f.text(keyLimit), f.text(keyErr)
	r.endTask(t, at, false)
	return nil
}

func (r *Reader) endTask(t *openTask, at sim.Instant, open bool) {
	delete(r.tasks, t.Agent)
	t.To, t.Open = max(at, t.From), open
	ended := t.Task
	emit(r.h.Task, &ended)
}

func (r *Reader) toolEnded(at sim.Instant) *fieldError {
	f := &r.line
	t := &Tool{
		Agent: f.text(keyAgent), Name: f.text(keyTool), From: at - sim.Instant(f.nums[keyTook]), To: at, InRange: f.flag(keyInRange), Err: f.text(keyErr),
	}
	if t.From > at {
		return wrong(keyTook, "found a length below 0, want one of at least 0")
	}
	r.seen(t.Agent, "", t.From)
	emit(r.h.Tool, t)
	return nil
}

func (r *Reader) stalled(at sim.Instant) {
	f := &r.line
	if r.stall != nil && r.stall.Episode == f.num(keyEpisode) {
		r.stall.Captures = f.num(keyCapture)
		return
	}
	r.endStall(at, true)
	r.stall = &Stall{
		Episode: f.num(keyEpisode), Since: at - sim.Instant(f.nums[keyStalled]), From: at, Captures: f.num(keyCapture),
		Calls: f.num(keyCalls), Sent: f.num(keySent), Cut: f.num(keyCapture) > 1,
	}
	if r.h.Detected != nil {
		detected := *r.stall
		r.h.Detected(&detected)
	}
}

func (r *Reader) stallEnded(at sim.Instant) {
	f := &r.line
	since := at - sim.Instant(f.nums[keyStalled])
	if r.stall == nil { // its start is in a line that is missing
		r.stall = &Stall{Episode: f.num(keyEpisode), Since: since, From: max(since, r.sum.From), Cut: true}
	}
	r.endStall(at, false)
}

func (r *Reader) endStall(at sim.Instant, open bool) {
	s := r.stall
	if s == nil {
		return
	}
	r.stall = nil
	s.To, s.Open = max(at, s.From), open
	s.StalledFor = s.To.Sub(s.Since)
	emit(r.h.Stall, s)
}

// closeAll ends what is open, where the journal ends.
func (r *Reader) closeAll() {
	calls := make([]*openCall, 0, len(r.calls))
	for _, c := range r.calls {
		calls = append(calls, c)
	}
	slices.SortFunc(calls, func(a, b *openCall) int { return cmp.Compare(a.serial, b.serial) })
	for _, c := range calls {
		r.endCall(c, r.at, true)
	}
	tasks := make([]*openTask, 0, len(r.tasks))
	for _, t := range r.tasks {
		tasks = append(tasks, t)
	}
	slices.SortFunc(tasks, func(a, b *openTask) int { return cmp.Compare(a.serial, b.serial) })
	for _, t := range slices.Backward(tasks) { // sub-agents before those they work for
		r.endTask(t, r.at, true)
	}
	r.endStall(r.at, true)
}

// Close ends what is open, and returns what was seen.
func (r *Reader) Close() Summary {
	r.closeAll()
	return r.sum
}

// Latest returns the instant of the latest line, 0 before the first.
func (r *Reader) Latest() sim.Instant { return r.at }

// agentOf returns the agent of a call whose start is not known: calls are named after their agents.
func agentOf(call string) string {
	if i := strings.LastIndex(call, "-c"); i > 0 {
		return call[:i]
	}
	return call
}

// sends says whether an attempt is under way in a stage.
func sends(s pacer.Stage) bool {
	switch s {
	case pacer.StageConnect, pacer.StageHeaders, pacer.StageFirstToken, pacer.StageStream:
		return true
	}
	return false
}
