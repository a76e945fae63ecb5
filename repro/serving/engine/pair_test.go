package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/serving/engine"
)

// TestHandshake: two legs find each other if each is where the other takes it to be, in whatever order
// they come.
func TestHandshake(t *testing.T) {
	two := func(c *engine.Config) {
		c.Prefill.Workers, c.Prefill.Ranks, c.Decode.Workers, c.Decode.Ranks = 2, 2, 2, 2
	}
	for _, c := range []struct {
		name   string
		change func(cfg *engine.Config, r *pair)
		pd     [2]int // workers that the legs are sent to
		room   int64
		shakes bool
	}{
		{"as it should be", nil, [2]int{0, 0}, 6, true},
		{"another rank", nil, [2]int{0, 0}, 7, true},
		{"prefill elsewhere", nil, [2]int{1, 0}, 6, false},
		{"decode elsewhere", nil, [2]int{0, 1}, 6, false},
		{"both elsewhere", nil, [2]int{1, 1}, 6, false},
		{"no peer", func(_ *engine.Config, r *pair) { r.legs[1].Peer = nil }, [2]int{0, 0}, 6, false},
		{"prefill does not follow the room", func(cfg *engine.Config, _ *pair) { cfg.Prefill.LoadBalance = engine.RoundRobin }, [2]int{0, 0}, 7, false},
		{"prefill happens to follow the room", func(cfg *engine.Config, _ *pair) { cfg.Prefill.LoadBalance = engine.RoundRobin }, [2]int{0, 0}, 6, true},
	} {
		for _, decodeFirst := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, decodeFirst), func(t *testing.T) {
				p := newPlay(t, func(cfg *engine.Config) {
					two(cfg)
					if c.change != nil {
						c.change(cfg, new(pair))
					}
				})
				r := p.prepare("a", 1000, 100)
				r.job.Room = c.room
				if c.change != nil {
					c.change(new(engine.Config), r)
				}
				send := []func(){func() { p.Prefills()[c.pd[0]].Submit(&r.legs[0]) }, func() { p.Decodes()[c.pd[1]].Submit(&r.legs[1]) }}
				if decodeFirst {
					send[0], send[1] = send[1], send[0]
				}
				send[0]()
				p.until(10 * time.Second)
				send[1]()
				p.end()
				if c.shakes {
					p.is("lines", len(p.told), 3)
					p.is("legs", r.where(), "done done")
					return
				}
				p.is("legs", r.where(), "failed prealloc")
				if want := "timed out after 300.0s in KVPoll.Bootstrapping"; !strings.Contains(r.legs[0].Failure().Message, want) {
					t.Errorf("%q, want %q", r.legs[0].Failure().Message, want)
				}
				r.leave()
				p.empty()
			})
		}
	}
}

// TestBalance: round robin takes one rank after the other, and follow_bootstrap_room the room's.
func TestBalance(t *testing.T) {
	p := newPlay(t, func(c *engine.Config) { c.Prefill.Ranks, c.Decode.Ranks = 3, 2 })
	var got []string
	for _, room := range []int64{5, 5, 7, 9} {
		r := p.prepare("a", 10, 10)
		r.job.Room = room
		r.send()
		_, a := r.legs[0].Worker()
		w, b := r.legs[1].Worker()
		got = append(got, fmt.Sprintf("%d %d %s", a, b, w.Name))
	}
	p.is("ranks", got, []string{"2 0 decode-0", "2 1 decode-0", "1 0 decode-0", "0 1 decode-0"})
	p.end()
	p.empty()
}

