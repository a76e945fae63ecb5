package sim_test

import (
	"context"
	"fmt"
	"time"

	"example.com/wedge/harness/sim"
)

// starve has three agents make one call each through a pacer with two slots, with responses that take
// half an hour: one agent waits although nothing is broken.
func starve(w sim.World) {
	err := w.Run(context.Background(), func(ctx context.Context) {
		slots := sim.NewSemaphore(w, "slots", 2)
		var agents []*sim.Process
		for i := range 3 {
			agents = append(agents, w.Spawn(ctx, fmt.Sprint("agent-", i), func(ctx context.Context) {
				lease, _ := slots.Acquire(ctx, sim.Party{})
				_ = w.Sleep(ctx, 30*time.Minute) // the response
				_ = lease.Release()
			}))
		}
		_ = w.Sleep(ctx, time.Minute)
		state := slots.State()
		fmt.Printf("%d of %d slots held, %d waits\n", state.InUse, state.Capacity, len(state.Waiters))
		for _, a := range agents {
			_ = a.Wait(ctx)
		}
	})
	fmt.Println("the end:", err)
}

// Starvation in virtual time: it takes microseconds, and the same each time.
func ExampleVirtual() {
	w := sim.NewVirtual(sim.VirtualOptions{Seed: 1})
	starve(w)
	fmt.Println("after", w.Now())
	// Output:
	// 2 of 2 slots held, 1 waits
	// the end: <nil>
	// after 1h0m0s
}

// The same code on the machine's clock, here twenty thousand times faster.
func ExampleWall() {
	starve(sim.NewWall(sim.WallOptions{Scale: 20_000}))
	// Output:
	// 2 of 2 slots held, 1 waits
	// the end: <nil>
}

// Two processes take two locks in different orders. In virtual time the world can tell that nothing
// will ever happen again, and says who holds what.
func ExampleDeadlockError() {
	w := sim.NewVirtual(sim.VirtualOptions{})
	err := w.Run(context.Background(), func(ctx context.Context) {
		journal, workspace := sim.NewSemaphore(w, "journal", 1), sim.NewSemaphore(w, "workspace", 1)
		take := func(name string, first, second *sim.Semaphore) *sim.Process {
			return w.Spawn(ctx, name, func(ctx context.Context) {
				_, _ = first.Acquire(ctx, sim.Party{})
				_ = w.Sleep(ctx, time.Second)
				_, _ = second.Acquire(ctx, sim.Party{})
			})
		}
		take("saver", journal, workspace)
		_ = take("reader", workspace, journal).Wait(ctx)
	})
	fmt.Println(err)
	// Output:
	// sim: at 1s nothing is runnable and nothing is queued; 3 wait:
	// 	main waits for process reader since 0s
	// 	saver waits for semaphore workspace since 1s
	// 	reader waits for semaphore journal since 1s
	// 	semaphore journal: 1 of 1 held, by saver since 0s
	// 	semaphore workspace: 1 of 1 held, by reader since 0s
}

// A time limit has a cause of its own, by which it can be told from others.
func ExampleWithTimeout() {
	w := sim.NewVirtual(sim.VirtualOptions{})
	_ = w.Run(context.Background(), func(ctx context.Context) {
		errIdle := fmt.Errorf("no token for 60 s")
		ctx, release := sim.WithTimeout(ctx, w, time.Minute, errIdle)
		defer release()
		err := w.Sleep(ctx, time.Hour)
		fmt.Println(w.Now(), err, err == errIdle)
	})
	// Output:
	// 1m0s no token for 60 s true
}

// Draws are keyed by who draws for what, so that another agent, or another draw of the same agent's,
// does not change them.
func ExampleStream_At() {
	agent := sim.NewStream(1, "agent-07", "output_tokens")
	for call := range 3 {
		draw := agent.At(call)
		fmt.Println(3000 + draw.IntN(1501))
	}
	// Output:
	// 3727
	// 3142
	// 3979
}
