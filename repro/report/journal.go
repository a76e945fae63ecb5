package report

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/record"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// Bounds of what is kept of a journal. What is beyond is counted.
const (
	lanesMax  = 4000
	spansMax  = 1_500_000
	stallsMax = 200
)

// journal is what the page needs of events.jsonl.
type journal struct {
	lanes  []*lane // in the order of their starts
	byName map[string]*lane
	more   int // agents without a lane
	spans  int
	stalls []record.Stall
	stalln int
	start  record.Start
	end    sim.Instant
	stages stageTime
	sum    record.Summary
}

// lane is the work of one agent.
type lane struct {
	agent, parent string
	from, to      sim.Instant
	open, failed  bool
	ends          string // with what error the task ended; empty if well
	spans         []laneSpan
	calls         []laneCall
}

// laneSpan is a stretch of time in a stage.
type laneSpan struct {
	from, to sim.Instant
	stage    pacer.Stage
	attempt  int
	call     int    // index into calls; -1: none
	tool     string // in stage tool
	err      string // of the tool
}

// laneCall is a call in words.
type laneCall struct {
	id          string
	round, step int
	attempts    []laneAttempt
	ends        string // how it ended, if not well
}

type laneAttempt struct {
	n, tokens int
	outcome   string
}

func newJournal() *journal { return &journal{byName: map[string]*lane{}} }

// handler takes in what the reader tells.
func (j *journal) handler() record.Handler {
	return record.Handler{
		Start: func(r *record.Start) { j.start = *r },
		Began: func(t *record.Task) { j.lane(t.Agent, t.From) },
		Call:  j.call, Tool: j.tool, Task: j.task,
		Stall: j.stall,
		Stage: func(e record.StageEvent) { j.end = max(j.end, e.At) },
		End:   func(e *record.End) { j.end = max(j.end, e.At) },
	}
}

// readJournal reads the journal of a bundle as far as it can be read; nil if there is none.
func readJournal(s *source) *journal {
	j := newJournal()
	sum, err := record.ReadAll(s.fs, bundle.EventsLog, j.handler())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if lines := inOrder(s); lines != nil {
			again := newJournal()
			if sum2, err2 := again.feed(lines); sum2.Lines > sum.Lines {
				j, sum, err = again, sum2, err2
			}
		}
	}
	j.sum = sum
	j.end = max(j.end, sum.To)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		s.wrong(bundle.EventsLog, "is read up to what is wrong with it: "+clean(reason(err)))
	case sum.Broken:
		s.wrong(bundle.EventsLog, "ends in the middle of a line: the run was killed, and what it knew last is lost")
	case !sum.Ended:
		s.wrong(bundle.EventsLog, "has no end of the run: it was killed, or is still going on")
	}
	if sum.Cut {
		s.wrong(bundle.EventsLog, "begins in the middle: older files of it have been removed, as a long run does")
	}
	if sum.Lost > 0 {
		s.wrong(bundle.EventsLog, fmt.Sprintf("lacks %s, for which there was no room on the disk", plural(sum.Lost, "line", "lines")))
	}
	return j
}

// settle completes the lanes. The journal tells of a tool when it has returned: of those that had not, captures tell,
// the latest one last.
func (j *journal) settle(captures []*capture) {
	if j == nil {
		return
	}
	for i := len(captures) - 1; i >= 0; i-- {
		if captures[i].ev != nil {
			j.atWork(captures[i].ev)
			break
		}
	}
	for _, l := range j.lanes {
		l.settle(j.end)
	}
}

// atWork adds the tools that were under way at a capture, of agents for which nothing came after it.
func (j *journal) atWork(ev *harness.Evidence) {
	for i := range ev.Agents {
		a := &ev.Agents[i]
		l := j.byName[a.Name]
		if l == nil || !l.open || a.Stage != pacer.StageTool || a.Since < l.from || a.Since >= j.end {
			continue
		}
		if n := len(l.spans); n > 0 && l.spans[n-1].to > a.Since {
			continue
		}
		l.spans = append(l.spans, laneSpan{from: a.Since, to: j.end, stage: pacer.StageTool, call: -1, tool: toolWords(a)})
		j.stages.add(pacer.StageTool, a.Since, j.end)
	}
}

// toolWords names a tool with what it waits for.
func toolWords(a *harness.AgentState) string {
	text := cmp.Or(a.Tool, "not named") + ", which had not returned"
	if len(a.WaitsOn) > 0 {
		text += ", waits for " + strings.Join(a.WaitsOn, ", ")
	}
	return text
}

