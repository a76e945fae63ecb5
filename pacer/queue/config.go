package queue

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The orders in which those who wait are let in.
const (
	FIFO = "fifo" // first come first served
	LIFO = "lifo" // the newest first: the oldest are the ones that time out
	// AdaptiveLIFO is FIFO while at most LIFOAbove wait, and LIFO while more do (Facebook, "Fail at
	// Scale", 2015).
	AdaptiveLIFO = "adaptive_lifo"
	// Fair lets the agents that wait have their turns round robin, each with its calls in the order in
	// which they came.
	Fair            = "fair"
	RetriesFirst    = "retries_first"     // calls that have had an attempt before those that have not
	FirstTriesFirst = "first_tries_first" // the other way round
)

// The rules of controlled delay.
const (
	// CoDelServer is the variant for servers of Facebook's "Fail at Scale": who comes while the queue has
	// been empty within the last Interval may wait for Interval, everybody else for Target.
	CoDelServer = "server"
	// CoDelRFC8289 is RFC 8289, with a call for a packet: once waits have been above Target for a whole
	// Interval, one is turned away, and the next after Interval divided by the square root of their
	// number, until a wait is below Target again.
	CoDelRFC8289 = "rfc8289"
)

// Config is the block `queue` of a pacer's configuration: in which order those who wait for a slot are
// let in, and who is turned away. The zero value is off: first come first served, without a bound.
type Config struct {
	// Order is one of [Orders]. Empty: fifo.
	Order string `json:"order,omitempty" yaml:"order,omitzero"`
	// LIFOAbove is while how many wait adaptive_lifo is still first come first served. Of adaptive_lifo
	// only.
	LIFOAbove int `json:"lifo_above,omitempty" yaml:"lifo_above,omitzero"`
	// Max is how many may wait; whoever comes when as many do is turned away. 0: no bound. The values of
	// libraries: 100 in Netflix' LIFO limiter and in SGLang's gateway.
	Max int `json:"max,omitempty" yaml:"max,omitzero"`
	// RejectFrom and RejectTo are failsafe-go's queueing limiter: once more than RejectFrom times the
	// limit wait, whoever comes is turned away with a chance that grows to 1 at RejectTo times the limit.
	// 0: off. The library's values are 2 and 3.
	RejectFrom float64 `json:"reject_from,omitempty" yaml:"reject_from,omitzero"`
	RejectTo   float64 `json:"reject_to,omitempty" yaml:"reject_to,omitzero"`
	// Wait is how long anybody may wait before being turned away. 0: no bound. The values of libraries:
	// 1 s in Netflix' LIFO limiter, 60 s in SGLang's gateway.
	Wait time.Duration `json:"wait_ns,omitempty" yaml:"wait,omitzero"`
	// CoDel is CoDelServer or CoDelRFC8289. Empty: off.
	CoDel string `json:"codel,omitempty" yaml:"codel,omitzero"`
	// Target and Interval are those of CoDel. 0 stands for the published values, 5 ms and 100 ms, which
	// are far too short for language models: a tenth of a normal time to the first token, and all of it,
	// are a start there.
	Target   time.Duration `json:"target_ns,omitempty" yaml:"target,omitzero"`
	Interval time.Duration `json:"interval_ns,omitempty" yaml:"interval,omitzero"`
	// DropDead turns away, when its turn comes, whoever cannot meet its deadline any more: less than Need
	// is left. Who has no deadline is never dead. A call's is the policy's call_total, or what the caller has
	// said of the round or task that it is for, whichever is earlier.
	DropDead bool `json:"drop_dead,omitempty" yaml:"drop_dead,omitzero"`
	// Need is the least time that a call needs once it has its slot. 0: none. Of DropDead only.
	Need time.Duration `json:"need_ns,omitempty" yaml:"need,omitzero"`
}

// Orders returns the names of all orders.
func Orders() []string {
	return []string{FIFO, LIFO, AdaptiveLIFO, Fair, RetriesFirst, FirstTriesFirst}
}

// Published values of CoDel.
const (
	targetDefault   = 5 * time.Millisecond
	intervalDefault = 100 * time.Millisecond
)

// Bounds of what is taken for meant.
const (
	waitersMax  = 1_000_000
	factorMax   = 1000
	durationMin = time.Millisecond
	durationMax = 30 * 24 * time.Hour
)

// Validate says what is wrong with the configuration in one line, or returns nil.
func (c Config) Validate() error {
	if c.Order != "" && !slices.Contains(Orders(), c.Order) {
		return fmt.Errorf("order: found %q, want one of %s", c.Order, strings.Join(Orders(), ", "))
	}
	if c.Max < 0 || c.Max > waitersMax {
		return fmt.Errorf("max: found %d, want 0 (no bound) or a number up to %d", c.Max, waitersMax)
	}
	switch adaptive := c.Order == AdaptiveLIFO; {
	case adaptive && (c.LIFOAbove < 1 || c.LIFOAbove > waitersMax):
		return fmt.Errorf("lifo_above: found %d, want a number from 1 to %d with order adaptive_lifo", c.LIFOAbove, waitersMax)
	case !adaptive && c.LIFOAbove != 0:
		return fmt.Errorf("lifo_above: found %d, want 0 without order adaptive_lifo", c.LIFOAbove)
	}
	if c.RejectFrom != 0 || c.RejectTo != 0 {
		if !(c.RejectFrom >= 1 && c.RejectFrom < c.RejectTo && c.RejectTo <= factorMax) {
			return fmt.Errorf("reject_from: found %v with reject_to %v, want 1 <= reject_from < reject_to <= %d", c.RejectFrom, c.RejectTo, factorMax)
		}
	}
	return c.validTimes()
}

func (c Config) validTimes() error {
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"wait", c.Wait}, {"target", c.Target}, {"interval", c.Interval}, {"need", c.Need}} {
		if d.value != 0 && (d.value < durationMin || d.value > durationMax) {
			return fmt.Errorf("%s: found %v, want 0 or a duration from %v to %v", d.field, d.value, durationMin, durationMax)
		}
	}
	switch c.CoDel {
	case "":
		if c.Target != 0 || c.Interval != 0 {
			return fmt.Errorf("codel: found none with a target or interval, want %s or %s", CoDelServer, CoDelRFC8289)
		}
	case CoDelServer, CoDelRFC8289:
		if c.target() > c.interval() {
			return fmt.Errorf("target: found %v, want at most interval, which is %v", c.target(), c.interval())
		}
	default:
		return fmt.Errorf("codel: found %q, want %s or %s", c.CoDel, CoDelServer, CoDelRFC8289)
	}
	if c.Need != 0 && !c.DropDead {
		return fmt.Errorf("need: found %v, want 0 without drop_dead", c.Need)
	}
	return nil
}

// target is Target with its zero value spelled out.
func (c Config) target() time.Duration {
	if c.Target == 0 {
		return targetDefault
	}
	return c.Target
}

// interval is Interval with its zero value spelled out.
func (c Config) interval() time.Duration {
	if c.Interval == 0 {
		return intervalDefault
	}
	return c.Interval
}
