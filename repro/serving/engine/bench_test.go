package engine_test

import (
	"runtime"
	"testing"

	"example.com/wedge/harness/sim"
	"example.com/wedge/repro/serving/engine"
)

// crowd is an owner whose clients send their next request when they have had the answer to the one
// before, in the same memory.
type crowd struct {
	tb   testing.TB
	e    *engine.Engines
	left int // requests that are still to be sent
	room int64
}

// client is one of them.
type client struct {
	c    *crowd
	job  engine.Job
	legs [2]engine.Leg
}

func (c *client) FirstToken(*engine.Leg) {}
func (c *client) Marked(*engine.Leg)     {}
func (c *client) Ended(l *engine.Leg) {
	switch {
	case l.Failure() != nil:
		c.c.tb.Error(l.Failure().Message)
	case l == &c.legs[1]:
		c.send()
	}
}

func (c *client) send() {
	if c.c.left == 0 {
		return
	}
	c.c.left--
	c.c.room++
	c.job = engine.Job{PromptTokens: 20_000, OutputTokens: 3750, TokensMax: 3750, Stream: true, Room: c.c.room}
	p, d := &c.legs[0], &c.legs[1]
	if !p.Gone() || !d.Gone() {
		c.c.tb.Error("a leg is not gone when it has ended")
	}
	*p = engine.Leg{Job: &c.job, Owner: c, Peer: d, PeerAt: c.c.e.Decodes()[0]}
	*d = engine.Leg{Job: &c.job, Owner: c, Peer: p, PeerAt: c.c.e.Prefills()[0]}
	d.PeerAt.Submit(p)
	p.PeerAt.Submit(d)
}

// requests plays n requests of so many clients, and returns the engines.
func requests(tb testing.TB, n, clients int) *engine.Engines {
	e, err := engine.New(engine.Default(), nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	c := &crowd{tb: tb, e: e, left: n}
	for range clients {
		(&client{c: c}).send()
	}
	for e.Next() != sim.Never {
		e.Advance(e.Next())
	}
	return e
}

// liveBytes returns how much memory is in use after n requests.
func liveBytes(tb testing.TB, n int) uint64 {
	var m runtime.MemStats
	e := requests(tb, n, 32)
	runtime.GC()
	runtime.ReadMemStats(&m)
	runtime.KeepAlive(e)
	return m.HeapAlloc
}

// BenchmarkRun is one default run of the engines alone: 600 requests of 3,750 tokens, 16 at a time.
func BenchmarkRun(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		requests(b, 600, 16)
	}
}

// BenchmarkRequest is one request among many: with -benchtime 1000000x a run of a million. The memory
// in use at the end must not depend on their number.
func BenchmarkRequest(b *testing.B) {
	b.ReportAllocs()
	b.ReportMetric(float64(liveBytes(b, b.N)), "live-B")
}

// TestFlatMemory checks that requests leave nothing behind, and cost no more the more there are.
func TestFlatMemory(t *testing.T) {
	few, many := liveBytes(t, 1_000), liveBytes(t, 50_000)
	if many > few+64<<10 {
		t.Errorf("%d bytes in use after 50,000 requests, %d after 1,000", many, few)
	}
	if n := testing.AllocsPerRun(1, func() { requests(t, 10_000, 32) }); n > 500 {
		t.Errorf("10,000 requests allocate %v times", n)
	}
}
