package metrics_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/repro/metrics"
)

// check compares figures by name.
func check(t *testing.T, rows []figure) {
	t.Helper()
	for _, r := range rows {
		if !near(r.got, r.want) {
			t.Errorf("%s: %v, want %v", r.name, r.got, r.want)
		}
	}
}

type figure struct {
	name      string
	got, want float64
}

func n(i int) float64 { return float64(i) }

// twoAgents: the first one's task is done at 100 s with two calls, of which one needs two attempts; the
// second one's only call is given up at 150 s and its task fails at 160 s.
func twoAgents(p *play) {
	a, b := p.start("agent-01"), p.start("agent-02")
	p.at(10)
	c1 := p.call("agent-01-c001", "agent-01")
	p.move(c1, pacer.StageSlot)
	p.at(20)
	c1.HoldsSlot = true
	p.send(c1)
	p.at(25)
	d := p.call("agent-02-c001", "agent-02")
	p.send(d)
	p.at(30)
	p.move(c1, pacer.StageFirstToken)
	p.at(32)
	p.move(c1, pacer.StageStream)
	p.at(40)
	p.done(c1, 80)
	p.at(45)
	c2 := p.call("agent-01-c002", "agent-01")
	p.send(c2)
	p.at(50)
	p.answer(c2)
	p.at(60)
	p.fail(c2, pacer.AttemptNetwork, "", 30, 55)
	p.move(c2, pacer.StageBackoff)
	p.at(64)
	p.send(c2)
	p.at(70)
	p.answer(c2)
	p.at(100)
	p.done(c2, 300)
	p.end(a, nil)
	p.at(150)
	p.fail(d, pacer.AttemptStatus, "", 0, 0)
	p.over(d, 0, errGone)
	p.at(160)
	p.end(b, errGone)
}

func TestWorkAndCalls(t *testing.T) {
	r := tell(t, metrics.Options{Horizon: 1000 * time.Second}, metrics.Setup{Tasks: 2}, twoAgents)
	if r.Outcome != metrics.Failed {
		t.Errorf("outcome %s", r.Outcome)
	}
	check(t, []figure{
		{"started", n(r.Work.TasksStarted), 2}, {"completed", n(r.Work.TasksCompleted), 1}, {"failed", n(r.Work.TasksFailed), 1},
		{"makespan", r.Work.MakespanS, 160},
		{"mean task time", r.Work.TaskTimeMeanS, (100.0 + 1000) / 2}, // the failed one lasts until the horizon
		{"goodput in tasks", r.Work.GoodputTasksPerS, 1 / 160.0},
		{"goodput in tokens", r.Work.GoodputTokensPerS, 380 / 160.0},
		{"throughput", r.Work.ThroughputTokensPerS, 410 / 160.0},
		// Calls took 30 s, 55 s, and at least 125 s: from when they were wanted.
		{"calls", n(r.Calls.N), 3}, {"censored", n(r.Calls.Censored), 1},
		{"p50", r.Calls.P50S, 55}, {"p99", r.Calls.P99S, 125}, {"max", r.Calls.MaxS, 125}, {"mean", r.Calls.MeanS, 70},
		{"tasks", n(r.Tasks.N), 2}, {"p50 of tasks", r.Tasks.P50S, 100}, {"max of tasks", r.Tasks.MaxS, 160},
		// Means over three calls.
		{"slot", r.Split.SlotS, 10.0 / 3}, {"headers", r.Split.HeadersS, (10.0 + 5 + 6 + 125) / 3}, {"first token", r.Split.FirstTokenS, 2.0 / 3},
		{"stream", r.Split.StreamS, (8.0 + 10 + 30) / 3}, {"backoff", r.Split.BackoffS, 4.0 / 3}, {"gap", r.Split.GapMaxS, 125},
		{"tokens", n(r.Waste.TokensTotal), 410}, {"useful", n(r.Waste.TokensUseful), 380}, {"wasted", n(r.Waste.TokensWasted), 30},
		{"wasted share", r.Waste.WastedShare, 30 / 410.0},
		{"attempts", n(r.Amplification.Attempts), 4}, {"per call", r.Amplification.PerCall, 4.0 / 3}, {"retries", r.Amplification.RetryShare, 0.25},
		{"refused", n(r.Control.Refused), 1},
		{"in flight", r.Control.InflightClientMean, (20.0 + 15 + 36 + 125) / 160},
	})
	parts := r.Split.SlotS + r.Split.RateS + r.Split.ConnectS + r.Split.HeadersS + r.Split.FirstTokenS + r.Split.StreamS + r.Split.BackoffS
	check(t, []figure{{"the parts together", parts, r.Calls.MeanS}})
	if !slices.Equal(r.Raw.CallS, []float32{30, 55}) || !slices.Equal(r.Raw.CallCensoredS, []float32{125}) {
		t.Errorf("raw: %+v", r.Raw)
	}
}

