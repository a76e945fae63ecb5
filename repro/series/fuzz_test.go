package series_test

import (
	"encoding/json"
	"testing"

	"example.com/wedge/agents"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/series"
	"example.com/wedge/repro/threshold"
)

// FuzzWindows: files of a soak that was killed, or that somebody has changed, are read, merged, judged and asked for thresholds
// without a fault, and what comes of it can be written.
func FuzzWindows(f *testing.F) {
	m := series.NewMeter(sim.NewWall(sim.WallOptions{Seed: 1}), series.Options{})
	p := player{calls: m.CallObserver(), agents: m.AgentObserver()}
	a := &agents.State{Name: "agent-01"}
	p.agents.AgentStarted(a)
	p.step(a)
	f.Add(mustJSON(f, m.Close(p.now, series.Extra{})), []byte(`{"at_s":60,"rss_bytes":100,"gc_cycles":3}`))
	f.Add([]byte(`{"from_s":1e308,"to_s":-1e308,"times":[{"name":"call","n":-1}]}`), []byte(`{"at_s":-1e308,"open_bodies":-5}`))
	f.Add([]byte(`{"to_s":1e308,"tokens":{"received":-1,"wasted":9},"times":[{"name":"call","n":1,"p50_s":1e308,"hist":"AQE"}]}`), []byte(`{}`))
	expressions := make([]*threshold.Expr, 0, 8)
	for _, text := range []string{"p99.9(call) < 1s", "each(p90(call)) < 1s", "call_drift < 5%", "growth(p50(call)) < 1s/h", "rss_growth < 1%/h", "each(rss) < 1B", "goodput > 0.9", "avg(slots_in_use) < 3"} {
		e, err := threshold.Parse(text)
		if err != nil {
			f.Fatal(err)
		}
		expressions = append(expressions, e)
	}
	f.Fuzz(func(t *testing.T, window, reading []byte) {
		var one series.Window
		var took series.Process
		if json.Unmarshal(window, &one) != nil || json.Unmarshal(reading, &took) != nil {
			return
		}
		windows, readings := make([]series.Window, 20), make([]series.Process, 20)
		for i := range windows {
			windows[i], readings[i] = one, took
			if i%2 == 1 {
				windows[i].FromS, windows[i].ToS = one.ToS, one.ToS+1
				readings[i].AtS++
			}
		}
		if both, err := series.Merge(windows[0], windows[1]); err == nil {
			_, _ = json.Marshal(both)
		}
		drift, leak := series.Judge(windows, readings)
		if len(drift) == 0 || len(leak) == 0 {
			t.Error("no findings")
		}
		v, err := series.NewValues(windows, readings)
		if err != nil {
			return
		}
		for _, e := range expressions {
			if out := e.Eval(v); out.OK && out.Missing != "" {
				t.Errorf("%+v", out)
			}
		}
	})
}
