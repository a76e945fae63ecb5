package requestlog

import (
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
	"time"
)

// routerText writes a router's log: each request starts at a second and takes so
// many microseconds, written as write says.
func routerText(requests []time.Duration, write func(i int, d time.Duration) string) string {
	var b strings.Builder
	start := time.Date(2026, 11, 30, 19, 44, 13, 0, time.UTC)
	for i, d := range requests {
		id := fmt.Sprintf("chatcmpl-%024d", i)
		at := start.Add(time.Duration(i) * 7 * time.Second)
		b.WriteString(startedLine(at.Format(time.DateTime), id))
		b.WriteString(finishedLine(at.Add(d).Format(time.DateTime), id, "status_code=200 latency="+write(i, d), "finished processing request"))
	}
	return b.String()
}

func report(t *testing.T, text string) *Report {
	t.Helper()
	l := New()
	if err := l.Read("x.log", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return l.Report()
}

var long = []time.Duration{62690782 * time.Microsecond, 264599869 * time.Microsecond, 100123456 * time.Microsecond, 181000001 * time.Microsecond, 299 * time.Second, 120 * time.Second}

func TestUnitOfBareNumbers(t *testing.T) {
	in := func(u time.Duration) func(int, time.Duration) string {
		return func(_ int, d time.Duration) string { return fmt.Sprint(int64(d / u)) }
	}
	short := []time.Duration{812 * time.Microsecond, 15 * time.Millisecond, 2 * time.Millisecond}
	for _, test := range []struct {
		what, want, confidence string
		text                   string
	}{
		{"microseconds", "microseconds (6 of 6 agree with the time stamps)", "certain", routerText(long, in(time.Microsecond))},
		{"nanoseconds", "nanoseconds (6 of 6 agree with the time stamps)", "certain", routerText(long, in(time.Nanosecond))},
		{"milliseconds", "milliseconds (6 of 6 agree with the time stamps)", "certain", routerText(long, in(time.Millisecond))},
		{"seconds", "seconds (6 of 6 agree with the time stamps)", "certain", routerText(long, in(time.Second))},
		{"one", "microseconds (1 of 1 agrees with the time stamps), likely rather than certain", "likely", routerText(long[:1], in(time.Microsecond))},
		{"mixed", "mixed: microseconds (3), milliseconds (3) of 6 that tell units apart, by the time stamps", "certain",
			routerText(long, func(i int, d time.Duration) string {
				return in([]time.Duration{time.Microsecond, time.Millisecond}[i%2])(i, d)
			})},
		{"stated", "seconds (stated in the log; 6 of 6 agree with the time stamps)", "certain", routerText(long, func(_ int, d time.Duration) string { return d.String() })},
		{"stated and bare", "mixed: 3 latencies with their unit, 3 bare numbers, which are microseconds (3 of 3 agree with the time stamps), likely rather than certain", "likely",
			routerText(long, func(i int, d time.Duration) string {
				if i%2 == 0 {
					return d.String()
				}
				return in(time.Microsecond)(i, d)
			})},
		{"something else", "unknown: in no unit do the latencies agree with the time stamps (6 compared), so they measure something else", "none",
			routerText(long, func(_ int, d time.Duration) string { return fmt.Sprint(int64(d/time.Microsecond) * 17) })},
		{"short", "microseconds, as SGLang's router writes since December 2025; the time stamps neither confirm nor refute it (too little evidence: the requests are too short for the time stamps' resolution; nanoseconds, microseconds agree with all 3 that could be compared)",
			"likely", routerText(short, in(time.Microsecond))},
		{"no start", "unknown: none of 1 bare numbers could be compared, for want of time stamps of both ends", "none",
			`{"time":"2026-01-02T03:04:05Z","msg":"served","id":"a","status":200,"latency":62690782}`},
	} {
		got := report(t, test.text).Unit
		if got.Text != test.want || got.Confidence != test.confidence {
			t.Errorf("%s:\n%s (%s), want\n%s (%s)", test.what, got.Text, got.Confidence, test.want, test.confidence)
		}
	}
}

// TestSlowestOfMixedUnits: the slowest are so in seconds, also where those that are logged in a larger unit have the
// smaller numbers.
func TestSlowestOfMixedUnits(t *testing.T) {
	var lengths []time.Duration
	for i := range 30 {
		lengths = append(lengths, time.Duration(20+i)*time.Second)
	}
	r := report(t, routerText(lengths, func(i int, d time.Duration) string {
		return fmt.Sprint(int64(d / []time.Duration{time.Microsecond, time.Millisecond}[i%2]))
	}))
	for i, s := range r.Slowest {
		if want := float64(49 - i); s.Seconds != want {
			t.Errorf("slowest %d took %g s, want %g s", i, s.Seconds, want)
		}
	}
	if r.Latency.Max != r.Slowest[0].Seconds || len(r.Slowest) != slowestMax {
		t.Errorf("the longest is %g s, the first of %d slowest %g s", r.Latency.Max, len(r.Slowest), r.Slowest[0].Seconds)
	}
}

// TestGzip: rotated logs are compressed.
func TestGzip(t *testing.T) {
	text := routerText(long, func(_ int, d time.Duration) string { return fmt.Sprint(d.Microseconds()) })
	var zipped strings.Builder
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := report(t, zipped.String()), report(t, text); got.Unit.Text != want.Unit.Text || got.Lines != want.Lines {
		t.Errorf("%d lines, %s, want %d, %s", got.Lines, got.Unit.Text, want.Lines, want.Unit.Text)
	}
	for _, bad := range []string{"\x1f\x8b", "\x1f\x8bnothing of the kind", zipped.String()[:zipped.Len()/2]} {
		if err := New().Read("x.log.gz", strings.NewReader(bad)); err == nil || !strings.HasPrefix(err.Error(), "x.log.gz: ") {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
}

func TestSlowestInSeconds(t *testing.T) {
	r := report(t, routerText(long, func(_ int, d time.Duration) string { return fmt.Sprint(d.Microseconds()) }))
	got := map[string]string{}
	for _, s := range r.Slowest {
		got[s.Logged] = length(s.Seconds)
	}
	if got["62690782"] != "62.69 s" || got["264599869"] != "264.6 s" {
		t.Errorf("slowest are %v", got)
	}
	if d := r.Latency; d.N != 6 || d.Min != 62.690782 || d.Max != 299 || d.P99 != nil {
		t.Errorf("distribution is %+v", d)
	}
}