// TestUnfinished: what had not ended when the run did is there, with the time it had taken.
func TestUnfinished(t *testing.T) {
	r := tell(t, metrics.Options{}, metrics.Setup{Tasks: 2}, func(p *play) {
		p.start("agent-01")
		p.at(5)
		p.send(p.call("agent-01-c001", "agent-01"))
		p.at(65)
	})
	if r.Outcome != metrics.Never {
		t.Errorf("outcome %s", r.Outcome)
	}
	check(t, []figure{
		{"makespan", r.Work.MakespanS, 65}, {"mean task time", r.Work.TaskTimeMeanS, 65},
		{"calls", n(r.Calls.N), 1}, {"censored", n(r.Calls.Censored), 1}, {"max", r.Calls.MaxS, 60}, {"headers", r.Split.HeadersS, 60},
		{"tasks censored", n(r.Tasks.Censored), 1}, {"gap", r.Split.GapMaxS, 60},
	})
}

// TestArrivals: a task's time counts from when it was there, and one that nobody works on is unfinished.
func TestArrivals(t *testing.T) {
	r := tell(t, metrics.Options{}, metrics.Setup{Tasks: 3}, func(p *play) {
		p.arrive("agent-01")
		a := p.start("agent-01")
		p.at(10)
		p.arrive("agent-02")
		p.arrive("agent-03")
		p.at(50)
		p.end(a, nil)
		b := p.start("agent-02")
		p.at(60)
		p.end(b, nil)
		p.at(70)
	})
	if r.Outcome != metrics.Never {
		t.Errorf("outcome %s", r.Outcome)
	}
	if !slices.Equal(r.Raw.TaskS, []float32{50, 50}) || !slices.Equal(r.Raw.TaskCensoredS, []float32{60}) {
		t.Errorf("raw: %+v", r.Raw)
	}
	check(t, []figure{{"started", n(r.Work.TasksStarted), 3}, {"completed", n(r.Work.TasksCompleted), 2}, {"mean", r.Work.TaskTimeMeanS, 160.0 / 3}})
}

// TestPeak: 10 calls that take 100 s are tried twice each within 60 s.
func TestPeak(t *testing.T) {
	r := tell(t, metrics.Options{Window: time.Minute}, metrics.Setup{}, func(p *play) {
		var all []*pacer.CallState
		for i := range 10 {
			p.at(float64(i))
			c := p.call("agent-01-c00"+string(rune('0'+i)), "")
			p.send(c)
			all = append(all, c)
		}
		for i, c := range all {
			p.at(30 + float64(i))
			p.fail(c, pacer.AttemptTimeout, pacer.LimitTotal, 0, 0)
			p.send(c)
		}
		p.at(100)
		for _, c := range all {
			p.over(c, 0, errGone)
		}
		p.at(170)
		p.send(p.call("agent-01-c010", "")) // alone in its window
	})
	check(t, []figure{{"peak", r.Amplification.Peak, 2}, {"attempts", n(r.Amplification.Attempts), 21}, {"calls", n(r.Amplification.Calls), 11}})
}

func TestStalls(t *testing.T) {
	r := tell(t, metrics.Options{}, metrics.Setup{}, func(p *play) {
		a := p.start("agent-01")
		p.at(10) // has thought for 10 s
		c := p.call("agent-01-c001", "agent-01")
		c.HoldsSlot = true
		p.send(c)
		p.at(40)
		p.answer(c)
		p.at(200) // tokens until 50, then silence
		p.fail(c, pacer.AttemptTimeout, pacer.LimitIdle, 5, 50)
		p.move(c, pacer.StageBackoff)
		p.at(203)
		p.send(c)
		p.at(210)
		p.answer(c)
		p.at(220)
		p.done(c, 10)
		p.stage(a, pacer.StageTool, "save")
		p.at(300)
		p.stage(a, pacer.StageThink, "")
		p.at(301)
		b := p.start("agent-02")
		p.end(a, nil)
		p.at(302)
		d := p.call("agent-02-c001", "agent-02")
		p.move(d, pacer.StageSlot)
		p.at(402)
		p.over(d, 0, errGone)
		p.end(b, errGone)
		p.at(500) // nothing to do is no stall
	})
	check(t, []figure{
		// From 50 to 210, and from 302 to 402.
		{"all", r.Stall.AllS, 160 + 100}, {"windows", n(r.Stall.Windows), 2}, {"longest", r.Stall.LongestS, 160},
		{"each", r.Stall.AgentMeanS, (160.0 + 100) / 2},
		// From 50 to 200 nothing was sent, then it waited for the next attempt, with the slot.
		{"slot held in vain", r.Stall.SlotIdleS, 150 + 3},
	})
}

