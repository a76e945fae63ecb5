//go:build unix

package repro_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"example.com/wedge/harness"
	"example.com/wedge/harness/bundle"
	"example.com/wedge/harness/demand"
	"example.com/wedge/harness/sim"
	"example.com/wedge/repro"
	"example.com/wedge/repro/live"
	"example.com/wedge/repro/series"
)

// BenchmarkWatching is what it costs to watch a run: 1,000 agents on the wall over real HTTP, agents and servers in
// this one process, for 20 s in turns without anything that watches and with all of it: watchdog, gauges, journal on
// the disk, the router's log, the series, and /metrics scraped over HTTP. Calls are short, a few hundred tokens in a
// dozen seconds: longer ones cost more themselves, and no more to be watched. So that agents do the same in both,
// neither has a bundle, which would have them write files.
//
// It reports the processor's time for a call that has ended, and how much that is more with all of it. On a machine
// with other work two equal runs differ by many percent. So it reports also which share of the processor's samples of
// the watched runs are within what watches, as a percentage of the others: that is a matter of one run, and right to
// some tenths of a percent. What watching makes the collector of garbage do is not in it, nor what a scrape of the
// gauges costs the simulated server.
//
// With -short it shows only that it runs.
func BenchmarkWatching(b *testing.B) {
	agents := 1_000
	options := repro.Options{Clock: repro.ClockWall, Demand: &demand.Config{}, Horizon: 20 * time.Second}
	if testing.Short() {
		agents, options.Scale = 50, 20
	}
	scenario := lookup(b, "starvation", largeFleet(agents)...)
	var bare, watched []float64
	var in, all int64
	for b.Loop() {
		o := options
		o.NoVerdict = true
		bare = append(bare, callCost(b, scenario, o, io.Discard))
		o = options
		stop := watchAll(b, &o)
		var samples bytes.Buffer
		watched = append(watched, callCost(b, scenario, o, &samples))
		stop()
		in, all = countWatching(b, &samples, in, all)
	}
	b.ReportMetric(median(bare)*1e6, "bare-µs/call")
	b.ReportMetric(median(watched)*1e6, "watched-µs/call")
	b.ReportMetric(100*(median(watched)/median(bare)-1), "%more")
	b.ReportMetric(100*float64(in)/float64(all-in), "%watching")
}

// watching are the functions that do it, or what their names begin with.
var watching = []string{
	"example.com/wedge/harness.(*Journal).", "example.com/wedge/harness.(*RouterLog).", "example.com/wedge/harness.(*sampler).",
	"example.com/wedge/harness.(*Fleet).guard", "example.com/wedge/harness.(*Fleet).capture", "example.com/wedge/harness.(*Fleet).finish",
	"example.com/wedge/harness.(*Fleet).tick", "example.com/wedge/harness.(*callBook).", "example.com/wedge/harness.(*agentBook).",
	"example.com/wedge/harness.(*Ledger).", "example.com/wedge/harness/bundle.", "example.com/wedge/repro.(*bothCalls).",
	"example.com/wedge/repro.(*bothAgents).", "example.com/wedge/repro/series.", "example.com/wedge/repro/live.",
	"example.com/wedge/repro/serving/api.(*Scraper).", "github.com/prometheus/client_golang/prometheus/promhttp.", "example.com/wedge/repro_test.scrape",
}

// countWatching adds the samples of a profile that are within what watches, and all.
func countWatching(b *testing.B, samples *bytes.Buffer, in, all int64) (int64, int64) {
	b.Helper()
	p, err := profile.Parse(samples)
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range p.Sample {
		n := s.Value[0]
		all += n
		if slices.ContainsFunc(s.Location, func(l *profile.Location) bool {
			return slices.ContainsFunc(l.Line, func(line profile.Line) bool {
				return slices.ContainsFunc(watching, func(prefix string) bool { return strings.HasPrefix(line.Function.Name, prefix) })
			})
		}) {
			in += n
		}
	}
	return in, all
}

func median(v []float64) float64 {
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// callCost runs a scenario and returns how many seconds of processor time it took for each call that ended. Each run is
// sampled, whether its samples are wanted or not: sampling takes time itself, on some machines a fifth of all.
func callCost(b *testing.B, s *repro.Scenario, o repro.Options, samples io.Writer) float64 {
	b.Helper()
	if err := pprof.StartCPUProfile(samples); err != nil {
		b.Fatal(err) // as with -cpuprofile
	}
	defer pprof.StopCPUProfile()
	before := processorTime(b)
	r, err := repro.Run(context.Background(), s, o)
	took := processorTime(b) - before
	if err != nil {
		b.Fatal(err)
	}
	t := &r.Report.Totals
	if r.Report.Stalls > 0 || r.WriteErr != nil {
		b.Fatal(r.Story(), r.WriteErr)
	}
	return took.Seconds() / float64(t.CallsCompleted+t.CallsFailed)
}

// processorTime is what this process has taken so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// watchAll has a run watched in all ways at once.
func watchAll(b *testing.B, o *repro.Options) (stop func()) {
	var meter *series.Meter
	var inside repro.Inside
	o.Tap = func(x repro.Inside) repro.Tap {
		inside, meter = x, series.NewMeter(x.World, series.Options{StallAfter: time.Minute})
		return repro.Tap{Calls: meter.CallObserver(), Agents: meter.AgentObserver()}
	}
	o.Ticks = []harness.Tick{{Every: 10 * time.Second, Do: func(now sim.Instant) {
		inside.World.Lock()
		defer inside.World.Unlock()
		meter.Close(now, series.Extra{})
	}}}
	view := live.NewView(live.Run{})
	server, err := live.Listen(live.Options{Listen: "127.0.0.1:0", View: view, Cumulative: func() (series.Cumulative, bool) {
		if meter == nil {
			return series.Cumulative{}, false
		}
		inside.World.Lock()
		defer inside.World.Unlock()
		return meter.Snapshot(inside.World.Now()), true
	}})
	if err != nil {
		b.Fatal(err)
	}
	o.Watch = func(progress func() harness.Progress) { view.Attach(progress, nil) }
	logs, err := bundle.Create(filepath.Join(b.TempDir(), "b"), bundle.Run{}, bundle.Options{})
	if err != nil {
		b.Fatal(err)
	}
	o.JournalTee = logs.Log(bundle.EventsLog)
	o.Ticks = append(o.Ticks, harness.Tick{Every: time.Second, Do: func(sim.Instant) { logs.Flush() }})
	done, ended := make(chan struct{}), make(chan struct{})
	go scrape(server.URL()+"metrics", done, ended)
	return func() {
		close(done)
		<-ended
		view.Stop()
		_ = server.Close()
		if err := logs.Close(); err != nil {
			b.Error(err)
		}
	}
}

// scrape reads /metrics as Prometheus does, three times as often.
func scrape(url string, done <-chan struct{}, ended chan<- struct{}) {
	defer close(ended)
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if r, err := http.Get(url); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				_ = r.Body.Close()
			}
		}
	}
}
