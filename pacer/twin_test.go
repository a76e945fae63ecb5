package pacer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
)

// twin is a naive reading of the limits: every limit is a clock of its own, which whatever it is
// about stops or restarts at once.
type twin struct {
	policy pacer.Policy
	clocks map[pacer.Limit]time.Duration // when each goes off
}

func (w *twin) start(l pacer.Limit, now, length time.Duration) {
	delete(w.clocks, l)
	if length > 0 {
		w.clocks[l] = now + length
	}
}

// first returns the limit that goes off before until, if any.
func (w *twin) first(until time.Duration) (pacer.Limit, time.Duration, bool) {
	var first pacer.Limit
	at := until
	for l, t := range w.clocks {
		if t < at { // no two are due at once: see randomLimits
			first, at = l, t
		}
	}
	return first, at, first != ""
}

// outcome plays a script, and says when the attempt ends, and by which limit ("": by itself).
func (w *twin) outcome(s script) (time.Duration, pacer.Limit) {
	p := w.policy
	w.clocks = map[pacer.Limit]time.Duration{}
	w.start(pacer.LimitTotal, 0, p.Total)
	w.start(pacer.LimitConnect, 0, p.Connect)
	now := s.connect
	if l, at, hit := w.first(now); hit {
		return at, l
	}
	delete(w.clocks, pacer.LimitConnect)
	w.start(pacer.LimitResponseHeader, now, p.ResponseHeader)
	w.start(pacer.LimitFirstToken, now, p.FirstToken)
	now += s.headers
	if l, at, hit := w.first(now); hit {
		return at, l
	}
	delete(w.clocks, pacer.LimitResponseHeader)
	output := p.FirstToken == 0
	if output {
		w.start(pacer.LimitIdle, now, p.Idle)
	}
	for _, c := range s.chunks {
		now += c.after
		if l, at, hit := w.first(now); hit {
			return at, l
		}
		if c.text != "" && !output {
			output = true
			delete(w.clocks, pacer.LimitFirstToken)
		}
		progress := c.text != "" || p.IdleBy == pacer.IdleByEvent && c.bytes == 0 || p.IdleBy == pacer.IdleByByte
		if output && progress {
			w.start(pacer.LimitIdle, now, p.Idle)
		}
	}
	if s.end == errHang {
		if l, at, hit := w.first(1000 * time.Hour); hit {
			return at, l
		}
		return now + 1000*time.Hour, ""
	}
	return now, ""
}

// randomLimits returns limits that are due at different instants, and never at one at which
// something happens: scripts run in whole seconds.
func randomLimits(random *rand.Rand) pacer.Policy {
	p := quick()
	p.MaxAttempts = 1
	length := func(n int) time.Duration {
		if random.IntN(3) == 0 {
			return 0
		}
		return time.Duration(1+random.IntN(12))*s + time.Duration(n)*time.Millisecond
	}
	p.Connect, p.ResponseHeader, p.FirstToken, p.Idle, p.Total = length(1), length(2), length(3), length(4), 3*length(7)
	p.IdleBy = []pacer.IdleBy{pacer.IdleByToken, pacer.IdleByEvent, pacer.IdleByByte}[random.IntN(3)]
	return p
}

// TestLimitsAgainstTwin compares the one timer that is set anew now and then with the twin's clocks.
func TestLimitsAgainstTwin(t *testing.T) {
	ended := map[pacer.Limit]int{}
	for n := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, n))
		policy, play := randomLimits(random), randomScript(random)
		play.noTouch, play.refuse = false, nil
		wantAt, want := (&twin{policy: policy}).outcome(play)
		ended[want]++
		w := sim.NewVirtual(sim.VirtualOptions{Seed: n})
		err := w.Run(t.Context(), func(ctx context.Context) {
			p, err := pacer.New(w, pacer.DefaultConfig(), policy, &backend{w: w, play: func(*pacer.Attempt) script { return play }}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Chat(ctx, identity("agent", 1), request())
			var got pacer.Limit
			var limit *pacer.LimitError
			if errors.As(err, &limit) {
				got = limit.Limit
			}
			if at := time.Duration(w.Now()); got != want || at != wantAt {
				t.Errorf("seed %d/%d: ended at %v by %q, the twin says at %v by %q\npolicy %+v\nscript %+v", seed, n, at, got, wantAt, want, policy, play)
			}
		})
		if err != nil {
			t.Errorf("seed %d/%d: %v", seed, n, err)
		}
		if t.Failed() {
			return
		}
	}
	for _, l := range []pacer.Limit{"", pacer.LimitConnect, pacer.LimitResponseHeader, pacer.LimitFirstToken, pacer.LimitIdle, pacer.LimitTotal} {
		if ended[l] < 50 {
			t.Errorf("only %d of 3000 calls ended by %q: %v", ended[l], l, fmt.Sprint(ended))
		}
	}
}
