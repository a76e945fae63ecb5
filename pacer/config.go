package pacer

import (
	"errors"
	"fmt"
	"math"

	"example.com/wedge/pacer/concurrency"
	"example.com/wedge/pacer/queue"
)

// Hold says how long a call holds its slot. When a slot is held is an axis with six points: not at all
// (Slots: 0, and a rate); until the server has begun, by its headers or by its first output; until the
// body has ended; through the wait for another attempt (HoldInBackoff); through all that an agent does
// between its calls; and by the server alone, which works on for a client that has left. The last is not
// the client's to choose: it shows when servers have more in flight than clients have slots out.
type Hold string

// The ways to hold a slot.
const (
	// HoldStream holds it until the body of the response has ended.
	HoldStream Hold = "stream"
	// HoldStart holds it only while starting, until the response headers are in.
	HoldStart Hold = "start"
	// HoldFirstToken holds it until the first output has come: through the server's queue and prefill.
	HoldFirstToken Hold = "first_token"
	// HoldAgent keeps it over all calls between [Pacer.Hold] and its release. A call without a Hold
	// around it acts as with HoldStream.
	HoldAgent Hold = "agent"
)

// Config says how much a pacer lets through. It is the block `pacer` of a scenario file. The zero
// value is refused, since it has no hold; see [DefaultConfig].
type Config struct {
	// Slots is how many calls may hold a slot at once. 0: no limit.
	Slots int `json:"slots" yaml:"slots"`
	// Hold says from when to when a call holds its slot.
	Hold Hold `json:"hold" yaml:"hold"`
	// HoldInBackoff keeps the slot of a failed attempt while waiting for the next one.
	HoldInBackoff bool `json:"hold_in_backoff" yaml:"hold_in_backoff"`
	// Limit moves the number of slots by what calls take. Off by default: there are Slots then, and with
	// it that number has no say.
	Limit concurrency.Config `json:"limit,omitzero" yaml:"limit,omitzero"`
	// Queue says who of those that wait for a slot comes next, and who is turned away with a *ShedError.
	// By default nobody is, and it is first come first served.
	Queue queue.Config `json:"queue,omitzero" yaml:"queue,omitzero"`

	// RequestsPerSecond bounds the attempts. 0: no bound.
	RequestsPerSecond float64 `json:"requests_per_second" yaml:"requests_per_second"`
	// RequestBurst is how many attempts may start at once after a pause. 0 means 1.
	RequestBurst int `json:"request_burst" yaml:"request_burst"`
	// TokensPerSecond bounds prompt tokens (estimated from the text) plus the most output tokens
	// that the request allows. 0: no bound.
	TokensPerSecond float64 `json:"tokens_per_second" yaml:"tokens_per_second"`
	// TokenBurst is how many tokens may be taken at once after a pause; an attempt that needs more
	// waits until they have all been let through. 0 means what one minute yields.
	TokenBurst int `json:"token_burst" yaml:"token_burst"`

	// ConnectionsMax is how many connections a backend may open to the server. 0: no limit.
	ConnectionsMax int `json:"connections_max" yaml:"connections_max"`
}

// DefaultConfig returns 16 slots, each held until the body has ended, and no rate.
func DefaultConfig() Config {
	return Config{Slots: 16, Hold: HoldStream}
}

// Bounds of what is taken for meant. They are far above any use, and low enough that nothing
// overflows or fills the memory.
const (
	slotsMax       = 1_000_000
	connectionsMax = 1_000_000
	rateMax        = 1e9
	burstMax       = 1_000_000_000
)

// Validate says what is wrong with the configuration in one line, or returns nil.
func (c Config) Validate() error {
	if err := inRange("slots", c.Slots, slotsMax, "0 (no limit)"); err != nil {
		return err
	}
	switch c.Hold {
	case HoldStream, HoldStart, HoldFirstToken, HoldAgent:
	default:
		return fmt.Errorf("hold: %q, want one of %s, %s, %s, %s", c.Hold, HoldStream, HoldStart, HoldFirstToken, HoldAgent)
	}
	if err := c.validLine(); err != nil {
		return err
	}
	if err := validRate("requests_per_second", c.RequestsPerSecond, "request_burst", c.RequestBurst); err != nil {
		return err
	}
	if err := validRate("tokens_per_second", c.TokensPerSecond, "token_burst", c.TokenBurst); err != nil {
		return err
	}
	return inRange("connections_max", c.ConnectionsMax, connectionsMax, "0 (no limit)")
}

// validLine checks what lies between a call and its slot.
func (c Config) validLine() error {
	if err := c.Limit.Validate(); err != nil {
		return fmt.Errorf("limit.%w", err)
	}
	if err := c.Queue.Validate(); err != nil {
		return fmt.Errorf("queue.%w", err)
	}
	switch {
	case c.Limit.Rule == concurrency.Static && c.Limit.Initial == 0 && c.Slots == 0:
		return errors.New("limit.initial: found 0, want at least 1 with rule static and no slots")
	case c.Queue != (queue.Config{}) && c.Limit.Rule == "" && c.Slots == 0:
		return errors.New("queue: found with slots: 0, want slots or a limit that there can be a queue for")
	}
	return nil
}

func validRate(name string, perSecond float64, burstName string, burst int) error {
	// The smallest rate is one in a bit more than a week: below, waits would outlast any run.
	const rateMin = 1e-6
	if perSecond != 0 && !(perSecond >= rateMin && perSecond <= rateMax) {
		return fmt.Errorf("%s: %v, want 0 (off) or a number from %g to %g", name, perSecond, rateMin, rateMax)
	}
	return inRange(burstName, burst, burstMax, "0 (the default)")
}

func inRange(name string, n, most int, zero string) error {
	if n < 0 || n > most {
		return fmt.Errorf("%s: %d, want %s or a number up to %d", name, n, zero, most)
	}
	return nil
}

// SlotsMax returns the most calls that may ever hold a slot at once; 0: any number.
func (c Config) SlotsMax() int {
	if c.Limit.Rule == "" {
		return c.Slots
	}
	return c.Limit.WithDefaults(c.Slots).Max
}

// requestBurst is RequestBurst with its zero value spelled out.
func (c Config) requestBurst() int { return max(1, c.RequestBurst) }

// tokenBurst is TokenBurst with its zero value spelled out. A minute's worth, since providers state
// token rates per minute and a single prompt is often larger than a second's.
func (c Config) tokenBurst() int {
	if c.TokenBurst > 0 {
		return c.TokenBurst
	}
	return int(min(burstMax, math.Ceil(60*c.TokensPerSecond)))
}
