package diagnose

import (
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
)

// pins is what the samples show of entries that stay in the prefill engine's inflight queue: stretches
// of time in which the queue has something in it, requests have memory at decode and wait for prefill,
// and the engine computes nothing. The gauge alone shows nothing: it is written when a chunk has just
// entered the queue, and stays so while the engine stands still for any other reason. The zero value is
// none.
type pins struct {
	ended   int           // stretches of pauseMin or more that were followed by work
	open    bool          // one goes on at the end
	longest time.Duration // of all of them
	inStall time.Duration // how much of them lies within the stall
	entries float64       // the most that were in the queue all through one of them
}

// any says whether there was one.
func (p *pins) any() bool { return p.open || p.ended > 0 }

// stretch is one under observation.
type stretch struct {
	from, to sim.Instant
	tokens   float64 // of the counter
	least    float64 // entries
	under    bool    // under way
}

// readPins looks through all samples, those that were taken after the capture included.
func readPins(now *harness.Evidence, all []harness.Sample) pins {
	var p pins
	var s stretch
	start := now.At.Add(-max(0, now.StalledFor))
	for _, samples := range [...][]harness.Sample{all, now.After} {
		for i := range samples {
			p.watch(&s, &samples[i], start)
		}
	}
	p.add(&s, start, false)
	return p
}

// watch takes in a sample.
func (p *pins) watch(s *stretch, at *harness.Sample, start sim.Instant) {
	inflight, okInflight := valueOf(at, harness.GaugePrefillInflight)
	tokens, okTokens := valueOf(at, harness.GaugePrefillTokens)
	switch {
	case !okInflight || !okTokens || at.At < s.to:
		return
	case s.under && tokens > s.tokens || s.under && inflight == 0:
		p.add(s, start, true) // a queue that is empty has been brought up to date, so something was released
		*s = stretch{}
	}
	switch {
	case inflight < 1 || at.Sent <= 0 || !waitsForPrefill(at):
		*s = stretch{}
	case noneAborted(at) && s.under:
		s.to = at.At // slow transfers, so far: their entries have clients
		s.from = at.At
	case !s.under:
		*s = stretch{from: at.At, to: at.At, tokens: tokens, least: inflight, under: true}
	default:
		s.to, s.least = at.At, min(s.least, inflight)
	}
}

// noneAborted says whether the engines say that they have not aborted one request so far. Only an abort
// pins an entry.
func noneAborted(s *harness.Sample) bool {
	n, ok := valueOf(s, harness.GaugeEngineAborted)
	return ok && n == 0
}

// waitsForPrefill says whether requests that have all that decode has to give them wait for prefill:
// they are in its queue, or in bootstrap without being in decode's prealloc, or decode waits for their
// memory.
func waitsForPrefill(s *harness.Sample) bool {
	v := func(name string) float64 { n, _ := valueOf(s, name); return n }
	handshake := v(harness.GaugeDecodePrealloc)
	return v(harness.GaugePrefillQueue)+v(harness.GaugeDecodeTransfer)+max(0, v(harness.GaugePrefillBootstrap)-handshake) > handshake
}

// add takes in a stretch that has ended, or that goes on.
func (p *pins) add(s *stretch, start sim.Instant, ended bool) {
	length := s.to.Sub(s.from)
	if !s.under || length < pauseMin {
		return
	}
	if ended {
		p.ended++
	} else {
		p.open = true
	}
	p.longest, p.entries = max(p.longest, length), max(p.entries, s.least)
	p.inStall += max(0, s.to.Sub(max(s.from, start)))
}

// valueOf returns a gauge of a sample.
func valueOf(s *harness.Sample, name string) (v float64, ok bool) {
	for _, g := range s.Gauges {
		if g.Name == name {
			return g.Value, g.Value >= 0
		}
	}
	return 0, false
}

// pinsMayBe says whether a pin can be what is seen, and refutes it or leaves it open if not: somebody
// must have left a request early, since that is what pins are made of.
func (r *reading) pinsMayBe(j *judgement) bool {
	inflight := &r.gauges.recent[prefillInflight]
	run, _ := r.leftEarly()
	switch {
	case r.sides.Sent == 0:
		j.refute("no request is at the servers")
	case !inflight.ok():
		j.open(0, "prefill_inflight over half a minute, while requests are out and after")
	case !r.pins.any() && inflight.min == 0:
		j.refute("prefill_inflight was 0 at least once, %s", r.gauges.told(prefillInflight))
	case !r.pins.any():
		j.open(0.1, "prefill_inflight after the agents have stopped: is there a floor above 0?")
		j.pro("%s, never 0", r.gauges.told(prefillInflight))
		j.con("prefill was not seen to stand still with it for %s or more: transfers take a while", secs(pauseMin))
	case run == 0:
		j.open(0.2*r.share(r.stuck()), "the transfers' own log at prefill and decode: why does nothing arrive?")
		j.pro("%s, never 0", r.gauges.told(prefillInflight))
		j.con("no agent has left a request early in this run, and only an abort pins an entry: a transfer that hangs looks like this")
	default:
		return true
	}
	return false
}

// pinObservations adds what speaks for entries that are pinned.
func (r *reading) pinObservations(j *judgement) {
	p := &r.pins
	j.pro("prefill computed nothing for %s while prefill_inflight was %s or more", secs(p.longest), num(p.entries))
	run, stall := r.leftEarly()
	if run > 0 {
		j.pro("agents have left %s before their end in this run, %d in the stall: an abort in that queue is what pins an entry", count(run, "request"), stall)
	}
	if s := &r.gauges.stall[engineAborted]; s.ok() && s.last > 0 {
		j.pro("engine_aborted_total is %s", num(s.last))
	}
	waiting := r.sum(fateInflight, fatePrefillStuck, fateDecodeStuck, fateAtRouter)
	if entries := int(p.entries); entries > waiting {
		j.pro("there are more entries in the queue than agents that wait for a first token: %d and %d", entries, waiting)
	}
}

// behindPins says whether most of what is out stands still behind entries that are pinned in prefill.
func (r *reading) behindPins() bool {
	p := &r.pins
	return p.any() && p.open && p.ended == 0 && 2*r.stuck() >= len(r.calls) && r.memoryFree()
}

// refusedBehind counts the calls that wait for another attempt since the router is full of what stands
// still behind pinned entries.
func (r *reading) refusedBehind() int {
	w := &r.now.Window
	if !r.behindPins() || 2*w.Attempts503 < w.AttemptsStatus || w.Attempts503 < stormMin {
		return 0
	}
	n := 0
	for i := range r.calls {
		if c := &r.calls[i]; c.fate == fateBackoff && !r.waitsStuck(c) {
			n++
		}
	}
	return n
}
