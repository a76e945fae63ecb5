package engine_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// shows says what a worker shows, and since when.
func shows(w *engine.Worker) string {
	v, at := w.Published(0)
	return fmt.Sprintf("at %v: bootstrap %d, waiting %d, prefilling %d, inflight %d; prealloc %d, transfer %d, waiting %d, running %d; memory %d %d; made %d",
		time.Duration(at).Round(time.Millisecond), v.Bootstrap, v.PrefillWait, v.Prefilling, v.Inflight,
		v.Prealloc, v.Transfer, v.DecodeWait, v.Running, v.PrefillKVTokens, v.DecodeKVTokens, v.DecodeTokens)
}

// TestPublished: gauges are brought up to date after each chunk, every 40 steps, and when there is
// nothing to do, every 30 s. Counters are those of the present.
func TestPublished(t *testing.T) {
	p := newPlay(t, nil)
	pw, dw := p.Prefills()[0], p.Decodes()[0]
	a := p.ask("a", 10_000, 100)
	none := "bootstrap 0, waiting 0, prefilling 0, inflight 0; prealloc 0, transfer 0, waiting 0, running 0; memory 0 0; made "
	p.until(time.Second)
	p.is("prefill", shows(pw), "at 0s: "+none+"0")
	p.until(1500 * time.Millisecond)
	p.is("prefill", shows(pw), "at 1.415s: bootstrap 0, waiting 0, prefilling 1, inflight 0; prealloc 0, transfer 0, waiting 0, running 0; memory 10000 0; made 0")
	p.until(1799 * time.Millisecond)
	p.is("prefill", shows(pw), "at 1.76s: bootstrap 0, waiting 0, prefilling 1, inflight 1; prealloc 0, transfer 0, waiting 0, running 0; memory 10000 0; made 0")
	p.until(2500 * time.Millisecond)
	p.is("decode", shows(dw), fmt.Sprint("at 0s: ", none, a.made()))
	p.until(3461 * time.Millisecond)
	p.is("decode", shows(dw), "at 2.631s: bootstrap 0, waiting 0, prefilling 0, inflight 0; prealloc 0, transfer 0, waiting 0, running 1; memory 0 10041; made 80")
	p.end()
	p.is("a", a.where(), "done done")
	p.until(20 * time.Second)
	running := "bootstrap 0, waiting 0, prefilling 0, inflight 0; prealloc 0, transfer 0, waiting 0, running 1; memory 0 10081; made 100"
	p.is("decode", shows(dw), "at 3.462s: "+running)
	p.until(33461 * time.Millisecond)
	p.is("decode", shows(dw), "at 3.462s: "+running)
	p.until(33463 * time.Millisecond)
	p.is("decode", shows(dw), "at 33.462s: "+none+"100")
	p.until(100 * time.Second)
	p.is("prefill", shows(pw), "at 1m31.76s: "+none+"0")
	p.is("decode", shows(dw), "at 1m33.462s: "+none+"100")
}

// TestFrozen is recipe 10: with something stuck in a queue and nothing running the gauges keep what
// they last showed, and the log has no new line.
func TestFrozen(t *testing.T) {
	p := newLoggedPlay(t, nil, fault.Fault{Where: fault.Inflight, What: fault.Hang, Only: 2})
	p.ask("a", 1000, 100)
	p.until(10 * time.Second)
	p.ask("b", 1000, 100)
	p.until(5 * time.Minute)
	before := shows(p.Prefills()[0]) + shows(p.Decodes()[0])
	lines := p.logs["prefill-0"].Len() + p.logs["decode-0"].Len()
	p.until(time.Hour)
	p.is("gauges", shows(p.Prefills()[0])+shows(p.Decodes()[0]), before)
	p.is("logs", p.logs["prefill-0"].Len()+p.logs["decode-0"].Len(), lines)
	p.is("inflight shown", strings.Contains(before, "inflight 1;"), true)
	p.is("transfers shown", strings.Contains(before, "transfer 1,"), false) // decode had nothing to show since
}

