package guest

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/repro"
	"example.com/wedge/repro/diagnose"
)

// Options say what is run, and when it is given up. Lengths of time are on the run's clock, which Scale
// makes faster than the machine's, unless they say otherwise.
type Options struct {
	Command []string // and its arguments; at least one
	Dir     string   // where it runs; "" is where wedge does
	Env     []string // its environment, to which what points it to the servers is added
	URLVars []string // more variables that are to hold the base URL
	Stdin   io.Reader
	Stdout  io.Writer // an *os.File is handed over as it is
	Stderr  io.Writer // likewise, unless Quit is set

	Scale float64 // of the servers' clock; 0 means 1
	// PlainModel gives every answer the length in servers.model, and not that of the scenario's workflow.
	PlainModel bool

	// StallAfter is how long nothing may get on before that is a stall: no request answered in full, and no
	// new one. 0 means one minute.
	StallAfter time.Duration
	// GiveUp is after how many times that a harness is ended that is wedged, deadlocked or storming. 0
	// means 4. One whose requests are slow, or starved by others that are alive, goes on.
	GiveUp int
	// IdleAfter is for how long, on the machine's clock, a harness that has no request out may do so
	// before it counts as stuck: what it does by itself is no faster for a fast clock of the servers. 0
	// means 10 s.
	IdleAfter time.Duration
	// For bounds the whole run, on the machine's clock. 0: no bound.
	For time.Duration

	// Grace is how long a harness that is told to end may take before it is killed, on the machine's clock.
	// 0 means 5 s.
	Grace time.Duration

	// PprofURL is where the harness shows its goroutines; "": nowhere.
	PprofURL string
	// Quit has a Go program that is given up dump its goroutines by SIGQUIT.
	Quit bool

	Out     string // directory of the evidence; "" writes none
	Version string // of wedge, for run.json
	Replay  string // the command that repeats the run

	// Started is told, before the harness runs, where the servers are. nil: nobody is.
	Started func(Servers)
	// Running is given, once the harness runs, what kills all of its process group at once: for a program that
	// is about to end without waiting for Run. nil: nobody is.
	Running func(kill func())
	// Watch is called once it is watched, with a function that tells how it goes. That may be called at any time,
	// from any goroutine; a few times a second is often enough. nil: nobody asks.
	Watch func(progress func() harness.Progress)
	// Tap is called before the servers serve, and returns who else is told of the requests, as calls of agents. nil:
	// nobody is. Of what it is given, only World and Ask are set.
	Tap func(repro.Inside) repro.Tap
	// Stalled is told of each capture of a stall, with what it shows. nil: nobody is.
	Stalled func(now *harness.Evidence, v diagnose.Verdict)
}

// Servers is where the simulated servers listen.
type Servers struct {
	BaseURL    string // for clients; ends in /v1
	MetricsURL string
	FaultsURL  string
	Model      string
}

// giveUpMax bounds GiveUp, so that captures up to there can be counted by doubling.
const giveUpMax = 1000

func (o *Options) withDefaults() Options {
	out := *o
	if out.Scale == 0 {
		out.Scale = 1
	}
	if out.StallAfter == 0 {
		out.StallAfter = time.Minute
	}
	if out.GiveUp == 0 {
		out.GiveUp = 4
	}
	if out.IdleAfter == 0 {
		out.IdleAfter = 10 * time.Second
	}
	if out.Grace == 0 {
		out.Grace = 5 * time.Second
	}
	if out.Stdout == nil {
		out.Stdout = io.Discard
	}
	if out.Stderr == nil {
		out.Stderr = io.Discard
	}
	return out
}

// validate says what is wrong with options that have their defaults, as a *repro.InputError.
func (o *Options) validate() error {
	if len(o.Command) == 0 || o.Command[0] == "" {
		return &repro.InputError{Source: "command", Msg: "found nothing, want a program and its arguments after --"}
	}
	for _, d := range []struct {
		flag  string
		value time.Duration
		least time.Duration
	}{
		{"--stall-after", o.StallAfter, time.Second},
		{"--idle-after", o.IdleAfter, time.Millisecond},
		{"--for", o.For, 0},
	} {
		if d.value < d.least || d.value > 1000*time.Hour {
			return &repro.InputError{Source: d.flag, Msg: fmt.Sprintf("found %v, want %v to 1000h", d.value, d.least)}
		}
	}
	if o.GiveUp < 1 || o.GiveUp > giveUpMax {
		return &repro.InputError{Source: "--give-up", Msg: fmt.Sprintf("found %d, want 1 to %d times --stall-after", o.GiveUp, giveUpMax)}
	}
	if err := validPprof(o.PprofURL); err != nil {
		return err
	}
	if o.Dir != "" {
		if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
			return &repro.InputError{Source: "--dir", Msg: fmt.Sprintf("found %s, want a directory", o.Dir)}
		}
	}
	if _, err := o.program(); err != nil {
		return notStarted(o.Command[0], err)
	}
	return repro.ValidScale(o.Scale)
}

// program returns the file of the harness. A path is one from Dir, as for a shell that has gone there.
func (o *Options) program() (string, error) {
	name := o.Command[0]
	if filepath.Base(name) != name && !filepath.IsAbs(name) {
		name = filepath.Join(cmp.Or(o.Dir, "."), name)
		if !filepath.IsAbs(name) {
			name = "." + string(filepath.Separator) + name
		}
	}
	return exec.LookPath(name)
}

// watchdog returns when evidence is captured: at one, two and four times the patience and whenever it
// has doubled since, so that who goes on for long is looked at again, and when it may be given up.
func (o *Options) watchdog() harness.Watchdog {
	c := harness.DefaultWatchdog()
	c.StallAfter, c.GiveUpAfter = o.StallAfter, 0
	c.SampleEvery = max(c.SampleEvery, time.Duration(float64(sampleLeast)*o.Scale))
	c.Captures = nil
	limit := int(math.Min(1<<13, float64(1000*time.Hour)/float64(o.StallAfter)))
	for n := 1; n <= limit && len(c.Captures) < 15; n *= 2 {
		if last := n / 2; last < o.GiveUp && o.GiveUp < n && last > 0 {
			c.Captures = append(c.Captures, o.GiveUp)
		}
		c.Captures = append(c.Captures, n)
	}
	return c
}

// sampleLeast is how often gauges are read at most, on the machine's clock.
const sampleLeast = 20 * time.Millisecond
