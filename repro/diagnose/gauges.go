package diagnose

import (
	"fmt"
	"math"
	"slices"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
)

// gaugeIndex numbers the gauges that the diagnosis reads.
type gaugeIndex int

const (
	routerInFlight gaugeIndex = iota
	routerQueued
	prefillBootstrap
	prefillQueue
	prefillRunning
	prefillInflight
	decodePrealloc
	decodeTransfer
	decodeQueue
	decodeRunning
	decodeKV
	prefillTokens
	decodeTokens
	decodeRetracted
	bootstrapFailed
	transferFailed
	engineAborted
	routerRetries
	unhealthyWorkers
	openBreakers
	gaugeCount
)

// gaugeNames are the names of the gauges, by index.
var gaugeNames = [gaugeCount]string{
	routerInFlight:   harness.GaugeRouterInFlight,
	routerQueued:     harness.GaugeRouterQueued,
	prefillBootstrap: harness.GaugePrefillBootstrap,
	prefillQueue:     harness.GaugePrefillQueue,
	prefillRunning:   harness.GaugePrefillRunning,
	prefillInflight:  harness.GaugePrefillInflight,
	decodePrealloc:   harness.GaugeDecodePrealloc,
	decodeTransfer:   harness.GaugeDecodeTransfer,
	decodeQueue:      harness.GaugeDecodeQueue,
	decodeRunning:    harness.GaugeDecodeRunning,
	decodeKV:         harness.GaugeDecodeKV,
	prefillTokens:    harness.GaugePrefillTokens,
	decodeTokens:     harness.GaugeDecodeTokens,
	decodeRetracted:  harness.GaugeDecodeRetracted,
	bootstrapFailed:  harness.GaugeBootstrapFailed,
	transferFailed:   harness.GaugeTransferFailed,
	engineAborted:    harness.GaugeEngineAborted,
	routerRetries:    harness.GaugeRouterRetries,
	unhealthyWorkers: harness.GaugeUnhealthyWorkers,
	openBreakers:     harness.GaugeOpenBreakers,
}

func gaugeOf(name string) (gaugeIndex, bool) {
	i := slices.Index(gaugeNames[:], name)
	return gaugeIndex(i), i >= 0
}

// counterOf is the counter of tokens of the engine that a gauge belongs to. Engines write their gauges
// as they work, so that one whose counter stands still may not have written them for as long.
func counterOf(i gaugeIndex) (gaugeIndex, bool) {
	switch i {
	case prefillBootstrap, prefillQueue, prefillRunning, prefillInflight:
		return prefillTokens, true
	case decodePrealloc, decodeTransfer, decodeQueue, decodeRunning, decodeKV:
		return decodeTokens, true
	}
	return 0, false
}

// stat sums up the readings of one gauge over a window, each taken while requests were out. The
// zero value is no reading.
type stat struct {
	n              int
	min, max, mean float64
	first, last    float64
	from, to       sim.Instant // of the first and the last reading
}

func (s *stat) add(at sim.Instant, v float64) {
	if s.n == 0 {
		*s = stat{n: 1, min: v, max: v, mean: v, first: v, last: v, from: at, to: at}
		return
	}
	s.n++
	s.min, s.max = min(s.min, v), max(s.max, v)
	s.mean += (v - s.mean) / float64(s.n)
	if at >= s.to {
		s.last, s.to = v, at
	}
	if at < s.from {
		s.first, s.from = v, at
	}
}

func (s *stat) ok() bool { return s.n > 0 }

// rate reads the gauge as a counter: its growth a second. It is not ok over less than stillMin, nor
// for a counter that went back, which means that its server was started anew.
func (s *stat) rate() (perSecond float64, over time.Duration, ok bool) {
	over = age(s.to, s.from)
	if s.n < 2 || over < stillMin || s.last < s.first {
		return 0, over, false
	}
	return (s.last - s.first) / over.Seconds(), over, true
}