// TestHangingTool: a tool at a latch is not at work; one that takes long is.
func TestHangingTool(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		r := tell(t, metrics.Options{}, metrics.Setup{}, func(p *play) {
			a := p.start("agent-01")
			p.stage(a, pacer.StageTool, "save")
			if hangs {
				a.WaitsFor = []string{"tool save of agent-01"}
			}
			p.at(500)
		})
		want := 0.0
		if hangs {
			want = 500
		}
		check(t, []figure{{"stalled", r.Stall.AllS, want}})
	}
}

// TestAgentsHold: a slot that is the agent's is held between calls as well.
func TestAgentsHold(t *testing.T) {
	setup := metrics.Setup{Pacer: pacer.Config{Slots: 1, Hold: pacer.HoldAgent}}
	r := tell(t, metrics.Options{}, setup, func(p *play) {
		a := p.start("agent-01")
		for i := range 2 {
			c := p.call("agent-01-c00"+string(rune('1'+i)), "agent-01")
			c.HoldsSlot = true
			p.send(c)
			p.answer(c)
			p.done(c, 1)
			p.at(10 * float64(i+1))
		}
		p.end(a, nil)
		p.at(100)
	})
	check(t, []figure{{"held between calls", r.Stall.SlotIdleS, 20}})
}

// TestLeakedSlot: nobody gives it back.
func TestLeakedSlot(t *testing.T) {
	r := tell(t, metrics.Options{}, metrics.Setup{Pacer: pacer.Config{Slots: 1, Hold: pacer.HoldStream}}, func(p *play) {
		p.start("agent-01")
		c := p.call("agent-01-c001", "agent-01")
		c.HoldsSlot = true
		p.send(c)
		p.at(30)
		c.HoldsSlot = false
		p.fail(c, pacer.AttemptStatus, "", 0, 0)
		p.over(c, 0, errGone)
		p.at(100)
	})
	check(t, []figure{{"leaked", r.Stall.SlotIdleS, 70}})
}

// TestNothing: a run without anything in it has figures all the same, and no NaN.
func TestNothing(t *testing.T) {
	r := tell(t, metrics.Options{Series: true, Triggers: []metrics.Window{{From: 5}}}, metrics.Setup{}, func(*play) {})
	b, err := json.Marshal(r) // which refuses NaN
	if err != nil || strings.Contains(string(b), "null") {
		t.Errorf("%v: %s", err, b)
	}
}

func TestSeries(t *testing.T) {
	r := tell(t, metrics.Options{Series: true, Every: 40 * time.Second}, metrics.Setup{Tasks: 2}, twoAgents)
	s := r.Series
	for _, row := range []struct {
		name      string
		got, want []float32
	}{
		{"offered", s.OfferedPerS, []float32{2 / 40.0, 1 / 40.0, 0, 0}},
		{"attempts", s.AttemptsPerS, []float32{2 / 40.0, 2 / 40.0, 0, 0}},
		{"in flight", s.ClientInflight, []float32{2, 2, 1, 0}},
		{"goodput", s.GoodputPerS, []float32{2, 2.5, 5, 0}},
	} {
		if !slices.Equal(row.got, row.want) {
			t.Errorf("%s: %v, want %v", row.name, row.got, row.want)
		}
	}
	want := metrics.Span{Agent: "agent-01", Stage: "slot", FromS: 10, ToS: 20}
	if !slices.Contains(s.Gantt, want) {
		t.Errorf("no %v in %v", want, s.Gantt)
	}
	last := 0.0
	for _, span := range s.Gantt {
		if span.Agent == "agent-01" {
			if span.FromS < last {
				t.Errorf("%v begins before the one before it has ended", span)
			}
			last = span.ToS
		}
	}
	if last != 100 {
		t.Errorf("the last span ends at %v", last)
	}
}

func TestValidate(t *testing.T) {
	for _, row := range []struct {
		o    metrics.Options
		want string
	}{
		{metrics.Options{}, ""},
		{metrics.Options{Every: -1}, "every: found -1ns, want 0 (the default) or at least 1ms"},
		{metrics.Options{Hold: time.Microsecond}, "hold: found 1µs, want 0 (the default) or at least 1ms"},
		{metrics.Options{Triggers: []metrics.Window{{From: 5}, {From: 2, To: 1}}}, "triggers[1]: found "},
		{metrics.Options{Triggers: []metrics.Window{{From: 5, To: sim.Never}}}, ""},
	} {
		err := row.o.Validate()
		if (err == nil) != (row.want == "") || err != nil && !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%+v: %v, want %s", row.o, err, row.want)
		}
	}
}
