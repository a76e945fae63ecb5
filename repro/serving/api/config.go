package api

import (
	"errors"
	"fmt"
	"io"
	"log"
	"time"
)

// Config is what a server is like. The zero value has the defaults that the fields name. All lengths
// of time are on the machine's clock.
type Config struct {
	// HTTP2 has the server speak HTTP/2 without TLS too, to clients that begin with it ("prior
	// knowledge", h2c). HTTP/1.1 is spoken in any case, on the same port.
	HTTP2 bool
	// Token, if set, must be in the header "Authorization: Bearer TOKEN" of every request, or the answer
	// is 401. It is in no output.
	Token string
	// Anywhere lets the server listen on addresses that other machines can reach. It wants a Token.
	Anywhere bool
	// MetricsAddress is where the router's own metrics are served by themselves, as the original does at
	// port 29000. They are at /metrics of the router's port in any case. "": nowhere else.
	MetricsAddress string
	// WorkerPort is the port of the first worker; the others follow. 0: any free ports.
	WorkerPort int
	// Epoch is the date of the world's instant 0 in headers and answers, so that clients that know the
	// real date can make sense of a Retry-After that is one. Zero: the date that instants have in logs.
	Epoch time.Time
	// FlushInterval is how long a stream may hold back tokens that are due, so that several share a
	// write. The first ones and the last ones are never held back. 0: 25 ms, but no more than 2 s of
	// the world's clock, so that no sensible limit on silence takes a fast clock for a silent stream.
	FlushInterval time.Duration
	// ConnectionsMax bounds the connections at one time, of each port; a client beyond it waits to be
	// accepted, as with a full backlog. 0: 16,384.
	ConnectionsMax int
	// BodyBytesMax bounds the body of a request; a longer one gets status 413. 0: 32 MiB.
	BodyBytesMax int64
	// HeaderTimeout is how long a client may take to send the header of a request. 0: 10 s.
	HeaderTimeout time.Duration
	// BodyTimeout is how long a client may take to send the body of a request, after which it gets
	// status 408. 0: one minute.
	BodyTimeout time.Duration
	// WriteTimeout is how long a client that reads nothing may keep what has been written for it, after
	// which its connection is closed. 0: two minutes.
	WriteTimeout time.Duration
	// AnyModel answers requests for any model, and for none, with the only one there is. Otherwise another
	// name gets status 404, as from the original.
	AnyModel bool
	// Observer is told of the chat requests at the router's port. nil: nobody is.
	Observer Observer
	// ErrorLog gets what net/http has to say about connections and panics. nil: nobody does.
	ErrorLog *log.Logger
}

const (
	headerBytesMax = 64 << 10
	// idleTimeout is longer than clients usually keep a connection that they do not use, so that it is
	// they who close it: a request sent into a connection that is being closed is lost.
	idleTimeout = 5 * time.Minute
	portMax     = 65_535
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
		{"write timeout", &c.WriteTimeout, 2 * time.Minute},
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
	if c.ErrorLog == nil {
		c.ErrorLog = log.New(io.Discard, "", 0)
	}
	return c, c.validReach()
}

// validReach says what is wrong with who may reach the server, and where.
func (c *Config) validReach() error {
	if c.Anywhere && c.Token == "" {
		return errors.New("anywhere: want a token too, so that not everybody who reaches the server may use it")
	}
	if c.WorkerPort < 0 || c.WorkerPort > portMax {
		return fmt.Errorf("worker port: %d, want 0 (any free ones) to %d", c.WorkerPort, portMax)
	}
	return nil
}

// hold returns the flush interval on the clock of a world that is so much faster than the machine's.
func (c *Config) hold(scale float64) time.Duration {
	if c.FlushInterval == 0 {
		return time.Duration(min(float64(25*time.Millisecond)*scale, float64(2*time.Second)))
	}
	const most = 1 << 62 // some 146 years, so that an absurd scale does not overflow a duration
	return time.Duration(min(float64(c.FlushInterval)*scale, most))
}
