package harness

import (
	"context"
	"io"
	"math"
	"slices"
	"time"

	"example.com/wedge/harness/sim"
)

// Servers is where gauges are read. Gauges is called by one process at a time, without the monitor
// held, and always with the gauges in the same order. Over HTTP it may wait, and must heed ctx; in
// virtual time it must not wait. What it returns is copied.
type Servers interface {
	Gauges(ctx context.Context) ([]Gauge, error)
}

// sampler reads the servers' gauges at a fixed interval, and keeps the latest readings in a ring, so
// that a run of any length takes the same memory.
type sampler struct {
	w       sim.World
	ledger  *Ledger
	servers Servers // nil: there is nothing to read
	every   time.Duration
	limit   time.Duration // of one reading, on the run's clock; 0: it does not wait, so that one is done at once
	log     io.Writer     // nil: nobody keeps them
	line    jsonLine
	keys    []gaugeKey     // of the gauges in their order, as lines have them
	busy    *sim.Semaphore // one reading at a time

	// Guarded by the monitor.
	ring []Sample
	next int // where the next one goes
	kept int
}

// gaugeKey is a name as it stands in a line: quoted, and with a colon.
type gaugeKey struct {
	name string
	text []byte
}

const (
	samplesMin = 16
	samplesMax = 4096
)

func newSampler(w sim.World, l *Ledger, s Servers, c *Watchdog) *sampler {
	longest := time.Duration(c.Captures[len(c.Captures)-1]) * c.StallAfter
	n := (c.Window+longest)/c.SampleEvery + 2
	p := &sampler{w: w, ledger: l, servers: s, every: c.SampleEvery, busy: sim.NewSemaphore(w, "", 1)}
	p.ring = make([]Sample, min(max(n, samplesMin), samplesMax))
	if !w.Virtual() {
		p.limit = max(c.SampleEvery, realSecond(w))
	}
	return p
}

// run samples until ctx is cancelled. The readings stand on a grid; one that takes longer than the
// interval skips grid points instead of being followed by a burst.
func (p *sampler) run(ctx context.Context) {
	if p.servers == nil {
		return
	}
	start := p.w.Now()
	for {
		if err := p.read(ctx); err != nil {
			return
		}
		since := p.w.Now().Sub(start)
		if err := p.w.Sleep(ctx, p.every-since%p.every); err != nil {
			return
		}
	}
}

// readNow takes a sample unless there is one of this instant.
func (p *sampler) readNow(ctx context.Context) error {
	p.w.Lock()
	latest := p.latest()
	fresh := latest != nil && latest.At == p.w.Now()
	p.w.Unlock()
	if fresh {
		return nil
	}
	return p.read(ctx)
}

// read takes one sample. Servers that cannot be read make a sample too; the error is ctx's cause.
func (p *sampler) read(ctx context.Context) error {
	if p.servers == nil {
		return nil
	}
	if p.limit > 0 {
		turn, err := p.busy.Acquire(ctx, sim.Party{})
		if err != nil {
			return err
		}
		defer func() { _ = turn.Release() }()
	}
	p.w.Lock()
	s := Sample{At: p.w.Now(), Sent: p.ledger.sent(), Calls: p.ledger.calls, Streaming: p.ledger.streaming()}
	p.w.Unlock()
	gauges, err := p.gauges(ctx)
	if cause := sim.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		gauges, s.Err = nil, cut(err.Error(), errorBytesMax)
	}
	p.w.Lock()
	p.keep(&s, gauges)
	p.w.Unlock()
	return nil
}

func (p *sampler) gauges(ctx context.Context) ([]Gauge, error) {
	if p.limit > 0 {
		limited, release := sim.WithTimeout(ctx, p.w, p.limit, context.DeadlineExceeded)
		defer release()
		ctx = limited
	}
	return p.servers.Gauges(ctx)
}

// keep puts a sample in the place of the oldest one, whose memory it takes over, and writes it down.
// The monitor is held.
func (p *sampler) keep(s *Sample, gauges []Gauge) {
	slot := &p.ring[p.next]
	s.Gauges = append(slices.Grow(slot.Gauges[:0], len(gauges)), gauges...)
	if slices.ContainsFunc(gauges, unspeakable) {
		s.Gauges = slices.DeleteFunc(s.Gauges, unspeakable)
	}
	*slot = *s
	p.next = (p.next + 1) % len(p.ring)
	p.kept = min(p.kept+1, len(p.ring))
	if p.log != nil {
		p.write(slot)
	}
}

// unspeakable says whether JSON has no word for the value of a gauge.
func unspeakable(g Gauge) bool { return math.IsNaN(g.Value) || math.IsInf(g.Value, 0) }

// write puts a sample on a line: t_s, sent, calls, and gauges or error.
func (p *sampler) write(s *Sample) {
	b := append(p.line[:0], `{"t_s":`...)
	b = jsonLine(appendSeconds(b, int64(s.At))).num(`"sent":`, s.Sent).num(`"calls":`, s.Calls)
	if s.Err != "" {
		b = b.str(keyError, s.Err)
	}
	b = append(b, `,"gauges":{`...)
	for i, g := range s.Gauges {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, p.keyOf(i, g.Name)...)
		b = appendNumber(b, g.Value)
	}
	b = append(b, '}', '}', '\n')
	p.line = b
	_, _ = p.log.Write(b) // a log keeps its errors
}

// keyOf returns the key of the i-th gauge.
func (p *sampler) keyOf(i int, name string) []byte {
	for i >= len(p.keys) {
		p.keys = append(p.keys, gaugeKey{})
	}
	k := &p.keys[i]
	if k.text == nil || k.name != name {
		*k = gaugeKey{name, append(appendQuoted(nil, name), ':')}
	}
	return k.text
}

// since returns copies of the samples from an instant on, oldest first. The monitor is held.
func (p *sampler) since(from sim.Instant) []Sample { return p.copies(from, sim.Never) }

// between is since for those after an instant and up to another.
func (p *sampler) between(after, to sim.Instant) []Sample { return p.copies(after+1, to) }

// copies returns copies of the samples from an instant to another. The monitor is held.
func (p *sampler) copies(from, to sim.Instant) []Sample {
	out := make([]Sample, 0, p.kept)
	gauges := 0
	for i := range p.kept {
		s := &p.ring[(p.next-p.kept+i+len(p.ring))%len(p.ring)]
		if s.At >= from && s.At <= to {
			out = append(out, *s)
			gauges += len(s.Gauges)
		}
	}
	all := make([]Gauge, 0, gauges) // one block for all
	for i := range out {
		start := len(all)
		all = append(all, out[i].Gauges...)
		out[i].Gauges = all[start:len(all):len(all)]
	}
	return out
}

// realSecond returns how long a second of the machine is on the run's clock.
func realSecond(w sim.World) time.Duration {
	if x, ok := w.(*sim.Wall); ok {
		return time.Duration(x.Scale() * float64(time.Second))
	}
	return time.Second
}