// lane returns the lane of an agent, nil if there are too many.
func (j *journal) lane(agent string, from sim.Instant) *lane {
	j.end = max(j.end, from)
	if l, ok := j.byName[agent]; ok {
		return l
	}
	if len(j.lanes) == lanesMax || j.spans >= spansMax {
		j.more++
		return nil
	}
	l := &lane{agent: agent, from: from, open: true}
	j.byName[agent] = l
	j.lanes = append(j.lanes, l)
	return l
}

// known is the lane of an agent whose start has been seen; nil if it has none.
func (j *journal) known(agent string, from sim.Instant) *lane {
	if l, ok := j.byName[agent]; ok {
		return l
	}
	if !j.sum.Cut && j.more > 0 {
		return nil
	}
	return j.lane(agent, from)
}

func (j *journal) call(c *record.Call) {
	j.end = max(j.end, c.To)
	for _, s := range c.Spans {
		j.stages.add(s.Stage, s.From, s.To)
	}
	l := j.known(c.Agent, c.From)
	if l == nil {
		return
	}
	call := laneCall{id: c.ID, round: c.Round, step: c.Step}
	for _, a := range c.Attempts {
		call.attempts = append(call.attempts, laneAttempt{a.N, a.Tokens, attemptWords(&a)})
	}
	switch {
	case c.Open:
		call.ends = "had not ended"
	case !c.OK:
		call.ends = strings.TrimSpace("failed: " + c.Err)
	}
	l.calls = append(l.calls, call)
	for _, s := range c.Spans {
		if s.From < s.To {
			l.spans = append(l.spans, laneSpan{from: s.From, to: s.To, stage: s.Stage, attempt: s.Attempt, call: len(l.calls) - 1})
			j.spans++
		}
	}
}

// attemptWords says how an attempt ended.
func attemptWords(a *record.Attempt) string {
	if a.Open {
		return "under way"
	}
	if a.Outcome == pacer.AttemptOK {
		return a.Outcome
	}
	words := []string{a.Outcome}
	if a.Limit != "" {
		words = append(words, "limit "+a.Limit)
	}
	if a.Status != 0 {
		words = append(words, fmt.Sprintf("status %d", a.Status))
	}
	if a.Stop != "" {
		words = append(words, "no other one by "+a.Stop)
	}
	if a.Err != "" {
		words = append(words, a.Err)
	}
	text := strings.Join(words, ", ")
	if r := []rune(text); len(r) > 160 {
		text = string(r[:160]) + "…"
	}
	return text
}

func (j *journal) tool(t *record.Tool) {
	j.end = max(j.end, t.To)
	j.stages.add(pacer.StageTool, t.From, t.To)
	if l := j.known(t.Agent, t.From); l != nil && t.From < t.To {
		l.spans = append(l.spans, laneSpan{from: t.From, to: t.To, stage: pacer.StageTool, call: -1, tool: t.Name, err: t.Err})
		j.spans++
	}
}

func (j *journal) task(t *record.Task) {
	j.end = max(j.end, t.To)
	j.stages.add(pacer.StageDone, t.From, t.To) // of it, what is in no other stage is thinking
	l := j.known(t.Agent, t.From)
	if l == nil {
		return
	}
	l.parent, l.to, l.open, l.failed = t.Parent, t.To, t.Open, !t.OK && !t.Open
	if l.failed {
		l.ends = strings.TrimSpace("failed " + t.Limit + " " + t.Err)
	}
}

func (j *journal) stall(s *record.Stall) {
	j.stalln++
	if len(j.stalls) < stallsMax {
		j.stalls = append(j.stalls, *s)
	}
}

// settle puts spans into the order of time and cuts what overlaps, as where a tool runs beside another.
func (l *lane) settle(end sim.Instant) {
	if l.open {
		l.to = end
	}
	slices.SortStableFunc(l.spans, func(a, b laneSpan) int { return int(min(1, max(-1, a.from-b.from))) })
	at, kept := l.from, l.spans[:0]
	for _, s := range l.spans {
		s.from = max(s.from, at)
		if s.from < s.to {
			kept, at = append(kept, s), s.to
		}
	}
	l.spans = kept
	l.to = max(l.to, at)
}

// bands are the stalls as stretches of a chart.
func (j *journal) bands() (bands []band) {
	if j == nil {
		return nil
	}
	for _, s := range j.stalls {
		bands = append(bands, band{s.Since.Seconds(), s.To.Seconds(), fmt.Sprintf("stall %d: no step for %s", s.Episode, span(s.To.Sub(s.Since).Seconds()))})
	}
	return bands
}
