package diagnose

import (
	"testing"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// TestGaugesNeedLoad is a timeline of samples of one gauge and one counter.
func TestGaugesNeedLoad(t *testing.T) {
	type reading struct {
		back time.Duration
		sent int
		run  float64
		made float64
	}
	for _, c := range []struct {
		name     string
		samples  []reading
		ok       bool
		min, max float64
		rate     float64
		rateOK   bool
	}{
		{"under load", []reading{{25 * s, 4, 1, 100}, {15 * s, 4, 3, 200}, {5 * s, 4, 2, 300}}, true, 1, 3, 10, true},
		{"idle samples do not count", []reading{{25 * s, 4, 3, 100}, {15 * s, 0, 0, 100}, {5 * s, 4, 3, 140}}, true, 3, 3, 2, true},
		{"only idle samples", []reading{{25 * s, 0, 0, 100}, {5 * s, 0, 0, 100}}, false, 0, 0, 0, false},
		{"old samples do not count", []reading{{50 * s, 4, 9, 1}, {20 * s, 4, 2, 100}, {5 * s, 4, 2, 100}}, true, 2, 2, 0, true},
		{"too short for a rate", []reading{{9 * s, 4, 2, 100}, {1 * s, 4, 2, 100}}, true, 2, 2, 0, false},
		{"the counter was reset", []reading{{25 * s, 4, 2, 5000}, {5 * s, 4, 2, 10}}, true, 2, 2, 0, false},
		{"later than the capture", []reading{{-5 * s, 4, 7, 1}}, false, 0, 0, 0, false},
		{"not in order", []reading{{5 * s, 4, 2, 300}, {25 * s, 4, 1, 100}}, true, 1, 2, 10, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ev := &harness.Evidence{At: sim.Instant(time.Hour)}
			for _, r := range c.samples {
				ev.Samples = append(ev.Samples, harness.Sample{At: ev.At - sim.Instant(r.back), Sent: r.sent, Gauges: []harness.Gauge{
					gauge(harness.GaugeDecodeRunning, r.run), gauge(harness.GaugeDecodeTokens, r.made),
				}})
			}
			g := readGauges(ev, ev.Samples)
			run := &g.recent[decodeRunning]
			if run.ok() != c.ok || run.min != c.min || run.max != c.max {
				t.Errorf("ok %v, %v to %v; want %v, %v to %v", run.ok(), run.min, run.max, c.ok, c.min, c.max)
			}
			if rate, _, ok := g.recent[decodeTokens].rate(); ok != c.rateOK || rate != c.rate {
				t.Errorf("rate %v %v, want %v %v", rate, ok, c.rate, c.rateOK)
			}
		})
	}
}

// TestSlowSampler: three samples are read, however far apart.
func TestSlowSampler(t *testing.T) {
	ev := &harness.Evidence{At: sim.Instant(time.Hour), StalledFor: m, Setup: harness.Setup{SampleEvery: 40 * s}}
	for i := range 3 {
		ev.Samples = append(ev.Samples, harness.Sample{At: ev.At - sim.Instant(time.Duration(10+40*i)*s), Sent: 1, Gauges: []harness.Gauge{gauge(harness.GaugeDecodeRunning, 1)}})
	}
	if g := readGauges(ev, ev.Samples); g.loaded != 3 {
		t.Errorf("%d samples read, want 3", g.loaded)
	}
}