// TestTimeouts: what has a limit, from when, and what has none.
func TestTimeouts(t *testing.T) {
	t.Run("bootstrap, for want of memory at decode", func(t *testing.T) {
		p := newPlay(t, func(c *engine.Config) { c.Decode.KVTokens = 10_000 })
		a := p.ask("a", 9500, 100) // fits, but not with a reserve
		p.until(time.Minute)
		b := p.ask("b", 10, 10)
		p.end()
		p.want("5m0s a P failed 500 INTERNAL_SERVER_ERROR", "5m8s a D failed 500 INTERNAL_SERVER_ERROR",
			"5m8.052s b P ended", "5m8.052s b D first token", "5m8.236s b D ended")
		for i, want := range []string{
			"Prefill bootstrap failed for request rank=0 req.rid='a' req.bootstrap_room=1 with exception KVTransferError(bootstrap_room=1): Request 1 timed out after 300.0s in KVPoll.Bootstrapping",
			"Decode handshake failed for request rank=0 decode_req.req.rid='a' decode_req.req.bootstrap_room=1 with exception KVTransferError(bootstrap_room=1): Lost connection with prefill instance",
		} {
			p.is("message", a.legs[i].Failure().Message, want)
		}
		p.is("b", b.where(), "done done")
		p.is("failed", []int64{p.prefill().BootstrapFailed, p.decode().BootstrapFailed}, []int{1, 1})
		p.empty()
	})
	t.Run("not for want of a metadata slot", func(t *testing.T) {
		p := newPlay(t, func(c *engine.Config) { c.Prefill.RequestsMax, c.Transfer.WaitingTimeout = 1, 0 },
			fault.Fault{Where: fault.Inflight, What: fault.Hang, Only: 1})
		p.ask("a", 10, 10)
		b := p.ask("b", 10, 10)
		p.end()
		p.want()
		p.is("b", b.where(), "bootstrap transfer")
	})
	t.Run("transfer that has not begun", func(t *testing.T) {
		p := newPlay(t, nil, fault.Fault{Where: fault.Prefill, What: fault.Hang, Only: 1})
		a, b := p.ask("a", 20_000, 10), p.ask("b", 10, 10)
		p.end()
		// The message of decode that it does not want the memory any more ends the hanging chunk.
		p.want("5m0s a D failed 500 INTERNAL_SERVER_ERROR", "5m0s b P failed 500 INTERNAL_SERVER_ERROR",
			"5m0s b D failed 500 INTERNAL_SERVER_ERROR", "5m0s a P failed 500 INTERNAL_SERVER_ERROR")
		p.is("message", a.legs[1].Failure().Message, "Decode transfer failed for request rank=0 decode_req.req.rid='a' decode_req.req.bootstrap_room=1 with exception KVTransferError(bootstrap_room=1): Request 1 timed out after 300.0s in KVPoll.WaitingForInput")
		p.is("message", b.legs[0].Failure().Message, "Prefill transfer failed for request rank=0 req.rid='b' req.bootstrap_room=2 with exception KVTransferError(bootstrap_room=2): Aborted by AbortReq.")
		p.empty()
	})
	t.Run("not a transfer that has begun", func(t *testing.T) {
		p := newPlay(t, nil, fault.Fault{Where: fault.Transfer, What: fault.Hang})
		a := p.ask("a", 20_000, 10)
		p.end()
		p.want()
		p.is("a", a.where(), "inflight transfer")
	})
	t.Run("nor one of a prompt that is half computed", func(t *testing.T) {
		p := newPlay(t, func(c *engine.Config) { c.Prefill.PerToken = 30 * time.Millisecond })
		a := p.ask("a", 20_000, 10) // 600 s in three chunks, the first after 246 s
		p.end()
		p.is("a", a.where(), "done done")
	})
	t.Run("off", func(t *testing.T) {
		p := newPlay(t, func(c *engine.Config) { c.Prefill.BootstrapTimeout, c.Transfer.WaitingTimeout = 0, 0 },
			fault.Fault{Where: fault.Bootstrap, What: fault.Hang})
		a := p.ask("a", 20_000, 10)
		p.is("next", time.Duration(p.Next()), time.Duration(1<<63-1))
		p.is("a", a.where(), "bootstrap prealloc")
	})
}

// TestPeerLost: decode notices between 4 and 8 s later that its prefill leg has gone, at the second of
// its looks, which come every 4 s from its arrival on.
func TestPeerLost(t *testing.T) {
	for _, c := range []struct{ left, noticed time.Duration }{
		{1 * time.Second, 8 * time.Second},
		{3999 * time.Millisecond, 8 * time.Second},
		{4 * time.Second, 12 * time.Second},
		{6 * time.Second, 12 * time.Second},
	} {
		p := newPlay(t, nil, fault.Fault{Where: fault.Inflight, What: fault.Hang})
		r := p.ask("a", 10, 10)
		p.until(c.left)
		p.Prefills()[0].Abort(&r.legs[0])
		p.is("end", p.end(), c.noticed)
		p.want(fmt.Sprintf("%v a D failed 500 INTERNAL_SERVER_ERROR", c.noticed))
		p.empty()
	}
}

// TestDecodeFirst is recipe 4: when the decode leg dies before it has reserved memory, prefill waits on
// for its own 300 s, with both engines idle.
func TestDecodeFirst(t *testing.T) {
	p := newPlay(t, func(c *engine.Config) { c.Decode.KVTokens = 1000 })
	a := p.ask("a", 900, 10)
	p.until(10 * time.Second)
	p.Decodes()[0].Abort(&a.legs[1])
	p.is("a", a.where(), "bootstrap aborted")
	p.is("next", time.Duration(p.Next()), 5*time.Minute)
	p.end()
	p.want("5m0s a P failed 500 INTERNAL_SERVER_ERROR")
	p.empty()
}
