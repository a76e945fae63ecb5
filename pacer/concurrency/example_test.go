package concurrency_test

import (
	"fmt"
	"time"

	"example.com/wedge/harness/sim"
	"example.com/wedge/pacer/concurrency"
)

// With the library's timeout of 5 s, AIMD takes every call of a language model for a drop. By the time
// to the first token it does what it was made for.
func ExampleLimiter() {
	for _, signal := range []string{concurrency.Latency, concurrency.FirstToken} {
		l := concurrency.New(concurrency.Config{Rule: concurrency.AIMD, Min: 1, Signal: signal}, 0, 0)
		for i := range 10 {
			l.Ended(sim.Instant(time.Duration(i)*time.Second), concurrency.Sample{
				Latency: 4 * time.Minute, Began: true, FirstToken: 2 * time.Second, Inflight: 20,
			})
		}
		fmt.Println(signal, l.Limit())
	}
	// Output:
	// latency 5
	// first_token 30
}
