package api_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/wedge/repro/serving"
)

// TestDeadlineOverHTTP: a request that says in a header that there is no time left is turned away by a router
// that looks, once it knows how long answers take; without the header, or with enough, it is answered.
func TestDeadlineOverHTTP(t *testing.T) {
	for _, honours := range []bool{false, true} {
		t.Run(fmt.Sprint(honours), func(t *testing.T) {
			p := setup{stack: func(c *serving.Config) { c.Router.HonourDeadline = honours }}.start(t)
			hello := fmt.Sprintf(sayHello, false)
			ask := func(headers ...string) (int, string) { return p.body(p.exchange("POST", chatPath, hello, headers...)) }
			if status, body := ask("X-Request-Deadline-Ms", "1"); status != 200 { // nothing is known yet
				t.Errorf("first: %d %s", status, body)
			}
			status, body := ask("X-Request-Deadline-Ms", "1")
			if refused := status == 504 && strings.Contains(body, "deadline_exceeded"); refused != honours || !refused && status != 200 {
				t.Errorf("1 ms left: %d %s", status, body)
			}
			for _, headers := range [][]string{nil, {"X-Request-Deadline-Ms", "3600000"}, {"X-Stainless-Timeout", "600"}} {
				if status, body := ask(headers...); status != 200 {
					t.Errorf("%v: %d %s", headers, status, body)
				}
			}
		})
	}
}
