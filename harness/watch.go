package harness

import (
	"time"

	"example.com/wedge/harness/sim"
)

// watch decides when a stall is raised, captured and given up. It is told the time and never asks for
// it, and does nothing itself: see [Fleet] for who acts.
//
//	last        1x            2x                          4x         give up
//	 | step      | raise,      | capture 2                 | capture 3  |
//	 |           | capture 1   |                           |            |
//	-+-----------+-------------+---------------------------+------------+--> time
//
// The next step, whenever it comes, ends the episode and moves "last" to itself.
type watch struct {
	stallAfter  time.Duration
	giveUpAfter time.Duration // 0: never
	captures    []int         // multiples of stallAfter

	busy   int         // tasks that are being worked on
	last   sim.Instant // end of the latest step, or when work began, at first or after a pause
	raised int         // episodes so far
	open   int         // number of the open episode; 0: none
	passed int         // of captures: those whose instant has been dealt with
	shots  int         // captures made of the open episode
}

func newWatch(c *Watchdog, start sim.Instant) watch {
	return watch{stallAfter: c.StallAfter, giveUpAfter: c.GiveUpAfter, captures: c.Captures, last: start}
}

// order is what watch wants to be done.
type order uint8

const (
	orderWait order = iota
	orderCapture
	orderGiveUp
)

// look says what is due. With orderWait comes how long it is until the next look: at most stallAfter,
// so that whatever a step in between moves nearer is not missed.
func (d *watch) look(now sim.Instant) (order, time.Duration) {
	idle := d.idle(now)
	wait := d.stallAfter
	if d.passed < len(d.captures) {
		if left := d.due(d.passed) - idle; left <= 0 {
			return orderCapture, 0
		} else {
			wait = min(wait, left)
		}
	}
	if d.giveUpAfter > 0 {
		left := d.giveUpAfter - idle
		if left <= 0 {
			return orderGiveUp, 0
		}
		wait = min(wait, left)
	}
	return orderWait, wait
}

// idle returns for how long no step has finished although there was work. A pause in which nobody has a
// task, such as the time before the first agent starts, is no stall.
func (d *watch) idle(now sim.Instant) time.Duration {
	if d.busy == 0 && d.open == 0 {
		return 0
	}
	return now.Sub(d.last)
}

// taskStarted and taskEnded say that somebody works on one task more, or less.
func (d *watch) taskStarted(now sim.Instant) {
	if d.busy == 0 && d.open == 0 {
		d.last = now
	}
	d.busy++
}

func (d *watch) taskEnded() { d.busy-- }

// due returns how long after the latest step capture i is due.
func (d *watch) due(i int) time.Duration { return time.Duration(d.captures[i]) * d.stallAfter }

// capture says that the capture that is due is being made, and returns the numbers of episode and
// capture. Captures whose time has passed as well, on a machine that was asleep, are left out: two at
// one instant would show that nothing moves.
func (d *watch) capture(now sim.Instant) (episode, shot int) {
	if d.open == 0 {
		d.raised++
		d.open = d.raised
	}
	idle := d.idle(now)
	for d.passed < len(d.captures) && d.due(d.passed) <= idle {
		d.passed++
	}
	d.shots++
	return d.open, d.shots
}

// step says that a step has finished, and returns the number of the episode that this ends, or 0.
func (d *watch) step(now sim.Instant) (ended int) {
	ended = d.open
	d.last, d.open, d.passed, d.shots = now, 0, 0, 0
	return ended
}