// readings are the gauges of an evidence. A reading that was taken while nothing was asked of the
// servers says nothing, and is left out of everything but the latest values.
type readings struct {
	recent   [gaugeCount]stat // over recentFor
	stall    [gaugeCount]stat // since the last finished step, but at least over recentFor
	loaded   int              // samples in the recent window that were taken under load
	unloaded int              // and those that were not
	failed   int              // samples in the recent window without gauges
	err      string           // of the latest of these
	sentMin  int              // least load of the loaded ones
	sentMax  int
	from, to sim.Instant // of the first and the last of the loaded ones
	latest   *harness.Sample
	under    string // what the recent readings rest on

	grew   [gaugeCount]sim.Instant // of counters: when they were last seen to have grown, in all samples; 0: never
	excess stat                    // over the recent window: requests that the decode side had beyond those that the agents had out
	// unseen is how many requests were in the decode batch beyond those that had had their headers: the
	// least of the latest few samples that are known to be up to date, since decode had made tokens.
	unseen float64
	fresh  []float64 // of these samples, the latest last
}

// history returns the samples of an evidence with those of an earlier capture before them, since the
// later one may have let go of these.
func history(now, before *harness.Evidence) []harness.Sample {
	if before == nil || before.Run != now.Run || len(before.Samples) == 0 {
		return now.Samples
	}
	first := now.At
	if len(now.Samples) > 0 {
		first = now.Samples[0].At
	}
	n := slices.IndexFunc(before.Samples, func(s harness.Sample) bool { return s.At >= first })
	if n < 0 {
		n = len(before.Samples)
	}
	return slices.Concat(before.Samples[:n], now.Samples)
}

// readGauges reads the samples of an evidence; all are those of an earlier capture as well.
func readGauges(ev *harness.Evidence, all []harness.Sample) readings {
	var r readings
	recent := max(recentFor, recentSamples*min(max(ev.Setup.SampleEvery, 0), time.Hour))
	stall := max(recent, ev.StalledFor)
	latest := [gaugeCount]float64{}
	for i := range latest {
		latest[i] = math.Inf(1) // not read so far
	}
	end := windowEnd(ev, all)
	for i := range all {
		s := &all[i]
		if s.At > ev.At {
			continue
		}
		r.watch(s, &latest)
		if age(ev.At, s.At) <= stall || age(end, s.At) <= recent {
			r.read(s, age(end, s.At) <= recent)
		}
	}
	r.under = r.conditions()
	if n := len(r.fresh); n >= freshSamples {
		r.unseen = slices.Min(r.fresh[n-freshSamples:])
	}
	return r
}

// windowEnd is the instant up to which gauges are read as of late: that of the latest sample, since on a busy
// machine the capture may come some time after it, unless it is too old for that.
func windowEnd(ev *harness.Evidence, all []harness.Sample) sim.Instant {
	for i := len(all) - 1; i >= 0; i-- {
		if s := &all[i]; s.At <= ev.At && len(s.Gauges) > 0 {
			if age(ev.At, s.At) <= recentFor {
				return s.At
			}
			break
		}
	}
	return ev.At
}

// watch notes which counters have grown since the sample before, in latest.
func (r *readings) watch(s *harness.Sample, latest *[gaugeCount]float64) {
	for _, g := range s.Gauges {
		i, ok := gaugeOf(g.Name)
		if !ok {
			continue
		}
		if g.Value > latest[i] {
			r.grew[i] = s.At
			if _, headed, ok := beyond(s); ok && i == decodeTokens {
				r.fresh = append(r.fresh, headed)
			}
		}
		latest[i] = g.Value
	}
}

func (r *readings) read(s *harness.Sample, recent bool) {
	if len(s.Gauges) == 0 {
		if recent {
			r.failed++
			r.err = s.Err
		}
		return
	}
	r.latest = s
	if s.Sent <= 0 {
		if recent {
			r.unloaded++
		}
		return
	}
	if recent {
		r.load(s)
		if sent, _, ok := beyond(s); ok {
			r.excess.add(s.At, sent)
		}
	}
	for _, g := range s.Gauges {
		i, ok := gaugeOf(g.Name)
		if !ok || !(g.Value >= 0) || math.IsInf(g.Value, 0) {
			continue // not a reading: gauges are counts, shares and totals
		}
		r.stall[i].add(s.At, g.Value)
		if recent {
			r.recent[i].add(s.At, g.Value)
		}
	}
}

