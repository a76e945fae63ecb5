package published

import (
	"math"
	"time"
)

// course is what a run's seconds say about recovery.
type course struct {
	goodAfter     float64 // answers in time a call, long after the trigger
	attemptsAfter float64 // attempts a call, then
	// recovered is how many seconds after the end of the trigger the goodput was back for good; NaN if
	// it never was.
	recovered float64
}

// healed says whether the goodput came back.
func (c course) healed() bool { return !math.IsNaN(c.recovered) }

// Recovery is judged as in package repro/metrics: goodput at 90 % of what it was before the trigger,
// held.
const (
	recoveredShare = 0.9
	smoothSeconds  = 5   // over which the goodput is averaged at least, since calls come by chance
	smoothCalls    = 100 // that the average is over at least
	holdSeconds    = 10  // for which it must stay up
	afterSeconds   = 60  // the last ones of a run are long after the trigger
)

// course judges the run.
func (r *stationRun) course() course {
	after := sum(r.seconds[max(0, len(r.seconds)-afterSeconds):])
	c := course{
		goodAfter:     float64(after.good) / float64(after.calls),
		attemptsAfter: float64(after.attempts) / float64(after.calls),
		recovered:     math.NaN(),
	}
	start := int(r.trigger.at / time.Second)
	before := sum(r.seconds[start/2 : start]) // the first half is warm-up
	least := recoveredShare * float64(before.good) / float64(start-start/2)
	end := int(math.Ceil((r.trigger.at + r.trigger.length).Seconds()))
	held, smooth := 0, max(smoothSeconds, int(math.Ceil(smoothCalls/r.callsPerSecond)))
	for i := end; i+smooth <= len(r.seconds); i++ {
		if float64(sum(r.seconds[i:i+smooth]).good)/float64(smooth) < least {
			held = 0
			continue
		}
		if held++; held == holdSeconds {
			c.recovered = float64(i - holdSeconds + 1 - end)
			break
		}
	}
	return c
}

// sum adds up tallies. inside is the last one's.
func sum(seconds []tally) tally {
	var s tally
	for i := range seconds {
		x := &seconds[i]
		s.calls += x.calls
		s.attempts += x.attempts
		s.good += x.good
		s.wasted += x.wasted
		s.refused += x.refused
		s.inside = x.inside
	}
	return s
}
