package guest

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/serving/api"
)

// table keeps book of the guest's requests as the HTTP front sees them, and tells the ledger of them as
// if they were calls of agents. It is safe for concurrent use; the world's monitor guards it.
//
// A request that is refused, cut off, or left by the client may come back: then it is another attempt of
// the same call. Until that is known the call counts as one in backoff, but not for ever.
type table struct {
	w       *sim.Wall
	ledger  *harness.Ledger
	calls   pacer.Observer
	agents  agents.Observer
	log     io.Writer     // a line for each request; nil: nobody keeps them
	backFor time.Duration // how long a call may stay away, on the run's clock

	// Guarded by the monitor.

	open    []*call // those in flight and those that may come back, in the order of their start
	visits  map[*api.Visit]*call
	away    map[uint64][]*call // by body: those that may come back, the oldest first
	between *agents.State      // stands for the harness while it has no call in flight; nil: it has one, or is over
	over    bool               // the harness has ended
	closed  bool               // nothing more is written down
	seen    Seen
	extra   extra // since the start
	atStep  extra // the same when something last got on
}

// call is one of the guest's calls.
type call struct {
	pacer.CallState
	agent agents.State
	body  uint64
	// Of the latest attempt:
	status  int         // of its headers; 0: none yet
	refused bool        // it ended with an error status or an error event
	left    sim.Instant // when it went away; 0: it is in flight
}

// extra is what the ledger does not learn of calls that may come back.
type extra struct {
	refusedForGood int           // calls that did not come back after an error status
	backoffWait    time.Duration // until calls came back
}

const (
	// between is the name of the agent that stands for the harness while it asks for nothing.
	betweenName = "harness"
)

func newTable(w *sim.Wall, l *harness.Ledger, log io.Writer, backFor time.Duration) *table {
	return &table{
		w: w, ledger: l, calls: l.CallObserver(), agents: l.AgentObserver(), log: log, backFor: backFor,
		visits: map[*api.Visit]*call{}, away: map[uint64][]*call{},
	}
}

var _ api.Observer = (*table)(nil)

// begin says that the harness has been started.
func (t *table) begin(name string) {
	t.w.Lock()
	defer t.w.Unlock()
	t.ledger.TaskStarted(betweenName, name)
	t.rest()
}

// end says that the harness is over. Its requests end with it.
func (t *table) end(err error) {
	t.w.Lock()
	defer t.w.Unlock()
	t.over = true
	t.rest()
	t.ledger.TaskEnded(betweenName, betweenName, err)
}

// rest sees to it that somebody stands for the harness while it has no call, and nobody otherwise. The
// monitor is held.
func (t *table) rest() {
	idle := len(t.open) == 0 && !t.over
	switch {
	case idle && t.between == nil:
		t.between = &agents.State{Name: betweenName, Task: betweenName, Round: 1, Stage: pacer.StageThink, Since: t.w.Now()}
		t.agents.AgentStarted(t.between)
	case !idle && t.between != nil:
		t.agents.AgentEnded(t.between, nil)
		t.between = nil
	}
}

// Arrived implements api.Observer.
func (t *table) Arrived(v *api.Visit) {
	t.w.Lock()
	defer t.w.Unlock()
	if t.closed {
		return
	}
	t.expire()
	t.seen.Requests++
	c := t.comeBack(v)
	if c == nil {
		c = t.newCall(v)
	}
	t.visits[v] = c
	c.left, c.status, c.refused = 0, 0, false
	c.Attempts++
	c.AttemptID = v.ID
	c.PromptTokens = v.PromptTokens
	c.Tokens, c.Bytes, c.Events, c.LastByte, c.LastToken = 0, 0, 0, 0, 0
	c.Headers, c.FirstToken = 0, 0
	t.enter(c, pacer.StageConnect, v.At)
	c.Sent = v.At
	t.enter(c, pacer.StageHeaders, v.At)
	if n := len(t.visits); n > t.seen.PeakOpen {
		t.seen.PeakOpen = n
	}
	t.rest()
}

// newCall begins a call. That is progress.
func (t *table) newCall(v *api.Visit) *call {
	t.seen.Calls++
	id := "call-" + pad(t.seen.Calls)
	c := &call{CallState: pacer.CallState{ID: id, Agent: id, Task: id, Round: 1, Step: 1, Since: v.At, Started: v.At}, body: v.Body}
	if v.Agent != "" {
		c.Task = cut(v.Agent)
	}
	c.agent = agents.State{Name: id, Task: c.Task, Round: 1, Step: 1, Stage: pacer.StageThink, Since: v.At}
	if v.Retry > 0 { // earlier attempts were before what is remembered
		c.Attempts = v.Retry
	}
	t.open = append(t.open, c)
	t.ledger.TaskStarted(id, c.Task)
	t.agents.AgentStarted(&c.agent)
	t.progress(c)
	return c
}

// progress says that something has got on.
func (t *table) progress(c *call) {
	t.agents.StepDone(&c.agent)
	t.atStep = t.extra
}

// comeBack returns the call of which a request is another attempt, or nil.
func (t *table) comeBack(v *api.Visit) *call {
	same := t.away[v.Body]
	if len(same) == 0 {
		return nil
	}
	c := same[0]
	t.forget(c)
	t.extra.backoffWait += v.At.Sub(c.left)
	return c
}

