package probe

import (
	"fmt"
	"time"
)

// Options say what to look at and for how long.
type Options struct {
	Targets   []Target      // at least one
	RouterLog string        // file; empty: none
	For       time.Duration // of the window, on the servers' clock
	Every     time.Duration // between two readings of the gauges, on the servers' clock
	Scale     float64       // how much faster than the machine's the servers' clock goes; 0 means 1
	Request   bool          // send one request end to end
	MaxTokens int           // of that request
	Limit     time.Duration // of that request, on the servers' clock
	Model     string        // of that request; empty: the first that the server lists
	APIKey    string        // in nothing that is written; not sent to clients
	// AnswerTime is how long one answer other than that of the request may take in full, on the machine's
	// clock; 0 means 5 s, and 30 s for a goroutine dump.
	AnswerTime time.Duration

	// Say is told what is about to be done, a line at a time; nil: nobody listens.
	Say func(line string)
}

// DefaultOptions returns what is used where nobody says otherwise.
func DefaultOptions() Options {
	return Options{For: 30 * time.Second, Every: 5 * time.Second, Scale: 1, Request: true, MaxTokens: 8, Limit: 20 * time.Second}
}

// Bounds of the options.
const (
	forMax       = 24 * time.Hour
	everyMin     = 50 * time.Millisecond // on the machine's clock
	readingsMax  = 10_000
	maxTokensMax = 256
	limitMax     = time.Hour
	targetsMax   = 64
)

// OptionError is a mistake in the options. Field is the name of the flag, without dashes.
type OptionError struct{ Field, Msg string }

func (e *OptionError) Error() string { return "probe: " + e.Field + ": " + e.Msg }

// Validate returns an *OptionError for the first mistake.
func (o *Options) Validate() error {
	if o.Scale == 0 {
		o.Scale = 1
	}
	bad := func(field, format string, args ...any) error {
		return &OptionError{field, fmt.Sprintf(format, args...)}
	}
	switch {
	case len(o.Targets) == 0:
		return bad("URL", "found none, want the URL of a router, an engine or a client, such as http://127.0.0.1:30000")
	case len(o.Targets) > targetsMax:
		return bad("URL", "found %d, want %d at most", len(o.Targets), targetsMax)
	case o.For <= 0 || o.For > forMax:
		return bad("for", "found %v, want more than 0s and at most %v", o.For, forMax)
	case o.Every <= 0 || o.Every > o.For:
		return bad("every", "found %v, want more than 0s and at most the window of %v", o.Every, o.For)
	case !(o.Scale >= 0.001 && o.Scale <= 1000):
		return bad("scale", "found %v, want 0.001 to 1000", o.Scale)
	case o.real(o.Every) < everyMin:
		return bad("every", "found %v, which is %v on the machine's clock, want %v there at least: more often is no looking but load", o.Every, o.real(o.Every), everyMin)
	case o.For/o.Every > readingsMax:
		return bad("every", "found %v, which makes more than %d readings, want fewer", o.Every, readingsMax)
	case o.MaxTokens < 1 || o.MaxTokens > maxTokensMax:
		return bad("max-tokens", "found %d, want 1 to %d", o.MaxTokens, maxTokensMax)
	case o.Limit <= 0 || o.Limit > limitMax:
		return bad("limit", "found %v, want more than 0s and at most %v", o.Limit, limitMax)
	}
	seen := map[string]bool{}
	for _, t := range o.Targets {
		if _, err := t.place(); err != nil {
			return bad("URL", "%v", err)
		}
		if seen[t.shown()] {
			return bad("URL", "found %s twice, want each once", t.shown())
		}
		seen[t.shown()] = true
	}
	return nil
}

// real is how long a time of the servers' clock is on the machine's.
func (o *Options) real(d time.Duration) time.Duration {
	return time.Duration(float64(d) / o.Scale)
}

// readings is how often gauges are read: at both ends of the window, and every so often between.
func (o *Options) readings() int { return int((o.For+o.Every-1)/o.Every) + 1 }

func (o *Options) say(format string, args ...any) {
	if o.Say != nil {
		o.Say(fmt.Sprintf(format, args...))
	}
}