func (r *readings) load(s *harness.Sample) {
	if r.loaded == 0 {
		r.sentMin, r.sentMax, r.from = s.Sent, s.Sent, s.At
	}
	r.loaded++
	r.sentMin, r.sentMax = min(r.sentMin, s.Sent), max(r.sentMax, s.Sent)
	r.to = s.At
}

// count reads the latest value of a gauge as a number of requests.
func (r *readings) count(i gaugeIndex) int {
	return int(min(math.Round(r.recent[i].last), 1<<30))
}

// has says whether a gauge was read lately under load.
func (r *readings) has(i gaugeIndex) bool { return r.recent[i].ok() }

// beyond compares the decode side of one sample with the agents' count: how many requests it has more
// than they have out, and how many of theirs are in its batch without having had their headers. The decode
// side has a part of each request from its dispatch on, and shows all of it at one instant. Of several
// engines, one that has drained keeps its last number of running requests while another's tokens move the
// counter: what waits on the decode side has no headers either, and cannot be in the batch as well.
func beyond(s *harness.Sample) (sent, headed float64, ok bool) {
	running, ok := valueOf(s, harness.GaugeDecodeRunning)
	if !ok {
		return 0, 0, false
	}
	waiting := 0.0
	for _, name := range [...]string{harness.GaugeDecodePrealloc, harness.GaugeDecodeTransfer, harness.GaugeDecodeQueue} {
		if v, ok := valueOf(s, name); ok {
			waiting += v
		}
	}
	without := float64(s.Sent - s.Streaming) // headers
	return max(0, running+waiting-float64(s.Sent)), max(0, min(running-float64(s.Streaming), without-waiting)), true
}

// stands says whether a counter was seen, and not seen to move lately.
func (r *readings) stands(counter gaugeIndex) bool {
	rate, _, ok := r.recent[counter].rate()
	return ok && rate == 0
}

// grown is how much a counter has grown over the stall; 0 if it was not read.
func (r *readings) grown(counter gaugeIndex) float64 {
	s := &r.stall[counter]
	return max(0, s.last-s.first)
}

// told writes the recent readings of a gauge and what they rest on. If the engine has not made a token
// meanwhile, that they did not change proves nothing.
func (r *readings) told(i gaugeIndex) string {
	text := r.recent[i].tell(gaugeNames[i]) + ", " + r.under
	if counter, ok := counterOf(i); ok && r.stands(counter) && r.recent[i].max > 0 {
		text += "; " + gaugeNames[counter] + " stood still meanwhile, so that the gauge may be frozen at an old value"
	}
	return text
}

// conditions says what the readings of the recent window rest on.
func (r *readings) conditions() string {
	load := count(r.sentMin, "request")
	if r.sentMax != r.sentMin {
		load = fmt.Sprintf("%d to %d requests", r.sentMin, r.sentMax)
	}
	return fmt.Sprintf("over %s in %s, with %s out", secs(age(r.to, r.from)), count(r.loaded, "sample"), load)
}

// tell writes the readings of a gauge, such as "decode_running 16", or "decode_running 1 to 3".
func (s *stat) tell(name string) string {
	if s.min == s.max {
		return name + " " + num(s.min)
	}
	return fmt.Sprintf("%s %s to %s (now %s)", name, num(s.min), num(s.max), num(s.last))
}

// latestGauges are the values of the last sample that has any, for the verdict.
func (r *readings) latestGauges() map[string]float64 {
	out := map[string]float64{}
	if r.latest == nil {
		return out
	}
	for _, g := range r.latest.Gauges {
		if !math.IsNaN(g.Value) && !math.IsInf(g.Value, 0) {
			out[g.Name] = g.Value
		}
	}
	return out
}

// age is the time from since to at: 0 if since is later, and never negative.
func age(at, since sim.Instant) time.Duration {
	if since >= at {
		return 0
	}
	if d := at - since; d > 0 {
		return time.Duration(d)
	}
	return math.MaxInt64
}
