package load

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.com/wedge/harness/sim"
)

// slots is a server with four slots, and answers of 1.00 to 1.04 s. It is dumber than the
// simulated ones: all it has is a queue.
type slots struct {
	w     sim.World
	free  *sim.Semaphore
	draws sim.Stream
	frees bool // a slot, or the place in the queue, when the client leaves
}

func (s *slots) send(ctx context.Context, _ *call, _ *receipt) error {
	if s.frees {
		return s.work(ctx)
	}
	done := sim.NewLatch(s.w, "")
	s.w.Spawn(context.WithoutCancel(ctx), "work", func(ctx context.Context) {
		_ = s.work(ctx)
		done.Open()
	})
	return done.Wait(ctx)
}

func (s *slots) work(ctx context.Context) error {
	lease, err := s.free.Acquire(ctx, sim.Party{})
	if err != nil {
		return err
	}
	defer func() { _ = lease.Release() }()
	return s.w.Sleep(ctx, time.Second+time.Duration(s.draws.IntN(int(40*time.Millisecond))))
}

// TestTimeoutCliff plays what was measured at a real server that keeps slots of clients that have left:
// 20 clients, 4 slots, about 1 s of service, 30 s. Its replies were 116, 115, 11 and 4, the timeouts 0,
// 0, 132 and 280.
func TestTimeoutCliff(t *testing.T) {
	for _, frees := range []bool{false, true} {
		got := ""
		for _, timeout := range []time.Duration{10 * time.Second, 6 * time.Second, 4 * time.Second, 2 * time.Second} {
			p := DefaultPlan()
			p.Clients, p.Timeout = 20, timeout
			w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
			g := &generator{w: w, plan: &p, sampler: &sampler{}, target: &slots{w, sim.NewSemaphore(w, "slots", 4), w.Stream("test", "service"), frees}}
			r, err := g.play(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			got += fmt.Sprintf("%v %d+%d ", timeout, r.Requests.OK, r.Requests.Failed)
		}
		want := "10s 116+0 6s 116+0 4s 12+132 2s 4+280 "
		if frees { // begun work is lost with those who leave, but no more than that
			want = "10s 116+0 6s 116+0 4s 42+102 2s 11+273 "
		}
		if got != want {
			t.Errorf("slots are freed %v:\ngot  %s\nwant %s", frees, got, want)
		}
	}
}
