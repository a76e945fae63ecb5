package trace

import (
	"strconv"

	"example.com/wedge/harness/record"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// fleet draws what the journal says.
type fleet struct {
	*out
	router *router
	tracks map[string]*agentTrack // by agent
	stages stageCounter
}

func (f *fleet) handler() record.Handler {
	return record.Handler{
		Start: f.start,
		Began: f.began, Task: f.task, Stage: f.stage, Call: f.call, Tool: f.tool,
		Detected: f.detected, Stall: f.stall,
		End: func(e *record.End) { f.instant(track{pid: pidRun}, e.At, "end: "+e.Why, 'p') },
	}
}

func (f *fleet) start(s *record.Start) {
	f.router.upTo(s.At)
	f.instant(track{pid: pidRun}, s.At, "start", 'p')
}

// instant writes a flag, across its track ('t'), its process ('p') or everything ('g').
func (f *fleet) instant(t track, at sim.Instant, name string, scope byte) {
	f.event('i', t, at, name)
	f.field("s", string(rune(scope)))
	f.end()
}

// agentTrack is the track of an agent.
type agentTrack struct {
	track
	// since is where its task or the latest thing that it did ends: what is drawn next does not begin before that. On the
	// wall instants are some microseconds off.
	since sim.Instant
}

// trackOf returns an agent's track. They are counted from 1 in the order in which agents begin.
func (f *fleet) trackOf(agent string) *agentTrack {
	t := f.tracks[agent]
	if t == nil {
		tid := len(f.tracks) + 1
		t = &agentTrack{track: track{pidAgents, tid}}
		f.tracks[agent] = t
		f.name("thread", t.track, agent, tid)
	}
	return t
}

// began opens a task. Its end is an event of its own, for much is to be written in between.
func (f *fleet) began(t *record.Task) {
	name := t.Task
	if name == "" {
		name = "task"
	}
	on := f.trackOf(t.Agent)
	on.since = max(on.since, t.From)
	f.categorized('B', on.track, on.since, name, "task")
	f.flag("start_not_known", t.Cut)
	f.end()
}

func (f *fleet) task(t *record.Task) {
	on := f.trackOf(t.Agent)
	on.since = max(on.since, t.To)
	f.categorized('E', on.track, on.since, "", "task")
	f.key("ok")
	f.line = strconv.AppendBool(f.line, t.OK)
	f.text("parent", t.Parent)
	f.text("limit", t.Limit)
	f.text("error", t.Err)
	f.flag("open", t.Open)
	f.end()
}

func (f *fleet) tool(t *record.Tool) {
	on := f.trackOf(t.Agent)
	f.slice(on, t.From, t.To, t.Name, "tool")
	f.text("error", t.Err)
	f.flag("longer_than_usual", !t.InRange)
	f.end()
	on.since = max(on.since, t.To)
}

// slice begins a complete event of an agent. What began before its task is known to have is drawn from there.
func (f *fleet) slice(t *agentTrack, from, to sim.Instant, name, category string) {
	to = max(to, t.since)
	from = clamp(from, t.since, to)
	f.categorized('X', t.track, from, name, category)
	f.length(from, to)
}

// call draws a call with its attempts and stages within it. Outer slices come first, so that a viewer nests
// those that begin at one instant as they are meant.
func (f *fleet) call(c *record.Call) {
	f.stages.left(f.out, c)
	t := f.trackOf(c.Agent)
	f.slice(t, c.From, c.To, "call", "call")
	f.text("id", c.ID)
	f.num("round", c.Round)
	f.num("step", c.Step)
	f.num("tokens", c.Tokens)
	if len(c.Attempts) != 1 {
		f.num("attempts", len(c.Attempts))
	}
	f.text("error", c.Err)
	f.flag("open", c.Open)
	f.flag("start_not_known", c.Cut)
	f.end()
	apart := beside(c)
	for i := range c.Attempts {
		a := &c.Attempts[i]
		a.From, a.To = clamp(a.From, c.From, c.To), clamp(a.To, c.From, c.To)
		f.attempt(t, c, a, apart)
	}
	stretches := stretchesOf(c)
	for _, s := range c.Spans {
		if from, to := stretches.next(s); micros(from) < micros(to) {
			f.slice(t, from, to, s.Stage.String(), "stage")
			f.end()
		}
	}
	t.since = max(t.since, c.To)
}

// beside says whether attempts of a call overlap.
func beside(c *record.Call) bool {
	for i := range c.Attempts {
		if c.Attempts[i].Hedge || c.Attempts[i].Beside {
			return true
		}
	}
	return false
}

// attempt draws an attempt: as a slice of the agent's track, or apart from it if others overlap, or as a
// flag if it was never sent.
func (f *fleet) attempt(t *agentTrack, c *record.Call, a *record.Attempt, apart bool) {
	name := "attempt " + strconv.Itoa(a.N)
	switch {
	case unsent(a):
		f.categorized('i', t.track, a.To, a.Outcome, "attempt")
		f.field("s", "t")
		f.attemptArgs(a)
	case apart:
		id := c.ID + "/" + strconv.Itoa(a.N)
		f.asynchronous('b', t.track, a.From, "attempt", id, c.Agent+" "+name)
		f.attemptArgs(a)
		f.asynchronous('e', t.track, a.To, "attempt", id, c.Agent+" "+name)
		f.end()
	default:
		f.slice(t, a.From, a.To, name, "attempt")
		f.attemptArgs(a)
	}
}

// asynchronous begins an event of those that may overlap others. id pairs the two ends.
func (f *fleet) asynchronous(phase byte, t track, at sim.Instant, category, id, name string) {
	f.categorized(phase, t, at, name, category)
	f.line = appendQuoted(append(f.line, `,"id":`...), id)
}

// attemptArgs adds what is known of an attempt, and ends its event.
func (f *fleet) attemptArgs(a *record.Attempt) {
	f.text("id", a.ID)
	f.text("outcome", a.Outcome)
	f.text("limit", a.Limit)
	f.num("status", a.Status)
	f.num("tokens", a.Tokens)
	f.num("kept_tokens", a.Kept)
	if a.Again {
		f.seconds("again_after_s", sim.Instant(a.Delay))
	}
	f.text("stop", a.Stop)
	f.flag("hedge", a.Hedge)
	f.text("error", a.Err)
	f.flag("open", a.Open)
	f.end()
}

// stretches places the stages of a call on its track, one after the other: within their attempts, or between two.
// On the wall the lines of a stage and of an attempt are some microseconds apart.
type stretches struct {
	call *record.Call
	sent []*record.Attempt // those that may not be overlapped, in their order
}

func stretchesOf(c *record.Call) stretches {
	s := stretches{call: c}
	if beside(c) {
		return s // they are not on the track
	}
	for i := range c.Attempts {
		if a := &c.Attempts[i]; !unsent(a) {
			s.sent = append(s.sent, a)
		}
	}
	return s
}

// next returns where the next stage is to be drawn.
func (x *stretches) next(s record.StageSpan) (from, to sim.Instant) {
	from, to = x.call.From, x.call.To
	for len(x.sent) > 0 && x.sent[0].N < s.Attempt {
		x.sent = x.sent[1:]
	}
	rest := x.sent
	if len(rest) > 0 && rest[0].N == s.Attempt {
		if inAttempt(s.Stage) {
			from, to = rest[0].From, rest[0].To
		}
		rest = rest[1:]
	}
	if len(rest) > 0 && !inAttempt(s.Stage) {
		to = min(to, rest[0].From)
	}
	return clamp(s.From, from, to), clamp(s.To, from, to)
}

// unsent says whether an attempt was turned away before it was sent.
func unsent(a *record.Attempt) bool {
	return a.Outcome == pacer.AttemptRejected || a.Outcome == pacer.AttemptShed
}

func inAttempt(s pacer.Stage) bool { return s >= pacer.StageConnect && s <= pacer.StageStream }

// stage hears of each change: the router's requests are matched with what was sent, and stages counted.
func (f *fleet) stage(e record.StageEvent) {
	f.stages.entered(f.out, e)
	if e.Stage == pacer.StageHeaders {
		f.router.sent(e, f.trackOf(e.Agent).track)
	}
	f.router.upTo(e.At)
}

func (f *fleet) detected(s *record.Stall) {
	f.categorized('i', track{pid: pidRun}, s.From, "stall "+strconv.Itoa(s.Episode), "stall")
	f.field("s", "g")
	f.num("calls", s.Calls)
	f.num("sent", s.Sent)
	f.end()
}

func (f *fleet) stall(s *record.Stall) {
	id, name := "stall-"+strconv.Itoa(s.Episode), "stall "+strconv.Itoa(s.Episode)
	f.asynchronous('b', track{pid: pidRun}, s.Since, "stall", id, name)
	f.seconds("detected_s", s.From)
	f.num("captures", s.Captures)
	f.num("calls", s.Calls)
	f.num("sent", s.Sent)
	f.flag("open", s.Open)
	f.end()
	f.asynchronous('e', track{pid: pidRun}, s.To, "stall", id, name)
	f.end()
}
