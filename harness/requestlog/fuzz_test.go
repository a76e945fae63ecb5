package requestlog

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// Whatever a log holds, the account adds up and the report can be written.
func FuzzLog(f *testing.F) {
	f.Add(routerText(long, func(_ int, d time.Duration) string { return d.String() }))
	f.Add(`{"ts":1767323045.678,"msg":"request done","x-request-id":"a","status":200,"duration_ms":1254.5}` + "\n" + `{"ts":1e19,"msg":"start","id":"a"}`)
	f.Add(`{"time":"0001-01-01T00:00:00Z","id":"b","latency":{"secs":1e300,"nanos":-5}}`)
	f.Add("10.0.0.1 - - [02/Jan/2026:03:04:05 +0000] \"GET /a HTTP/1.1\" 200 612 \"-\" \"x\" 0.123\n[2026-01-02T03:04:05.678Z] \"POST /v1 HTTP/1.1\" 0 DC 1 2 3 4 \"-\" \"x\" \"id\" \"h\" \"u\"")
	f.Add("time=2026-01-02T03:04:05Z id=a msg=start\ntime=9999-01-02T03:04:05Z id=a status=200 took=1h x=\"\x1b[31m\"")
	f.Fuzz(func(t *testing.T, text string) {
		l := New()
		err := l.Read("x", strings.NewReader(text))
		if bad := new(InputError); err != nil && !errors.As(err, &bad) {
			t.Fatal(err)
		}
		r := l.Report()
		q := &r.Requests
		if q.Open < 0 || int64(q.Open) > q.Started || r.OtherLines > r.Lines || r.Unit.Text == "" || r.Summary == "" {
			t.Fatalf("%+v", r)
		}
		n := int64(0)
		for _, s := range r.Statuses {
			n += s.N
		}
		if n != q.Finished {
			t.Fatalf("statuses of %d, finished %d", n, q.Finished)
		}
		for _, d := range []*Distribution{r.Latency, r.LatencyFailed} {
			if d != nil && (d.Min > d.P50 || d.P50 > d.P95 || d.P95 > d.Max || d.N+d.Unknown > q.Finished) {
				t.Fatalf("%+v", d)
			}
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	})
}
