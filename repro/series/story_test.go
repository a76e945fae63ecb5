package series_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"example.com/wedge/agents"
	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/series"
)

var errGone = errors.New("gone")

// story tells a meter what happens, by hand, in virtual time.
type story struct {
	t      *testing.T
	w      *sim.Virtual
	ctx    context.Context
	m      *series.Meter
	calls  pacer.Observer
	agents agents.Observer
	used   int // slots
}

// tell plays a story, and returns its windows and the state at its end.
func tell(t *testing.T, o series.Options, play func(s *story)) series.Cumulative {
	t.Helper()
	s := &story{t: t, w: sim.NewVirtual(sim.VirtualOptions{})}
	if o.Slots == nil {
		o.Slots = func() (int, int) { return s.used, 4 }
	}
	s.m = series.NewMeter(s.w, o)
	s.calls, s.agents = s.m.CallObserver(), s.m.AgentObserver()
	var c series.Cumulative
	if err := s.w.Run(context.Background(), func(ctx context.Context) {
		s.ctx = ctx
		play(s)
		s.held(func() { c = s.m.Snapshot(s.w.Now()) })
	}); err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *story) at(seconds float64) {
	if err := s.w.Sleep(s.ctx, time.Duration(seconds*1e9)-time.Duration(s.w.Now())); err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) held(f func()) {
	s.w.Lock()
	defer s.w.Unlock()
	f()
}

func (s *story) close(x series.Extra) (w series.Window) {
	s.held(func() { w = s.m.Close(s.w.Now(), x) })
	return w
}

func (s *story) start(name, parent string) *agents.State {
	a := &agents.State{Name: name, Parent: parent, Since: s.w.Now()}
	s.held(func() { s.agents.AgentStarted(a) })
	return a
}

func (s *story) step(a *agents.State) { s.held(func() { s.agents.StepDone(a) }) }

func (s *story) end(a *agents.State, err error) { s.held(func() { s.agents.AgentEnded(a, err) }) }

func (s *story) call(agent string) *pacer.CallState {
	return &pacer.CallState{ID: agent + "-c001", Agent: agent, Started: s.w.Now(), Since: s.w.Now(), PromptTokens: 100}
}

// move has a call enter stages, all now.
func (s *story) move(c *pacer.CallState, stages ...pacer.Stage) {
	for _, to := range stages {
		from, now := c.Stage, s.w.Now()
		c.StageTime[from] += now.Sub(c.Since)
		c.Stage, c.Since = to, now
		switch to {
		case pacer.StageConnect:
			if !c.Resumed {
				c.Attempts++
			}
			c.Tokens = 0
		case pacer.StageHeaders:
			c.Sent = now
		case pacer.StageStream:
			c.FirstToken = now
		}
		s.held(func() { s.calls.StageChanged(c, from) })
	}
}

// attempt ends an attempt, whose last token came now.
func (s *story) attempt(c *pacer.CallState, r pacer.AttemptResult) {
	c.Tokens, c.LastToken = r.Tokens, s.w.Now()
	s.held(func() { s.calls.AttemptEnded(c, r) })
}

