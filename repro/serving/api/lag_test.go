package api_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"example.com/wedge/repro/serving/api"
)

func TestLateness(t *testing.T) {
	const ms = time.Millisecond
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = ms
	}
	for _, test := range []struct {
		all  []time.Duration
		want api.Overhead
	}{
		{nil, api.Overhead{}},
		{[]time.Duration{0, -ms}, api.Overhead{Writes: 2}},
		{[]time.Duration{3 * ms}, api.Overhead{Writes: 1, Mean: 3 * ms, P50: 3 * ms, P99: 3 * ms, Max: 3 * ms}},
		{append(hundred, time.Hour), api.Overhead{Writes: 101, Mean: (time.Hour + 100*ms) / 101, P50: 1024 * time.Microsecond, P99: 1024 * time.Microsecond, Max: time.Hour}},
	} {
		if got := api.Lateness(test.all...); got != test.want {
			t.Errorf("%v: got %+v, want %+v", test.all, got, test.want)
		}
	}
}

// TestOverheadCounts: each write of a stream that had an instant to be written at is counted, on the
// page of metrics as in Overhead.
func TestOverheadCounts(t *testing.T) {
	p := setup{}.start(t)
	if o := p.api.Overhead(); o != (api.Overhead{}) {
		t.Errorf("seed %d: %+v before the first request", seed, o)
	}
	p.exchange("POST", chatPath, fmt.Sprintf(sayHello, true))
	o := p.api.Overhead()
	if o.Writes == 0 || o.Max < o.P99 || o.P99 < o.P50 || o.Mean > o.Max {
		t.Errorf("seed %d: %+v", seed, o)
	}
	if line := regexp.MustCompile(fmt.Sprintf(`(?m)^wedge_write_lag_seconds_count %d$`, o.Writes)); !line.MatchString(p.metrics()) {
		t.Errorf("seed %d: no line %s", seed, line)
	}
}
