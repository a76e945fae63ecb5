package harness

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// gaugesFunc makes Servers out of a function.
type gaugesFunc func(ctx context.Context) ([]Gauge, error)

func (f gaugesFunc) Gauges(ctx context.Context) ([]Gauge, error) { return f(ctx) }

// sample runs a sampler for a while.
func sample(t *testing.T, w sim.World, cfg Watchdog, s Servers, length time.Duration) (*sampler, string) {
	t.Helper()
	var log bytes.Buffer
	p := newSampler(w, NewLedger(w, nil), s, &cfg)
	p.log = &log
	err := w.Run(context.Background(), func(ctx context.Context) {
		under, cancel := w.WithCancel(ctx)
		proc := w.Spawn(under, "sampler", p.run)
		_ = w.Sleep(ctx, length)
		cancel(nil)
		_ = proc.Wait(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, log.String()
}

func TestSamplerKeepsTheLatest(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World) {
		cfg := DefaultWatchdog()
		n := 0.0
		reused := make([]Gauge, 1)
		p, log := sample(t, w, cfg, gaugesFunc(func(context.Context) ([]Gauge, error) {
			n++
			reused[0] = Gauge{GaugeDecodeRunning, n}
			return reused, nil
		}), time.Hour+time.Second)
		if lines := strings.Count(log, "\n"); lines != 721 {
			t.Errorf("%d samples, want 721: the interval must not change", lines)
		}
		if got, want := len(p.ring), 74; got != want { // (2 min + 4 × 1 min) / 5 s + 2
			t.Errorf("the ring has %d places, want %d", got, want)
		}
		w.Lock()
		got := p.since(sim.Instant(59 * time.Minute))
		w.Unlock()
		for i, s := range got {
			if s.At != sim.Instant(59*time.Minute).Add(time.Duration(i)*5*time.Second) || s.Gauges[0].Value != float64(709+i) {
				t.Fatalf("sample %d is %+v", i, s)
			}
		}
		if len(got) != 13 {
			t.Errorf("%d samples in the last minute, want 13", len(got))
		}
	})
}

func TestSamplerBearsWithServers(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w sim.World) {
		cfg := DefaultWatchdog()
		n := 0
		p, log := sample(t, w, cfg, gaugesFunc(func(context.Context) ([]Gauge, error) {
			switch n++; n {
			case 1:
				return []Gauge{{"a", 1}}, errors.New("refused: \"no\"")
			case 2:
				return []Gauge{{"nan", math.NaN()}, {"b", 0.5}, {"inf", math.Inf(1)}}, nil
			}
			return nil, nil
		}), 12*time.Second)
		want := `{"t_s":0.000000000,"sent":0,"calls":0,"error":"refused: \"no\"","gauges":{}}
{"t_s":5.000000000,"sent":0,"calls":0,"gauges":{"b":0.5}}
{"t_s":10.000000000,"sent":0,"calls":0,"gauges":{}}
`
		if log != want {
			t.Errorf("got\n%swant\n%s", log, want)
		}
		w.Lock()
		defer w.Unlock()
		if got := p.since(0); len(got) != 3 || got[0].Err == "" || len(got[0].Gauges) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// TestSamplerSkipsWhatItMissed: a reading that takes longer than the interval is not followed by a
// burst, and one that hangs is given up.
func TestSamplerSkipsWhatItMissed(t *testing.T) {
	onWall(t, func(t *testing.T, w sim.World) {
		n := 0
		_, log := sample(t, w, DefaultWatchdog(), gaugesFunc(func(ctx context.Context) ([]Gauge, error) {
			switch n++; n {
			case 1:
				return nil, w.Sleep(ctx, 4*time.Second)
			case 2:
				return nil, w.Sleep(ctx, time.Hour)
			}
			return nil, nil
		}), 16*time.Second)
		var at []string
		for line := range strings.Lines(log) {
			at = append(at, line[strings.Index(line, ":")+1:strings.Index(line, ",")])
		}
		if got := strings.Join(at, " "); got != "0.000000000 5.000000000 15.000000000" || !strings.Contains(log, "deadline") {
			t.Errorf("samples at %s\n%s", got, log)
		}
	})
}