func (s *story) over(c *pacer.CallState, err error) {
	s.move(c, pacer.StageDone)
	s.held(func() { s.calls.CallEnded(c, c.Tokens, err) })
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// TestStory follows a call with three attempts over two windows.
func TestStory(t *testing.T) {
	var one, two series.Window
	c := tell(t, series.Options{}, func(s *story) {
		s.held(func() { s.m.TaskArrived("a") }) // waits for a worker for 2 s
		s.at(2)
		a := s.start("a", "")
		call := s.call("a")
		s.move(call, pacer.StageSlot)
		s.at(10)
		s.used = 1
		s.move(call, pacer.StageConnect, pacer.StageHeaders)
		s.at(15)
		s.attempt(call, pacer.AttemptResult{Outcome: pacer.AttemptStatus, Status: 503, Again: true})
		s.move(call, pacer.StageBackoff)
		s.at(20)
		s.move(call, pacer.StageConnect, pacer.StageHeaders, pacer.StageFirstToken)
		s.at(30)
		s.move(call, pacer.StageStream)
		s.held(func() { s.m.Gauges(s.w.Now(), []harness.Gauge{{Name: "queue", Value: 3}, {Name: "running", Value: 1}}) })
		s.at(40)
		s.held(func() { s.m.Gauges(s.w.Now(), []harness.Gauge{{Name: "queue", Value: 1}}) })
		one = s.close(series.Extra{})
		s.attempt(call, pacer.AttemptResult{Outcome: pacer.AttemptTimeout, Limit: "idle", Tokens: 50, Kept: 20, Again: true})
		s.move(call, pacer.StageConnect, pacer.StageHeaders, pacer.StageFirstToken)
		s.at(50)
		s.move(call, pacer.StageStream)
		s.at(60)
		s.attempt(call, pacer.AttemptResult{Outcome: pacer.AttemptOK, Tokens: 101})
		s.used = 0
		s.over(call, nil)
		s.held(func() { s.agents.ToolCalled(a, agents.ToolCall{Tool: "read", Took: time.Second}) })
		s.held(func() { s.agents.ToolCalled(a, agents.ToolCall{Tool: "nonsense", Error: "no such tool"}) })
		s.step(a)
		s.end(a, nil)
		two = s.close(series.Extra{})
	})
	for _, row := range []struct {
		what      string
		got, want float64
	}{
		{"begun in the first window", float64(one.Calls.Begun), 1}, {"open", float64(one.Calls.Open), 1},
		{"attempts", float64(one.Attempts.Begun), 2}, {"again", float64(one.Attempts.Again), 1}, {"refused", float64(one.Attempts.Status), 1},
		{"seconds in slot", one.StageS.Slot, 8}, {"in headers", one.StageS.Headers, 5}, {"in backoff", one.StageS.Backoff, 5},
		{"in first_token", one.StageS.FirstToken, 10}, {"in stream", one.StageS.Stream, 10},
		{"agents", one.Agents.Mean, 38. / 40}, {"in flight", one.Flight.Mean, 38. / 40},
		{"slots", one.Slots.Mean, 30. / 40}, {"slots at most", float64(one.Slots.Max), 1}, {"limit", float64(one.Slots.Limit), 4},
		{"gauges", float64(len(one.Gauges)), 2}, {"queue", one.Gauges[0].Mean, 2}, {"queue at most", one.Gauges[0].Max, 3}, {"queue last", one.Gauges[0].Last, 1},
		{"ttft of the first window", one.Time(series.TimeTTFT).MeanS, 10}, {"calls that ended", float64(one.Time(series.TimeCall).N), 0},

		{"second window from", two.FromS, 40}, {"index", float64(two.Index), 2}, {"in stream", two.StageS.Stream, 10},
		{"timeouts", float64(two.Attempts.Timeout), 1}, {"received", float64(two.Tokens.Received), 151}, {"wasted", float64(two.Tokens.Wasted), 30},
		{"call", two.Time(series.TimeCall).MaxS, 58}, {"slot wait", two.Time(series.TimeSlotWait).MaxS, 8}, {"queue", two.Time(series.TimeQueue).MaxS, 8},
		{"backoff", two.Time(series.TimeBackoff).MaxS, 5},
		{"time a token of the one that timed out", two.Time(series.TimeInterToken).MaxS, 10. / 49}, {"and of the other", two.Time(series.TimeInterToken).MinS, 0.1},
		{"task, its wait included", two.Time(series.TimeTask).MaxS, 60}, {"step", two.Time(series.TimeStep).MaxS, 58},
		{"tools", float64(two.Tools), 2}, {"tool", two.Time(series.TimeTool).MaxS, 1}, {"gauges", float64(len(two.Gauges)), 0},

		{"in all: attempts", float64(c.Attempts.Begun), 3}, {"prompt", float64(c.Tokens.Prompt), 100}, {"calls", float64(c.Call.N), 1},
		{"their time", c.Call.Sum, 58}, {"in stream", c.StageS.Stream, 20}, {"tool errors", float64(c.ToolErrors), 1},
		{"output", c.OutputTokens.Sum, 101}, {"timeouts by limit", float64(c.Timeouts[4].N), 1}, {"queue is told still", c.Gauges[0].Value, 1}, {"as of", c.GaugesAtS, 40},
	} {
		if !near(row.got, row.want) {
			t.Errorf("%s: got %v, want %v", row.what, row.got, row.want)
		}
	}
	if len(c.Statuses) != 1 || c.Statuses[0] != (series.Count{Name: "503", N: 1}) || c.Timeouts[4].Name != "idle" {
		t.Errorf("statuses %v, timeouts %v", c.Statuses, c.Timeouts)
	}
	merged, err := series.Merge(one, two)
	if err != nil {
		t.Fatal(err)
	}
	if merged.Merged != 2 || merged.Index != 1 || merged.FromS != 0 || merged.ToS != 60 || !near(merged.Slots.Mean, 50./60) || merged.Time(series.TimeTTFT).N != 2 {
		t.Errorf("merged: %s", mustJSON(t, merged))
	}
}

// TestHedge: an attempt beside another is begun and lost, and the call goes back to the one before.
func TestHedge(t *testing.T) {
	c := tell(t, series.Options{}, func(s *story) {
		call := s.call("a")
		s.move(call, pacer.StageConnect, pacer.StageHeaders)
		s.at(5)
		call.Beside = 1
		s.move(call, pacer.StageConnect, pacer.StageHeaders)
		s.at(7)
		s.attempt(call, pacer.AttemptResult{Outcome: pacer.AttemptNetwork, Hedge: true, Beside: true})
		call.Beside, call.Resumed = 0, true
		call.Since = 0 // the stage of the earlier one began then
		s.held(func() {
			call.Stage = pacer.StageHeaders
			s.calls.StageChanged(call, pacer.StageHeaders)
		})
		call.Resumed = false
		s.at(10)
		s.move(call, pacer.StageFirstToken, pacer.StageStream)
		s.attempt(call, pacer.AttemptResult{Outcome: pacer.AttemptOK, Tokens: 1})
		s.over(call, nil)
	})
	if c.Attempts.Begun != 2 || c.Attempts.Again != 1 || c.Attempts.Network != 1 || c.Attempts.OK != 1 {
		t.Errorf("attempts: %+v", c.Attempts)
	}
	if !near(c.StageS.Headers, 10) {
		t.Errorf("a call is in one stage at a time: %v s in headers, want 10", c.StageS.Headers)
	}
	if c.InterToken.N != 0 {
		t.Errorf("%d times a token of an answer of one", c.InterToken.N)
	}
	for _, s := range c.ByStage {
		if s.N != 0 {
			t.Errorf("%d calls left in %s", s.N, s.Name)
		}
	}
}

// TestStalls: as the watchdog has it, over windows of 100 s.
func TestStalls(t *testing.T) {
	var got []series.Stalls
	tell(t, series.Options{StallAfter: time.Minute}, func(s *story) {
		shut := func(at float64) { s.at(at); got = append(got, s.close(series.Extra{}).Stalls) }
		s.at(50) // nobody has work: no stall
		a := s.start("a", "")
		s.at(80)
		s.step(a)
		shut(100)
		shut(200) // raised at 140
		shut(300)
		s.at(310)
		s.step(a)
		s.at(369)
		s.step(a)
		shut(400)
		s.at(410)
		s.end(a, errGone)
		shut(500) // nobody has work
		b := s.start("b", "")
		sub := s.start("b.s1", "b") // a sub-agent is no task
		s.at(570)
		s.end(sub, nil)
		s.end(b, errGone) // the stall goes on until a step ends it
		shut(600)
	})
	want := []series.Stalls{
		{},
		{Begun: 1, S: 120, Open: true},
		{S: 100, Open: true, OpenBefore: true},
		{S: 10, OpenBefore: true},
		{},
		{Begun: 1, S: 100, Open: true},
	}
	if len(got) != len(want) {
		t.Fatalf("%d windows", len(got))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("window %d: got %+v, want %+v", i+1, got[i], want[i])
		}
	}
}

