package published

import (
	"math"
	"reflect"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/queue"
)

// TestStationIsMM1: without timeouts the station is the queue of the textbooks.
func TestStationIsMM1(t *testing.T) {
	for _, rho := range []float64{.3, .6, .8} {
		s := station{seed: 1, horizon: 2000 * time.Second, callsPerSecond: 100 * rho, servicesPerSecond: 100, policy: impatient(0, 0)}
		r := s.run()
		inside, all := r.area/s.horizon.Seconds(), sum(r.seconds)
		if want := rho / (1 - rho); math.Abs(inside-want) > .06*want {
			t.Errorf("seed %d, ρ %.1f: %.3f inside on average, want %.3f", s.seed, rho, inside, want)
		}
		if all.calls != all.attempts || all.calls != all.good+r.inside() || all.wasted+all.refused != 0 {
			t.Errorf("seed %d, ρ %.1f: %+v with %d inside do not add up", s.seed, rho, all, r.inside())
		}
	}
}

// TestStationBooks: every attempt is answered in time, wasted, refused, dropped or still inside.
func TestStationBooks(t *testing.T) {
	for name, change := range map[string]func(*station){ //wedge:unordered each is a test of its own
		"FIFO":     func(*station) {},
		"LIFO":     func(s *station) { s.queue.Order = queue.LIFO },
		"bound":    func(s *station) { s.queue.Max = 250 },
		"silent":   func(s *station) { s.queue.Max, s.silent = 250, true },
		"budget":   func(s *station) { s.policy.RetryBudget = tenPercent() },
		"jitter":   func(s *station) { fullJitter(&s.policy) },
		"throttle": func(s *station) { s.queue.Max, s.throttleAt = 250, .9 },
	} {
		s := database(280)
		s.seed, s.horizon = 7, 100*time.Second
		change(&s)
		r := s.run()
		all := sum(r.seconds)
		if all.attempts != all.good+all.wasted+all.refused+r.inside() {
			t.Errorf("%s, seed %d: %+v with %d inside do not add up", name, s.seed, all, r.inside())
		}
		if len(r.tries) != all.attempts || all.attempts > 2*all.calls {
			t.Errorf("%s, seed %d: %d attempts of %d calls, %d kept", name, s.seed, all.attempts, all.calls, len(r.tries))
		}
		if again := s.run(); !reflect.DeepEqual(r.seconds, again.seconds) {
			t.Errorf("%s, seed %d: the second run differs", name, s.seed)
		}
	}
}

// TestStationWorldIsTheSame: calls come at the same instants whatever clients and queue do.
func TestStationWorldIsTheSame(t *testing.T) {
	calls := func(change func(*station)) []int {
		s := database(280)
		s.seed, s.horizon = 5, 60*time.Second
		change(&s)
		var out []int
		for _, x := range s.run().seconds {
			out = append(out, x.calls)
		}
		return out
	}
	base := calls(func(*station) {})
	for i, change := range []func(*station){
		func(s *station) { s.policy.MaxAttempts = 5 },
		func(s *station) { s.queue = queue.Config{Order: queue.LIFO, Max: 50} },
		func(s *station) { fullJitter(&s.policy) },
	} {
		if got := calls(change); !reflect.DeepEqual(got, base) {
			t.Errorf("change %d: other calls came: %v, want %v", i, got, base)
		}
	}
}

// TestTriggerSlowsTheServiceUnderWay: half the speed doubles what is left of it, and standing adds the
// pause.
func TestTriggerSlowsTheServiceUnderWay(t *testing.T) {
	for _, c := range []struct {
		speed float64
		want  time.Duration
	}{{1, 10 * time.Second}, {.5, 12 * time.Second}, {0, 14 * time.Second}} {
		s := station{trigger: trigger{at: 2 * time.Second, length: 4 * time.Second, speed: c.speed}, callsPerSecond: 1}
		r := &stationRun{station: &s, serving: 0, speed: 1, load: 1, left: 10, nextCall: 100 * sim.Instant(time.Second)}
		r.now = sim.Instant(s.trigger.at)
		r.turn()
		r.now = r.edge
		r.turn()
		if got := time.Duration(r.done); got != c.want || r.edge != sim.Never {
			t.Errorf("speed %v: the service ends at %v and the trigger turns at %v, want %v and never", c.speed, got, r.edge, c.want)
		}
	}
}

func TestAgendaIsInOrder(t *testing.T) {
	draws := sim.NewStream(3, "test", "agenda")
	var a agenda
	for i := range 1000 {
		a.add(sim.Instant(draws.IntN(50)), try{call: int32(i)})
	}
	last, lastCall := sim.Instant(-1), int32(-1)
	for range 1000 {
		at := a.next()
		got := a.take()
		if at < last || at == last && got.call < lastCall {
			t.Fatalf("%d of instant %v after %d of %v", got.call, at, lastCall, last)
		}
		last, lastCall = at, got.call
	}
	if a.next() != sim.Never {
		t.Error("not empty at the end")
	}
}
