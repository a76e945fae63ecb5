package published

import (
	"context"
	"io"
	"math"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer"
	"example.com/wedge/pacer/queue"
)

// TestThroughPacer plays rows of the single server once more, with a real pacer of that policy, and a
// server that is a process of the world. The event loop of this package must have told the same.
func TestThroughPacer(t *testing.T) {
	short := func(load float64, change func(*station)) *station {
		s := database(load)
		s.horizon, s.trigger = 110*time.Second, trigger{at: 20 * time.Second, length: 4 * time.Second}
		change(&s)
		return &s
	}
	for _, c := range []struct {
		name string
		s    *station
		// heals and attempts are what the event loop says, checked below.
		heals    bool
		attempts float64
	}{
		{"FIFO, 100 calls/s", short(100, func(*station) {}), true, 1},
		{"FIFO, 200 calls/s", short(200, func(*station) {}), false, 2},
		{"no retries", short(250, func(s *station) { s.policy.MaxAttempts = 1 }), true, 1},
		{"full jitter", short(200, func(s *station) { fullJitter(&s.policy) }), false, 2},
		{"LIFO", short(200, func(s *station) { s.queue.Order = queue.LIFO }), true, 1},
		{"dead requests are dropped", short(200, func(s *station) { s.queue.DropDead = true }), true, 1},
		{"queue of at most 200", short(200, func(s *station) { s.queue.Max = 200 }), true, 1},
		{"budget of 10 %", short(290, func(s *station) { s.policy.RetryBudget = tenPercent() }), false, 1.1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const seed = 3
			c.s.seed = seed
			for i, got := range []course{c.s.run().course(), throughPacer(t, c.s).course()} {
				if got.healed() != c.heals || math.Abs(got.attemptsAfter-c.attempts) > .1 {
					who := []string{"the event loop", "a pacer"}[i]
					t.Errorf("seed %d: %s: recovered after %.0f s, %.2f attempts a call; want healed %v, %.2f", seed, who, got.recovered, got.attemptsAfter, c.heals, c.attempts)
				}
			}
		})
	}
}

// throughPacer plays a station in a virtual world.
func throughPacer(t *testing.T, s *station) *stationRun {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: s.seed})
	b := &single{w: w, s: s, waiting: queue.New(s.queue), draws: w.Stream("server", "service"), seconds: make([]tally, int(s.horizon.Seconds())+1)}
	p, err := pacer.New(w, pacer.Config{Hold: pacer.HoldStream}, s.policy, b, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	gaps := w.Stream("clients", "gaps")
	err = w.Run(t.Context(), func(ctx context.Context) {
		for call := 1; time.Duration(w.Now()) < s.horizon; call++ {
			b.seconds[w.Now()/sim.Instant(time.Second)].calls++
			w.Spawn(ctx, "client", func(ctx context.Context) {
				_, _ = p.Chat(ctx, pacer.Identity{Agent: "client", Call: call}, openai.ChatCompletionRequest{Model: "any"})
			})
			if w.Sleep(ctx, time.Duration(exponential(gaps.Float64())/s.callsPerSecond*float64(time.Second))) != nil {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return &stationRun{station: s, seconds: b.seconds[:int(s.horizon.Seconds())]}
}

// single is a server of one slot that serves what is sent, also when the client has left.
type single struct {
	w       sim.World
	s       *station
	waiting *queue.Queue
	replies []*sim.Latch // by number of the attempt
	busy    bool
	draws   sim.Stream
	seconds []tally
}

func (b *single) now() *tally {
	return &b.seconds[min(int(b.w.Now()/sim.Instant(time.Second)), len(b.seconds)-1)]
}

func (b *single) Open(ctx context.Context, a *pacer.Attempt, _ openai.ChatCompletionRequest) (pacer.Stream, error) {
	a.Connected()
	b.now().attempts++
	id := uint64(len(b.replies))
	reply := sim.NewLatch(b.w, "")
	b.replies = append(b.replies, reply)
	if _, ok := b.waiting.Push(b.w.Now(), queue.Waiter{ID: id, Deadline: b.w.Now().Add(b.s.policy.Total - 1)}, 1, 0); !ok {
		return nil, &pacer.StatusError{Status: refusedStatus}
	}
	if !b.busy {
		b.busy = true
		b.w.Spawn(context.WithoutCancel(ctx), "server", b.serve)
	}
	if err := reply.Wait(ctx); err != nil {
		return nil, err
	}
	b.now().good++
	return &oneWord{}, nil
}

// serve serves until nobody waits. In the outage it stands.
func (b *single) serve(ctx context.Context) {
	defer func() { b.busy = false }()
	from, to := sim.Instant(b.s.trigger.at), sim.Instant(b.s.trigger.at+b.s.trigger.length)
	for {
		id, _, ok := b.waiting.Next(b.w.Now(), nil)
		if !ok {
			return
		}
		d := time.Duration(exponential(b.draws.Float64()) / b.s.servicesPerSecond * float64(time.Second))
		if now := b.w.Now(); now >= from && now < to {
			d += to.Sub(now)
		}
		if b.w.Sleep(ctx, d) != nil {
			return
		}
		b.replies[id].Open()
	}
}

// oneWord is an answer of one word.
type oneWord struct{ said bool }

func (o *oneWord) Recv() (openai.ChatCompletionStreamResponse, error) {
	var r openai.ChatCompletionStreamResponse
	if o.said {
		return r, io.EOF
	}
	o.said = true
	r.Choices = []openai.ChatCompletionStreamChoice{{Delta: openai.ChatCompletionStreamChoiceDelta{Content: "word"}}}
	return r, nil
}

func (o *oneWord) Progress() pacer.Progress { return pacer.Progress{} }
func (o *oneWord) Close() error             { return nil }
