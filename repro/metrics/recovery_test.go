package metrics_test

import (
	"fmt"
	"testing"

	"example.com/wedge/pacer"
	"example.com/wedge/repro/metrics"
)

// TestRecovery: 10 tokens a second before the trigger, then nothing, then what the row says.
func TestRecovery(t *testing.T) {
	steady := func(p *play, from, to float64, tokens int) {
		p.at(from)
		c := p.call("agent-01-c001", "agent-01")
		p.send(c)
		p.answer(c)
		p.at(to)
		p.done(c, tokens)
	}
	for _, row := range []struct {
		name   string
		late   func(p *play)
		finish bool // the task is done at 2000
		want   metrics.Recovery
	}{
		{"at once", func(p *play) { steady(p, 200, 2000, 18000) }, false, metrics.Recovery{Recovered: true, LatePerS: 10}},
		{"after 100 s", func(p *play) { steady(p, 300, 2000, 17000) }, false, metrics.Recovery{Recovered: true, RecoveredAfterS: 70, LatePerS: 10}}, // 90 % of 300 s
		{"to three quarters", func(p *play) { steady(p, 300, 2000, 12750) }, false, metrics.Recovery{Never: true, LatePerS: 7.5}},
		{"not at all", func(p *play) { p.at(2000) }, false, metrics.Recovery{Never: true}},
		{"for a while", func(p *play) { steady(p, 200, 1000, 8000); p.at(2000) }, false, metrics.Recovery{Never: true, Relapsed: true, RelapsedAfterS: 650}}, // from 850 on there is less than half in 300 s
		{"twice", func(p *play) { steady(p, 200, 1000, 8000); steady(p, 1600, 2400, 8000) }, false, metrics.Recovery{Recovered: true, RecoveredAfterS: 1370, LatePerS: 80.0 / 11}},
		{"twice, and then done", func(p *play) { steady(p, 200, 1000, 8000); steady(p, 1600, 1700, 1000); p.at(2000) }, true, metrics.Recovery{Recovered: true, RecoveredAfterS: 1800, LatePerS: 10.0 / 9}},
		{"by being done", func(p *play) { p.at(2000) }, true, metrics.Recovery{Recovered: true, RecoveredAfterS: 1800}},
	} {
		o := metrics.Options{Triggers: []metrics.Window{{From: 100e9, To: 200e9}}}
		r := tell(t, o, metrics.Setup{}, func(p *play) {
			a := p.start("agent-01")
			steady(p, 0, 100, 1000)
			row.late(p)
			if row.finish {
				p.end(a, nil)
			}
		})
		row.want.HasTrigger, row.want.TriggerFromS, row.want.TriggerEndS, row.want.BeforePerS = true, 100, 200, 10
		if got := r.Recovery; got.Recovered != row.want.Recovered || got.Never != row.want.Never || got.Relapsed != row.want.Relapsed || !near(got.BeforePerS, 10) || !near(got.LatePerS, row.want.LatePerS) ||
			got.RecoveredAfterS-row.want.RecoveredAfterS > 1 || row.want.RecoveredAfterS-got.RecoveredAfterS > 1 ||
			got.RelapsedAfterS-row.want.RelapsedAfterS > 1 || row.want.RelapsedAfterS-got.RelapsedAfterS > 1 {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}

// TestRecoveryUnderLoad: goodput is compared with what the load asks for. A task comes every 10 s, and has 100 tokens at
// once if it is served.
func TestRecoveryUnderLoad(t *testing.T) {
	tasks := func(p *play, from, to, every int, served func(i int) bool) {
		for s := from; s < to; s += every {
			p.at(float64(s))
			name := fmt.Sprintf("agent-%04d", s)
			a := p.start(name)
			c := p.call(name+"-c001", name)
			p.send(c)
			if !served(s / every) {
				p.fail(c, pacer.AttemptRejected, "", 0, 0)
				p.over(c, 0, errGone)
				p.end(a, errGone)
				continue
			}
			p.answer(c)
			p.done(c, 100)
			p.end(a, nil)
		}
	}
	all, none := func(int) bool { return true }, func(int) bool { return false }
	for _, row := range []struct {
		name string
		late func(p *play)
		want metrics.Recovery
	}{
		{"as before", func(p *play) { tasks(p, 200, 2000, 10, all) }, metrics.Recovery{Recovered: true}},
		{"nobody comes for a while", func(p *play) { tasks(p, 200, 800, 10, all); tasks(p, 1300, 2000, 10, all) }, metrics.Recovery{Recovered: true}},
		{"fewer come", func(p *play) { tasks(p, 200, 600, 10, all); tasks(p, 600, 2000, 16, all) }, metrics.Recovery{Recovered: true}},
		{"all are turned away at once", func(p *play) { tasks(p, 200, 600, 10, all); tasks(p, 600, 2000, 10, none) }, metrics.Recovery{Never: true, Relapsed: true}},
		{"a fifth is turned away", func(p *play) {
			tasks(p, 200, 600, 10, all)
			tasks(p, 600, 2000, 10, func(i int) bool { return i%5 > 0 })
		}, metrics.Recovery{Never: true, Relapsed: true}},
		{"a twentieth is turned away", func(p *play) {
			tasks(p, 200, 600, 10, all)
			tasks(p, 600, 2000, 10, func(i int) bool { return i%20 > 0 })
		}, metrics.Recovery{Recovered: true}},
	} {
		r := tell(t, metrics.Options{Triggers: []metrics.Window{{From: 100e9, To: 200e9}}}, metrics.Setup{}, func(p *play) {
			tasks(p, 0, 100, 10, all)
			tasks(p, 100, 200, 10, none)
			row.late(p)
		})
		if got := r.Recovery; got.Recovered != row.want.Recovered || got.Never != row.want.Never || got.Relapsed != row.want.Relapsed || got.RecoveredAfterS != 0 {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}
