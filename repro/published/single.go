package published

import (
	"fmt"
	"math"
	"time"

	"example.com/wedge/pacer"
	"example.com/wedge/pacer/admission"
	"example.com/wedge/pacer/queue"
)

// singleServer is the story that the first paper on metastable failures tells of a database: 300
// queries a second, 280 asked for, one retry, and an outage of ten seconds.
func singleServer() Result {
	return Result{
		Name:   "single-server",
		Source: "Bronson et al., Metastable Failures in Distributed Systems, HotOS'21 (quoted from memory); its variants: an earlier toy model of ours",
		About:  "one retry and an outage of 10 s: a server that serves abandoned requests never comes back above half its capacity, and what helps",
		seeds:  10,
		play:   playSingleServer,
	}
}

// database is the paper's server, with clients of a given load.
func database(callsPerSecond float64) station {
	return station{
		horizon: 300 * time.Second, callsPerSecond: callsPerSecond, servicesPerSecond: 300,
		policy:  impatient(time.Second, 1),
		trigger: trigger{at: 60 * time.Second, length: 10 * time.Second},
	}
}

// variant is a row: a station, and what is known of it.
type variant struct {
	name     string
	station  station
	good     float64 // goodput a call long after the trigger; NaN: not known
	attempts float64 // a call, then; NaN: not known
	// recovers is how many seconds after the trigger the goodput was back; never: it was not; NaN: not
	// known, or not a matter of seconds.
	recovers float64
	// within is how far recovers may be off, in seconds.
	within float64
	heals  float64 // share of runs that heal; NaN: not known
}

// never stands for a recovery that does not come within the run.
var never = math.Inf(1)

func singleServerVariants() []variant {
	unknown := math.NaN()
	fifo := func(load float64, good, attempts, recovers, within float64) variant {
		return variant{name: fmt.Sprintf("FIFO, %g calls/s", load), station: database(load), good: good, attempts: attempts, recovers: recovers, within: within, heals: unknown}
	}
	out := []variant{fifo(100, 1, 1, 19, 6), fifo(140, 1, 1, 126, 40), fifo(148, 0, 2, never, 0), fifo(155, 0, 2, never, 0), fifo(280, 0, 2, never, 0)}
	for _, o := range []struct {
		length time.Duration
		heals  float64
	}{{500 * time.Millisecond, 1}, {800 * time.Millisecond, .9}, {time.Second, .1}, {1500 * time.Millisecond, 0}} {
		s := database(280)
		s.trigger.length = o.length
		out = append(out, variant{name: fmt.Sprintf("outage of %v", o.length), station: s, good: unknown, attempts: unknown, recovers: unknown, heals: o.heals})
	}
	change := func(name string, load, good, attempts, recovers, within float64, f func(*station)) {
		v := variant{name: name, station: database(load), good: good, attempts: attempts, recovers: recovers, within: within, heals: unknown}
		f(&v.station)
		out = append(out, v)
	}
	change("no retries", 280, 1, 1, 121, 25, func(s *station) { s.policy.MaxAttempts = 1 })
	change("full jitter, base 1 s, cap 60 s", 280, 0, 2, never, 0, func(s *station) { fullJitter(&s.policy) })
	change("LIFO", 280, 1, 1.01, 0, 1, func(s *station) { s.queue.Order = queue.LIFO })
	change("dead requests are dropped", 280, 1, 1, 12, 6, func(s *station) { s.queue.DropDead = true })
	change("queue of at most 200", 280, 1, 1, 1, 1, func(s *station) { s.queue.Max, s.silent = 200, true })
	change("queue of at most 290", 280, 1, 1, 10, 8, func(s *station) { s.queue.Max, s.silent = 290, true })
	change("queue of at most 400", 280, 0, 2, never, 0, func(s *station) { s.queue.Max, s.silent = 400, true })
	return append(out, budgetVariants()...)
}

func budgetVariants() []variant {
	unknown := math.NaN()
	var out []variant
	for _, b := range []struct{ load, good, attempts, recovers, within float64 }{
		{280, 0, 1.1, never, 0}, {240, 1, 1, 66, 20}, {255, 1, 1, 128, 40}, {265, 1, 1, 279, 90}, {270, 0, 1.1, never, 0},
	} {
		s := database(b.load)
		s.policy.RetryBudget = tenPercent()
		if b.load != 280 {
			s.horizon = 600 * time.Second
		}
		out = append(out, variant{
			name: fmt.Sprintf("budget of 10 %%, %g calls/s", b.load), station: s,
			good: b.good, attempts: b.attempts, recovers: b.recovers, within: b.within, heals: unknown,
		})
	}
	s := database(280)
	s.policy.RetryBudget = tenPercent()
	s.queue.DropDead = true
	return append(out, variant{name: "budget of 10 % and dead requests are dropped", station: s, good: 1, attempts: 1, recovers: 0.4, within: 1, heals: unknown})
}

// fullJitter is the paper's critics' favourite remedy: AWS' full jitter from 1 s to 60 s.
func fullJitter(p *pacer.Policy) {
	p.BackoffBase, p.BackoffMultiplier, p.BackoffMax, p.Jitter = time.Second, 2, time.Minute, "full"
}

// tenPercent is a budget that calls fill, whether or not they succeed, and without a floor.
func tenPercent() admission.BudgetConfig {
	return admission.BudgetConfig{Rule: admission.BudgetFinagle, PercentCanRetry: 0.1, NoFloor: true}
}
