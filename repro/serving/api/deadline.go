package api

import (
	"net/http"
	"strconv"
	"time"
)

// remainingMax is the longest time left that is taken for meant.
const remainingMax = 24 * time.Hour

// remaining returns how much time a request says that its client has left: in milliseconds, or as the
// openai and anthropic clients say it, in seconds. 0: it does not say, or not in a number.
func remaining(h http.Header) time.Duration {
	for _, carrier := range [...]struct {
		name string
		unit time.Duration
	}{{"X-Request-Deadline-Ms", time.Millisecond}, {"X-Stainless-Timeout", time.Second}} {
		n, err := strconv.ParseFloat(h.Get(carrier.name), 64)
		if err == nil && n > 0 && n <= float64(remainingMax/carrier.unit) {
			return time.Duration(n * float64(carrier.unit))
		}
	}
	return 0
}
