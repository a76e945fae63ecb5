package embed

import (
	"fmt"
	"io"
	"math"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/goroutine"
	"example.com/wedge/harness/sim"
)

// Options says how a program is watched. The zero value watches with a patience of a minute, tells
// nobody and writes nothing.
type Options struct {
	// Name is the program's, as evidence and journal have it. Empty: "embedded".
	Name string

	// Watchdog says when a stall is raised and what is captured of it. Fields that are zero have the
	// default of [harness.DefaultWatchdog], but that it never gives up.
	Watchdog harness.Watchdog

	// Slots is how many calls may be under way at once, for [Watchdog.Acquire]. 0: no limit.
	Slots int

	// Setup is what else of the program's configuration the diagnosis may use: limits of time, attempts
	// and connections. What [Options] or [Watchdog.Transport] know is filled in.
	Setup harness.Setup

	// Dir is the directory of the evidence bundle. It must not exist. Empty: none is written.
	Dir string

	// Secrets are texts, such as API keys, that must not get into any file.
	Secrets []string

	// Judge makes a verdict of a capture and of the one before it in the stall, which may be nil; and, for
	// a bundle, of how things stand at the end if there was no stall.
	Judge func(now, before *harness.Evidence) any

	// OnStall is told of each capture of a stall, and once more when the stall has ended. It is called
	// on the watchdog's goroutine, which captures nothing meanwhile.
	OnStall func(Stall)

	// DumpOf says whose goroutines count, in a process where others than the program's own are at work. nil: all.
	DumpOf func(*goroutine.Goroutine) bool

	// Servers is where gauges are read, such as repro/probe's NewGauges(URL): without them the verdict
	// often cannot tell slow servers from dead streams. nil: nowhere.
	Servers harness.Servers

	// World is the clock to go by, which others may share; the watchdog runs it, and Close ends it. nil: one of
	// its own, which goes as fast as the machine's.
	World *sim.Wall

	// Router is the reader of a log that is written in World, by simulated servers. nil: there is none.
	Router *harness.RouterLog

	// RouterLog is the router's log as it is being written, such as the output of ssh HOST tail -F. It
	// is read until it ends. nil: there is none.
	RouterLog io.Reader
}

// Stall is a capture of a stall.
type Stall struct {
	Evidence *harness.Evidence
	Verdict  any    // what Options.Judge made of it; nil without a judge
	Dir      string // its folder in the bundle, such as "stalls/01"; empty without a bundle
}

// Ended says whether a step has ended the stall.
func (s *Stall) Ended() bool { return s.Evidence.EndedAt != 0 }

// slotsLimit is the largest number of permits of a semaphore.
const slotsLimit = math.MaxInt32

func (o *Options) fill() error {
	if o.Name == "" {
		o.Name = "embedded"
	}
	if o.Slots < 0 || o.Slots > slotsLimit {
		return fmt.Errorf("option Slots: found %d, want 0 (no limit) to %d", o.Slots, slotsLimit)
	}
	d, w := harness.DefaultWatchdog(), &o.Watchdog
	orDefault(&w.StallAfter, d.StallAfter)
	orDefault(&w.SampleEvery, d.SampleEvery)
	orDefault(&w.Window, d.Window)
	if len(w.Captures) == 0 {
		w.Captures = d.Captures
	}
	if w.EpisodesKept == 0 {
		w.EpisodesKept = d.EpisodesKept
	}
	if o.Setup.Hold == "" {
		o.Setup.Hold = "stream"
	}
	o.Setup.Slots, o.Setup.Embedded = o.Slots, true
	return nil
}

func orDefault(d *time.Duration, otherwise time.Duration) {
	if *d == 0 {
		*d = otherwise
	}
}

// config is what run.json says about the program.
type config struct {
	Watchdog harness.Watchdog `json:"watchdog"`
	Setup    harness.Setup    `json:"setup"`
}

func (o *Options) bundle() (*bundle.Bundle, error) {
	if o.Dir == "" {
		return nil, nil
	}
	run := bundle.Run{Name: o.Name, Clock: "wall", Scale: 1, Version: "embedded", Config: config{o.Watchdog, o.Setup}}
	return bundle.Create(o.Dir, run, bundle.Options{Secrets: o.Secrets})
}
