package queue_test

import (
	"fmt"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/queue"
)

// Three wait, and there is a place at 10 s: for the newest, while the oldest has waited for too long.
func ExampleQueue() {
	q := queue.New(queue.Config{Order: queue.LIFO, Wait: 8 * time.Second})
	for i := range uint64(3) {
		at := sim.Instant(time.Duration(i) * 2 * time.Second)
		q.Push(at, queue.Waiter{ID: i, Agent: "agent"}, 1, 0)
	}
	id, shed, ok := q.Next(sim.Instant(10*time.Second), nil)
	fmt.Println(id, ok)
	for _, s := range shed {
		fmt.Println(s.ID, s.Reason, s.Waited)
	}
	// Output:
	// 2 true
	// 0 wait 10s
	// 1 wait 8s
}
