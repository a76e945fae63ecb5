package requestlog

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// lines makes a log of n lines without holding it.
type lines struct {
	n, i int
	line func(i int) string
	rest string
}

func (l *lines) Read(p []byte) (int, error) {
	if l.rest == "" {
		if l.i == l.n {
			return 0, io.EOF
		}
		l.rest = l.line(l.i)
		l.i++
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// Beyond the cap the oldest open requests are forgotten, and the report says so.
func TestOpenRequestsAreBounded(t *testing.T) {
	const more = 50
	l := New()
	err := l.Read("x", &lines{n: openMax + more, line: func(i int) string { return startedLine("2026-01-02 03:00:00", fmt.Sprint("r", i)) }})
	if err != nil {
		t.Fatal(err)
	}
	r := l.Report()
	if r.Requests.Open != openMax || r.Requests.Forgotten != more || r.Open[0].ID != fmt.Sprint("r", more) || len(r.Open) != 1000 {
		t.Errorf("%+v, first is %s, %d listed", r.Requests, r.Open[0].ID, len(r.Open))
	}
	if text := strings.Join(r.CannotTell, "\n"); !strings.Contains(text, "50 open requests were forgotten, since no more than 100000 are kept") {
		t.Errorf("it says\n%s", text)
	}
}

// Percentiles of more latencies than are kept are those of an even sample; the
// largest is exact.
func TestLatenciesAreBounded(t *testing.T) {
	var d latencies
	const n = 3*samplesMax + 5
	for i := range n {
		d.add(&Event{Latency: Latency{Known: true, Number: float64((i * 7919) % n), Unit: Milliseconds}}, 0)
	}
	got := d.distribution(NoUnit, false)
	if len(d.kept) >= samplesMax || got.N > n || got.N < n-n/100 || got.Sampled == 0 || got.Max != float64(n-1)/1000 {
		t.Errorf("%+v of %d", got, len(d.kept))
	}
	if half := n / 2000.0; got.P50 < half*0.99 || got.P50 > half*1.01 {
		t.Errorf("median is %v of 0 to %v", got.P50, n/1000.0)
	}
}

// Slots of time widen rather than grow, whatever the times are.
func TestSeriesIsBounded(t *testing.T) {
	var s series
	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	want := int64(0)
	for i := range 5000 {
		at := start.Add(time.Duration(i*i%9973) * time.Hour)
		if i%2 == 0 {
			at = start.Add(-time.Duration(i) * time.Minute)
		}
		s.add(at, kindFinished)
		want++
	}
	s.add(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), kindFinished) // no real time
	got := int64(0)
	buckets := s.buckets()
	for _, b := range buckets {
		got += b.Finished
	}
	if len(s.slots) > slotsMax || len(buckets) > rowsMax+1 || got != want {
		t.Errorf("%d slots, %d buckets, %d of %d events", len(s.slots), len(buckets), got, want)
	}
}