func TestReconcile(t *testing.T) {
	call := func(id string, stage pacer.Stage) pacer.CallState {
		return pacer.CallState{ID: id, AttemptID: id, Stage: stage}
	}
	open := func(ids ...string) *harness.RouterView {
		v := &harness.RouterView{Started: 9, Finished: 9 - len(ids)}
		for _, id := range ids {
			v.Open = append(v.Open, harness.RouterRequest{ID: id})
		}
		return v
	}
	calls := []pacer.CallState{
		call("a", pacer.StageStream), call("b", pacer.StageHeaders), call("c", pacer.StageConnect), call("d", pacer.StageSlot), call("e", pacer.StageFirstToken),
	}
	for _, c := range []struct {
		name   string
		router *harness.RouterView
		want   Sides
	}{
		{"the same on both sides", open("a", "b", "e"), Sides{Usable: true, Sent: 3, Both: 3}},
		{"the router has forgotten one", open("a", "e"), Sides{Usable: true, Sent: 3, Both: 2, AgentsOnly: 1}},
		{"the router has one that nobody waits for", open("a", "b", "e", "z"), Sides{Usable: true, Sent: 3, Both: 3, RouterOnly: 1}},
		{"the router has one that is not sent yet, by our account", open("a", "b", "c", "e"), Sides{Usable: true, Sent: 3, Both: 3}},
		{"no log", nil, Sides{Sent: 3}},
		{"a log without request lines", &harness.RouterView{Skipped: 40}, Sides{Sent: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Reconcile(&harness.Evidence{Calls: calls, Router: c.router})
			ids := len(got.Only)
			got.Only = nil
			if got.Usable != c.want.Usable || got.Sent != c.want.Sent || got.Both != c.want.Both || got.AgentsOnly != c.want.AgentsOnly || got.RouterOnly != c.want.RouterOnly {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if ids != c.want.AgentsOnly+c.want.RouterOnly {
				t.Errorf("%d ids named, want %d", ids, c.want.AgentsOnly+c.want.RouterOnly)
			}
		})
	}
}

// TestQuiet says how long a stream may be quiet and count as moving.
func TestQuiet(t *testing.T) {
	for _, c := range []struct {
		name   string
		began  time.Duration // ago
		tokens int
		events int
		last   time.Duration // ago
		moving bool
	}{
		{"a token each 50 ms, the last just now", 100 * s, 2000, 2000, 0, true},
		{"a pause of a long prefill", 100 * s, 2000, 2000, 8 * s, true},
		{"quiet for longer than that", 100 * s, 1800, 1800, 12 * s, false},
		{"a burst each 2 s", 100 * s, 2000, 40, 20 * s, true},
		{"a burst each 2 s, quiet for 41 s", 100 * s, 2000, 30, 41 * s, false},
		{"few tokens so far", 100 * s, 3, 3, 55 * s, true},
		{"few tokens so far, and a minute of silence", 100 * s, 3, 3, 61 * s, false},
		{"one token only", 30 * s, 1, 1, 30 * s, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ev := blind(stallOf("quiet", 1, 0, 1000*s, m).stream(1, c.began, c.last)).done()
			ev.Calls[0].Tokens, ev.Calls[0].Events = c.tokens, c.events
			r := newReading(ev, nil)
			if got := r.calls[0].fate == fateMoving; got != c.moving {
				t.Errorf("moving %v, want %v (quiet for %v, own gap %v)", got, c.moving, r.calls[0].quiet, r.calls[0].gap)
			}
		})
	}
}

// TestSecondCaptureTells: where nobody noted when tokens came, two captures tell whether they do.
func TestSecondCaptureTells(t *testing.T) {
	at := func(instant time.Duration, tokens int) *harness.Evidence {
		ev := blind(stallOf("two", 1, 0, instant, m).stream(1, 300*s, 0)).done()
		ev.Calls[0].Tokens, ev.Calls[0].LastToken, ev.Calls[0].LastByte = tokens, 0, 0
		return ev
	}
	for _, c := range []struct {
		name          string
		before, after int
		want          fate
	}{
		{"tokens came", 500, 900, fateMoving},
		{"no token came", 500, 500, fateSilent},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReading(at(1060*s, c.after), at(1000*s, c.before))
			if r.calls[0].fate != c.want {
				t.Errorf("fate %d, want %d", r.calls[0].fate, c.want)
			}
		})
	}
}

