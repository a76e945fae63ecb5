package api

import (
	"fmt"
	"log"
	"time"
)

// Config is what a server is like. The zero value has the defaults that the fields name. All lengths
// of time are on the machine's clock.
type Config struct {
	// FlushInterval is how long a stream may hold back tokens that are due, so that several share a
	// write. The first ones and the last ones are never held back. 0: 25 ms, but no more than 2 s of
	// the world's clock, so that no sensible limit on silence takes a fast clock for a silent stream.
	FlushInterval time.Duration
	// ConnectionsMax bounds the connections at one time; a client beyond it waits to be accepted, as
	// with a full backlog. 0: 16,384.
	ConnectionsMax int
	// BodyBytesMax bounds the body of a request; a longer one gets status 413. 0: 32 MiB.
	BodyBytesMax int64
	// HeaderTimeout is how long a client may take to send the header of a request. 0: 10 s.
	HeaderTimeout time.Duration
	// BodyTimeout is how long a client may take to send the body of a request, after which it gets
	// status 408. 0: one minute.
	BodyTimeout time.Duration
	// ErrorLog gets what net/http has to say about connections and panics. nil: the log package's
	// standard logger, as ever.
	ErrorLog *log.Logger
}

const (
	headerBytesMax = 64 << 10
	// idleTimeout is longer than clients usually keep a connection that they do not use, so that it is
	// they who close it: a request sent into a connection that is being closed is lost.
	idleTimeout = 5 * time.Minute
)

// withDefaults returns the configuration with the defaults put in, or an error that says what is
// wrong with it in one line.
func (c Config) withDefaults() (Config, error) {
	for _, d := range []struct {
		field string
		value *time.Duration
		init  time.Duration
	}{
		{"flush interval", &c.FlushInterval, 0}, // see hold
		{"header timeout", &c.HeaderTimeout, 10 * time.Second},
		{"body timeout", &c.BodyTimeout, time.Minute},
	} {
		if *d.value < 0 {
			return c, fmt.Errorf("%s: %v, want 0 (the default) or more", d.field, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.init
		}
	}
	if c.ConnectionsMax < 0 {
		return c, fmt.Errorf("connections max: %d, want 0 (the default) or more", c.ConnectionsMax)
	}
	if c.ConnectionsMax == 0 {
		c.ConnectionsMax = 16_384
	}
	if c.BodyBytesMax < 0 {
		return c, fmt.Errorf("body bytes max: %d, want 0 (the default) or more", c.BodyBytesMax)
	}
	if c.BodyBytesMax == 0 {
		c.BodyBytesMax = 32 << 20
	}
	return c, nil
}

// hold returns the flush interval on the clock of a world that is so much faster than the machine's.
func (c *Config) hold(scale float64) time.Duration {
	if c.FlushInterval == 0 {
		return time.Duration(min(float64(25*time.Millisecond)*scale, float64(2*time.Second)))
	}
	const most = 1 << 62 // some 146 years, so that an absurd scale does not overflow a duration
	return time.Duration(min(float64(c.FlushInterval)*scale, most))
}