// forget takes a call off those that may come back.
func (t *table) forget(c *call) {
	same := slices.DeleteFunc(t.away[c.body], func(o *call) bool { return o == c })
	if len(same) == 0 {
		delete(t.away, c.body)
		return
	}
	t.away[c.body] = same
}

// enter moves a call to a stage.
func (t *table) enter(c *call, s pacer.Stage, at sim.Instant) {
	from := c.Stage
	c.StageTime[from] += at.Sub(c.Since)
	c.Stage, c.Since = s, at
	t.calls.StageChanged(&c.CallState, from)
}

// Answered implements api.Observer.
func (t *table) Answered(v *api.Visit, at sim.Instant, status int) {
	t.w.Lock()
	defer t.w.Unlock()
	c := t.visits[v]
	if c == nil {
		return
	}
	c.status = status
	if status >= http.StatusBadRequest { // its end follows at once
		return
	}
	c.Headers = at
	t.enter(c, pacer.StageFirstToken, at)
}

// Wrote implements api.Observer.
func (t *table) Wrote(v *api.Visit, at sim.Instant, tokens, bytes int) {
	t.w.Lock()
	defer t.w.Unlock()
	c := t.visits[v]
	if c == nil {
		return
	}
	if bytes > 0 {
		c.Bytes += int64(bytes)
		c.Events++
		c.LastByte = at
	}
	if tokens <= 0 {
		return
	}
	if c.Stage == pacer.StageFirstToken {
		c.FirstToken = at
		t.enter(c, pacer.StageStream, at)
	}
	c.Tokens += tokens
	c.LastToken = at
	t.seen.Tokens += tokens
}

// Ended implements api.Observer.
func (t *table) Ended(v *api.Visit, at sim.Instant, how api.End, message string) {
	t.w.Lock()
	defer t.w.Unlock()
	c := t.visits[v]
	if c == nil {
		return
	}
	delete(t.visits, v)
	t.write(c, how.String(), at, message)
	r := t.resultOf(c, at, how, message)
	t.calls.AttemptEnded(&c.CallState, r)
	if how == api.EndComplete {
		t.seen.Completed++
		t.drop(c, at, nil)
		t.progress(c)
		t.rest()
		return
	}
	t.seen.TokensWasted += c.Tokens
	c.LastError = cut(r.Err.Error())
	c.left = at
	t.enter(c, pacer.StageBackoff, at)
	t.away[c.body] = append(t.away[c.body], c)
	t.rest()
}

// write notes a request, if somebody keeps them. The monitor is held.
func (t *table) write(c *call, ended string, at sim.Instant, message string) {
	if t.log != nil {
		lineOf(c, ended, at, message).write(t.log)
	}
}

// close closes the books before the servers end, and returns what is in them: what ends later is their end
// and not the requests'.
func (t *table) close() Seen {
	t.w.Lock()
	defer t.w.Unlock()
	for _, c := range t.open {
		if c.left == 0 && !t.closed {
			t.write(c, "open", 0, "")
		}
	}
	t.closed = true
	clear(t.visits)
	return t.seen.clone()
}

// drop takes a call off the books.
func (t *table) drop(c *call, at sim.Instant, err error) {
	t.open = slices.DeleteFunc(t.open, func(o *call) bool { return o == c })
	t.enter(c, pacer.StageDone, at)
	t.calls.CallEnded(&c.CallState, c.Tokens, err)
	t.agents.AgentEnded(&c.agent, err)
	t.ledger.TaskEnded(c.ID, c.Task, err)
}

// expire gives up those that have stayed away for too long. The monitor is held.
func (t *table) expire() {
	now := t.w.Now()
	for i := 0; i < len(t.open); {
		c := t.open[i]
		if c.left == 0 || now.Sub(c.left) < t.backFor {
			i++
			continue
		}
		t.giveUp(c, now)
	}
	t.rest()
}

func (t *table) giveUp(c *call, now sim.Instant) {
	t.forget(c)
	t.seen.Failed++
	if c.refused {
		t.extra.refusedForGood++
	}
	t.drop(c, now, errors.New(c.LastError))
}

// snapshot returns the calls, in the order of their start. The monitor must not be held.
func (t *table) snapshot() []pacer.CallState {
	t.w.Lock()
	defer t.w.Unlock()
	t.expire()
	out := make([]pacer.CallState, len(t.open))
	for i, c := range t.open {
		out[i] = c.CallState
	}
	return out
}

// quiet says whether no request is in flight.
func (t *table) quiet() bool {
	t.w.Lock()
	defer t.w.Unlock()
	return len(t.visits) == 0
}

func pad(n int) string {
	s := strconv.Itoa(n)
	for len(s) < 4 {
		s = "0" + s
	}
	return s
}

// amend adds to evidence what the ledger was not told: whether calls that went away came back.
func (t *table) amend(e *harness.Evidence) {
	t.w.Lock()
	defer t.w.Unlock()
	e.Totals.CallsRefused, e.Totals.BackoffWait = t.extra.refusedForGood, t.extra.backoffWait
	e.Window.CallsRefused = t.extra.refusedForGood - t.atStep.refusedForGood
	e.Window.BackoffWait = t.extra.backoffWait - t.atStep.backoffWait
}