// TestPlaces puts quiet requests into the engines' queues.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		name   string
		gauges []harness.Gauge
		want   map[string]int // by server-side stage, of 2 streams and 8 requests without a token
	}{
		{"both engines count what both have", []harness.Gauge{
			gauge(harness.GaugeDecodeRunning, 2), gauge(harness.GaugeDecodeTransfer, 5), gauge(harness.GaugePrefillQueue, 3),
			gauge(harness.GaugePrefillRunning, 1), gauge(harness.GaugePrefillInflight, 1), gauge(harness.GaugePrefillBootstrap, 3), gauge(harness.GaugeDecodePrealloc, 3),
		}, map[string]int{ServerDecode: 2, ServerPrefillWait: 3, ServerPrefill: 1, ServerInflight: 1, ServerPrealloc: 3}},
		{"the furthest first", []harness.Gauge{
			gauge(harness.GaugeDecodeRunning, 5), gauge(harness.GaugeDecodeQueue, 2), gauge(harness.GaugeDecodeTransfer, 3), gauge(harness.GaugePrefillQueue, 3),
		}, map[string]int{ServerDecode: 5, ServerDecodeWait: 2, ServerPrefillWait: 3}},
		{"an inflight entry of the chunk before", []harness.Gauge{
			gauge(harness.GaugeDecodeRunning, 2), gauge(harness.GaugeDecodePrealloc, 8), gauge(harness.GaugePrefillBootstrap, 8), gauge(harness.GaugePrefillInflight, 1),
		}, map[string]int{ServerDecode: 2, ServerPrealloc: 8}},
		{"what no engine has is at the router", []harness.Gauge{gauge(harness.GaugeDecodeRunning, 2)}, map[string]int{ServerDecode: 2, ServerRouter: 8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ev := stallOf("places", 10, 0, 600*s, m).stream(2, 100*s, 0).headers(8, 90*s).gauges(10, 10, c.gauges...).done()
			got := map[string]int{}
			for _, row := range Diagnose(ev, nil).Stages {
				got[row.ServerStage] += row.Calls
			}
			for stage, n := range c.want {
				if got[stage] != n {
					t.Errorf("%d in %s, want %d (all: %v)", got[stage], stage, n, got)
				}
			}
		})
	}
}

// TestKeptSlots says which holders of slots have no use for them any more.
func TestKeptSlots(t *testing.T) {
	old, young := sim.Instant(0), sim.Instant(998*s)
	holder := func(name, what string, since sim.Instant) sim.Party {
		return sim.Party{Name: name, What: what, Since: since}
	}
	calls := []pacer.CallState{
		{ID: "a-c2", Agent: "a", Stage: pacer.StageStream, HoldsSlot: true},
		{ID: "b-c1", Agent: "b", Stage: pacer.StageSlot},
	}
	for _, c := range []struct {
		name   string
		hold   string
		holder sim.Party
		kept   bool
	}{
		{"a call in flight", "stream", holder("a", "a-c2", old), false},
		{"a call that has ended", "stream", holder("a", "a-c1", old), true},
		{"a call that ended a moment ago", "stream", holder("a", "a-c1", young), false},
		{"a call that says it holds none", "stream", holder("b", "b-c1", old), true},
		{"nobody says what for", "stream", holder("a", "", old), false},
		{"an agent between calls", "agent", holder("c", "c-c1", old), false},
		{"an agent that has ended", "agent", holder("z", "z-c1", old), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ev := &harness.Evidence{
				At: sim.Instant(1000 * s), Calls: calls, Setup: harness.Setup{Hold: c.hold},
				Agents:  []harness.AgentState{{Name: "a"}, {Name: "b"}, {Name: "c"}},
				Objects: []sim.ObjectState{{Kind: "semaphore", Name: SlotObject, Capacity: 1, InUse: 1, Holders: []sim.Party{c.holder}}},
			}
			if got := len(newReading(ev, nil).pool.kept) == 1; got != c.kept {
				t.Errorf("kept %v, want %v", got, c.kept)
			}
		})
	}
}