// TestOpenAtTheEnd: calls that have not ended count with what they have taken.
func TestOpenAtTheEnd(t *testing.T) {
	tell(t, series.Options{FirstWindow: 7}, func(s *story) {
		call := s.call("a")
		s.move(call, pacer.StageSlot)
		s.at(30)
		w := s.close(series.Extra{Open: []pacer.CallState{*call}})
		if d := w.Time(series.TimeCall); d.N != 1 || d.Censored != 1 || d.MaxS != 30 || w.Index != 7 {
			t.Errorf("got %s", mustJSON(t, w))
		}
	})
}

// TestFixedMemory: an event takes no memory, however many there have been.
func TestFixedMemory(t *testing.T) {
	w := sim.NewWall(sim.WallOptions{Seed: 1})
	m := series.NewMeter(w, series.Options{StallAfter: time.Minute, Slots: func() (int, int) { return 1, 2 }})
	p := player{calls: m.CallObserver(), agents: m.AgentObserver()}
	play := func() {
		m.TaskArrived("agent-01")
		a := &agents.State{Name: "agent-01"}
		p.agents.AgentStarted(a)
		for range 10 {
			p.step(a)
		}
		p.agents.AgentEnded(a, nil)
	}
	for range 1000 {
		play()
	}
	if got := testing.AllocsPerRun(1000, play); got > 1 { // the state of the agent itself
		t.Errorf("%v allocations a task, want 1", got)
	}
}

// TestEmptyWindow: nothing happened, and all of it can be written, read and merged.
func TestEmptyWindow(t *testing.T) {
	m := series.NewMeter(sim.NewVirtual(sim.VirtualOptions{}), series.Options{})
	a, b := m.Close(0, series.Extra{}), m.Close(0, series.Extra{})
	if a.Slots != nil || a.Gauges != nil {
		t.Errorf("not known, and yet there: %s", mustJSON(t, a))
	}
	got, err := series.Merge(a, b)
	if err != nil {
		t.Fatal(err)
	}
	var read series.Window
	if err := json.Unmarshal(mustJSON(t, got), &read); err != nil {
		t.Fatal(err)
	}
	if _, err := series.Merge(series.Window{}, series.Window{}); err != nil {
		t.Errorf("zero windows: %v", err)
	}
}
