// Command bench measures the simulated servers over HTTP beside a bare net/http handler that sends the
// same bytes, and beside any other OpenAI-compatible server whose command line it is given:
//
//	go run ./repro/serving/api/bench
//	go run ./repro/serving/api/bench -other-url http://127.0.0.1:8000/v1 -other-model fake -- ./other --port 8000
//
// Every server is a process of its own, one at a time, and so is the loader; all share the machine.
// Parts, chosen with -only:
//
//	speed        zero latency: answers a second, and of what the bare handler does; latency, CPU, memory.
//	             A bare handler that sends an event for each token is there too, for servers that do
//	start        from the start of the process to the first status 200 of /health
//	slow         a thousand slow streams at once: memory
//	first-token  time to the first token against the configured one, in steady state
//
// In the last two the other server must be slow by its own command line, so it takes part in them only
// if -only names them; -first-token then says what it is configured to.
//
// It may import the standard library alone: what it measures, it measures from outside.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The parts.
const (
	partSpeed      = "speed"
	partStart      = "start"
	partSlow       = "slow"
	partFirstToken = "first-token"
)

// options are what the user has said.
type options struct {
	connections int
	tokens      int
	seconds     float64 // of each measurement of speed
	rounds      int     // measurements of each server; the median counts
	starts      int
	slowStreams int
	firstToken  time.Duration // configured
	only        string
	wedge       string // program; empty: built from this module
	otherURL    string
	otherModel  string
	other       []string // command line; empty: no other server
	jsonFile    string
}

func main() {
	// These two are this program again, as processes of their own.
	if len(os.Args) > 1 && (os.Args[1] == roleLoad || os.Args[1] == roleBare) {
		go endWithParent()
		if err := runRole(os.Args[1], os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		stop()
		os.Exit(1)
	}
}

func parse(args []string, stderr io.Writer) (*options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.connections, "connections", 64, "connections of the loader in the part speed")
	f.IntVar(&o.tokens, "tokens", 50, "output tokens of an answer")
	f.Float64Var(&o.seconds, "seconds", 8, "length of each measurement of speed, after a second of warm-up")
	f.IntVar(&o.rounds, "rounds", 3, "rounds of the part speed, in which the servers take turns; each one's median counts")
	f.IntVar(&o.starts, "starts", 10, "starts in the part start")
	f.IntVar(&o.slowStreams, "streams", 1000, "streams at once in the part slow")
	f.DurationVar(&o.firstToken, "first-token", 500*time.Millisecond, "configured time to the first token in the parts slow and first-token")
	f.StringVar(&o.only, "only", "", "parts, such as speed,start; empty: all")
	f.StringVar(&o.wedge, "wedge", "", "program to measure; empty: built from this module")
	f.StringVar(&o.otherURL, "other-url", "", "base URL of the other server, such as http://127.0.0.1:8000/v1")
	f.StringVar(&o.otherModel, "other-model", "fake", "model to ask the other server for")
	f.StringVar(&o.jsonFile, "json", "", "file that the results are written to as JSON too; - is standard output, and then there is no table")
	f.Usage = func() {
		fmt.Fprintln(stderr, "usage: bench [flags] [-- command line of another server]")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.other = f.Args()
	return &o, o.validate()
}

func (o *options) validate() error {
	for _, n := range []struct {
		flag  string
		value int
		max   int
	}{{"connections", o.connections, 10_000}, {"tokens", o.tokens, 10_000}, {"rounds", o.rounds, 100}, {"starts", o.starts, 1000}, {"streams", o.slowStreams, 10_000}} {
		if n.value < 1 || n.value > n.max {
			return fmt.Errorf("-%s: %d, want a whole number from 1 to %d", n.flag, n.value, n.max)
		}
	}
	if !(o.seconds >= 0.1 && o.seconds <= 600) {
		return fmt.Errorf("-seconds: %v, want a number from 0.1 to 600", o.seconds)
	}
	if o.firstToken < time.Millisecond || o.firstToken > time.Minute {
		return fmt.Errorf("-first-token: %v, want 1ms to 1m", o.firstToken)
	}
	for _, part := range o.parts() {
		if known := []string{partSpeed, partStart, partSlow, partFirstToken}; !slices.Contains(known, part) {
			return fmt.Errorf("-only: %q, want some of %s", part, strings.Join(known, ", "))
		}
	}
	if (len(o.other) > 0) != (o.otherURL != "") {
		return errors.New("-other-url: goes with a command line after --, and this with it")
	}
	if o.otherURL != "" && !onLoopback(o.otherURL) {
		return fmt.Errorf("-other-url: %q, want a URL of this machine such as http://127.0.0.1:8000/v1", o.otherURL)
	}
	return nil
}

// onLoopback says whether a URL is one of a server here: others are not to be put under load.
func onLoopback(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// parts returns those to be done.
func (o *options) parts() []string {
	if o.only == "" {
		return []string{partSpeed, partStart, partSlow, partFirstToken}
	}
	return strings.Split(o.only, ",")
}

// run measures and reports.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "wedge-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{options: *o, dir: dir, progress: stderr}
	if err := b.build(ctx); err != nil {
		return err
	}
	for _, part := range o.parts() {
		if err := b.part(ctx, part); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	b.report.Machine = machine()
	if o.jsonFile != "" {
		text, err := json.MarshalIndent(&b.report, "", "  ")
		if err != nil {
			return err
		}
		text = append(text, '\n')
		if o.jsonFile == "-" {
			_, err = stdout.Write(text)
			return err
		}
		if err := os.WriteFile(o.jsonFile, text, 0o644); err != nil {
			return err
		}
	}
	return b.report.table(stdout)
}
