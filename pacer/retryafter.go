package pacer

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfterMost caps what is believed, far above what any policy obeys, so that nothing overflows.
const retryAfterMost = 365 * 24 * time.Hour

// RetryAfter reads what an answer's headers ask for, for whoever implements a [Backend]: how long to
// wait before the next attempt, and whether they say so at all. Accepted are
//
//	retry-after-ms: 1500                            OpenAI
//	Retry-After: 120                                seconds, also with a fraction
//	Retry-After: Sun, 06 Nov 1994 08:49:37 GMT      counted from the answer's own Date, since the two
//	                                                clocks may differ; from now without one
//
// A date in the past asks for no wait. Anything else, such as a negative number, is not taken for an
// answer. now is asked only for a date.
func RetryAfter(h http.Header, now func() time.Time) (time.Duration, bool) {
	if d, ok := decimal(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d, true
	}
	text := h.Get("Retry-After")
	if d, ok := decimal(text, time.Second); ok {
		return d, true
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	from, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		from = now()
	}
	return max(0, min(until.Sub(from), retryAfterMost)), true
}

// decimal reads a decimal number of units.
func decimal(text string, unit time.Duration) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if text == "" || strings.Trim(text, "0123456789.") != "" {
		return 0, false // ParseFloat would take "1e3", "0x10", "inf"
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil && x == 0 {
		return 0, false
	}
	return time.Duration(min(x*float64(unit), float64(retryAfterMost))), true
}