// TestExact: gauges that are true at each instant, and what a fault that freezes them keeps.
func TestExact(t *testing.T) {
	p := newPlay(t, func(c *engine.Config) { c.Gauges.Exact = true },
		fault.Fault{Where: fault.Metrics, What: fault.Freeze, From: 2 * time.Second, To: 4 * time.Second, Worker: "decode-0"})
	p.ask("a", 1000, 150)
	exact := func() {
		t.Helper()
		for _, w := range p.Workers() {
			v, at := w.Published(0)
			p.is(w.Name, fmt.Sprint(v, at), fmt.Sprint(w.Load(0), p.Now()))
		}
	}
	for _, at := range []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond, time.Second} {
		p.until(at)
		exact()
	}
	p.until(3 * time.Second)
	v, at := p.Decodes()[0].Published(0)
	p.is("frozen", fmt.Sprint(v.Running, v.DecodeKVTokens, at), "1 1087 2s")
	p.until(4 * time.Second)
	exact()
}

// TestGaugesAgainstSampling compares what is shown with what a scheduler that looks at each event and
// each step would have written down, for random requests.
func TestGaugesAgainstSampling(t *testing.T) {
	for seed := range uint64(50) {
		draw := sim.NewStream(seed, "engine", "gauges")
		change := func(c *engine.Config) { c.Gauges.EverySteps = 1 + int(seed%7) }
		play := func(log bool, every time.Duration) string {
			p := newPlay(t, change)
			if log { // with a log each moment is on the agenda
				p = newLoggedPlay(t, change)
			}
			own := draw
			got := ""
			for i := range 60 {
				at := time.Duration(own.IntN(20_000)) * time.Millisecond / 20
				for to := time.Duration(p.Now()) + at; time.Duration(p.Now()) < to; {
					p.until(min(to, time.Duration(p.Now())+every))
				}
				got += shows(p.Decodes()[0]) + shows(p.Prefills()[0]) + "\n"
				p.ask(fmt.Sprint(i), 1+own.IntN(20_000), 1+own.IntN(200))
			}
			return got
		}
		want := play(true, 7*time.Millisecond)
		if got := play(false, time.Hour); got != want {
			t.Fatalf("seed %d: shown\n%swant\n%s", seed, got, want)
		}
	}
}

// TestLogs is the log of both engines, and of a unified one, in a short run with trouble.
func TestLogs(t *testing.T) {
	p := newLoggedPlay(t, func(c *engine.Config) {
		c.Prefill.Ranks = 2
		c.Decode.KVTokens, c.Decode.ReserveTokens, c.Decode.ClipTokens = 20_500, 1, 0
		c.Prefill.BootstrapTimeout = 5 * time.Second
	})
	p.ask("a", 8000, 400)
	p.ask("b", 12_000, 300)
	p.until(2 * time.Second)
	p.ask("c", 3000, 10) // no room at decode
	p.until(4 * time.Second)
	d := p.ask("d", 10, 10)
	d.leave()
	p.end()
	p.empty()
	var out strings.Builder
	for _, name := range []string{"prefill-0", "decode-0"} {
		fmt.Fprintf(&out, "%s\n%s\n", name, p.logs[name])
	}
	p = newLoggedPlay(t, func(c *engine.Config) { c.Mode, c.Decode.Recompute = engine.Unified, true })
	p.ask("a", 10_000, 100)
	p.until(time.Second)
	p.ask("b", 500, 50)
	p.end()
	fmt.Fprintf(&out, "engine-0\n%s", p.logs["engine-0"])
	golden(t, "logs", out.String())
}

// TestLogErr: what cannot be written is told, and ends the log.
func TestLogErr(t *testing.T) {
	disk := &fullDisk{room: 2}
	e, err := engine.New(engine.Default(), nil, func(string) io.Writer { return disk })
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		e.Advance(sim.Instant(i) * sim.Instant(time.Second))
		job := engine.Job{PromptTokens: 10_000_000, OutputTokens: 1}
		e.Prefills()[0].Submit(&engine.Leg{Job: &job})
	}
	if e.Prefills()[0].LogErr() == nil || e.Decodes()[0].LogErr() != nil || disk.writes != 3 {
		t.Errorf("%v and %v after %d writes", e.Prefills()[0].LogErr(), e.Decodes()[0].LogErr(), disk.writes)
	}
}

// fullDisk has room for some lines.
type fullDisk struct{ room, writes int }

func (d *fullDisk) Write(line []byte) (int, error) {
	if d.writes++; d.writes > d.room {
		return 0, errors.New("no space left on device")
	}
	return len(line), nil
}
