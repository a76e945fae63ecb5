package published_test

import (
	"fmt"

	"example.com/wedge/repro/published"
)

// A published result, replayed: here what patience makes of a server that keeps the slots of clients
// that have left.
func Example() {
	r, _ := published.Find("timeout-cliff")
	report := r.Run(published.Options{})
	for _, row := range report.Rows {
		fmt.Printf("%s: %s %s, here %s\n", row.What, row.Grade, row.Expected, row.Here)
	}
	fmt.Println(report.Right)
	// Output:
	// timeout 10s: measured 116 replies, 0 timeouts, here 116 replies, 0 timeouts
	// timeout 6s: measured 115 replies, 0 timeouts, here 116 replies, 0 timeouts
	// timeout 4s: measured 11 replies, 132 timeouts, here 12 replies, 132 timeouts
	// timeout 2s: measured 4 replies, 280 timeouts, here 4 replies, 280 timeouts
	// true
}
